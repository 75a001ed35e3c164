/* Commands beside the runs of a session, over HTTP. */
#include "daemon/http/handlers.h"

#include "cell/session.h"
#include "daemon/http/request.h"
#include "daemon/sessions/commands.h"

#include <microhttpd.h>
#include <string.h>

static struct hc_front_session *find_session(struct hc_exchange *x, struct hc_tenant *t)
{
    return hc_front_session_find(x->http->sessions, t, x->id);
}

static int no_such(struct hc_exchange *x, const struct hc_front_session *s)
{
    return s ? hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "the session has no such command")
             : hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such session");
}

/* Answers with the result of x->task once it has one. */
static int reply_asked(struct hc_exchange *x, int status)
{
    hc_autobuf out = {0};
    const struct hc_task *task = x->task;
    if (!hc_task_ended(task))
        return hc_exchange_suspend(x);
    if (task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &task->problem, NULL);
    (void)hc_buf_add(&out, task->manifest, task->manifest_len);
    return hc_reply_json(x, status, &out);
}

int hc_post_command(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_json j;
    struct hc_error err;
    struct hc_problem why = {0};
    size_t len = 0;
    if (x->task)
        return reply_asked(x, 201);
    struct hc_front_session *s = find_session(x, t);
    if (!s)
        return no_such(x, s);
    if (hc_json_parse(&j, "request", x->body.data ? x->body.data : "", x->body.len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    const char *spec = hc_request_member(&j, NULL, &len, &err);
    const cJSON *argv = hc_json_member(j.root, "command");
    if (!spec)
        hc_problem_set(&why, HC_PROBLEM_REQUEST, "%s", err.text);
    else if (!cJSON_IsArray(argv))
        hc_problem_set(&why, HC_PROBLEM_SPEC, "command: expected a list of strings");
    else
        x->task = hc_front_command_start(s, spec, len, argv, 0, &why);
    hc_json_finish(&j);
    return x->task ? reply_asked(x, 201) : hc_reply_problem(x, &why, NULL);
}

int hc_list_commands(struct hc_exchange *x, struct hc_tenant *t)
{
    const struct hc_front_session *s = find_session(x, t);
    hc_autobuf out = {0};
    if (!s)
        return no_such(x, s);
    hc_front_commands_print(s, &out);
    return hc_reply_json(x, 200, &out);
}

/* The command that the path names. NULL: there is none that has been started. */
static struct hc_front_command *find_command(struct hc_exchange *x, const struct hc_front_session *s)
{
    struct hc_front_command *c = s ? hc_front_command_find(s, x->part) : NULL;
    return c && !c->start ? c : NULL;
}

int hc_get_command(struct hc_exchange *x, struct hc_tenant *t)
{
    const struct hc_front_session *s = find_session(x, t);
    const struct hc_front_command *c = find_command(x, s);
    hc_autobuf out = {0};
    if (!c)
        return no_such(x, s);
    hc_front_command_print(c, &out);
    (void)hc_buf_str(&out, "\n");
    return hc_reply_json(x, 200, &out);
}

/* Sends a request about the command. `members` is freed. */
static int ask(struct hc_exchange *x, struct hc_front_session *s, struct hc_front_command *c,
               const char *name, cJSON *members)
{
    struct hc_problem why = {0};
    x->task = hc_front_command_ask(s, c, name, members, &why);
    cJSON_Delete(members);
    return x->task ? reply_asked(x, 202) : hc_reply_problem(x, &why, NULL);
}

int hc_delete_command(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf nothing = {0};
    if (x->task)
        return reply_asked(x, 202);
    struct hc_front_session *s = find_session(x, t);
    struct hc_front_command *c = find_command(x, s);
    if (!c)
        return no_such(x, s);
    if (!c->exited && s->state != HC_FRONT_SESSION_ENDED) {
        cJSON *members = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(members, "signal", "KILL");
        return ask(x, s, c, "command_signal", members);
    }
    hc_front_command_forget(s, c);
    return hc_reply_json(x, 204, &nothing);
}

int hc_get_command_events(struct hc_exchange *x, struct hc_tenant *t)
{
    const struct hc_front_session *s = find_session(x, t);
    const struct hc_front_command *c = find_command(x, s);
    if (!c)
        return no_such(x, s);
    x->task = c->task;
    hc_task_ref(x->task);
    return hc_stream_events(x);
}

/* Whether the member is what the request may have. */
static bool is_good(const cJSON *item, bool signal)
{
    if (signal)
        return strcmp(item->string, "signal") == 0 && cJSON_IsString(item) &&
               hc_command_signal_number(item->valuestring);
    if (strcmp(item->string, "end") == 0)
        return cJSON_IsBool(item);
    return (strcmp(item->string, "text") == 0 || strcmp(item->string, "data") == 0) && cJSON_IsString(item);
}

/* Passes the body on, of which each member has to be one that the process knows. */
static int post(struct hc_exchange *x, struct hc_tenant *t, const char *name, bool signal)
{
    struct hc_json j;
    struct hc_error err;
    const cJSON *item;
    if (x->task)
        return reply_asked(x, 202);
    struct hc_front_session *s = find_session(x, t);
    struct hc_front_command *c = find_command(x, s);
    if (!c)
        return no_such(x, s);
    if (hc_json_parse(&j, "request", x->body.data ? x->body.data : "", x->body.len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    bool good = cJSON_IsObject(j.root) && j.root->child;
    cJSON_ArrayForEach(item, j.root) good = good && is_good(item, signal);
    cJSON *members = good ? cJSON_Duplicate(j.root, true) : NULL;
    hc_json_finish(&j);
    char names[HC_COMMAND_SIGNAL_NAMES];
    if (!good && signal)
        return hc_reply_fail(x, HC_PROBLEM_SPEC, "signal: expected %s", hc_command_signal_names(names));
    if (!good)
        return hc_reply_fail(x, HC_PROBLEM_SPEC, "expected text, or data in base64, and end, true or false");
    return ask(x, s, c, name, members);
}

int hc_post_command_input(struct hc_exchange *x, struct hc_tenant *t)
{
    return post(x, t, "command_input", false);
}

int hc_post_command_signal(struct hc_exchange *x, struct hc_tenant *t)
{
    return post(x, t, "command_signal", true);
}
