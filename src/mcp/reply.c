#include "mcp/server.h"

#include "base/utf8.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hc_mcp_add(cJSON *list, cJSON *item)
{
    if (item && !cJSON_AddItemToArray(list, item))
        cJSON_Delete(item);
}

void hc_mcp_put(cJSON *object, const char *name, cJSON *value)
{
    if (value && !cJSON_AddItemToObject(object, name, value))
        cJSON_Delete(value);
}

cJSON *hc_mcp_text(const char *text)
{
    hc_autobuf clean = {0};
    cJSON *block = cJSON_CreateObject();
    (void)hc_utf8_scrub(&clean, text, strlen(text));
    hc_mcp_put(block, "type", cJSON_CreateString("text"));
    hc_mcp_put(block, "text", cJSON_CreateString(clean.data && !clean.failed ? clean.data : ""));
    return block;
}

cJSON *hc_mcp_blob(const char *name, const struct hc_buf *bytes)
{
    size_t size = sodium_base64_encoded_len(bytes->len, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(size);
    cJSON *object = text ? cJSON_CreateObject() : NULL;
    if (object)
        hc_mcp_put(object, name,
                   cJSON_CreateString(
                       sodium_bin2base64(text, size, (const unsigned char *)(bytes->data ? bytes->data : ""),
                                         bytes->len, sodium_base64_VARIANT_ORIGINAL)));
    free(text);
    return object;
}

cJSON *hc_mcp_data(const char *name, const char *text)
{
    cJSON *data = cJSON_CreateObject();
    hc_mcp_put(data, name, cJSON_CreateString(text));
    return data;
}

cJSON *hc_mcp_file_data(const char *path, const char *mime, int64_t bytes)
{
    cJSON *file = hc_mcp_data("path", path);
    hc_mcp_put(file, "mime", cJSON_CreateString(mime));
    hc_mcp_put(file, "bytes", cJSON_CreateNumber((double)bytes));
    return file;
}

size_t hc_mcp_list_item(cJSON *list, cJSON *item, size_t room)
{
    char *text = cJSON_PrintUnformatted(item);
    const size_t len = text ? strlen(text) + 1 : room + 1;
    cJSON_free(text);
    if (len <= room)
        hc_mcp_add(list, item);
    else
        cJSON_Delete(item);
    return len <= room ? room - len : 0;
}

/* ---- messages ---- */

/* If memory runs out, a short error is sent instead: a client without an answer would wait for ever. */
static void send_message(struct hc_mcp *m, const char *id, bool answer, cJSON *message)
{
    char *text = message ? cJSON_PrintUnformatted(message) : NULL, failed[HC_RPC_ID_MAX + 120];
    cJSON_Delete(message);
    if ((!text || m->host->send(m, id, answer, text, strlen(text)) < 0) && answer) {
        (void)snprintf(
            failed, sizeof failed,
            "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"out of memory\"}}", id,
            HC_RPC_INTERNAL);
        (void)m->host->send(m, id, answer, failed, strlen(failed));
    }
    cJSON_free(text);
}

static cJSON *new_message(const char *id)
{
    cJSON *message = cJSON_CreateObject();
    hc_mcp_put(message, "jsonrpc", cJSON_CreateString("2.0"));
    if (id)
        (void)cJSON_AddRawToObject(message, "id", id); /* the id's source text, unchanged */
    return message;
}

void hc_mcp_reply(struct hc_mcp *m, const char *id, cJSON *result)
{
    if (!result) {
        hc_mcp_error(m, id, HC_RPC_INTERNAL, "out of memory");
        return;
    }
    cJSON *message = new_message(id);
    hc_mcp_put(message, "result", result);
    send_message(m, id, true, message);
}

/* Format a text with untrusted parts as valid UTF-8. */
static void format_text(struct hc_buf *out, const char *fmt, va_list ap)
{
    char text[2048];
    (void)vsnprintf(text, sizeof text, fmt, ap);
    (void)hc_utf8_scrub(out, text, strlen(text));
}

void hc_mcp_error(struct hc_mcp *m, const char *id, int code, const char *fmt, ...)
{
    hc_autobuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    format_text(&text, fmt, ap);
    va_end(ap);
    cJSON *message = new_message(id);
    cJSON *error = cJSON_AddObjectToObject(message, "error");
    hc_mcp_put(error, "code", cJSON_CreateNumber(code));
    hc_mcp_put(error, "message", cJSON_CreateString(text.data ? text.data : ""));
    send_message(m, id, true, message);
}

void hc_mcp_notify(struct hc_mcp *m, const char *id, const char *method, cJSON *params)
{
    cJSON *message = new_message(NULL);
    hc_mcp_put(message, "method", cJSON_CreateString(method));
    hc_mcp_put(message, "params", params);
    send_message(m, id, false, message);
}

/* ---- results of tools ---- */

static cJSON *text_result(const char *text)
{
    cJSON *result = cJSON_CreateObject();
    hc_mcp_add(cJSON_AddArrayToObject(result, "content"), hc_mcp_text(text));
    return result;
}

void hc_mcp_answer(struct hc_mcp *m, const char *id, const char *text, cJSON *data)
{
    cJSON *result = text_result(text);
    if (m->version->structured)
        hc_mcp_put(result, "structuredContent", data);
    else
        cJSON_Delete(data);
    hc_mcp_reply(m, id, result);
}

void hc_mcp_refuse(struct hc_mcp *m, const char *id, const char *fmt, ...)
{
    hc_autobuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    format_text(&text, fmt, ap);
    va_end(ap);
    cJSON *result = text_result(text.data ? text.data : "");
    hc_mcp_put(result, "isError", cJSON_CreateTrue());
    hc_mcp_reply(m, id, result);
}

void hc_mcp_say(struct hc_mcp *m, const char *id, cJSON *data, const char *fmt, ...)
{
    hc_autobuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    format_text(&text, fmt, ap);
    va_end(ap);
    hc_mcp_answer(m, id, text.data ? text.data : "", data);
}
