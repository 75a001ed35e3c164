/* Files of an open session: calls become requests of hotcell-session(1), and their answers are told as those
 * about files that are kept. */
#include "mcp/server.h"

#include "mcp/mime.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 200 /* most files in one answer */

static void put_text(struct hc_buf *line, const char *name, const char *text)
{
    if (!text)
        return;
    (void)hc_buf_fmt(line, ",\"%s\":", name);
    hc_json_quote(line, text, strlen(text));
}

void hc_session_files_call(struct hc_mcp *m, const struct hc_call *call, const char *request)
{
    const bool writes = strcmp(request, "write_file") == 0, lists = strcmp(request, "list_files") == 0;
    const char *path = hc_mcp_string(call, writes ? "name" : lists ? "of" : "path");
    const bool image = path && hc_mime_is_image(hc_mime_of(path));
    hc_autobuf line = {0};
    (void)hc_buf_fmt(&line, "{\"%s\":{\"path\":", request);
    hc_json_quote(&line, path ? path : ".", path ? strlen(path) : 1);
    if (writes) {
        put_text(&line, "text", hc_mcp_string(call, "text"));
        put_text(&line, "data", hc_mcp_string(call, "base64"));
    } else if (strcmp(request, "read_file") == 0) {
        (void)hc_buf_fmt(&line, ",\"offset\":%lld,\"bytes\":%lld",
                         image ? 0LL : (long long)hc_json_int(call->arguments, "offset", 0),
                         (long long)hc_mcp_most_bytes(hc_mime_of(path)));
    }
    (void)hc_buf_str(&line, "}}");
    if (line.failed)
        hc_mcp_refuse(m, call->message->id, "out of memory");
    else
        hc_session_send(m, call, line.data);
}

static void answer_content(struct hc_mcp *m, const char *id, const char *session, const cJSON *answer)
{
    const cJSON *file = hc_json_member(answer, "file");
    const char *data = hc_json_text(answer, "data");
    hc_autobuf path = {0};
    (void)hc_buf_fmt(&path, "%s/%s", session, hc_json_text(file, "path"));
    const struct hc_stored stored = {.path = path.data ? path.data : "",
                                     .mime = hc_mime_of(hc_json_text(file, "path")),
                                     .bytes = hc_json_int(file, "bytes", 0)};
    const size_t room = strlen(data) / 4 * 3 + 3;
    char *bytes = malloc(room);
    hc_autobuf content = {0};
    size_t len = 0;
    if (bytes && sodium_base642bin((unsigned char *)bytes, room, data, strlen(data), NULL, &len, NULL,
                                   sodium_base64_VARIANT_ORIGINAL) == 0)
        (void)hc_buf_add(&content, bytes, len);
    else
        content.failed = true;
    free(bytes);
    if (content.failed)
        hc_mcp_refuse(m, id, "%.200s could not be taken", stored.path);
    else
        hc_mcp_answer_file(m, id, &stored, hc_json_int(answer, "offset", 0), &content);
}

/* A name in a directory as data. */
static cJSON *entry_data(const char *path, const cJSON *file, const char *kind)
{
    const bool plain = strcmp(kind, "file") == 0;
    cJSON *data = plain ? hc_mcp_file_data(path, hc_mime_of(path), hc_json_int(file, "bytes", 0))
                        : hc_mcp_data("path", path);
    hc_mcp_put(data, "kind", cJSON_CreateString(kind));
    return data;
}

static void answer_list(struct hc_mcp *m, const char *id, const cJSON *answer)
{
    const cJSON *file;
    int64_t seen = 0, more = hc_json_int(answer, "omitted", 0) + hc_json_int(answer, "more", 0);
    const char *dir = hc_json_text(answer, "path");
    const char *slash = strcmp(dir, ".") == 0 ? "" : "/";
    dir = *slash ? dir : "";
    hc_autobuf text = {0};
    cJSON *data = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(data, "files");
    size_t room = HC_MCP_DATA;
    cJSON_ArrayForEach(file, hc_json_member(answer, "files"))
    {
        const char *name = hc_json_text(file, "name"), *kind = hc_json_text(file, "kind");
        hc_autobuf path = {0};
        (void)hc_buf_fmt(&path, "%s%s%s", dir, slash, name);
        if (++seen > LISTED || path.failed) {
            more++;
            continue;
        }
        (void)hc_buf_str(&text, path.data);
        if (strcmp(kind, "file") == 0)
            (void)hc_buf_fmt(&text, "  %lld bytes  %s\n", (long long)hc_json_int(file, "bytes", 0),
                             hc_mime_of(name));
        else
            (void)hc_buf_fmt(&text, "  %s\n", kind);
        room = hc_mcp_list_item(list, entry_data(path.data, file, kind), room);
    }
    if (more)
        (void)hc_buf_fmt(&text, "and %lld more\n", (long long)more);
    const int64_t rest = hc_json_int(answer, "omitted", 0) + hc_json_int(answer, "more", 0) + seen;
    hc_mcp_put(data, "more", cJSON_CreateNumber((double)(rest - cJSON_GetArraySize(list))));
    hc_mcp_answer(m, id, text.len ? text.data : "no files\n", data);
}

void hc_session_files_answer(struct hc_mcp *m, const char *id, const char *session, const cJSON *answer)
{
    const char *request = hc_json_text(answer, "request");
    const cJSON *file = hc_json_member(answer, "file");
    const char *path = hc_json_text(file, "path");
    const int64_t bytes = hc_json_int(file, "bytes", 0);
    if (strcmp(request, "read_file") == 0)
        answer_content(m, id, session, answer);
    else if (strcmp(request, "list_files") == 0)
        answer_list(m, id, answer);
    else if (strcmp(request, "write_file") == 0)
        hc_mcp_say(m, id, hc_mcp_file_data(path, hc_mime_of(path), bytes), "%s: %s has %lld bytes", session,
                   path, (long long)bytes);
    else
        hc_mcp_say(m, id, NULL, "%s: it is gone", session);
}
