/* E2B's code interpreter: code is a run of the sandbox's session, and the run's events become lines. Code
 * contexts are those of the session; the first has the sandbox's ID. */
#include "daemon/http/e2b.h"

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/http/handlers.h"
#include "daemon/sessions/contexts.h"
#include "wire/e2b.h"

#include <errno.h>
#include <microhttpd.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define VARIANT sodium_base64_VARIANT_ORIGINAL

/* How far the events of a run have been translated and sent. */
struct stream {
    struct hc_e2b_events events; /* the translation */
    struct hc_buf out;           /* lines that were not sent yet; owned */
    size_t sent;                 /* bytes of `out` that were sent */
    size_t next;                 /* offset of the next event in the task's lines */
    int64_t room;                /* bytes that further figures may have */
    char now[40];                /* time of the events that are being translated */
};

static bool read_figure(void *owner, const char *path, struct hc_buf *out)
{
    const struct hc_exchange *x = owner;
    struct stream *stream = x->own;
    struct stat st;
    struct hc_error ignored;
    hc_autobuf data = {0};
    hc_autofd fd = hc_open_result(x->dispatch, x->sandbox, path, &st);
    if (fd < 0 || st.st_size > stream->room || hc_read_all(fd, &data, (size_t)st.st_size + 1, &ignored) < 0)
        return false;
    stream->room -= st.st_size;
    const size_t size = sodium_base64_ENCODED_LEN(data.len, VARIANT);
    char *text = malloc(size);
    if (text) {
        (void)sodium_bin2base64(text, size, (const unsigned char *)(data.data ? data.data : ""), data.len,
                                VARIANT);
        (void)hc_buf_str(out, text);
    }
    free(text);
    return text && !out->failed;
}

/* A client that has gone wants no more of the run that it asked for. */
static void end_stream(struct hc_exchange *x)
{
    struct stream *stream = x->own;
    struct hc_front_session *s = hc_front_session_find_any(x->http->sessions, x->sandbox);
    if (x->task && !hc_task_ended(x->task) && s && s->task == x->task)
        hc_front_session_interrupt(s);
    hc_e2b_events_finish(&stream->events);
    hc_buf_finish(&stream->out);
    free(stream);
}

/* Has the client closed its side of the connection? One that gives up waiting does only this, and
 * libmicrohttpd learns nothing of it while the run is silent. */
static bool client_has_gone(const struct hc_exchange *x)
{
    char probe;
    return recv(x->connection->hangup.fd, &probe, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Translate the next event, if there is one. */
static bool translate_next(struct stream *s, const struct hc_buf *lines)
{
    const char *line = lines->len > s->next ? lines->data + s->next : NULL;
    const char *end = line ? memchr(line, '\n', lines->len - s->next) : NULL;
    if (!end)
        return false;
    hc_buf_clear(&s->out);
    s->sent = 0;
    hc_e2b_event(&s->events, line, (size_t)(end - line), &s->out);
    s->next += (size_t)(end - line) + 1;
    return true;
}

static ssize_t read_lines(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    struct stream *s = x->own;
    const struct hc_buf *lines = &x->task->events.lines;
    (void)at;
    if (hc_task_ended(x->task))
        hc_exchange_hold_anyway(x, lines->len + x->task->manifest_len);
    (void)hc_format_time(hc_wall_ms(), true, s->now);
    while (s->sent == s->out.len && translate_next(s, lines))
        ;
    if (lines->failed || s->out.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    const size_t n = MIN(max, s->out.len - s->sent);
    if (n) {
        memcpy(out, s->out.data + s->sent, n);
        s->sent += n;
        return (ssize_t)n;
    }
    if (hc_task_ended(x->task))
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (client_has_gone(x))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    (void)hc_exchange_suspend(x);
    return 0;
}

static int reply_stream(struct hc_exchange *x)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return MHD_NO;
    s->events = (struct hc_e2b_events){.now = s->now, .figure = read_figure, .owner = x};
    s->room = x->dispatch->config.http_body;
    x->own = s;
    x->end_own = end_stream;
    x->beats = true;
    if (!x->waiter.task)
        hc_task_wait(x->task, &x->waiter); /* a task keeps its lines as long as an exchange waits for it */
    return hc_e2b_reply_stream(x, "application/json", read_lines);
}

static struct hc_e2b_contexts contexts_of(const struct hc_front_session *s)
{
    return (struct hc_e2b_contexts){s->id, s->contexts};
}

int hc_e2b_post_execute(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_error err;
    hc_autobuf line = {0};
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s)
        return rc;
    const char *context;
    const struct hc_e2b_contexts contexts = contexts_of(s);
    if (hc_e2b_execute(&contexts, hc_e2b_body(x), x->body.len, &context, &line, &err) < 0)
        return hc_e2b_reply_untranslated(x, &err);
    if (!hc_e2b_ask(x, s, "run", &line, true, &rc))
        return rc;
    hc_front_context_runs(s, context);
    return reply_stream(x);
}

/* ---- contexts ---- */

int hc_e2b_list_contexts(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    int rc;
    const cJSON *one;
    const struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s)
        return rc;
    (void)hc_buf_str(&out, "[");
    cJSON_ArrayForEach(one, s->contexts)
    {
        (void)hc_buf_str(&out, one == s->contexts->child ? "" : ", ");
        hc_e2b_put_context(one, s->id, &out);
    }
    (void)hc_buf_str(&out, "]\n");
    return hc_reply_json(x, 200, &out);
}

int hc_e2b_post_context(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf line = {0}, out = {0};
    struct hc_error err;
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s)
        return rc;
    if (!x->task) {
        if (hc_e2b_new_context(hc_e2b_body(x), x->body.len, &line, &err) < 0)
            return hc_e2b_reply_untranslated(x, &err);
        if (!hc_e2b_ask(x, s, "new_context", &line, false, &rc))
            return rc;
    }
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    if (x->task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &x->task->problem, NULL);
    struct hc_json j;
    if (hc_json_parse(&j, "answer", x->task->manifest, x->task->manifest_len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err.text);
    hc_e2b_put_context(hc_front_context_find(s, hc_json_text(j.root, "context")), s->id, &out);
    hc_json_finish(&j);
    return hc_reply_json(x, 201, &out);
}

/* Send the request about the context of the path, and await its answer, for which `status` stands. */
static int change_context(struct hc_exchange *x, struct hc_tenant *t, const char *ask, int status)
{
    hc_autobuf nothing = {0}, line = {0};
    int rc;
    if (!x->task) {
        struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
        if (!s)
            return rc;
        const struct hc_e2b_contexts contexts = contexts_of(s);
        const char *name = hc_e2b_context(&contexts, x->id);
        if (!name)
            return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "Context %s not found", x->id);
        (void)hc_front_context_stop(s, name);
        (void)hc_buf_fmt(&line, "{\"%s\": \"%s\"}", ask, name);
        if (!hc_e2b_ask(x, s, ask, &line, false, &rc))
            return rc;
    }
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    return x->task->state == HC_TASK_FAILED ? hc_reply_problem(x, &x->task->problem, NULL)
                                            : hc_reply_json(x, status, &nothing);
}

int hc_e2b_delete_context(struct hc_exchange *x, struct hc_tenant *t)
{
    int rc;
    const struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s)
        return rc;
    if (strcmp(s->id, x->id) == 0)
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND,
                             "the first context of a sandbox ends with it: kill the sandbox, or restart the "
                             "context");
    return change_context(x, t, "end_context", 204);
}

/* The interpreter becomes what it was before the first run; files stay. */
int hc_e2b_restart_context(struct hc_exchange *x, struct hc_tenant *t)
{
    return change_context(x, t, "restart_context", 200);
}

int hc_e2b_health(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf nothing = {0};
    int rc;
    return hc_e2b_sandbox(x, t, &rc) ? hc_reply_json(x, 204, &nothing) : rc;
}
