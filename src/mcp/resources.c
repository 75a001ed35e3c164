/* Resources: the stored files, for clients that show them, and the card. */
#include "mcp/server.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME    "hotcell://"       /* begins the URIs of resources */
#define CARD      SCHEME "card"      /* URI of the card */
#define PAGE      200                /* most resources in one answer */
#define MAX_BYTES ((int64_t)8 << 20) /* most bytes of a resource that is read */

void hc_mcp_uri(const char *path, struct hc_buf *out)
{
    (void)hc_buf_str(out, SCHEME);
    for (; *path; path++)
        if (isalnum((unsigned char)*path) || strchr("-._~/", *path))
            (void)hc_buf_add(out, path, 1);
        else
            (void)hc_buf_fmt(out, "%%%02X", (unsigned char)*path);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The path in a URI of this server; -1: the URI is of another server. */
static int path_of(const char *uri, struct hc_buf *out)
{
    if (strncmp(uri, SCHEME, strlen(SCHEME)) != 0)
        return -1;
    for (uri += strlen(SCHEME); *uri; uri++) {
        char c = *uri;
        if (c == '%') {
            int high = hex(uri[1]), low = high < 0 ? -1 : hex(uri[2]);
            if (low < 0 || high * 16 + low == 0)
                return -1;
            c = (char)(high * 16 + low);
            uri += 2;
        }
        if (hc_buf_add(out, &c, 1) < 0)
            return -1;
    }
    return out->len ? 0 : -1;
}

/* ---- lists ---- */

/* A list of resources that is being made. */
struct page {
    cJSON *list;               /* borrowed */
    size_t seen, first, shown; /* resources so far; index of the first to show; number of shown ones */
};

static void add_resource(struct page *p, const char *uri, const char *name, const char *mime, double bytes)
{
    if (p->seen++ < p->first || p->shown >= PAGE)
        return;
    cJSON *r = cJSON_CreateObject();
    hc_mcp_put(r, "uri", cJSON_CreateString(uri));
    hc_mcp_put(r, "name", cJSON_CreateString(name));
    hc_mcp_put(r, "mimeType", cJSON_CreateString(mime));
    hc_mcp_put(r, "size", cJSON_CreateNumber(bytes));
    hc_mcp_add(p->list, r);
    p->shown++;
}

static void add_run(struct page *p, const struct hc_stored_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        hc_autobuf uri = {0};
        hc_mcp_uri(run->files[i].path, &uri);
        if (uri.data)
            add_resource(p, uri.data, run->files[i].path, run->files[i].mime, (double)run->files[i].bytes);
    }
}

/* A cursor is the number of resources on earlier pages. */
static bool parse_cursor(const struct hc_rpc *message, size_t *first)
{
    const cJSON *cursor = hc_json_member(message->params, "cursor");
    const char *text = cJSON_GetStringValue(cursor);
    *first = 0;
    if (!cursor)
        return true;
    if (!text || !*text || strlen(text) > 9 || text[strspn(text, "0123456789")])
        return false;
    *first = strtoul(text, NULL, 10);
    return true;
}

void hc_mcp_list_resources(struct hc_mcp *m, const struct hc_rpc *message)
{
    struct page p = {0};
    if (!parse_cursor(message, &p.first)) {
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS, "cursor: expected one that resources/list gave");
        return;
    }
    cJSON *result = cJSON_CreateObject();
    p.list = cJSON_AddArrayToObject(result, "resources");
    add_resource(&p, CARD, "What programs may do and use", "text/plain", (double)strlen(m->card));
    add_run(&p, &m->store->written);
    for (size_t i = 0; i < m->store->run_count; i++)
        add_run(&p, &m->store->runs[i]);
    if (p.seen > p.first + p.shown) {
        char next[24];
        (void)snprintf(next, sizeof next, "%zu", p.first + p.shown);
        hc_mcp_put(result, "nextCursor", cJSON_CreateString(next));
    }
    hc_mcp_reply(m, message->id, result);
}

void hc_mcp_list_templates(struct hc_mcp *m, const struct hc_rpc *message)
{
    cJSON *result = cJSON_CreateObject(), *template = cJSON_CreateObject();
    hc_mcp_put(template, "uriTemplate", cJSON_CreateString(SCHEME "{run}/{+path}"));
    hc_mcp_put(template, "name", cJSON_CreateString("A file that a run left, or that was written"));
    hc_mcp_add(cJSON_AddArrayToObject(result, "resourceTemplates"), template);
    hc_mcp_reply(m, message->id, result);
}

/* ---- reading a resource ---- */

/* The content as text if it is UTF-8, else as base64. */
static cJSON *contents(const char *uri, const char *mime, const struct hc_buf *bytes)
{
    bool text = hc_mcp_is_text(bytes);
    cJSON *c = text ? cJSON_CreateObject() : hc_mcp_blob("blob", bytes);
    if (text)
        hc_mcp_put(c, "text", cJSON_CreateString(bytes->len ? bytes->data : ""));
    hc_mcp_put(c, "uri", cJSON_CreateString(uri));
    hc_mcp_put(c, "mimeType", cJSON_CreateString(mime));
    return c;
}

static void reply_contents(struct hc_mcp *m, const char *id, cJSON *item)
{
    cJSON *result = cJSON_CreateObject();
    hc_mcp_add(cJSON_AddArrayToObject(result, "contents"), item);
    hc_mcp_reply(m, id, result);
}

void hc_mcp_read_resource(struct hc_mcp *m, const struct hc_rpc *message)
{
    const char *uri = hc_json_text_or(message->params, "uri", NULL);
    hc_autobuf path = {0}, bytes = {0};
    struct hc_error err = {0};
    if (!uri) {
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS, "uri: expected a string");
        return;
    }
    if (strcmp(uri, CARD) == 0) {
        (void)hc_buf_str(&bytes, m->card);
        reply_contents(m, message->id, contents(uri, "text/plain", &bytes));
        return;
    }
    const struct hc_stored *file = path_of(uri, &path) == 0 ? hc_files_find(m->store, path.data) : NULL;
    if (!file)
        hc_mcp_error(m, message->id, HC_RPC_NO_RESOURCE, "there is no resource '%.200s'", uri);
    else if (file->bytes > MAX_BYTES)
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS,
                     "'%.200s' has %lld bytes, more than the 8 MiB of a resource: read text in parts with "
                     "the tool read_file",
                     uri, (long long)file->bytes);
    else if (hc_files_read(m->store, file, 0, (size_t)MAX_BYTES, &bytes, &err) < 0)
        hc_mcp_error(m, message->id, HC_RPC_INTERNAL, "%s", err.text);
    else
        reply_contents(m, message->id, contents(uri, file->mime, &bytes));
}
