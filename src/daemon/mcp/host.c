/* Programs as jobs in the queue, and sessions as the daemon's sessions, of a peer's tenant. */
#include "daemon/mcp/peers.h"

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/queue/maxima.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- the tasks ---- */

static void has_news(struct hc_waiter *w)
{
    struct hc_mcp_work *k = hc_owner(w, struct hc_mcp_work, waiter);
    k->peer->due = true;
    k->peer->all->due = true;
}

/* Follow a task, whose reference is taken. */
static void follow(struct hc_mcp_peer *p, struct hc_mcp_work *k, struct hc_task *task)
{
    *k = (struct hc_mcp_work){.task = task, .waiter.wake = has_news, .peer = p};
    task->detached = true; /* it goes on whoever else looks at it, and ends with the peer */
    hc_task_wait(task, &k->waiter);
    has_news(&k->waiter); /* it may have ended already */
}

static void leave(struct hc_mcp_work *k)
{
    struct hc_task *task = k->task;
    if (!task)
        return;
    k->task = NULL;
    hc_task_unwait(&k->waiter);
    if (hc_task_ended(task) && !task->waiters)
        hc_events_finish(&task->events);
    hc_task_unref(task);
}

/* Takes what was printed out of the task's new events. */
static void read_events(struct hc_mcp_work *k, struct hc_progress *progress)
{
    const struct hc_buf *lines = &k->task->events.lines;
    const char *end;
    if (!progress->token[0]) {
        k->line = lines->len;
        return;
    }
    while (k->line < lines->len && (end = memchr(lines->data + k->line, '\n', lines->len - k->line))) {
        const size_t len = (size_t)(end - lines->data) - k->line;
        cJSON *json = cJSON_ParseWithLength(lines->data + k->line, len);
        const char *event = hc_json_text(json, "event"), *text = hc_json_text(json, "text");
        if (strcmp(event, "stdout") == 0 || strcmp(event, "stderr") == 0)
            hc_progress_print(progress, text, strlen(text));
        cJSON_Delete(json);
        k->line += len + 1;
    }
}

/* ---- inputs ---- */

static cJSON *content(const char *name, const struct hc_buf *bytes, struct hc_error *err)
{
    cJSON *input = hc_mcp_blob("data", bytes);
    if (!input)
        (void)hc_fail(err, ENOMEM, "%s", name);
    else
        hc_mcp_put(input, "file", cJSON_CreateString(name));
    return input;
}

static int check_size(const struct hc_mcp_peer *p, const char *name, int64_t bytes, struct hc_error *err)
{
    const int64_t most = p->all->dispatch->config.http_body / 4 * 3; /* as base64 */
    return bytes <= most
               ? 0
               : hc_fail_as(err, HC_EXIT_DATA, 0,
                            "%s has %lld bytes, and an input that is no file of write_file may have "
                            "%lld (http.body of hotcelld.conf)",
                            name, (long long)bytes, (long long)most);
}

static cJSON *give(struct hc_mcp *m, const char *run, const char *name, const struct hc_buf *bytes,
                   struct hc_error *err)
{
    (void)run;
    return check_size(hc_mcp_peer_of(m), name, (int64_t)bytes->len, err) < 0 ? NULL
                                                                             : content(name, bytes, err);
}

static cJSON *give_stored(struct hc_mcp *m, const char *run, const char *name, const struct hc_stored *file,
                          struct hc_error *err)
{
    struct hc_mcp_peer *p = hc_mcp_peer_of(m);
    const char *slash = strchr(file->path, '/');
    const bool written = strncmp(file->path, HC_STORE_FILES "/", strlen(HC_STORE_FILES "/")) == 0;
    const char *upload = written ? hc_mcp_written_id(p, slash + 1) : NULL;
    hc_autobuf bytes = {0};
    (void)run;
    if (upload) {
        cJSON *input = cJSON_CreateObject();
        hc_mcp_put(input, "file", cJSON_CreateString(name));
        hc_mcp_put(input, "upload", cJSON_CreateString(upload));
        return input;
    }
    if (check_size(p, file->path, file->bytes, err) < 0 ||
        hc_files_read(m->store, file, 0, (size_t)file->bytes, &bytes, err) < 0)
        return NULL;
    return content(name, &bytes, err);
}

static void forget(struct hc_mcp *m, const char *run)
{
    (void)m;
    (void)run;
}

/* ---- requests, as if they had come by POST ---- */

/* Checks a request as the route for it does. */
static int check_request(struct hc_mcp_peer *p, const struct hc_buf *body, bool session,
                         struct hc_checked *checked, struct hc_problem *why)
{
    struct hc_dispatch *d = p->all->dispatch;
    const struct hc_bounds bounds = {.all = d->config.http_bodies, .one = d->config.http_body};
    if (!hc_dispatch_takes_jobs(d, why))
        return -1;
    if (body->failed || (int64_t)body->len > d->config.http_body) {
        hc_problem_set(
            why, HC_PROBLEM_TOO_LARGE,
            "the program and its files have more than the %lld bytes of http.body: put files there "
            "with write_file, and name them in 'inputs'",
            (long long)d->config.http_body);
        return -1;
    }
    if (!hc_request_memory_fit(&d->request_memory, &bounds, p->tenant->request_bytes, (int64_t)body->len)) {
        hc_problem_set(why, HC_PROBLEM_BUSY, "too much is being sent at the same time");
        return -1;
    }
    return hc_check_request(d, body, p->tenant, session, checked, why);
}

/* What the peer adds to a spec, `spec`: an object with members. */
static void make_body(const struct hc_mcp_peer *p, const char *spec, int64_t timeout_ms, struct hc_buf *body)
{
    (void)hc_buf_fmt(body, "{\"policy\":\"%s\",\"interface\":\"mcp\",", p->policy);
    if (timeout_ms)
        (void)hc_buf_fmt(body, "\"limits\":{\"timeout\":\"%lldms\"},", (long long)timeout_ms);
    (void)hc_buf_str(body, spec + 1);
}

static int submit(struct hc_mcp_peer *p, struct hc_mcp_work *k, const struct hc_buf *body,
                  struct hc_problem *why)
{
    struct hc_dispatch *d = p->all->dispatch;
    struct hc_checked checked = {0};
    struct hc_error err;
    char known[HC_JOB_ID];
    if (check_request(p, body, false, &checked, why) < 0)
        return -1;
    struct hc_task *task = hc_task_create(&d->tasks, d, p->tenant, NULL);
    if (task)
        task->body_fd = hc_sealed_memfd("hotcell-request", body->data, body->len, &err);
    if (!task || task->body_fd < 0) {
        if (task)
            hc_task_drop(&d->tasks, task);
        hc_problem_set(why, HC_PROBLEM_BUSY, "out of memory or descriptors");
        return -1;
    }
    task->body_len = body->len;
    hc_sha256_hex(body->data, body->len, task->body_sha256);
    task->allowed_under = d->configuration;
    task->queued.memory = checked.memory;
    (void)snprintf(task->policy, sizeof task->policy, "%s", checked.policy);
    hc_task_ref(task);
    if (!hc_dispatch_submit(d, task, known, why)) {
        hc_task_unref(task);
        return -1;
    }
    follow(p, k, task);
    return 0;
}

/* ---- programs ---- */

static struct hc_mcp_work *work_of(struct hc_mcp *m, const struct hc_program *q)
{
    return &hc_mcp_peer_of(m)->programs[q - m->programs];
}

static int start(struct hc_mcp *m, struct hc_program *q, struct hc_error *err)
{
    struct hc_mcp_peer *p = hc_mcp_peer_of(m);
    struct hc_problem why = {0};
    hc_autobuf body = {0};
    make_body(p, q->spec.data, q->timeout_ms, &body);
    if (submit(p, work_of(m, q), &body, &why) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s", why.detail);
    hc_mcp_name_note(p, q->run, work_of(m, q)->task->queued.id);
    return 0;
}

static bool look(struct hc_mcp *m, struct hc_program *q)
{
    struct hc_mcp_work *k = work_of(m, q);
    const struct hc_task *task = k->task;
    if (task->state == HC_TASK_RUNNING && !k->started) {
        k->started = true;
        hc_progress_start(&q->progress, q->timeout_ms);
    }
    read_events(k, &q->progress);
    if (!hc_task_ended(task))
        return false;
    hc_mcp_peer_of(m)->used = hc_mono_ms();
    hc_program_ended(m, q, task->manifest, task->manifest_len, task->problem.detail);
    return true;
}

static void stop(struct hc_mcp *m, struct hc_program *q)
{
    struct hc_task *task = work_of(m, q)->task;
    if (task && !hc_task_ended(task))
        hc_dispatch_cancel(task->dispatch, task, NULL);
}

static void clear(struct hc_mcp *m, struct hc_program *q)
{
    leave(work_of(m, q));
}

/* ---- sessions ---- */

static struct hc_mcp_held *held_of(struct hc_mcp *m, const struct hc_session_place *s)
{
    return &hc_mcp_peer_of(m)->sessions[s - m->sessions];
}

static struct hc_front_session *find_session(struct hc_mcp *m, const struct hc_mcp_held *h)
{
    const struct hc_mcp_peer *p = hc_mcp_peer_of(m);
    return hc_front_session_find(p->all->sessions, p->tenant, h->id);
}

static int open_session(struct hc_mcp *m, struct hc_session_place *s, const cJSON *inputs,
                        struct hc_error *err)
{
    struct hc_mcp_peer *p = hc_mcp_peer_of(m);
    struct hc_mcp_held *h = held_of(m, s);
    struct hc_problem why = {0};
    struct hc_checked checked = {0};
    hc_autobuf spec = {0}, body = {0};
    char *text = cJSON_PrintUnformatted(inputs);
    (void)hc_buf_fmt(&spec, "{\"inputs\":%s}", text ? text : "{}");
    cJSON_free(text);
    if (spec.failed)
        return hc_fail(err, ENOMEM, "open a session");
    make_body(p, spec.data, 0, &body);
    struct hc_task *task = check_request(p, &body, true, &checked, &why) < 0
                               ? NULL
                               : hc_front_session_start(p->all->sessions, p->tenant, &body, &checked, &why);
    if (!task)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s", why.detail);
    *h = (struct hc_mcp_held){0};
    (void)snprintf(h->id, sizeof h->id, "%s", task->queued.id);
    follow(p, &h->call, task);
    hc_mcp_name_note(p, s->name, h->id);
    return 0;
}

static void ask(struct hc_mcp *m, struct hc_session_place *s, const char *line)
{
    struct hc_mcp_held *h = held_of(m, s);
    struct hc_front_session *session = find_session(m, h);
    struct hc_problem why = {0};
    hc_autobuf text = {0};
    char name[24];
    (void)sscanf(line, "{\"%23[a-z_]", name);
    (void)hc_buf_str(&text, line);
    struct hc_task *task = session && !text.failed
                               ? hc_front_session_ask(session, name, &text, strcmp(name, "run") == 0, &why)
                               : NULL;
    if (task)
        follow(hc_mcp_peer_of(m), &h->call, task);
    else
        (void)snprintf(h->refused, sizeof h->refused, "%s", *why.detail ? why.detail : "it has ended");
    hc_mcp_peer_of(m)->due = hc_mcp_peer_of(m)->all->due = true;
}

static void interrupt(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_front_session *session = find_session(m, held_of(m, s));
    if (session && session->state != HC_FRONT_SESSION_ENDED)
        hc_front_session_interrupt(session);
}

static void close_session(struct hc_mcp *m, struct hc_session_place *s, bool now)
{
    struct hc_mcp_held *h = held_of(m, s);
    struct hc_front_session *session = find_session(m, h);
    (void)now; /* the daemon knows whether the session is busy */
    if (h->end.task || !session || session->state == HC_FRONT_SESSION_ENDED)
        return;
    struct hc_task *task = hc_front_session_end(session);
    if (task)
        follow(hc_mcp_peer_of(m), &h->end, task);
}

static void clear_session(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_mcp_held *h = held_of(m, s);
    struct hc_front_session *session = *h->id ? find_session(m, h) : NULL;
    leave(&h->call);
    leave(&h->end);
    if (session && session->state != HC_FRONT_SESSION_ENDED)
        hc_front_session_cancel(session, "tenant", NULL);
    *h = (struct hc_mcp_held){0};
}

/* Tell the server of a refusal as the session itself would. */
static void take_error(struct hc_mcp *m, struct hc_session_place *s, const char *text)
{
    hc_autobuf line = {0};
    (void)hc_buf_str(&line, "{\"event\":\"error\",\"message\":");
    hc_json_quote(&line, text, strlen(text));
    (void)hc_buf_str(&line, "}");
    if (!line.failed)
        hc_session_take(m, s, line.data, line.len);
}

/* The request was answered. */
static void take_answer(struct hc_mcp *m, struct hc_session_place *s, struct hc_mcp_held *h)
{
    static const char ready[] = "{\"event\":\"ready\"}";
    struct hc_task *task = h->call.task;
    hc_mcp_peer_of(m)->used = hc_mono_ms();
    hc_task_ref(task);
    leave(&h->call); /* the server may ask the next request at once */
    if (task->state != HC_TASK_DONE) {
        take_error(m, s, task->problem.detail);
    } else if (!h->ready) {
        h->ready = true;
        hc_session_take(m, s, ready, sizeof ready - 1);
    } else {
        hc_session_take(m, s, task->manifest, task->manifest_len);
    }
    hc_task_unref(task);
}

/* Has the session ended? Its last answers have been taken then. */
static bool has_ended(struct hc_mcp *m, struct hc_session_place *s, struct hc_mcp_held *h)
{
    const struct hc_front_session *session = find_session(m, h);
    const struct hc_task *task = h->call.task;
    char why[sizeof task->problem.detail] = "it has ended";
    if (session && session->state != HC_FRONT_SESSION_ENDED)
        return false;
    if (task && task->state == HC_TASK_DONE)
        return false;
    if (session && (*session->manifest_reason || *session->reason))
        (void)snprintf(why, sizeof why, "%s",
                       *session->manifest_reason ? session->manifest_reason : session->reason);
    else if (task && *task->problem.detail)
        (void)snprintf(why, sizeof why, "%s", task->problem.detail);
    hc_session_gone(m, s, why);
    return true;
}

static bool look_session(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_mcp_held *h = held_of(m, s);
    if (has_ended(m, s, h))
        return true;
    if (h->call.task)
        read_events(&h->call, &s->progress);
    if (h->call.task && hc_task_ended(h->call.task))
        take_answer(m, s, h);
    if (*h->refused) {
        char text[sizeof h->refused];
        memcpy(text, h->refused, sizeof text);
        h->refused[0] = '\0';
        take_error(m, s, text);
    }
    return has_ended(m, s, h);
}

const struct hc_mcp_host hc_mcp_daemon = {
    .send = hc_mcp_stream_send,
    .drop = hc_mcp_stream_drop,
    .is_full = hc_mcp_stream_is_full,
    .give = give,
    .give_stored = give_stored,
    .forget = forget,
    .start = start,
    .look = look,
    .stop = stop,
    .clear = clear,
    .open = open_session,
    .look_session = look_session,
    .ask = ask,
    .interrupt = interrupt,
    .close = close_session,
    .clear_session = clear_session,
};
