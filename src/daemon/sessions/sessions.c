#include "daemon/sessions/commands.h"
#include "daemon/sessions/session_parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/units.h"
#include "base/utf8.h"
#include "daemon/queue/hold.h"
#include "daemon/queue/maxima.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char *const state_names[] = {
    [HC_FRONT_SESSION_STARTING] = "starting",
    [HC_FRONT_SESSION_IDLE] = "idle",
    [HC_FRONT_SESSION_BUSY] = "running",
    [HC_FRONT_SESSION_ENDED] = "ended",
};

/* ---- the list ---- */

static void put_into_list(struct hc_front_sessions *all, struct hc_front_session *s)
{
    s->next = all->newest;
    if (s->next)
        s->next->previous = s;
    all->newest = s;
    all->open++;
}

struct hc_front_session *hc_front_session_find(const struct hc_front_sessions *all, const struct hc_tenant *t,
                                               const char *id)
{
    struct hc_front_session *s = hc_front_session_find_any(all, id);
    return s && s->tenant == t ? s : NULL;
}

struct hc_front_session *hc_front_session_find_any(const struct hc_front_sessions *all, const char *id)
{
    struct hc_front_session *s = all->newest;
    while (s && strcmp(s->id, id) != 0)
        s = s->next;
    return s;
}

/* Counts the bytes that the session's process has not read as request memory, like bodies that are still
 * coming. */
static void count_requests(struct hc_front_session *s)
{
    int64_t bytes = (int64_t)((s->body_fd >= 0 ? s->body_len : 0) + s->out.len);
    hc_request_memory_hold(&s->all->dispatch->request_memory, s->tenant, bytes - s->held);
    s->held = bytes;
}

static void close_watch(const struct hc_front_session *s, struct hc_watch *w)
{
    hc_reactor_remove(s->all->dispatch->epoll, w);
    hc_close_fd(&w->fd);
}

static void close_all(struct hc_front_session *s)
{
    close_watch(s, &s->channel);
    close_watch(s, &s->stream);
    hc_tool_link_close(&s->tools);
    hc_close_fd(&s->cancel_fd);
    hc_close_fd(&s->body_fd);
    hc_buf_finish(&s->in);
    hc_buf_finish(&s->out);
    hc_buf_finish(&s->list);
    count_requests(s);
}

void hc_front_session_forget(struct hc_front_session *s)
{
    struct hc_front_sessions *all = s->all;
    *(s->previous ? &s->previous->next : &all->newest) = s->next;
    if (s->next)
        s->next->previous = s->previous;
    all->ended--;
    hc_front_commands_forget(s);
    free(s->last);
    free(s->labels);
    cJSON_Delete(s->contexts);
    free(s);
}

/* Forgets the oldest ended session. */
static void forget_one(struct hc_front_sessions *all)
{
    struct hc_front_session *oldest = NULL;
    for (struct hc_front_session *s = all->newest; s; s = s->next)
        if (s->state == HC_FRONT_SESSION_ENDED)
            oldest = s;
    if (oldest)
        hc_front_session_forget(oldest);
}

/* ---- requests and their answers ---- */

struct hc_task *hc_front_session_task(struct hc_front_session *s, struct hc_task **place)
{
    struct hc_task *task = hc_task_create(NULL, s->all->dispatch, s->tenant, s->id);
    if (!task)
        return NULL;
    task->of_session = true;
    task->detached = true;
    task->state = HC_TASK_RUNNING;
    *place = task;
    hc_task_ref(task);
    return task;
}

void hc_front_task_answer(struct hc_task *task, const char *text, size_t len,
                          const struct hc_problem *problem)
{
    task->manifest = problem ? NULL : malloc(len + 1);
    if (task->manifest) {
        memcpy(task->manifest, text, len);
        task->manifest[len] = '\0';
        task->manifest_len = len;
        task->state = HC_TASK_DONE;
    } else {
        hc_autobuf line = {0};
        task->state = HC_TASK_FAILED;
        if (problem)
            task->problem = *problem;
        else
            hc_problem_set(&task->problem, HC_PROBLEM_INTERNAL, "out of memory");
        hc_problem_print(&task->problem, NULL, NULL, &line);
        hc_events_json(&task->events, "problem", line.data ? line.data : "null", line.data ? line.len : 4);
    }
    hc_task_wake(task);
    hc_task_unref(task);
}

void hc_front_session_answer(struct hc_front_session *s, const char *text, size_t len,
                             const struct hc_problem *problem)
{
    struct hc_task *task = s->task;
    s->task = NULL;
    if (s->state == HC_FRONT_SESSION_BUSY)
        s->state = HC_FRONT_SESSION_IDLE;
    s->used = hc_wall_ms();
    if (task)
        hc_front_task_answer(task, text, len, problem);
}

static void send_waiting(struct hc_front_session *s)
{
    struct hc_error err;
    if (s->stream.fd < 0) /* the stream to the worker is closed: no request can be sent */
        s->out.len = s->sent = 0;
    while (s->sent < s->out.len) {
        ssize_t n = TEMP_FAILURE_RETRY(
            send(s->stream.fd, s->out.data + s->sent, s->out.len - s->sent, MSG_NOSIGNAL | MSG_DONTWAIT));
        if (n < 0)
            break;
        s->sent += (size_t)n;
    }
    bool all = s->sent == s->out.len;
    if (all) {
        hc_buf_finish(&s->out);
        s->sent = 0;
        s->interrupt_waits = false;
    }
    count_requests(s);
    if (s->stream.fd < 0)
        return;
    hc_reactor_remove(s->all->dispatch->epoll, &s->stream);
    if (hc_reactor_add(s->all->dispatch->epoll, &s->stream, EPOLLIN | (all ? 0U : EPOLLOUT), &err) < 0)
        hc_warn("session %s: %s", s->id, err.text);
}

void hc_front_session_send(struct hc_front_session *s, const char *line, size_t len)
{
    (void)hc_buf_add(&s->out, line, len);
    (void)hc_buf_str(&s->out, "\n");
    send_waiting(s);
}

void hc_front_session_meter(struct hc_front_session *s)
{
    int64_t now = hc_mono_ms();
    const struct hc_usage used = {.kib_s = hc_kib_seconds(s->memory_peak, now - s->metered)};
    s->metered = now;
    s->kib_s += used.kib_s;
    hc_tenant_charge(s->tenant, &used, now);
}

/* ---- messages of the session's process ---- */

static void stream_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_front_session *s = hc_owner(w, struct hc_front_session, stream);
    if (events & EPOLLOUT)
        send_waiting(s);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)) || hc_front_session_read(s))
        return;
    char probe;
    if (s->stream.fd < 0)
        return;
    ssize_t n = recv(s->stream.fd, &probe, 1, MSG_DONTWAIT | MSG_PEEK);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        hc_reactor_remove(s->all->dispatch->epoll,
                          &s->stream); /* the channel reports the end of the process */
}

static void tools_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_front_session *s = hc_owner(w, struct hc_front_session, tools.watch);
    struct hc_events nobody = {0};
    (void)events;
    hc_tool_link_work(&s->tools, s->task ? &s->task->events : &nobody);
    hc_events_finish(&nobody);
    if (s->task)
        hc_task_wake(s->task);
}

/* ---- the end ---- */

static void set_gone(struct hc_front_session *s)
{
    hc_problem_set(&s->problem, HC_PROBLEM_GONE, "the session has ended (%s%s%s), and its state is gone",
                   s->reason, *s->manifest_reason ? ": " : "", s->manifest_reason);
}

static void answer_end(struct hc_front_session *s)
{
    struct hc_task *task = s->end;
    hc_autobuf out = {0};
    s->end = NULL;
    if (!task)
        return;
    hc_front_session_print(s, s->last, &out);
    hc_front_task_answer(task, out.data ? out.data : "", out.len, NULL);
}

/* Drops a long manifest, or the ended sessions of one tenant could fill the front's memory. */
static void forget_manifest(struct hc_front_session *s)
{
    if (s->last_len <= HC_FRONT_SESSION_MANIFEST)
        return;
    free(s->last);
    s->last = NULL;
    s->last_len = 0;
}

/* Writes the ended session into the ledger; from then on it is found as a job. */
static void store_session(const struct hc_front_session *s)
{
    struct hc_error err;
    bool told = *s->manifest_status;
    const struct hc_usage used = {
        .cpu_us = s->cpu_us,
        .kib_s = s->kib_s,
        .bytes = told ? s->file_bytes + s->kept_bytes + (int64_t)s->last_len : s->left_bytes,
    };
    /* The runs were charged before, so only the difference remains. */
    const struct hc_usage rest = {.bytes = used.bytes - s->left_bytes};
    hc_tenant_charge(s->tenant, &rest, hc_mono_ms());
    const struct hc_ledger_job row = {
        .id = s->id,
        .tenant = s->tenant->name,
        .state = told ? HC_JOB_DONE : HC_JOB_UNKNOWN,
        .status = told ? s->manifest_status : HC_STATUS_NAME_UNKNOWN,
        .policy = s->policy,
        .reason = told ? s->manifest_reason : "the process that held the session has died",
        .manifest = told ? s->last : NULL,
        .manifest_len = told ? s->last_len : 0,
        .attempts = 1,
        .accepted = s->created,
        .started = s->created,
        .finished = s->finished,
        .used = used,
    };
    if (hc_ledger_note(s->all->dispatch->ledger, &row, &err) < 0)
        hc_warn("session %s: %s", s->id, err.text);
}

/* Ends the session, whose process has ended or cannot be used. `why`: how the process failed; NULL: it has
 * reported its end. */
static void end_session(struct hc_front_session *s, const struct hc_problem *why)
{
    struct hc_front_sessions *all = s->all;
    bool began = s->state != HC_FRONT_SESSION_STARTING;
    if (!*s->reason) /* the process has given no reason */
        (void)snprintf(s->reason, sizeof s->reason, "%s", began && s->cancel_fd >= 0 ? "lost" : "cancelled");
    close_all(s);
    free(s->last);
    s->last = s->manifest;
    s->last_len = s->last ? strlen(s->last) : 0;
    s->manifest = NULL;
    s->state = HC_FRONT_SESSION_ENDED;
    s->finished = hc_wall_ms();
    s->tenant->sessions--;
    s->tenant->running_memory -= s->memory;
    all->open--;
    all->ended++;
    all->dispatch->counters.sessions_ended++;
    set_gone(s);
    hc_front_commands_end(s, why ? why : &s->problem);
    hc_front_session_meter(s);
    if (began)
        store_session(s);
    struct hc_problem gone = why ? *why : s->problem;
    if (began)
        gone.retry = HC_RETRY_UNKNOWN; /* the open request may have been carried out */
    hc_front_session_answer(s, NULL, 0, &gone);
    answer_end(s);
    forget_manifest(s);
    if (!began)
        hc_front_session_forget(s);
    else if (all->ended > HC_FRONT_SESSIONS_MAX_ENDED)
        forget_one(all);
    hc_dispatch_start_jobs(all->dispatch); /* a job may have waited for the session's memory */
}

static void channel_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_front_session *s = hc_owner(w, struct hc_front_session, channel);
    static struct hc_message m;
    struct hc_error err;
    struct hc_problem why;
    int fds[HC_RUN_FDS];
    size_t count;
    (void)events;
    int rc = hc_channel_receive(w->fd, &m, fds, &count, &err);
    if (rc < 0 && err.sys == EAGAIN)
        return;
    while (rc > 0 && count)
        hc_close_fd(&fds[--count]);
    while (s->stream.fd >= 0 && hc_front_session_read(s)) /* messages that it sent before its end */
        ;
    bool failed = rc > 0 && m.kind == HC_SAY_FAILED, began = s->state != HC_FRONT_SESSION_STARTING;
    /* an error after an order to end is not a failure */
    if (failed ? began && s->cancel_fd < 0 : *s->reason) {
        end_session(s, NULL);
    } else if (failed) {
        hc_problem_set(&why, hc_problem_of_error(&m.error), "%s", m.error.text);
        end_session(s, &why);
    } else {
        hc_warn("session %s: the process that held it has died", s->id);
        hc_problem_set(&why, HC_PROBLEM_GONE,
                       "the process that held the session has died, and its state is gone");
        end_session(s, &why);
    }
}

/* ---- the beginning ---- */

/* Milliseconds after which a client should ask again for room that sessions take: when they end is not
 * known. */
#define ROOM_RETRY_MS 5000

static bool has_room(struct hc_front_sessions *all, struct hc_tenant *t, int64_t memory,
                     struct hc_problem *why)
{
    struct hc_refusal refusal = {.retry_ms = ROOM_RETRY_MS};
    char wanted[32], used[32], most[32];
    if (hc_is_held(&t->hold)) {
        char text[HC_HOLD_TEXT];
        hc_problem_set(why, HC_PROBLEM_BUSY,
                       "an administrator holds the tenant: no session of it begins (%s)",
                       hc_hold_text(t, text));
        return false;
    }
    if (t->sessions >= t->quota.sessions) {
        refusal.quota = "sessions";
        refusal.never = t->quota.sessions == 0;
        (void)snprintf(refusal.text, sizeof refusal.text,
                       "the tenant has %lld sessions, and no more than %lld may be (quota sessions)",
                       (long long)t->sessions, (long long)t->quota.sessions);
    } else if (t->quota.memory > 0 && t->running_memory + memory > t->quota.memory) {
        refusal.quota = "memory";
        refusal.never = memory > t->quota.memory;
        (void)snprintf(refusal.text, sizeof refusal.text,
                       "limits.memory is %s, and the tenant's jobs and sessions have %s of %s (quota memory)",
                       hc_format_size(memory, wanted, sizeof wanted),
                       hc_format_size(t->running_memory, used, sizeof used),
                       hc_format_size(t->quota.memory, most, sizeof most));
    } else if (hc_tenant_has_budget(t, hc_mono_ms(), &refusal)) {
        if ((int64_t)all->open < all->dispatch->config.sessions)
            return true;
        hc_problem_set(why, HC_PROBLEM_BUSY,
                       "%zu sessions are open, and this daemon holds no more (sessions)", all->open);
        why->retry_after = ROOM_RETRY_MS / 1000;
        return false;
    }
    hc_set_refusal(why, &refusal);
    all->dispatch->counters.refused++;
    return false;
}

static struct hc_front_session *make_session(struct hc_front_sessions *all, struct hc_tenant *t,
                                             const struct hc_buf *body, struct hc_error *err)
{
    struct hc_front_session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->all = all;
    s->tenant = t;
    s->channel.fd = s->stream.fd = s->cancel_fd = s->body_fd = -1;
    hc_tool_link_init(&s->tools);
    s->created = s->used = hc_wall_ms();
    s->metered = hc_mono_ms();
    s->body_fd = hc_sealed_memfd("hotcell-request", body->data, body->len, err);
    s->body_len = body->len;
    if (s->body_fd >= 0 && hc_task_make_id(s->id) == 0 && hc_front_session_task(s, &s->task))
        return s;
    hc_close_fd(&s->body_fd);
    free(s);
    return NULL;
}

struct hc_task *hc_front_session_start(struct hc_front_sessions *all, struct hc_tenant *t,
                                       const struct hc_buf *body, struct hc_checked *checked,
                                       struct hc_problem *why)
{
    struct hc_error err;
    struct hc_message m = {.kind = HC_SAY_SESSION};
    struct hc_front_session *s = NULL;
    if (has_room(all, t, checked->memory, why) && !(s = make_session(all, t, body, &err)))
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory or descriptors");
    if (!s) {
        free(checked->labels);
        return NULL;
    }
    s->memory = checked->memory;
    s->life_ends = s->created + checked->life_ms;
    s->labels = checked->labels;
    (void)snprintf(s->policy, sizeof s->policy, "%s", checked->policy);
    s->has_tools = checked->has_tools;
    s->task->detached = false; /* only this client knows of the session yet */
    s->task->session = s;
    put_into_list(all, s);
    count_requests(s);
    t->sessions++;
    t->running_memory += checked->memory;
    all->dispatch->counters.sessions++;
    struct hc_task *task = s->task; /* two references: the caller's, and that of s->task */
    memcpy(m.job_id, s->id, sizeof s->id);
    if (hc_channel_send(all->manager_fd, &m, NULL, 0, &err) < 0) {
        hc_problem_set(&s->problem, HC_PROBLEM_BUSY, "%s", err.text);
        struct hc_problem busy = s->problem;
        end_session(s, &busy);
    }
    return task;
}

/* Opens the sockets to the session's process; `theirs` gets the ends for the process. */
static int open_ends(struct hc_front_session *s, int theirs[HC_SESSION_FDS], struct hc_error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "socketpair");
    s->stream = (struct hc_watch){pair[0], stream_ready};
    theirs[HC_SESSION_STREAM] = pair[1];
    if (hc_reactor_add(s->all->dispatch->epoll, &s->stream, EPOLLIN, err) < 0)
        return -1;
    if (hc_cancel_pair(&s->cancel_fd, &theirs[HC_SESSION_CANCEL], err) < 0)
        return -1;
    if (!s->has_tools)
        return 0;
    theirs[HC_SESSION_TOOLS] = hc_tool_link_open(&s->tools, s->all->dispatch->epoll, tools_ready, err);
    hc_tool_link_count(&s->tools, &s->all->dispatch->request_memory, s->tenant);
    return theirs[HC_SESSION_TOOLS] < 0 ? -1 : 0;
}

static int begin_session(struct hc_front_session *s, int channel, struct hc_error *err)
{
    int theirs[HC_SESSION_FDS] = {[HC_SESSION_BODY] = s->body_fd, -1, -1, -1};
    struct hc_message m = {.kind = HC_SAY_SESSION};
    s->channel = (struct hc_watch){channel, channel_ready};
    int rc = fcntl(channel, F_SETFL, O_NONBLOCK) < 0 ? hc_fail(err, errno, "begin a session") : 0;
    if (rc == 0)
        rc = hc_reactor_add(s->all->dispatch->epoll, &s->channel, EPOLLIN, err);
    if (rc == 0)
        rc = open_ends(s, theirs, err);
    memcpy(m.job_id, s->id, sizeof s->id);
    (void)snprintf(m.tenant, sizeof m.tenant, "%s", s->tenant->name);
    m.weight = s->tenant->quota.weight;
    m.max = s->tenant->quota.max;
    m.volumes = s->tenant->quota.volumes;
    (void)snprintf(m.policy, sizeof m.policy, "%s", hc_tenant_policy(s->tenant));
    if (rc == 0)
        rc = hc_channel_send(channel, &m, theirs, s->has_tools ? HC_SESSION_FDS : HC_SESSION_TOOLS, err);
    for (size_t i = HC_SESSION_STREAM; i < HC_SESSION_FDS; i++)
        hc_close_fd(&theirs[i]);
    hc_close_fd(&s->body_fd);
    count_requests(s);
    return rc;
}

void hc_front_session_process(struct hc_front_sessions *all, const char *id, int channel)
{
    struct hc_error err;
    struct hc_problem why;
    struct hc_front_session *s = hc_front_session_find_any(all, id);
    if (!s || s->state != HC_FRONT_SESSION_STARTING || s->channel.fd >= 0) {
        if (channel >= 0)
            (void)close(channel); /* this ends the process */
        return;
    }
    if (channel >= 0 && begin_session(s, channel, &err) == 0)
        return;
    hc_problem_set(&why, HC_PROBLEM_BUSY, "no process could be started for the session%s%s",
                   channel < 0 ? "" : ": ", channel < 0 ? "" : err.text);
    end_session(s, &why);
}

/* ---- requests ---- */

struct hc_task *hc_front_session_ask(struct hc_front_session *s, const char *name,
                                     const struct hc_buf *request, bool stream, struct hc_problem *why)
{
    struct hc_refusal refusal = {.retry_ms = -1};
    bool runs = strcmp(name, "run") == 0 || strcmp(name, "branch") == 0;
    if (s->state == HC_FRONT_SESSION_ENDED || s->closing) {
        *why = s->problem;
        if (s->state != HC_FRONT_SESSION_ENDED)
            hc_problem_set(why, HC_PROBLEM_GONE, "the session is about to end");
        return NULL;
    }
    if (s->state != HC_FRONT_SESSION_IDLE) {
        hc_problem_set(why, HC_PROBLEM_IN_USE, "the session is %s", state_names[s->state]);
        return NULL;
    }
    hc_front_session_meter(s);
    if (runs && !hc_tenant_has_budget(s->tenant, hc_mono_ms(), &refusal)) {
        hc_set_refusal(why, &refusal);
        s->all->dispatch->counters.refused++;
        return NULL;
    }
    struct hc_task *task = hc_front_session_task(s, &s->task);
    if (!task) {
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        return NULL;
    }
    s->state = HC_FRONT_SESSION_BUSY;
    s->run_context[0] = '\0';
    s->changes +=
        strcmp(name, "list_files") != 0 && strcmp(name, "stat_file") != 0 && strcmp(name, "read_file") != 0;
    s->used = hc_wall_ms();
    memset(s->left_out, 0, sizeof s->left_out);
    if (stream != s->streams)
        hc_front_session_send(s, stream ? "{\"stream\": true}" : "{\"stream\": false}", stream ? 16 : 17);
    s->streams = stream;
    s->interrupt_waits = false; /* an interrupt in `out` is for an earlier request */
    hc_front_session_send(s, request->data, request->len);
    return task;
}

void hc_front_session_interrupt(struct hc_front_session *s)
{
    static const char line[] = "{\"interrupt\": true}";
    if (s->state != HC_FRONT_SESSION_BUSY || s->interrupt_waits)
        return; /* one interrupt is enough until the process has read it */
    s->interrupt_waits = true;
    hc_front_session_send(s, line, sizeof line - 1);
}

#define MOST_INPUT ((size_t)1 << 20) /* bytes of requests that the process has not taken */

int hc_front_session_input(struct hc_front_session *s, const struct hc_buf *line, struct hc_problem *why)
{
    if (s->state == HC_FRONT_SESSION_ENDED)
        *why = s->problem;
    else if (s->state != HC_FRONT_SESSION_BUSY)
        hc_problem_set(why, HC_PROBLEM_IN_USE, "no run waits for input: the session is %s",
                       state_names[s->state]);
    else if (s->out.len + line->len > MOST_INPUT)
        hc_problem_set(why, HC_PROBLEM_IN_USE, "the run has not read its earlier input");
    else {
        hc_front_session_send(s, line->data, line->len);
        return 0;
    }
    return -1;
}

/* Ends the session after its current run. */
static void close_session(struct hc_front_session *s, const char *who)
{
    static const char line[] = "{\"close\": true}";
    /* A process that starts is told later: drained() calls this again. */
    if (s->closing || s->state == HC_FRONT_SESSION_STARTING)
        return;
    s->closing = true;
    s->ended_by = who;
    hc_front_session_send(s, line, sizeof line - 1);
}

void hc_front_session_cancel(struct hc_front_session *s, const char *who, const char *why)
{
    s->closing = true;
    if (s->cancel_fd >= 0) { /* the session has not been cancelled before */
        s->ended_by = who;
        (void)snprintf(s->manifest_reason, sizeof s->manifest_reason, "%s", why ? why : "");
    }
    hc_cancel_close(&s->cancel_fd, why);
    if (s->state == HC_FRONT_SESSION_STARTING && s->channel.fd < 0) {
        struct hc_problem problem;
        hc_problem_set(&problem, HC_PROBLEM_CANCELLED, "%s",
                       why ? why : "the session was cancelled before it began");
        end_session(s, &problem);
    }
}

void hc_front_session_expire_in(struct hc_front_session *s, int64_t ms)
{
    s->expires = hc_wall_ms() + ms;
}

void hc_front_sessions_sweep(struct hc_front_sessions *all)
{
    const int64_t now = hc_wall_ms();
    for (struct hc_front_session *s = all->newest, *next; s; s = next) {
        next = s->next;
        hc_front_commands_sweep(s);
        if (!s->expires || now < s->expires || s->closing || s->state == HC_FRONT_SESSION_ENDED)
            continue;
        struct hc_task *end = hc_front_session_end(s);
        hc_task_unref(end);
    }
}

struct hc_task *hc_front_session_end(struct hc_front_session *s)
{
    if (s->end)
        hc_task_ref(s->end);
    else if (!hc_front_session_task(s, &s->end))
        return NULL;
    struct hc_task *task = s->end;
    if (s->state == HC_FRONT_SESSION_IDLE)
        close_session(s, "tenant");
    else
        hc_front_session_cancel(s, "tenant", NULL);
    return task;
}

void hc_front_sessions_drain(struct hc_front_sessions *all, bool late)
{
    for (struct hc_front_session *s = all->newest, *next; s; s = next) {
        next = s->next;
        if (s->state == HC_FRONT_SESSION_ENDED)
            continue;
        if (late)
            hc_front_session_cancel(s, "daemon", NULL);
        else
            close_session(s, "daemon");
    }
}

/* ---- sessions as JSON ---- */

void hc_front_sessions_print(const struct hc_front_sessions *all,
                             bool fits(const struct hc_front_session *s, const void *which),
                             const void *which, struct hc_buf *out)
{
    int count = 0;
    (void)hc_buf_str(out, "[");
    for (const struct hc_front_session *s = all->newest; s; s = s->next) {
        if (!fits(s, which))
            continue;
        if (count++)
            (void)hc_buf_str(out, ", ");
        hc_front_session_print(s, NULL, out);
    }
    (void)hc_buf_str(out, "]");
}

/* Appends why the session ended, what ended it, and the reason as a sentence. A limit or a failure may have
 * ended it before an order to end did. */
static void print_end(const struct hc_front_session *s, struct hc_buf *out)
{
    const bool told = strcmp(s->reason, "closed") == 0 || strcmp(s->reason, "cancelled") == 0;
    const char *who = told ? s->ended_by : NULL, *quote = who ? "\"" : "";
    (void)hc_buf_fmt(out, ", \"reason\": \"%s\", \"ended_by\": %s%s%s, \"detail\": ", s->reason, quote,
                     who ? who : "null", quote);
    if (*s->manifest_reason)
        hc_json_quote(out, s->manifest_reason, hc_utf8_whole(s->manifest_reason));
    else
        (void)hc_buf_str(out, "null");
}

void hc_front_session_print(const struct hc_front_session *s, const char *result, struct hc_buf *out)
{
    (void)hc_buf_fmt(out, "{\"session_id\": \"%s\", \"tenant\": \"%s\", \"state\": \"%s\"", s->id,
                     s->tenant->name, state_names[s->state]);
    hc_task_print_time(out, "created", s->created);
    hc_task_print_time(out, "used", s->used);
    hc_task_print_time(out, "finished", s->finished);
    (void)hc_buf_fmt(out, ", \"runs\": %lld, \"branches\": %lld, \"after\": ", (long long)s->runs,
                     (long long)s->branches);
    (void)hc_buf_fmt(out, *s->after && s->state != HC_FRONT_SESSION_ENDED ? "\"%s\"" : "null", s->after);
    if (s->state == HC_FRONT_SESSION_ENDED)
        print_end(s, out);
    if (result)
        (void)hc_buf_fmt(out, ", \"%s\": %s", s->state == HC_FRONT_SESSION_ENDED ? "manifest" : "last",
                         result);
    (void)hc_buf_str(out, "}\n");
}
