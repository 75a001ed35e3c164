/* Contexts of a session over HTTP. */
#include "daemon/http/handlers.h"

#include "daemon/http/request.h"
#include "daemon/sessions/contexts.h"

#include <microhttpd.h>
#include <string.h>

int hc_list_contexts(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    const struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    if (!s)
        return hc_reply_no_session(x);
    if (s->state == HC_FRONT_SESSION_ENDED)
        return hc_reply_problem(x, &s->problem, NULL);
    char *list = cJSON_PrintUnformatted(s->contexts);
    (void)hc_buf_fmt(&out, "{\"contexts\": %s}\n", list ? list : "[]");
    cJSON_free(list);
    return hc_reply_json(x, 200, &out);
}

/* Answers with the context that the request of x->task was about. */
static int reply_context(struct hc_exchange *x, int status)
{
    hc_autobuf out = {0};
    struct hc_json j;
    struct hc_error err;
    const cJSON *one;
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    if (x->task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &x->task->problem, NULL);
    if (hc_json_parse(&j, "answer", x->task->manifest, x->task->manifest_len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err.text);
    const char *name = hc_json_text(j.root, "context");
    cJSON_ArrayForEach(one, hc_json_member(j.root, "contexts"))
    {
        if (strcmp(hc_json_text(one, "name"), name) != 0)
            continue;
        char *text = cJSON_PrintUnformatted(one);
        (void)hc_buf_fmt(&out, "%s\n", text ? text : "{}");
        cJSON_free(text);
    }
    const int found = *name ? status : 204;
    hc_json_finish(&j); /* `name` is in it */
    return hc_reply_json(x, found, &out);
}

int hc_post_context(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_json j;
    struct hc_error err;
    size_t len = 0;
    if (x->task)
        return reply_context(x, 201);
    if (hc_json_parse(&j, "request", x->body.data ? x->body.data : "", x->body.len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    const char *source = hc_request_member(&j, NULL, &len, &err);
    const int rc = source ? hc_ask_session(x, t, "new_context", source, len)
                          : hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    hc_json_finish(&j);
    return x->task ? reply_context(x, 201) : rc;
}

/* Ends a context, or begins it anew. A run that goes on in it is interrupted, and its end awaited. */
int hc_change_context(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf name = {0};
    if (x->task)
        return reply_context(x, 200);
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    if (!s)
        return hc_reply_no_session(x);
    if (s->state != HC_FRONT_SESSION_ENDED && !hc_front_context_find(s, x->part))
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no context '%s'", x->part);
    const bool stops = hc_front_context_stop(s, x->part);
    if ((stops || x->ahead) && hc_wait_for_session(x, s))
        return MHD_YES;
    hc_json_quote(&name, x->part, strlen(x->part));
    const int rc = hc_ask_session(x, t, x->route->ask, name.data ? name.data : "\"\"", name.len);
    return x->task ? reply_context(x, 200) : rc;
}
