#include "wire/e2b_process.h"

#include "json/json.h"
#include "wire/e2b_envd.h"

#include <errno.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIANT sodium_base64_VARIANT_ORIGINAL

/* ---- reading ---- */

static int wrong(const struct hc_json *j, const cJSON *node, const char *name, const char *expected,
                 struct hc_error *err)
{
    return hc_json_fail(j, node ? node : j->root, false, err, "%s: expected %s, got %s", name, expected,
                        node ? hc_json_kind(node) : "nothing");
}

static int open_object(struct hc_json *j, const char *text, size_t len, struct hc_error *err)
{
    if (hc_json_parse(j, "request", len ? text : "{}", len ? len : 2, err) < 0)
        return -1;
    if (cJSON_IsObject(j->root))
        return 0;
    (void)wrong(j, j->root, "body", "an object", err);
    hc_json_finish(j);
    return -1;
}

static int no_memory(struct hc_error *err)
{
    return hc_fail(err, ENOMEM, "request");
}

/* ---- start ---- */

static int take_argv(struct hc_e2b_start *s, const struct hc_json *j, const cJSON *process,
                     struct hc_error *err)
{
    const cJSON *cmd = hc_json_member(process, "cmd"), *args = hc_json_member(process, "args"), *item;
    if (!cJSON_IsString(cmd))
        return wrong(j, cmd, "process.cmd", "a string", err);
    if (args && !cJSON_IsArray(args))
        return wrong(j, args, "process.args", "a list", err);
    cJSON *first = cJSON_CreateString(cmd->valuestring);
    s->argv = cJSON_CreateArray();
    if (!first || !cJSON_AddItemToArray(s->argv, first))
        return no_memory(err);
    cJSON_ArrayForEach(item, args)
    {
        if (!cJSON_IsString(item))
            return wrong(j, item, "process.args", "strings", err);
        cJSON *copy = cJSON_CreateString(item->valuestring);
        if (!copy || !cJSON_AddItemToArray(s->argv, copy))
            return no_memory(err);
    }
    return 0;
}

/* The directory that it begins in, an absolute path. */
static int put_workdir(cJSON *spec, const struct hc_json *j, const cJSON *cwd, struct hc_error *err)
{
    hc_autobuf whole = {0};
    if (!cwd || cJSON_IsNull(cwd))
        return 0;
    if (!cJSON_IsString(cwd))
        return wrong(j, cwd, "process.cwd", "a string", err);
    hc_e2b_place(cwd->valuestring, &whole);
    return !whole.failed && cJSON_AddStringToObject(spec, "workdir", whole.data) ? 0 : no_memory(err);
}

static int put_env(cJSON *spec, const struct hc_json *j, const cJSON *envs, struct hc_error *err)
{
    const cJSON *item;
    if (!envs || cJSON_IsNull(envs))
        return 0;
    if (!cJSON_IsObject(envs))
        return wrong(j, envs, "process.envs", "an object", err);
    cJSON_ArrayForEach(item, envs)
    {
        if (!cJSON_IsString(item))
            return wrong(j, item, "process.envs", "strings", err);
    }
    cJSON *copy = cJSON_Duplicate(envs, true);
    return copy && cJSON_AddItemToObject(spec, "env", copy) ? 0 : no_memory(err);
}

static int put_spec(struct hc_e2b_start *s, cJSON *spec, const struct hc_json *j, struct hc_error *err)
{
    const cJSON *process = hc_json_member(j->root, "process"), *pty = hc_json_member(j->root, "pty");
    const cJSON *open = hc_json_member(j->root, "stdin");
    if (!cJSON_IsObject(process))
        return wrong(j, process, "process", "an object", err);
    if (pty && !cJSON_IsNull(pty))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "pty: there are no terminals here");
    if (take_argv(s, j, process, err) < 0 || put_workdir(spec, j, hc_json_member(process, "cwd"), err) < 0 ||
        put_env(spec, j, hc_json_member(process, "envs"), err) < 0)
        return -1;
    s->keeps_stdin = !cJSON_IsFalse(open);
    cJSON *argv = cJSON_Duplicate(s->argv, true);
    char *text = argv && cJSON_AddItemToObject(spec, "command", argv) ? cJSON_PrintUnformatted(spec) : NULL;
    (void)hc_buf_str(&s->spec, text ? text : "");
    cJSON_free(text);
    return text && !s->spec.failed ? 0 : no_memory(err);
}

int hc_e2b_take_start(struct hc_e2b_start *s, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *s = (struct hc_e2b_start){0};
    if (open_object(&j, text, len, err) < 0)
        return -1;
    cJSON *spec = cJSON_CreateObject();
    int rc = spec ? put_spec(s, spec, &j, err) : no_memory(err);
    cJSON_Delete(spec);
    hc_json_finish(&j);
    return rc;
}

void hc_e2b_start_finish(struct hc_e2b_start *s)
{
    hc_buf_finish(&s->spec);
    cJSON_Delete(s->argv);
    s->argv = NULL;
}

/* ---- about one process ---- */

/* "SIGNAL_SIGTERM" or its number. NULL: another one. */
static const char *signal_of(const cJSON *node)
{
    static const struct {
        const char *name, *is;
        int number;
    } signals[] = {{"SIGNAL_SIGTERM", "TERM", 15}, {"SIGNAL_SIGKILL", "KILL", 9}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (cJSON_IsNumber(node) ? node->valueint == signals[i].number
                                 : cJSON_IsString(node) && strcmp(node->valuestring, signals[i].name) == 0)
            return signals[i].is;
    return NULL;
}

static int take_members(struct hc_e2b_about *a, const struct hc_json *j, struct hc_error *err)
{
    const cJSON *input = hc_json_member(j->root, "input"), *signal = hc_json_member(j->root, "signal");
    const cJSON *data = hc_json_member(input, "stdin");
    bool put = true;
    if (input && !cJSON_IsString(data))
        return wrong(j, data, "input.stdin", "base64", err);
    if (signal && !signal_of(signal))
        return hc_json_fail(j, signal, false, err, "signal: expected SIGNAL_SIGTERM or SIGNAL_SIGKILL");
    if (data)
        put = cJSON_AddStringToObject(a->members, "data", data->valuestring);
    if (signal)
        put = cJSON_AddStringToObject(a->members, "signal", signal_of(signal));
    return put ? 0 : no_memory(err);
}

int hc_e2b_take_about(struct hc_e2b_about *a, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *a = (struct hc_e2b_about){0};
    if (open_object(&j, text, len, err) < 0)
        return -1;
    const cJSON *process = hc_json_member(j.root, "process");
    a->pid = hc_json_int(process, "pid", -1);
    a->members = cJSON_CreateObject();
    int rc = a->members ? take_members(a, &j, err) : no_memory(err);
    if (rc == 0 && *hc_json_text(process, "tag"))
        rc = hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "process.tag: processes have no tags here");
    else if (rc == 0 && a->pid <= 0)
        rc = wrong(&j, process, "process", "an object with the pid of a process", err);
    hc_json_finish(&j);
    return rc;
}

/* ---- answers ---- */

void hc_e2b_put_process(int64_t pid, const char *argv, struct hc_buf *out)
{
    cJSON *list = cJSON_Parse(argv);
    const char *cmd = cJSON_IsArray(list) && list->child ? list->child->valuestring : NULL;
    (void)hc_buf_fmt(out, "{\"pid\": %lld, \"config\": {\"cmd\": ", (long long)pid);
    hc_json_quote(out, cmd ? cmd : "", cmd ? strlen(cmd) : 0);
    if (cmd)
        cJSON_DeleteItemFromArray(list, 0);
    char *args = cJSON_PrintUnformatted(list);
    (void)hc_buf_fmt(out, ", \"args\": %s, \"envs\": {}}}", args && cJSON_IsArray(list) ? args : "[]");
    cJSON_free(args);
    cJSON_Delete(list);
}

static void put_message(const struct hc_buf *json, struct hc_buf *out)
{
    out->failed |= json->failed;
    hc_e2b_envelope(0, json->data ? json->data : "", json->len, out);
}

void hc_e2b_put_started(int64_t pid, struct hc_buf *out)
{
    hc_autobuf json = {0};
    (void)hc_buf_fmt(&json, "{\"event\": {\"start\": {\"pid\": %lld}}}", (long long)pid);
    put_message(&json, out);
}

void hc_e2b_put_alive(struct hc_buf *out)
{
    static const char json[] = "{\"event\": {\"keepalive\": {}}}";
    hc_e2b_envelope(0, json, sizeof json - 1, out);
}

/* Output of a process: `data`, which is base64, or `text` if that is empty. */
static void put_output(const char *stream, const char *text, const char *data, struct hc_buf *out)
{
    const size_t len = strlen(text), room = sodium_base64_ENCODED_LEN(len, VARIANT);
    char *encoded = malloc(room);
    hc_autobuf json = {0};
    out->failed |= !encoded;
    if (!encoded)
        return;
    (void)sodium_bin2base64(encoded, room, (const unsigned char *)text, len, VARIANT);
    (void)hc_buf_fmt(&json, "{\"event\": {\"data\": {\"%s\": ", stream);
    hc_json_quote(&json, *data ? data : encoded, strlen(*data ? data : encoded));
    (void)hc_buf_str(&json, "}}}");
    free(encoded);
    put_message(&json, out);
}

/* The protocol cannot say that output is left out: the process's stderr does, for whoever reads that. */
static void put_cut(const char *stream, struct hc_buf *out)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "hotcell: the rest of %s is left out: about a megabyte of output is kept of a command\n",
                   strcmp(stream, "stderr") == 0 ? "stderr" : "stdout");
    put_output("stderr", text, "", out);
}

/* The end of a process, and of its stream. */
static void put_end(const cJSON *event, struct hc_buf *out)
{
    const cJSON *process = hc_json_member(event, "process");
    const int exit = (int)hc_json_int(process, "exit", -1);
    const char *name = hc_json_text(process, "name"), *reason = hc_json_text(event, "reason");
    hc_autobuf json = {0}, status = {0};
    if (exit >= 0)
        (void)hc_buf_fmt(&status, "exit status %d", exit);
    else
        (void)hc_buf_fmt(&status, "signal: %s", *name ? name : "unknown");
    (void)hc_buf_fmt(&json, "{\"event\": {\"end\": {\"exitCode\": %d, \"exited\": %s, \"status\": ", exit,
                     exit >= 0 ? "true" : "false");
    hc_json_quote(&json, status.data ? status.data : "", status.len);
    if (exit != 0) {
        (void)hc_buf_str(&json, ", \"error\": ");
        hc_json_quote(&json,
                      *reason       ? reason
                      : status.data ? status.data
                                    : "",
                      *reason ? strlen(reason) : status.len);
    }
    (void)hc_buf_str(&json, "}}}");
    put_message(&json, out);
    hc_e2b_envelope(HC_E2B_LAST, "{}", 2, out);
}

bool hc_e2b_process_event(const char *line, size_t len, struct hc_buf *out)
{
    cJSON *event = cJSON_ParseWithLength(line, len);
    const char *kind = hc_json_text(event, "event");
    const bool last = strcmp(kind, "exited") == 0;
    if (last)
        put_end(event, out);
    else if (strcmp(kind, "stdout") == 0 || strcmp(kind, "stderr") == 0)
        put_output(kind, hc_json_text(event, "text"), hc_json_text(event, "data"), out);
    else if (strcmp(kind, "cut") == 0)
        put_cut(hc_json_text(event, "stream"), out);
    cJSON_Delete(event);
    return last;
}
