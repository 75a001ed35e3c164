/* The requests of a session's client about commands beside the runs. They are served at once, also during a
 * run; nothing here may wait. */
#include "cell/session/session_client.h"

#include <errno.h>
#include <signal.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"start", "command_input", "command_signal", "commands"};

bool hc_client_is_start(const cJSON *first)
{
    return strcmp(first->string, "start") == 0 && first->next && strcmp(first->next->string, "id") == 0 &&
           !first->next->next;
}

bool hc_client_is_about_commands(const char *line)
{
    struct hc_json j;
    struct hc_error ignored;
    bool may = false, is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        may |= strstr(line, names[i]) != NULL;
    if (!may || hc_json_parse(&j, "request", line, strlen(line), &ignored) < 0)
        return false;
    const cJSON *first = cJSON_IsObject(j.root) ? j.root->child : NULL;
    for (size_t i = 0; first && i < sizeof names / sizeof *names; i++)
        is |= strcmp(first->string, names[i]) == 0;
    hc_json_finish(&j);
    return is;
}

/* Take the command's id, for the answer. -1: it is none. */
static int take_id(struct hc_session_client *c, const cJSON *id, struct hc_error *err)
{
    if (!cJSON_IsString(id) || hc_job_check_id(id->valuestring, err) < 0)
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "id: expected at most 64 letters, digits, '.', '_' and '-', not beginning with '.'");
    (void)snprintf(c->command, sizeof c->command, "%s", id->valuestring);
    return 0;
}

/* Read a request's object, whose members are `id` and those named. 1: it is none. */
static int read_object(struct hc_session_client *c, const cJSON *node, const char *const *members,
                       struct hc_error *err)
{
    const cJSON *item;
    if (!cJSON_IsObject(node)) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected an object, got %s", node->string,
                         hc_json_kind(node));
        return 1;
    }
    cJSON_ArrayForEach(item, node)
    {
        bool known = strcmp(item->string, "id") == 0;
        for (const char *const *m = members; *m; m++)
            known |= strcmp(item->string, *m) == 0;
        if (!known) {
            (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: there is no member '%.40s'", node->string,
                             item->string);
            return 1;
        }
    }
    return take_id(c, hc_json_member(node, "id"), err) < 0 ? 1 : 0;
}

static void answer_done(struct hc_session_client *c, const char *request)
{
    cJSON *o = hc_client_event("done");
    (void)cJSON_AddStringToObject(o, "request", request);
    (void)cJSON_AddStringToObject(o, "command", c->command);
    hc_client_answer(c, o);
}

int hc_client_start(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                    struct hc_error *err)
{
    struct hc_job job;
    struct hc_policy policy;
    if (node->next && take_id(c, node->next, err) < 0)
        return 1;
    int rc = hc_client_read_run(c, j, node, &job, &policy, err);
    if (rc == 0)
        rc = hc_session_start_command(c->session, c->command[0] ? c->command : NULL, &job, &policy, err) < 0;
    hc_job_finish(&job);
    return rc;
}

/* Decode the input of a request into `out`. -1: it is none. */
static int read_input(const cJSON *node, struct hc_buf *out, struct hc_error *err)
{
    const cJSON *text = hc_json_member(node, "text"), *data = hc_json_member(node, "data");
    if ((text && data) || (text && !cJSON_IsString(text)) || (data && !cJSON_IsString(data)))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "command_input: expected text, or data in base64");
    if (text)
        return hc_buf_str(out, text->valuestring) < 0 ? hc_fail_as(err, HC_EXIT_DATA, ENOMEM, "command_input")
                                                      : 0;
    if (!data)
        return 0;
    size_t room = strlen(data->valuestring), len = 0;
    const char *end = NULL;
    char *bytes = malloc(room + 1);
    int rc = bytes &&
                     sodium_base642bin((unsigned char *)bytes, room + 1, data->valuestring, room, NULL, &len,
                                       &end, sodium_base64_VARIANT_ORIGINAL) == 0 &&
                     !*end && (!len || hc_buf_add(out, bytes, len) == 0)
                 ? 0
                 : hc_fail_as(err, HC_EXIT_DATA, 0, "command_input: data: expected base64");
    free(bytes);
    return rc;
}

int hc_client_command_input(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                            struct hc_error *err)
{
    static const char *const members[] = {"text", "data", "end", NULL};
    hc_autobuf bytes = {0};
    const cJSON *end = hc_json_member(node, "end");
    (void)j;
    if (read_object(c, node, members, err) != 0 || read_input(node, &bytes, err) < 0)
        return 1;
    if (end && !cJSON_IsBool(end)) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "end: expected true or false, got %s", hc_json_kind(end));
        return 1;
    }
    if (hc_session_command_input(c->session, c->command, bytes.data, bytes.len, cJSON_IsTrue(end), err) < 0)
        return 1;
    answer_done(c, node->string);
    return 0;
}

int hc_client_command_signal(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                             struct hc_error *err)
{
    static const char *const members[] = {"signal", NULL};
    (void)j;
    if (read_object(c, node, members, err) != 0)
        return 1;
    const char *name = hc_json_text(node, "signal");
    const int number = hc_command_signal_number(name);
    if (!number) {
        char all[HC_COMMAND_SIGNAL_NAMES];
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "signal: expected %s, got '%.20s'",
                         hc_command_signal_names(all), name);
        return 1;
    }
    if (hc_session_command_signal(c->session, c->command, number, err) < 0)
        return 1;
    answer_done(c, node->string);
    return 0;
}

int hc_client_commands(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err)
{
    hc_autobuf list = {0};
    (void)j;
    if (!cJSON_IsTrue(node)) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "commands: expected true, got %s", hc_json_kind(node));
        return 1;
    }
    hc_session_list_commands(c->session, &list);
    if (list.failed)
        return hc_fail(err, ENOMEM, "commands");
    cJSON *o = hc_client_event("done");
    (void)cJSON_AddStringToObject(o, "request", "commands");
    (void)cJSON_AddRawToObject(o, "commands", list.data);
    hc_client_answer(c, o);
    return 0;
}
