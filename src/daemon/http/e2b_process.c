/* Processes of E2B's sandboxes: commands that go on beside the session's runs. A process has the number that
 * it has in its cell. */
#include "daemon/http/e2b.h"

#include "base/clock.h"
#include "daemon/sessions/commands.h"
#include "wire/e2b_envd.h"
#include "wire/e2b_process.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* The newest command that goes on as this process; NULL: there is none. */
static struct hc_front_command *find_process(const struct hc_front_session *s, int64_t pid)
{
    struct hc_front_command *found = NULL;
    for (struct hc_front_command *c = s->commands; c; c = c->next)
        if (!c->exited && !c->start && c->pid == pid)
            found = c;
    return found;
}

bool hc_e2b_runs_commands(const struct hc_front_session *s)
{
    for (const struct hc_front_command *c = s->commands; c; c = c->next)
        if (!c->exited)
            return true;
    return false;
}

static int no_process(struct hc_exchange *x, int64_t pid)
{
    return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "process with pid %lld not found", (long long)pid);
}

/* ---- the stream of a process ---- */

struct stream {
    struct hc_e2b_start start; /* what the call asks for */
    char command[24];          /* ID of the command */
    struct hc_buf out;         /* messages that were not sent yet; owned */
    size_t sent, next; /* bytes of `out` that were sent; offset of the next event in the task's lines */
    int64_t since;     /* time of the last message (CLOCK_MONOTONIC, ms) */
    bool bounded;      /* the call has begun the command, and said how long this may take */
    bool over;         /* the last message is in `out` */
};

static void end_stream(struct hc_exchange *x)
{
    struct stream *p = x->own;
    hc_e2b_start_finish(&p->start);
    hc_buf_finish(&p->out);
    free(p);
}

/* Send a request about the command whose answer nobody waits for. */
static void tell(struct hc_front_session *s, const char *id, const char *name, cJSON *members)
{
    struct hc_problem ignored;
    struct hc_front_command *c = s ? hc_front_command_find(s, id) : NULL;
    struct hc_task *task = c ? hc_front_command_ask(s, c, name, members, &ignored) : NULL;
    hc_task_unref(task);
    cJSON_Delete(members);
}

static void end_of_stream(struct stream *p, const char *error)
{
    hc_e2b_envelope(HC_E2B_LAST, error, strlen(error), &p->out);
    p->over = true;
}

/* Milliseconds that the call gives the command that it starts; 0: it says nothing. As in E2B's own sandboxes,
 * they are the command's, whether its client waits for it or not. */
static int64_t given_time(const struct hc_exchange *x)
{
    const char *timeout = hc_exchange_header(x, "Connect-Timeout-Ms");
    const long long ms = timeout ? strtoll(timeout, NULL, 10) : 0;
    return ms > 0 ? MIN(ms, 1LL << 40) : 0;
}

/* Is the time over that the call has given the command? */
static bool is_late(const struct hc_exchange *x, const struct stream *p)
{
    const struct hc_front_session *s =
        p->bounded ? hc_front_session_find_any(x->http->sessions, x->sandbox) : NULL;
    const struct hc_front_command *c = s ? hc_front_command_find(s, p->command) : NULL;
    return c && c->late;
}

/* Translate the next event, if there is one. */
static bool translate_next(struct stream *p, const struct hc_buf *lines)
{
    const char *line = lines->len > p->next ? lines->data + p->next : NULL;
    const char *end = line ? memchr(line, '\n', lines->len - p->next) : NULL;
    if (!end)
        return false;
    p->over = hc_e2b_process_event(line, (size_t)(end - line), &p->out);
    p->next += (size_t)(end - line) + 1;
    return true;
}

/* Go on until there is a message, or something to wait for (false). */
static bool advance(struct hc_exchange *x, struct stream *p)
{
    const int64_t now = hc_mono_ms();
    hc_buf_clear(&p->out);
    p->sent = 0;
    const bool late = is_late(x, p);
    while (!late && !p->out.len && translate_next(p, &x->task->events.lines))
        ;
    if (p->out.len)
        return true;
    if (late)
        end_of_stream(p, "{\"error\": {\"code\": \"deadline_exceeded\", \"message\": \"the time that the "
                         "request gives is over (Connect-Timeout-Ms)\"}}");
    else if (hc_task_ended(x->task))
        end_of_stream(p, "{\"error\": {\"code\": \"unavailable\", \"message\": \"The sandbox has ended\"}}");
    else if (now - p->since >= HC_E2B_KEEPALIVE_MS)
        hc_e2b_put_alive(&p->out);
    else
        (void)hc_exchange_suspend(x);
    return p->out.len > 0;
}

static ssize_t read_messages(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    struct stream *p = x->own;
    (void)at;
    if (p->sent == p->out.len && p->over)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (p->sent == p->out.len && !advance(x, p))
        return 0;
    if (p->out.failed || x->task->events.lines.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    const size_t n = MIN(max, p->out.len - p->sent);
    memcpy(out, p->out.data + p->sent, n);
    p->sent += n;
    p->since = hc_mono_ms();
    return (ssize_t)n;
}

/* Answer with the events of the command from offset `next` of its lines on. */
static int reply_stream(struct hc_exchange *x, const struct hc_front_command *c, size_t next)
{
    struct stream *p = x->own;
    hc_e2b_drop_task(x);
    x->task = c->task;
    hc_task_ref(x->task);
    hc_task_wait(x->task, &x->waiter);
    x->beats = true;
    memcpy(p->command, c->id, sizeof p->command);
    p->next = next;
    p->since = hc_mono_ms();
    p->bounded = x->route->ask && given_time(x);
    hc_e2b_put_started(c->pid, &p->out);
    return hc_e2b_reply_stream(x, "application/connect+json", read_messages);
}

/* The JSON of the body's message. NULL: there is none, which is answered in `rc`. */
static const char *take_message(struct hc_exchange *x, size_t *len, int *rc)
{
    const char *json = hc_e2b_unwrap(hc_e2b_body(x), x->body.len, len);
    if (!json)
        *rc = hc_reply_fail(x, HC_PROBLEM_REQUEST, "expected one message of Connect");
    return json;
}

/* ---- start and connect ---- */

/* Have the session start the command. -1: the answer is in `rc`. */
static int begin(struct hc_exchange *x, struct hc_front_session *s, int *rc)
{
    struct hc_problem why = {0};
    struct hc_error err;
    size_t len = 0;
    struct stream *p = calloc(1, sizeof *p);
    *rc = MHD_NO;
    if (!p)
        return -1;
    x->own = p;
    x->end_own = end_stream;
    const char *json = take_message(x, &len, rc);
    if (!json)
        return -1;
    if (hc_e2b_take_start(&p->start, json, len, &err) < 0) {
        *rc = hc_e2b_reply_untranslated(x, &err);
        return -1;
    }
    x->task =
        hc_front_command_start(s, p->start.spec.data, p->start.spec.len, p->start.argv, given_time(x), &why);
    if (!x->task)
        *rc = hc_reply_problem(x, &why, NULL);
    return x->task ? 0 : -1;
}

/* The command that the session has started. */
static struct hc_front_command *started(struct hc_exchange *x, const struct hc_front_session *s)
{
    cJSON *answer = cJSON_ParseWithLength(x->task->manifest, x->task->manifest_len);
    struct hc_front_command *c = hc_front_command_find(s, hc_json_text(answer, "command_id"));
    cJSON_Delete(answer);
    return c;
}

int hc_e2b_start_process(struct hc_exchange *x, struct hc_tenant *t)
{
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s || (!x->task && begin(x, s, &rc) < 0))
        return rc;
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    if (x->task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &x->task->problem, NULL);
    const struct stream *p = x->own;
    struct hc_front_command *c = started(x, s);
    if (!c)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "the command has ended and is forgotten");
    if (!p->start.keeps_stdin && !c->exited) {
        cJSON *members = cJSON_CreateObject();
        (void)cJSON_AddTrueToObject(members, "end");
        tell(s, c->id, "command_input", members);
    }
    return reply_stream(x, c, 0);
}

/* A client that connects to a process gets what this prints from then on. */
int hc_e2b_connect_process(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_e2b_about about;
    struct hc_error err;
    size_t len = 0;
    int rc;
    const struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    const char *json = s ? take_message(x, &len, &rc) : NULL;
    if (!json)
        return rc;
    const int taken = hc_e2b_take_about(&about, json, len, &err);
    cJSON_Delete(about.members);
    if (taken < 0)
        return hc_e2b_reply_untranslated(x, &err);
    const struct hc_front_command *c = find_process(s, about.pid);
    if (!c)
        return no_process(x, about.pid);
    x->own = calloc(1, sizeof(struct stream));
    if (!x->own)
        return MHD_NO;
    x->end_own = end_stream;
    return reply_stream(x, c, c->task->events.lines.len);
}

/* ---- calls ---- */

int hc_e2b_list_processes(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    const char *comma = "";
    int rc;
    const struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s)
        return rc;
    (void)hc_buf_str(&out, "{\"processes\": [");
    for (const struct hc_front_command *c = s->commands; c; c = c->next) {
        if (c->start || c->exited)
            continue;
        (void)hc_buf_str(&out, comma);
        hc_e2b_put_process(c->pid, c->argv, &out);
        comma = ", ";
    }
    (void)hc_buf_str(&out, "]}");
    return hc_reply_json(x, 200, &out);
}

/* Send the request of the route about the process that the body names. -1: the answer is in `rc`. */
static int ask_process(struct hc_exchange *x, struct hc_front_session *s, int *rc)
{
    struct hc_problem why = {0};
    struct hc_e2b_about about;
    struct hc_error err;
    const int taken = hc_e2b_take_about(&about, hc_e2b_body(x), x->body.len, &err);
    struct hc_front_command *c = taken == 0 ? find_process(s, about.pid) : NULL;
    if (taken < 0)
        *rc = hc_e2b_reply_untranslated(x, &err);
    else if (!c)
        *rc = no_process(x, about.pid);
    if (c && x->route->undo) /* the end of the input */
        (void)cJSON_AddTrueToObject(about.members, "end");
    x->task = c ? hc_front_command_ask(s, c, x->route->ask, about.members, &why) : NULL;
    cJSON_Delete(about.members);
    if (c && !x->task)
        *rc = hc_reply_problem(x, &why, NULL);
    return x->task ? 0 : -1;
}

int hc_e2b_process_call(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s || (!x->task && ask_process(x, s, &rc) < 0))
        return rc;
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    if (x->task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &x->task->problem, NULL);
    (void)hc_buf_str(&out, "{}");
    return hc_reply_json(x, 200, &out);
}
