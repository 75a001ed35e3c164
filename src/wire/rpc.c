#include "wire/rpc.h"

#include <math.h>
#include <string.h>

/* ---- messages ---- */

bool hc_rpc_id(const struct hc_json *j, const cJSON *node, char out[HC_RPC_ID_MAX + 1])
{
    size_t len;
    if (cJSON_IsNumber(node) && node->valuedouble != floor(node->valuedouble))
        return false;
    if (!cJSON_IsNumber(node) && !cJSON_IsString(node))
        return false;
    const char *text = hc_json_source(j, node, &len);
    if (!text || len > HC_RPC_ID_MAX)
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

static int refuse_message(int *code, int value, struct hc_error *err, const char *why)
{
    *code = value;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "%s", why);
}

static int take_id(struct hc_rpc *out, const cJSON *id, int *code, struct hc_error *err)
{
    if (id && !hc_rpc_id(&out->json, id, out->id))
        return refuse_message(code, HC_RPC_INVALID_REQUEST, err,
                              "id: expected a string of at most 254 bytes or a whole number");
    return 0;
}

static int take_params(struct hc_rpc *out, const cJSON *params, int *code, struct hc_error *err)
{
    if (params && !cJSON_IsObject(params)) {
        *code = HC_RPC_INVALID_PARAMS;
        return hc_fail_as(err, HC_EXIT_DATA, 0, "params: expected an object, got %s", hc_json_kind(params));
    }
    out->params = params;
    return 0;
}

static int take_message(struct hc_rpc *out, int *code, struct hc_error *err)
{
    const cJSON *root = out->json.root;
    if (cJSON_IsArray(root))
        return refuse_message(code, HC_RPC_INVALID_REQUEST, err,
                              "there are no batches here: send one message a line");
    if (!cJSON_IsObject(root))
        return refuse_message(code, HC_RPC_INVALID_REQUEST, err, "expected an object");
    const cJSON *id = hc_json_member(root, "id");
    const cJSON *method = hc_json_member(root, "method");
    const char *version = hc_json_text_or(root, "jsonrpc", NULL);
    bool answer = hc_json_member(root, "result") || hc_json_member(root, "error");
    if (!method && answer) {
        out->kind = HC_RPC_RESPONSE;
        return 0;
    }
    if (take_id(out, id, code, err) < 0)
        return -1;
    if (!version || strcmp(version, "2.0") != 0)
        return refuse_message(code, HC_RPC_INVALID_REQUEST, err, "expected \"jsonrpc\": \"2.0\"");
    out->method = cJSON_GetStringValue(method);
    if (!out->method)
        return refuse_message(code, HC_RPC_INVALID_REQUEST, err, "method: expected a string");
    out->kind = id ? HC_RPC_REQUEST : HC_RPC_NOTIFICATION;
    return take_params(out, hc_json_member(root, "params"), code, err);
}

int hc_rpc_parse(struct hc_rpc *out, const char *text, size_t len, int *code, struct hc_error *err)
{
    *out = (struct hc_rpc){.id = "null"};
    *code = HC_RPC_PARSE_ERROR;
    if (hc_json_parse(&out->json, "message", text, len, err) < 0)
        return -1;
    return take_message(out, code, err);
}

void hc_rpc_finish(struct hc_rpc *m)
{
    hc_json_finish(&m->json);
    *m = (struct hc_rpc){0};
}

/* ---- lines ---- */

/* Removes the lines that have been read from the buffer. */
static void drop_read_lines(struct hc_rpc_lines *l)
{
    if (!l->start)
        return;
    l->buf.len -= l->start;
    l->searched -= l->start;
    memmove(l->buf.data, l->buf.data + l->start, l->buf.len);
    l->start = 0;
}

void hc_rpc_feed(struct hc_rpc_lines *l, const char *data, size_t len)
{
    if (l->skipping) {
        const char *end = memchr(data, '\n', len);
        if (!end)
            return;
        len -= (size_t)(end + 1 - data);
        data = end + 1;
        l->skipping = false;
    }
    drop_read_lines(l);
    (void)hc_buf_add(&l->buf, data, len); /* hc_rpc_next looks at buf.failed */
}

static void drop_buffer(struct hc_rpc_lines *l)
{
    hc_buf_finish(&l->buf);
    l->start = l->searched = 0;
}

static bool is_blank_line(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r", text[i]) || !text[i])
            return false;
    return true;
}

/* Takes the next line from the buffer; false: its line break has not come. */
static bool take_line(struct hc_rpc_lines *l, const char **text, size_t *len)
{
    char *from = l->buf.data + l->searched;
    char *end = l->buf.len > l->searched ? memchr(from, '\n', l->buf.len - l->searched) : NULL;
    if (!end) {
        l->searched = l->buf.len;
        return false;
    }
    *text = l->buf.data + l->start;
    *len = (size_t)(end - *text);
    l->start = l->searched = (size_t)(end + 1 - l->buf.data);
    return true;
}

enum hc_rpc_line hc_rpc_next(struct hc_rpc_lines *l, const char **text, size_t *len)
{
    if (l->buf.failed) {
        drop_buffer(l);
        l->skipping = true;
        return HC_RPC_NO_MEMORY;
    }
    while (take_line(l, text, len)) {
        if (*len > l->max)
            return HC_RPC_LONG;
        if (!is_blank_line(*text, *len))
            return HC_RPC_LINE;
    }
    if (l->buf.len - l->start <= l->max)
        return HC_RPC_MORE;
    drop_buffer(l);
    l->skipping = true;
    return HC_RPC_LONG;
}

void hc_rpc_lines_finish(struct hc_rpc_lines *l)
{
    drop_buffer(l);
}
