/* The tools for files. */
#include "mcp/server.h"

#include "base/log.h"
#include "base/utf8.h"
#include "mcp/mime.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define LISTED     200                /* most files in one answer */
#define TEXT_PART  ((size_t)64 << 10) /* most bytes of text in one answer */
#define MAX_IMAGE  ((int64_t)4 << 20) /* most bytes of an image */
#define MAX_BINARY ((int64_t)1 << 20) /* most bytes of another file that is no text */

/* ---- list ---- */

/* A list of files that is being made. */
struct listing {
    struct hc_buf text;         /* the list so far; owned */
    cJSON *data;                /* its beginning as data; owned; NULL: no memory */
    size_t room;                /* bytes that `data` may still take */
    int64_t seen, first, shown; /* files so far; index of the first to show; number of shown ones */
};

static void list_run(struct listing *l, const struct hc_stored_run *run)
{
    for (size_t i = 0; i < run->count; i++, l->seen++) {
        if (l->seen < l->first || l->shown >= LISTED)
            continue;
        const struct hc_stored *f = &run->files[i];
        (void)hc_buf_fmt(&l->text, "%s  %lld bytes  %s\n", f->path, (long long)f->bytes, f->mime);
        l->room = hc_mcp_list_item(l->data, hc_mcp_file_data(f->path, f->mime, f->bytes), l->room);
        l->shown++;
    }
}

/* The list as data, with the number of the files after it. */
static cJSON *list_data(struct listing *l)
{
    const int64_t next = l->first + cJSON_GetArraySize(l->data);
    const int64_t more = l->seen > next ? l->seen - next : 0;
    cJSON *data = cJSON_CreateObject();
    hc_mcp_put(data, "files", l->data);
    hc_mcp_put(data, "more", cJSON_CreateNumber((double)more));
    if (more)
        hc_mcp_put(data, "next_offset", cJSON_CreateNumber((double)next));
    return data;
}

void hc_tool_list_files(struct hc_mcp *m, const struct hc_call *call)
{
    if (hc_mcp_string(call, "session")) {
        hc_session_files_call(m, call, "list_files");
        return;
    }
    const char *of = hc_mcp_string(call, "of");
    const struct hc_stored_run *only = of ? hc_files_find_run(m->store, of) : NULL;
    if (of && !only) {
        hc_mcp_refuse(m, call->message->id,
                      "there is no '%.80s': expected \"files\" or a run such as \"run-1\" that is still "
                      "kept; without 'of' all files are listed",
                      of);
        return;
    }
    struct listing l = {
        .data = cJSON_CreateArray(), .room = HC_MCP_DATA, .first = hc_json_int(call->arguments, "offset", 0)};
    if (only)
        list_run(&l, only);
    if (!only)
        list_run(&l, &m->store->written);
    for (size_t i = 0; !only && i < m->store->run_count; i++)
        list_run(&l, &m->store->runs[i]);
    if (l.seen > l.first + l.shown)
        (void)hc_buf_fmt(&l.text, "and %lld more: go on with offset %lld\n",
                         (long long)(l.seen - l.first - l.shown), (long long)(l.first + l.shown));
    hc_mcp_answer(m, call->message->id, l.text.len ? l.text.data : "no files\n", list_data(&l));
    hc_buf_finish(&l.text);
}

/* ---- read ---- */

/* Drop the rest of a character at the beginning, as any offset may be asked for. Returns the number of
 * bytes dropped. */
static size_t cut_to_beginning(struct hc_buf *text)
{
    size_t n = hc_utf8_boundary(text->data, text->len < 3 ? text->len : 3, 0);
    text->len -= n;
    memmove(text->data, text->data + n, text->len + 1);
    return n;
}

/* Cut the text after its last whole character. */
static void cut_to_characters(struct hc_buf *text)
{
    size_t bad;
    if (hc_utf8_valid(text->data, text->len, &bad) || text->len - bad > 3)
        return;
    text->len = bad;
    text->data[bad] = '\0';
}

bool hc_mcp_is_text(const struct hc_buf *b)
{
    size_t bad;
    return !b->len || (!memchr(b->data, '\0', b->len) && hc_utf8_valid(b->data, b->len, &bad));
}

static cJSON *image_block(const struct hc_stored *file, const struct hc_buf *bytes)
{
    cJSON *block = hc_mcp_blob("data", bytes);
    hc_mcp_put(block, "type", cJSON_CreateString("image"));
    hc_mcp_put(block, "mimeType", cJSON_CreateString(file->mime));
    return block;
}

static cJSON *binary_block(const struct hc_stored *file, const struct hc_buf *bytes)
{
    hc_autobuf uri = {0};
    hc_mcp_uri(file->path, &uri);
    cJSON *block = cJSON_CreateObject(), *blob = hc_mcp_blob("blob", bytes);
    hc_mcp_put(blob, "uri", cJSON_CreateString(uri.data ? uri.data : ""));
    hc_mcp_put(blob, "mimeType", cJSON_CreateString(file->mime));
    hc_mcp_put(block, "type", cJSON_CreateString("resource"));
    hc_mcp_put(block, "resource", blob);
    return block;
}

static void add_part_note(cJSON *content, const struct hc_stored *file, int64_t offset, size_t len)
{
    char note[160];
    int64_t end = offset + (int64_t)len;
    (void)snprintf(note, sizeof note, "bytes %lld to %lld of %lld%s", (long long)offset, (long long)end,
                   (long long)file->bytes, end < file->bytes ? ": go on with that offset" : "");
    hc_mcp_add(content, hc_mcp_text(note));
}

int64_t hc_mcp_most_bytes(const char *mime)
{
    return hc_mime_is_image(mime) ? MAX_IMAGE : MAX_BINARY;
}

static void refuse_large(struct hc_mcp *m, const char *id, const struct hc_stored *file)
{
    if (hc_mime_is_image(file->mime))
        hc_mcp_refuse(m, id,
                      "%.200s has %lld bytes, an image may have 4 MiB: have a program make it smaller, with "
                      "it as one of its inputs",
                      file->path, (long long)file->bytes);
    else
        hc_mcp_refuse(m, id,
                      "%.200s is no text, and its %lld bytes are more than the 1 MiB that can be read as "
                      "base64: have a program read it, with it as one of its inputs",
                      file->path, (long long)file->bytes);
}

/* Cut a part of a text to what one answer has, and to whole characters. Returns its offset then. */
static int64_t cut_part(const struct hc_stored *file, int64_t offset, struct hc_buf *bytes)
{
    if (bytes->len > TEXT_PART) {
        bytes->len = TEXT_PART;
        bytes->data[TEXT_PART] = '\0';
    }
    if (offset && bytes->len)
        offset += (int64_t)cut_to_beginning(bytes);
    if (offset + (int64_t)bytes->len < file->bytes && bytes->len)
        cut_to_characters(bytes);
    return offset;
}

void hc_mcp_answer_file(struct hc_mcp *m, const char *id, const struct hc_stored *file, int64_t offset,
                        struct hc_buf *bytes)
{
    const bool image = hc_mime_is_image(file->mime), whole = (int64_t)bytes->len == file->bytes;
    cJSON *result = cJSON_CreateObject();
    cJSON *content = cJSON_AddArrayToObject(result, "content");
    hc_autobuf text = {0};
    (void)hc_buf_add(&text, bytes->data ? bytes->data : "", image ? 0 : bytes->len);
    offset = cut_part(file, offset, &text);
    if (image && whole) {
        hc_mcp_add(content, image_block(file, bytes));
    } else if (!image && hc_mcp_is_text(&text)) {
        hc_mcp_add(content, hc_mcp_text(text.data ? text.data : ""));
        if (offset || (int64_t)text.len < file->bytes)
            add_part_note(content, file, offset, text.len);
    } else if (!image && whole) { /* a part of a binary file is of no use */
        hc_mcp_add(content, binary_block(file, bytes));
    } else {
        cJSON_Delete(result);
        refuse_large(m, id, file);
        return;
    }
    hc_mcp_reply(m, id, result);
}

/* Is the part of the file from this offset on a text, as far as one answer has it? */
static bool is_text_at(const struct hc_stored *file, int64_t offset, const struct hc_buf *bytes)
{
    hc_autobuf text = {0};
    (void)hc_buf_add(&text, bytes->data ? bytes->data : "", bytes->len);
    (void)cut_part(file, offset, &text);
    return hc_mcp_is_text(&text);
}

void hc_tool_read_file(struct hc_mcp *m, const struct hc_call *call)
{
    const char *path = hc_mcp_string(call, "path"), *id = call->message->id;
    const struct hc_stored *file = hc_files_find(m->store, path);
    int64_t offset = hc_json_int(call->arguments, "offset", 0);
    hc_autobuf bytes = {0};
    struct hc_error err = {0};
    if (hc_mcp_string(call, "session")) {
        hc_session_files_call(m, call, "read_file");
        return;
    }
    if (!file) {
        char hint[HC_STORE_HINT];
        hc_files_hint(m->store, path, hint);
        hc_mcp_refuse(m, id, "there is no file '%.200s' here%s", path, hint);
        return;
    }
    if (hc_mime_is_image(file->mime))
        offset = 0;
    int rc = hc_files_read(m->store, file, offset, (size_t)hc_mcp_most_bytes(file->mime), &bytes, &err);
    if (rc == 0 && offset && !is_text_at(file, offset, &bytes)) { /* which is read whole */
        offset = 0;
        hc_buf_clear(&bytes);
        rc = hc_files_read(m->store, file, 0, (size_t)MAX_BINARY, &bytes, &err);
    }
    if (rc < 0)
        hc_mcp_refuse(m, id, "%s", err.text);
    else
        hc_mcp_answer_file(m, id, file, offset, &bytes);
}

/* ---- write, remove ---- */

static const char *decode_base64(const char *text, struct hc_buf *out)
{
    size_t len = strlen(text), used = 0;
    const char *end = NULL;
    char *bytes = len ? malloc(len) : NULL;
    if (!len)
        return NULL;
    if (!bytes)
        return "out of memory";
    int rc = sodium_base642bin((unsigned char *)bytes, len, text, len, " \r\n\t", &used, &end,
                               sodium_base64_VARIANT_ORIGINAL);
    if (rc == 0 && end == text + len)
        rc = hc_buf_add(out, bytes, used);
    else
        rc = 1;
    free(bytes);
    return rc == 0 ? NULL : rc > 0 ? "expected base64 with its padding" : "out of memory";
}

const char *hc_mcp_content(const cJSON *node, struct hc_buf *out)
{
    const cJSON *coded = cJSON_IsObject(node) ? node->child : NULL;
    if (cJSON_IsString(node))
        return hc_buf_str(out, node->valuestring) < 0 ? "out of memory" : NULL;
    if (!coded || !cJSON_IsString(coded) || coded->next || strcmp(coded->string, "base64") != 0)
        return "expected text as a string, or an object with base64 and nothing else";
    return decode_base64(coded->valuestring, out);
}

void hc_tool_write_file(struct hc_mcp *m, const struct hc_call *call)
{
    const char *name = hc_mcp_string(call, "name"), *text = hc_mcp_string(call, "text"),
               *id = call->message->id;
    const char *coded = hc_mcp_string(call, "base64"), *bad = hc_files_bad_name(name);
    hc_autobuf bytes = {0};
    struct hc_error err = {0};
    if (!text == !coded) {
        hc_mcp_refuse(m, id, "write_file: expected one of text and base64");
        return;
    }
    if (hc_mcp_string(call, "session")) {
        hc_session_files_call(m, call, "write_file");
        return;
    }
    if (bad) {
        hc_mcp_refuse(m, id, "name: %s", bad);
        return;
    }
    if (text && hc_buf_str(&bytes, text) < 0)
        bad = "out of memory";
    if (coded)
        bad = decode_base64(coded, &bytes);
    if (!bad)
        bad = hc_files_no_room(m->store, name, bytes.len);
    if (bad) {
        hc_mcp_refuse(m, id, "%s: %s", name, bad);
        return;
    }
    if (hc_files_write(m->store, name, bytes.data ? bytes.data : "", bytes.len, &err) < 0) {
        hc_mcp_refuse(m, id, "%s", err.text);
        return;
    }
    hc_autobuf path = {0};
    (void)hc_buf_fmt(&path, "%s/%s", HC_STORE_FILES, name);
    hc_mcp_say(m, id, hc_mcp_file_data(path.data ? path.data : name, hc_mime_of(name), (int64_t)bytes.len),
               "files/%s has %zu bytes", name, bytes.len);
    hc_mcp_notify_resources(m);
}

void hc_tool_remove_file(struct hc_mcp *m, const struct hc_call *call)
{
    const char *path = hc_mcp_string(call, "path"), *id = call->message->id;
    struct hc_error err = {0};
    if (hc_mcp_string(call, "session")) {
        hc_session_files_call(m, call, "remove_file");
        return;
    }
    int rc = hc_files_remove(m->store, path, &err);
    if (rc < 0)
        hc_mcp_refuse(m, id, "%s", err.text);
    else if (rc == 2)
        hc_mcp_refuse(m, id, "%.80s is open: close it first with session_close", path);
    else if (rc > 0)
        hc_mcp_refuse(m, id,
                      "there is no '%.200s' that can be removed: expected \"files/NAME\", or a run such as "
                      "\"run-1\" as a whole (list_files names them)",
                      path);
    else
        hc_mcp_say(m, id, NULL, "%s is gone", path);
    if (rc == 0)
        hc_mcp_notify_resources(m);
}
