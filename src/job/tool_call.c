#include "job/tool_call.h"

#include "base/utf8.h"
#include "json/scan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading a call ---- */

static int read_call(struct hc_tool_call *call, struct hc_error *err)
{
    const cJSON *root = call->json.root;
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(root, "id");
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(root, "name");
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(root, "arguments");
    if (!cJSON_IsObject(root) || cJSON_GetArraySize(root) != 3 || !cJSON_IsString(name) ||
        !*name->valuestring || !cJSON_IsObject(arguments) || !cJSON_IsNumber(id))
        return hc_json_fail(&call->json, root, false, err, "expected id, name and arguments");
    if (!(id->valuedouble >= 1 && id->valuedouble <= UINT32_MAX) || id->valuedouble != floor(id->valuedouble))
        return hc_json_fail(&call->json, id, false, err, "the id is not as it must be");
    call->id = (uint32_t)id->valuedouble;
    call->name = name->valuestring;
    call->arguments = arguments;
    call->source = hc_json_source(&call->json, arguments, &call->source_len);
    return call->source ? 0 : hc_fail(err, ENOMEM, "tool call");
}

int hc_tool_call_parse(struct hc_tool_call *out, const char *text, size_t len, struct hc_error *err)
{
    *out = (struct hc_tool_call){0};
    if (hc_json_parse(&out->json, "tool call", text, len, err) < 0)
        return -1;
    if (read_call(out, err) == 0)
        return 0;
    hc_tool_call_finish(out);
    return -1;
}

void hc_tool_call_finish(struct hc_tool_call *call)
{
    hc_json_finish(&call->json);
    *call = (struct hc_tool_call){0};
}

/* ---- the arguments of a call ---- */

static bool add_string(struct hc_buf *out, const char *text)
{
    cJSON *node = cJSON_CreateString(text);
    char *printed = node ? cJSON_PrintUnformatted(node) : NULL;
    bool ok = printed && hc_buf_str(out, printed) == 0;
    cJSON_free(printed);
    cJSON_Delete(node);
    return ok;
}

static const struct hc_tool_path *path_rule(const struct hc_tool *tool, const char *argument)
{
    for (size_t i = 0; i < tool->path_count; i++)
        if (strcmp(tool->paths[i].argument, argument) == 0)
            return &tool->paths[i];
    return NULL;
}

/* Does this call open the path for reading only? Without a mode open() takes "r". */
static bool only_reads(const struct hc_tool *tool, const struct hc_tool_path *path, const cJSON *arguments)
{
    if (!path->mode)
        return false;
    const cJSON *mode = cJSON_GetObjectItemCaseSensitive(arguments, path->mode);
    if (!mode && tool->parameters)
        mode = cJSON_GetObjectItemCaseSensitive(hc_schema_property(tool->parameters, path->mode), "default");
    return !mode || (cJSON_IsString(mode) && !strpbrk(mode->valuestring, "wax+"));
}

/* The state of hc_tool_arguments. */
struct arranging {
    const struct hc_tool *tool;      /* the tool that is called; all pointers are borrowed */
    const struct hc_tool_call *call; /* the call from the cell */
    hc_tool_resolver *resolve;       /* the caller's function for arguments that are paths */
    void *ctx;                       /* for `resolve` */
    struct hc_buf *out;              /* gets the arguments as JSON */
    bool *by_path;                   /* set if `resolve` refuses an argument */
    bool begun;                      /* `out` has an argument */
};

static int put_path(const struct arranging *a, const struct hc_tool_path *path, const cJSON *value,
                    struct hc_error *err)
{
    char *resolved = NULL;
    *a->by_path = true;
    if (!cJSON_IsString(value))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected a path, got %s", hc_json_kind(value));
    if (a->resolve(a->ctx, path, value->valuestring, &resolved, err) < 0)
        return -1;
    *a->by_path = false;
    (void)add_string(a->out, resolved);
    free(resolved);
    return 0;
}

/* Appends one argument. `source` is the value as it was written; NULL: print the value. */
static int put_argument(struct arranging *a, const cJSON *value, const char *source, size_t len,
                        struct hc_error *err)
{
    const struct hc_tool_path *path = path_rule(a->tool, value->string);
    (void)hc_buf_str(a->out, a->begun ? ", " : "");
    a->begun = true;
    (void)add_string(a->out, value->string);
    (void)hc_buf_str(a->out, ": ");
    if (path && !only_reads(a->tool, path, a->call->arguments))
        return put_path(a, path, value, err) < 0 ? hc_ctx(err, "%.64s", value->string) : 0;
    char *printed = source ? NULL : cJSON_PrintUnformatted(value);
    (void)hc_buf_add(a->out,
                     source    ? source
                     : printed ? printed
                               : "",
                     source    ? len
                     : printed ? strlen(printed)
                               : 0);
    cJSON_free(printed);
    return 0;
}

static int put_given(struct arranging *a, struct hc_error *err)
{
    hc_autoscan scan;
    size_t count = 0;
    if (hc_scan(&scan, "arguments", a->call->source, a->call->source_len, 0, err) < 0 ||
        hc_scan_numbers(&scan, "arguments", err) < 0)
        return -1;
    uint32_t *nodes = hc_scan_children(&scan, 0, false, &count);
    const cJSON *value = a->call->arguments->child;
    int rc = nodes ? 0 : hc_fail(err, ENOMEM, "arguments");
    for (size_t i = 0; rc == 0 && i < count && value; i++, value = value->next) {
        const struct hc_node *n = &scan.nodes[nodes[i]];
        rc = put_argument(a, value, scan.text + n->start, n->end - n->start, err);
    }
    free(nodes);
    return rc;
}

static int put_defaults(struct arranging *a, struct hc_error *err)
{
    const struct hc_schema *schema = a->tool->parameters;
    const cJSON *properties =
        schema ? cJSON_GetObjectItemCaseSensitive(hc_schema_json(schema), "properties") : NULL;
    const cJSON *one;
    cJSON_ArrayForEach(one, properties)
    {
        const cJSON *by_default = cJSON_GetObjectItemCaseSensitive(one, "default");
        if (!by_default || cJSON_GetObjectItemCaseSensitive(a->call->arguments, one->string))
            continue;
        cJSON *named = cJSON_Duplicate(by_default, true);
        if (named) { /* the copy's name is "default": give it the argument's */
            cJSON_free(named->string);
            named->string = strdup(one->string);
        }
        int rc =
            named && named->string ? put_argument(a, named, NULL, 0, err) : hc_fail(err, ENOMEM, "default");
        cJSON_Delete(named);
        if (rc < 0)
            return -1;
    }
    return 0;
}

int hc_tool_arguments(const struct hc_tool *tool, const struct hc_tool_call *call, hc_tool_resolver *resolve,
                      void *ctx, struct hc_buf *out, bool *by_path, struct hc_error *err)
{
    struct arranging a = {tool, call, resolve, ctx, out, by_path, false};
    *by_path = false;
    if (tool->parameters && hc_schema_check(tool->parameters, call->arguments, err) < 0)
        return -1;
    (void)hc_buf_str(out, "{");
    if (put_given(&a, err) < 0 || put_defaults(&a, err) < 0)
        return -1;
    (void)hc_buf_str(out, "}");
    if (out->failed)
        return hc_fail(err, ENOMEM, "arguments");
    /* Each call must be one line, as tools read calls by lines. Line breaks can stand only between values, as
     * JSON strings hold none. */
    for (size_t i = 0; i < out->len; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
    return 0;
}

/* ---- the answer to a call ---- */

int hc_tool_answer_value(struct hc_buf *out, uint32_t id, const char *json, size_t len)
{
    (void)hc_buf_fmt(out, "{\"id\": %u, \"value\": ", id);
    (void)hc_buf_add(out, json, len);
    return hc_buf_str(out, "}");
}

int hc_tool_answer_error(struct hc_buf *out, uint32_t id, const char *message)
{
    (void)hc_buf_fmt(out, "{\"id\": %u, \"error\": ", id);
    return add_string(out, message) ? hc_buf_str(out, "}") : -1;
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

void hc_tool_clean(char *out, size_t size, const char *text, size_t len)
{
    hc_autobuf clean = {0};
    size_t at = 0, used = 0;
    while (at < len && is_blank(text[at]))
        at++;
    size_t end = at;
    while (end < len && text[end] != '\n' && text[end] != '\0')
        end++;
    (void)hc_utf8_scrub(&clean, text + at, end - at);
    for (size_t i = 0; i < clean.len && used + 1 < size; i++)
        out[used++] = is_blank(clean.data[i]) ? ' ' : clean.data[i];
    while (used && (out[used - 1] == ' '))
        used--;
    used -= hc_utf8_unfinished(out, used);
    out[used] = '\0';
}

/* ---- the list of calls ---- */

static const char *const statuses[HC_TOOL_STATUSES] = {
    [HC_TOOL_OK] = "ok",           [HC_TOOL_ERROR] = "error", [HC_TOOL_TIMEOUT] = "timeout",
    [HC_TOOL_REFUSED] = "refused", [HC_TOOL_ENDED] = "ended",
};

const char *hc_tool_status_name(enum hc_tool_status status)
{
    return statuses[status];
}

struct hc_tool_entry *hc_tool_log_add(struct hc_tool_log *log, const char *name, const char *arguments,
                                      size_t len, bool refused)
{
    bool room = log->count < HC_TOOL_CALLS_LISTED && (!refused || log->refused < HC_TOOL_REFUSED_LISTED);
    struct hc_tool_entry *items = room ? reallocarray(log->items, log->count + 1, sizeof *items) : NULL;
    if (items)
        log->items = items;
    char *copy =
        items ? strndup(arguments, len < HC_TOOL_ARGUMENTS_SHOWN ? len : HC_TOOL_ARGUMENTS_SHOWN) : NULL;
    if (!copy) {
        log->more = true;
        return NULL;
    }
    struct hc_tool_entry *e = &items[log->count++];
    *e = (struct hc_tool_entry){.arguments = copy, .argument_bytes = (int64_t)len, .result_bytes = -1};
    (void)snprintf(e->name, sizeof e->name, "%s", name);
    log->refused += refused;
    return e;
}

void hc_tool_log_finish(struct hc_tool_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->items[i].arguments);
    free(log->items);
    *log = (struct hc_tool_log){0};
}
