/* Sessions over HTTP. Requests to a session are passed on to its process, which checks them. */
#include "daemon/http/handlers.h"

#include "daemon/http/request.h"
#include "daemon/sessions/contexts.h"
#include "job/job.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

/* ---- answers ---- */

/* The task of an ended session, to get its long manifest from the ledger; the caller owns the reference.
 * NULL: there is none. */
static struct hc_task *manifest_of(struct hc_exchange *x, const struct hc_front_session *s)
{
    bool there = s->state == HC_FRONT_SESSION_ENDED && !s->last && *s->manifest_status;
    return there ? hc_store_find(x->dispatch, s->tenant, s->id) : NULL;
}

int hc_reply_session(struct hc_exchange *x, const struct hc_front_session *s, int status)
{
    hc_autobuf out = {0};
    struct hc_problem why;
    struct hc_task *kept = manifest_of(x, s);
    const size_t len = kept ? kept->manifest_len : s->last_len;
    bool fits = true;
    if (status != 200) /* the request has been carried out: its answer cannot be refused */
        hc_exchange_hold_anyway(x, len);
    else
        fits = hc_exchange_hold(x, len, &why);
    if (fits)
        hc_front_session_print(s, kept ? kept->manifest : s->last, &out);
    hc_task_unref(kept);
    return fits ? hc_reply_json(x, status, &out) : hc_reply_problem(x, &why, NULL);
}

int hc_reply_no_session(struct hc_exchange *x)
{
    return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND,
                         "there is no such session: sessions end with the daemon, and what is left of one "
                         "that has ended is at /v1/jobs/{id}");
}

/* Answers with the result of x->task once the task has ended; `status`: HTTP status of a success. */
static int reply_task(struct hc_exchange *x, int status)
{
    hc_autobuf out = {0};
    struct hc_task *task = x->task;
    if (!hc_task_ended(task))
        return hc_exchange_suspend(x);
    if (task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &task->problem, NULL);
    hc_exchange_hold_anyway(x, 2 * task->manifest_len); /* one copy in the task, one in the answer */
    (void)hc_buf_add(&out, task->manifest, task->manifest_len);
    return hc_reply_json(x, status, &out);
}

/* ---- begin, look, end ---- */

int hc_post_session(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why = {0};
    struct hc_checked checked = {0};
    if (x->task)
        return reply_task(x, 201);
    if (!hc_dispatch_takes_jobs(x->dispatch, &why))
        return hc_reply_problem(x, &why, NULL);
    if (hc_check_request(x->dispatch, &x->body, t, true, &checked, &why) < 0)
        return hc_reply_problem(x, &why, NULL);
    x->task = hc_front_session_start(x->http->sessions, t, &x->body, &checked, &why);
    return x->task ? reply_task(x, 201) : hc_reply_problem(x, &why, NULL);
}

static bool is_of(const struct hc_front_session *s, const void *tenant)
{
    return s->tenant == tenant;
}

int hc_list_sessions(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    (void)hc_buf_str(&out, "{\"sessions\": ");
    hc_front_sessions_print(x->http->sessions, is_of, t, &out);
    (void)hc_buf_str(&out, "}\n");
    return hc_reply_json(x, 200, &out);
}

int hc_get_session(struct hc_exchange *x, struct hc_tenant *t)
{
    const struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    return s ? hc_reply_session(x, s, 200) : hc_reply_no_session(x);
}

/* Ends a session. One that has ended is removed with its results, as a job is. */
int hc_delete_session(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf nothing = {0};
    if (x->task)
        return reply_task(x, 200);
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    if (!s)
        return hc_reply_no_session(x);
    if (s->state != HC_FRONT_SESSION_ENDED) {
        x->task = hc_front_session_end(s);
        return x->task ? reply_task(x, 200) : MHD_NO;
    }
    if (hc_find_job(x, t))
        hc_dispatch_forget(x->dispatch, x->task);
    hc_front_session_forget(s);
    return hc_reply_json(x, 204, &nothing);
}

/* ---- requests to a session ---- */

static bool wants_events(const struct hc_exchange *x)
{
    return !x->route->silent && hc_wanted_events(x) != HC_EVENTS_NOT;
}

bool hc_wait_for_session(struct hc_exchange *x, const struct hc_front_session *s)
{
    hc_task_unwait(&x->waiter);
    hc_task_unref(x->ahead);
    x->ahead = NULL;
    if (!s->task)
        return false;
    x->ahead = s->task;
    hc_task_ref(x->ahead);
    hc_task_wait(x->ahead, &x->waiter);
    hc_exchange_pause(x);
    return true;
}

int hc_ask_session(struct hc_exchange *x, struct hc_tenant *t, const char *name, const char *json, size_t len)
{
    hc_autobuf line = {0};
    struct hc_problem why;
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    if (!s)
        return hc_reply_no_session(x);
    (void)hc_buf_fmt(&line, "{\"%s\": ", name);
    hc_json_one_line(&line, json, len);
    (void)hc_buf_str(&line, "}");
    x->task = line.failed ? NULL : hc_front_session_ask(s, name, &line, wants_events(x), &why);
    if (line.failed)
        return MHD_NO;
    return x->task ? 0 : hc_reply_problem(x, &why, NULL);
}

/* Notes in which context the session's run happens, if the exchange has begun one: the first one of several
 * runs says so for all. */
static void note_context(const struct hc_exchange *x, const struct hc_tenant *t, const cJSON *body)
{
    struct hc_front_session *s = x->task ? hc_front_session_find(x->http->sessions, t, x->id) : NULL;
    const cJSON *runs = hc_json_member(body, "runs");
    if (s && (strcmp(x->route->ask, "run") == 0 || strcmp(x->route->ask, "branch") == 0))
        hc_front_context_runs(s, hc_json_text(cJSON_IsArray(runs) ? runs->child : body, "context"));
}

/* Sends the body, or one member of it, to the session's process. */
static int ask_body(struct hc_exchange *x, struct hc_tenant *t, const char *name)
{
    struct hc_json j;
    struct hc_error err;
    const char *member = x->route->member;
    size_t len = 0;
    if (hc_json_parse(&j, "request", x->body.data ? x->body.data : "", x->body.len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    if (x->route->in_context && hc_json_member(j.root, "context"))
        member = NULL;
    const char *source = hc_request_member(&j, member, &len, &err);
    int rc = source ? hc_ask_session(x, t, name, source, len)
                    : hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    note_context(x, t, j.root);
    hc_json_finish(&j);
    return rc;
}

int hc_post_request(struct hc_exchange *x, struct hc_tenant *t)
{
    if (!x->task) {
        int rc = ask_body(x, t, x->route->ask);
        if (!x->task)
            return rc;
    }
    return wants_events(x) ? hc_stream_events(x) : reply_task(x, 200);
}

int hc_interrupt_session(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    if (!s)
        return hc_reply_no_session(x);
    if (s->state == HC_FRONT_SESSION_ENDED)
        return hc_reply_problem(x, &s->problem, NULL);
    hc_front_session_interrupt(s);
    return hc_reply_session(x, s, 202);
}

/* Pass a line on to the run, whose process checks whether it waits for one. */
int hc_post_session_input(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    struct hc_json j;
    struct hc_error err;
    struct hc_problem why;
    hc_autobuf line = {0};
    size_t len = 0;
    if (!s)
        return hc_reply_no_session(x);
    if (hc_json_parse(&j, "request", x->body.data ? x->body.data : "", x->body.len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    const char *source = hc_request_member(&j, "input", &len, &err);
    const cJSON *input = hc_json_member(j.root, "input");
    const bool good = source && (cJSON_IsString(input) || cJSON_IsNull(input));
    (void)hc_buf_str(&line, "{\"input\": ");
    hc_json_one_line(&line, good ? source : "null", good ? len : 4);
    (void)hc_buf_str(&line, "}");
    hc_json_finish(&j);
    if (!good)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s",
                             source ? "input: expected a string, or null for the end of input" : err.text);
    if (line.failed)
        return MHD_NO;
    return hc_front_session_input(s, &line, &why) < 0 ? hc_reply_problem(x, &why, NULL)
                                                      : hc_reply_session(x, s, 202);
}

/* ---- files and tools ---- */

int hc_get_session_file(struct hc_exchange *x, struct hc_tenant *t)
{
    return hc_front_session_find(x->http->sessions, t, x->id) ? hc_reply_file(x) : hc_reply_no_session(x);
}

/* Answer a tool call of `link` with the exchange's body. */
static int answer_tool(struct hc_exchange *x, struct hc_tool_link *link)
{
    struct hc_error err;
    hc_autobuf nothing = {0};
    const char *text = x->body.data ? x->body.data : "";
    switch (hc_tool_link_answer(link, x->rest, text, x->body.len, &err)) {
    case 0:
        return hc_reply_json(x, 204, &nothing);
    case 1:
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "no such call waits for an answer");
    case 2:
        return hc_reply_fail(x, HC_PROBLEM_BUSY, "earlier answers have not been read yet");
    case 3:
        return hc_reply_fail(x, HC_PROBLEM_TOO_LARGE, "%s", err.text);
    default:
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    }
}

int hc_answer_session_tool(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    return s ? answer_tool(x, &s->tools) : hc_reply_no_session(x);
}

int hc_answer_job_tool(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_task *task = hc_task_find(&x->dispatch->tasks, t, x->id);
    if (task)
        return answer_tool(x, &task->tools);
    return hc_find_job(x, t) ? hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "no such call waits for an answer")
                             : hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such job");
}
