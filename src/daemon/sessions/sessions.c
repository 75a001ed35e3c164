#include "daemon/front.h"
#include "daemon/queue/hold.h"
#include "daemon/sessions/session_parts.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/units.h"
#include "base/utf8.h"
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

static void put_into_list(struct hc_front_sessions *all, struct hc_front_session *d)
{
    d->next = all->newest;
    if (d->next)
        d->next->previous = d;
    all->newest = d;
    all->open++;
}

struct hc_front_session *hc_front_session_find(const struct hc_front *f, const struct hc_tenant *t,
                                               const char *id)
{
    struct hc_front_session *d = hc_front_session_find_any(f, id);
    return d && d->tenant == t ? d : NULL;
}

struct hc_front_session *hc_front_session_find_any(const struct hc_front *f, const char *id)
{
    struct hc_front_session *d = f->sessions.newest;
    while (d && strcmp(d->id, id) != 0)
        d = d->next;
    return d;
}

/* What its process has not taken is memory, as bodies are that still come. */
static void count_requests(struct hc_front_session *d)
{
    int64_t bytes = (int64_t)((d->body_fd >= 0 ? d->body_len : 0) + d->out.len);
    hc_request_memory_hold(&d->front->bodies, d->tenant, bytes - d->held);
    d->held = bytes;
}

static void close_watch(const struct hc_front_session *d, struct hc_watch *w)
{
    hc_reactor_remove(d->front->epoll, w);
    hc_close_fd(&w->fd);
}

static void close_all(struct hc_front_session *d)
{
    close_watch(d, &d->channel);
    close_watch(d, &d->stream);
    hc_tool_link_close(&d->tools);
    hc_close_fd(&d->cancel_fd);
    hc_close_fd(&d->body_fd);
    hc_buf_finish(&d->in);
    hc_buf_finish(&d->out);
    hc_buf_finish(&d->list);
    count_requests(d);
}

void hc_front_session_forget(struct hc_front_session *d)
{
    struct hc_front_sessions *all = &d->front->sessions;
    *(d->previous ? &d->previous->next : &all->newest) = d->next;
    if (d->next)
        d->next->previous = d->previous;
    all->ended--;
    free(d->last);
    free(d);
}

/* The oldest of those that have ended. */
static void forget_one(struct hc_front *f)
{
    struct hc_front_session *oldest = NULL;
    for (struct hc_front_session *d = f->sessions.newest; d; d = d->next)
        if (d->state == HC_FRONT_SESSION_ENDED)
            oldest = d;
    if (oldest)
        hc_front_session_forget(oldest);
}

/* ---- requests and their answers ---- */

/* A task of the session, known to who asked for it alone: two references, one of them the caller's. */
static struct hc_task *make_task(struct hc_front_session *d, struct hc_task **place)
{
    struct hc_task *task = hc_task_create(NULL, d->front, d->tenant, d->id);
    if (!task)
        return NULL;
    task->of_session = true;
    task->detached = true;
    task->state = HC_TASK_RUNNING;
    *place = task;
    hc_task_ref(task);
    return task;
}

/* Consumes the task: `text` is one line of JSON, or there is a problem. */
static void answer(struct hc_task *task, const char *text, size_t len, const struct hc_problem *problem)
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

void hc_front_session_answer(struct hc_front_session *d, const char *text, size_t len,
                             const struct hc_problem *problem)
{
    struct hc_task *task = d->task;
    d->task = NULL;
    if (d->state == HC_FRONT_SESSION_BUSY)
        d->state = HC_FRONT_SESSION_IDLE;
    d->used = hc_wall_ms();
    if (task)
        answer(task, text, len, problem);
}

static void flush(struct hc_front_session *d)
{
    struct hc_error err;
    while (d->stream.fd >= 0 && d->sent < d->out.len) {
        ssize_t n = TEMP_FAILURE_RETRY(
            send(d->stream.fd, d->out.data + d->sent, d->out.len - d->sent, MSG_NOSIGNAL | MSG_DONTWAIT));
        if (n < 0)
            break;
        d->sent += (size_t)n;
    }
    bool all = d->sent == d->out.len;
    if (all) {
        hc_buf_finish(&d->out);
        d->sent = 0;
        d->interrupt_waits = false;
    }
    count_requests(d);
    hc_reactor_remove(d->front->epoll, &d->stream);
    if (hc_reactor_add(d->front->epoll, &d->stream, EPOLLIN | (all ? 0U : EPOLLOUT), &err) < 0)
        hc_warn("session %s: %s", d->id, err.text);
}

static void say(struct hc_front_session *d, const char *line, size_t len)
{
    (void)hc_buf_add(&d->out, line, len);
    (void)hc_buf_str(&d->out, "\n");
    flush(d);
}

void hc_front_session_meter(struct hc_front_session *d)
{
    int64_t now = hc_mono_ms();
    const struct hc_usage used = {.kib_s = hc_kib_seconds(d->memory_peak, now - d->metered)};
    d->metered = now;
    d->kib_s += used.kib_s;
    hc_tenant_charge(d->tenant, &used, now);
}

/* ---- what its process says ---- */

static void stream_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_front_session *d = hc_owner(w, struct hc_front_session, stream);
    if (events & EPOLLOUT)
        flush(d);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)) || hc_front_session_read(d))
        return;
    char probe;
    ssize_t n = d->deaf ? 0 : recv(d->stream.fd, &probe, 1, MSG_DONTWAIT | MSG_PEEK);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        hc_reactor_remove(d->front->epoll, &d->stream); /* the channel tells the rest */
}

static void tools_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_front_session *d = hc_owner(w, struct hc_front_session, tools.watch);
    struct hc_events nobody = {0};
    (void)events;
    hc_tool_link_work(&d->tools, d->task ? &d->task->events : &nobody);
    hc_events_finish(&nobody);
    if (d->task)
        hc_task_wake(d->task);
}

/* ---- the end ---- */

static void set_gone(struct hc_front_session *d)
{
    hc_problem_set(&d->problem, HC_PROBLEM_GONE, "the session has ended (%s%s%s), and its state is gone",
                   d->reason, *d->manifest_reason ? ": " : "", d->manifest_reason);
}

static void answer_end(struct hc_front_session *d)
{
    struct hc_task *task = d->end;
    hc_autobuf out = {0};
    d->end = NULL;
    if (!task)
        return;
    hc_front_session_print(d, d->last, &out);
    answer(task, out.data ? out.data : "", out.len, NULL);
}

/* What a tenant's sessions have left could otherwise be as much as there is memory. */
static void forget_manifest(struct hc_front_session *d)
{
    if (d->last_len <= HC_FRONT_SESSION_MANIFEST)
        return;
    free(d->last);
    d->last = NULL;
    d->last_len = 0;
}

/* Its process has ended, or cannot be used. `why`: what it failed with; NULL: it has told its end. */
static void end_dialog(struct hc_front_session *d, const struct hc_problem *why)
{
    struct hc_front *f = d->front;
    bool began = d->state != HC_FRONT_SESSION_STARTING;
    if (!*d->reason) /* of one that has not begun who ends it is told alone */
        (void)snprintf(d->reason, sizeof d->reason, "%s", began && d->cancel_fd >= 0 ? "lost" : "cancelled");
    close_all(d);
    free(d->last);
    d->last = d->manifest;
    d->last_len = d->last ? strlen(d->last) : 0;
    d->manifest = NULL;
    d->state = HC_FRONT_SESSION_ENDED;
    d->finished = hc_wall_ms();
    d->tenant->sessions--;
    d->tenant->running_memory -= d->memory;
    f->sessions.open--;
    f->sessions.ended++;
    f->metrics.sessions_ended++;
    set_gone(d);
    hc_front_session_meter(d);
    if (began)
        hc_store_session(f, d);
    struct hc_problem gone = why ? *why : d->problem;
    if (began)
        gone.retry = HC_RETRY_UNKNOWN; /* what was asked for */
    hc_front_session_answer(d, NULL, 0, &gone);
    answer_end(d);
    forget_manifest(d);
    if (!began)
        hc_front_session_forget(d);
    else if (f->sessions.ended > HC_FRONT_SESSIONS_MAX_ENDED)
        forget_one(f);
    hc_front_dispatch(f); /* a job may have waited for its memory */
}

static void channel_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_front_session *d = hc_owner(w, struct hc_front_session, channel);
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
    while (d->stream.fd >= 0 && hc_front_session_read(d)) /* what it said before */
        ;
    bool failed = rc > 0 && m.kind == HC_SAY_FAILED, began = d->state != HC_FRONT_SESSION_STARTING;
    if (failed ? began && d->cancel_fd < 0 : *d->reason) { /* at whatever it did when it was told to end */
        end_dialog(d, NULL);
    } else if (failed) {
        hc_problem_set(&why, hc_problem_of_exit(m.error.exit), "%s", m.error.text);
        end_dialog(d, &why);
    } else {
        hc_warn("session %s: the process that held it has died", d->id);
        hc_problem_set(&why, HC_PROBLEM_GONE,
                       "the process that held the session has died, and its state is gone");
        end_dialog(d, &why);
    }
}

/* ---- the beginning ---- */

static bool has_room(struct hc_front *f, struct hc_tenant *t, int64_t memory, struct hc_problem *why)
{
    struct hc_refusal refusal = {.retry_ms = -1};
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
        if ((int64_t)f->sessions.open < f->config.sessions)
            return true;
        hc_problem_set(why, HC_PROBLEM_BUSY,
                       "%zu sessions are open, and this daemon holds no more (sessions)", f->sessions.open);
        return false;
    }
    hc_set_refusal(why, &refusal);
    f->metrics.refused++;
    return false;
}

static struct hc_front_session *make_dialog(struct hc_front *f, struct hc_tenant *t,
                                            const struct hc_buf *body, struct hc_error *err)
{
    struct hc_front_session *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->front = f;
    d->tenant = t;
    d->channel.fd = d->stream.fd = d->cancel_fd = d->body_fd = -1;
    hc_tool_link_init(&d->tools);
    d->created = d->used = hc_wall_ms();
    d->metered = hc_mono_ms();
    d->body_fd = hc_sealed_memfd("hotcell-request", body->data, body->len, err);
    d->body_len = body->len;
    if (d->body_fd >= 0 && hc_task_make_id(d->id) == 0 && make_task(d, &d->task))
        return d;
    hc_close_fd(&d->body_fd);
    free(d);
    return NULL;
}

struct hc_task *hc_front_session_start(struct hc_front *f, struct hc_tenant *t, const struct hc_buf *body,
                                       const struct hc_checked *checked, struct hc_problem *why)
{
    struct hc_error err;
    struct hc_message m = {.kind = HC_SAY_SESSION};
    if (!has_room(f, t, checked->memory, why))
        return NULL;
    struct hc_front_session *d = make_dialog(f, t, body, &err);
    if (!d) {
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory or descriptors");
        return NULL;
    }
    d->memory = checked->memory;
    (void)snprintf(d->policy, sizeof d->policy, "%s", checked->policy);
    d->has_tools = checked->has_tools;
    d->task->detached = false; /* nobody else knows of it yet */
    d->task->session = d;
    put_into_list(&f->sessions, d);
    count_requests(d);
    t->sessions++;
    t->running_memory += checked->memory;
    f->metrics.sessions++;
    struct hc_task *task = d->task; /* two references: the caller's, and ours */
    memcpy(m.job_id, d->id, sizeof d->id);
    if (hc_channel_send(f->manager.fd, &m, NULL, 0, &err) < 0) {
        hc_problem_set(&d->problem, HC_PROBLEM_BUSY, "%s", err.text);
        struct hc_problem busy = d->problem;
        end_dialog(d, &busy);
    }
    return task;
}

/* The other ends of what we talk to its process through. */
static int open_ends(struct hc_front_session *d, int theirs[HC_SESSION_FDS], struct hc_error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "socketpair");
    d->stream = (struct hc_watch){pair[0], stream_ready};
    theirs[HC_SESSION_STREAM] = pair[1];
    if (hc_reactor_add(d->front->epoll, &d->stream, EPOLLIN, err) < 0)
        return -1;
    if (hc_cancel_pair(&d->cancel_fd, &theirs[HC_SESSION_CANCEL], err) < 0)
        return -1;
    if (!d->has_tools)
        return 0;
    theirs[HC_SESSION_TOOLS] = hc_tool_link_open(&d->tools, d->front->epoll, tools_ready, err);
    hc_tool_link_count(&d->tools, &d->front->bodies, d->tenant);
    return theirs[HC_SESSION_TOOLS] < 0 ? -1 : 0;
}

static int begin(struct hc_front_session *d, int channel, struct hc_error *err)
{
    int theirs[HC_SESSION_FDS] = {[HC_SESSION_BODY] = d->body_fd, -1, -1, -1};
    struct hc_message m = {.kind = HC_SAY_SESSION};
    d->channel = (struct hc_watch){channel, channel_ready};
    int rc = fcntl(channel, F_SETFL, O_NONBLOCK) < 0 ? hc_fail(err, errno, "begin a session") : 0;
    if (rc == 0)
        rc = hc_reactor_add(d->front->epoll, &d->channel, EPOLLIN, err);
    if (rc == 0)
        rc = open_ends(d, theirs, err);
    memcpy(m.job_id, d->id, sizeof d->id);
    (void)snprintf(m.tenant, sizeof m.tenant, "%s", d->tenant->name);
    m.weight = d->tenant->quota.weight;
    m.max = d->tenant->quota.max;
    (void)snprintf(m.policy, sizeof m.policy, "%s", hc_tenant_policy(d->tenant));
    if (rc == 0)
        rc = hc_channel_send(channel, &m, theirs, d->has_tools ? HC_SESSION_FDS : HC_SESSION_TOOLS, err);
    for (size_t i = HC_SESSION_STREAM; i < HC_SESSION_FDS; i++)
        hc_close_fd(&theirs[i]);
    hc_close_fd(&d->body_fd);
    count_requests(d);
    return rc;
}

void hc_front_session_process(struct hc_front *f, const char *id, int channel)
{
    struct hc_error err;
    struct hc_problem why;
    struct hc_front_session *d = hc_front_session_find_any(f, id);
    if (!d || d->state != HC_FRONT_SESSION_STARTING || d->channel.fd >= 0) {
        if (channel >= 0)
            (void)close(channel); /* it ends by that */
        return;
    }
    if (channel >= 0 && begin(d, channel, &err) == 0)
        return;
    hc_problem_set(&why, HC_PROBLEM_BUSY, "no process could be started for the session%s%s",
                   channel < 0 ? "" : ": ", channel < 0 ? "" : err.text);
    end_dialog(d, &why);
}

/* ---- requests ---- */

struct hc_task *hc_front_session_ask(struct hc_front_session *d, const char *name,
                                     const struct hc_buf *request, bool stream, struct hc_problem *why)
{
    struct hc_refusal refusal = {.retry_ms = -1};
    bool runs = strcmp(name, "run") == 0 || strcmp(name, "branch") == 0;
    if (d->state == HC_FRONT_SESSION_ENDED || d->closing) {
        *why = d->problem;
        if (d->state != HC_FRONT_SESSION_ENDED)
            hc_problem_set(why, HC_PROBLEM_GONE, "the session is about to end");
        return NULL;
    }
    if (d->state != HC_FRONT_SESSION_IDLE) {
        hc_problem_set(why, HC_PROBLEM_IN_USE, "the session is %s", state_names[d->state]);
        return NULL;
    }
    hc_front_session_meter(d);
    if (runs && !hc_tenant_has_budget(d->tenant, hc_mono_ms(), &refusal)) {
        hc_set_refusal(why, &refusal);
        d->front->metrics.refused++;
        return NULL;
    }
    struct hc_task *task = make_task(d, &d->task);
    if (!task) {
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        return NULL;
    }
    d->state = HC_FRONT_SESSION_BUSY;
    d->used = hc_wall_ms();
    if (stream != d->streams)
        say(d, stream ? "{\"stream\": true}" : "{\"stream\": false}", stream ? 16 : 17);
    d->streams = stream;
    d->interrupt_waits = false; /* if there is one, it is for what came before */
    say(d, request->data, request->len);
    return task;
}

void hc_front_session_interrupt(struct hc_front_session *d)
{
    static const char line[] = "{\"interrupt\": true}";
    if (d->state != HC_FRONT_SESSION_BUSY || d->interrupt_waits)
        return; /* one, however often it is asked for before its process takes it */
    d->interrupt_waits = true;
    say(d, line, sizeof line - 1);
}

/* When what it does has ended. */
static void close_dialog(struct hc_front_session *d, const char *who)
{
    static const char line[] = "{\"close\": true}";
    if (d->closing ||
        d->state == HC_FRONT_SESSION_STARTING) /* which is told when it is there: drained() asks again */
        return;
    d->closing = true;
    d->ended_by = who;
    say(d, line, sizeof line - 1);
}

void hc_front_session_cancel(struct hc_front_session *d, const char *who, const char *why)
{
    d->closing = true;
    if (d->cancel_fd >= 0) { /* nobody else has done so before */
        d->ended_by = who;
        (void)snprintf(d->manifest_reason, sizeof d->manifest_reason, "%s", why ? why : "");
    }
    hc_cancel_close(&d->cancel_fd, why);
    if (d->state == HC_FRONT_SESSION_STARTING && d->channel.fd < 0) {
        struct hc_problem problem;
        hc_problem_set(&problem, HC_PROBLEM_CANCELLED, "%s",
                       why ? why : "the session was cancelled before it began");
        end_dialog(d, &problem);
    }
}

struct hc_task *hc_front_session_end(struct hc_front_session *d)
{
    if (d->end)
        hc_task_ref(d->end);
    else if (!make_task(d, &d->end))
        return NULL;
    struct hc_task *task = d->end;
    if (d->state == HC_FRONT_SESSION_IDLE)
        close_dialog(d, "tenant");
    else
        hc_front_session_cancel(d, "tenant", NULL);
    return task;
}

void hc_front_sessions_drain(struct hc_front *f, bool late)
{
    for (struct hc_front_session *d = f->sessions.newest, *next; d; d = next) {
        next = d->next;
        if (d->state == HC_FRONT_SESSION_ENDED)
            continue;
        if (late)
            hc_front_session_cancel(d, "daemon", NULL);
        else
            close_dialog(d, "daemon");
    }
}

/* ---- what is told of it ---- */

void hc_front_sessions_print(const struct hc_front_sessions *all,
                             bool fits(const struct hc_front_session *d, const void *which),
                             const void *which, struct hc_buf *out)
{
    int count = 0;
    (void)hc_buf_str(out, "[");
    for (const struct hc_front_session *d = all->newest; d; d = d->next) {
        if (!fits(d, which))
            continue;
        if (count++)
            (void)hc_buf_str(out, ", ");
        hc_front_session_print(d, NULL, out);
    }
    (void)hc_buf_str(out, "]");
}

/* Why, who, and in a sentence. A limit or a failure may have come before what it was told. */
static void print_end(const struct hc_front_session *d, struct hc_buf *out)
{
    const bool told = strcmp(d->reason, "closed") == 0 || strcmp(d->reason, "cancelled") == 0;
    const char *who = told ? d->ended_by : NULL, *quote = who ? "\"" : "";
    (void)hc_buf_fmt(out, ", \"reason\": \"%s\", \"ended_by\": %s%s%s, \"detail\": ", d->reason, quote,
                     who ? who : "null", quote);
    if (*d->manifest_reason)
        hc_json_quote(out, d->manifest_reason, hc_utf8_whole(d->manifest_reason));
    else
        (void)hc_buf_str(out, "null");
}

void hc_front_session_print(const struct hc_front_session *d, const char *result, struct hc_buf *out)
{
    (void)hc_buf_fmt(out, "{\"session_id\": \"%s\", \"tenant\": \"%s\", \"state\": \"%s\"", d->id,
                     d->tenant->name, state_names[d->state]);
    hc_task_print_time(out, "created", d->created);
    hc_task_print_time(out, "used", d->used);
    hc_task_print_time(out, "finished", d->finished);
    (void)hc_buf_fmt(out, ", \"runs\": %lld, \"branches\": %lld, \"after\": ", (long long)d->runs,
                     (long long)d->branches);
    (void)hc_buf_fmt(out, *d->after && d->state != HC_FRONT_SESSION_ENDED ? "\"%s\"" : "null", d->after);
    if (d->state == HC_FRONT_SESSION_ENDED)
        print_end(d, out);
    if (result)
        (void)hc_buf_fmt(out, ", \"%s\": %s", d->state == HC_FRONT_SESSION_ENDED ? "manifest" : "last",
                         result);
    (void)hc_buf_str(out, "}\n");
}
