/* Turn a program's manifest into a result for a model: text and images, and the essential part as data. */
#include "mcp/server.h"

#include "base/utf8.h"
#include "mcp/mime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT ((size_t)48 << 10) /* most bytes of one stream or value in an answer's text */
#define MAX_FIELD                                                                                            \
    ((size_t)2 << 10)    /* most bytes of a text of an error or a rejection in the structured part */
#define MAX_LISTED   100 /* most files in one answer */
#define EXACT        "application/vnd.hotcell.value+json"
#define MAX_IMAGES   8                  /* most images in one answer */
#define MAX_DISPLAYS 50                 /* most displays in an answer */
#define IMAGE_BYTES  ((int64_t)6 << 20) /* most bytes of all images */

#define STREAM                                                                                               \
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"},"  \
    "\"truncated\":{\"type\":\"boolean\"},\"rest\":{\"type\":\"string\"}},\"required\":[\"text\",\"bytes\"," \
    "\"truncated\"]}"
#define FILES                                                                                                \
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"     \
    "\"mime\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"}},\"required\":[\"path\",\"mime\","      \
    "\"bytes\"]}}"
#define MAYBE_OBJECT "{\"type\":[\"object\",\"null\"]}"

const char hc_run_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"run\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"},"
    "\"status\":{\"type\":\"string\",\"enum\":["
#define HC_STATUS_FIRST(id, name, ...) "\"" name "\""
#define HC_STATUS_ROW(id, name, ...)   ",\"" name "\""
#include "manifest/status.def"
    "]},"
    "\"exit_code\":{\"type\":\"integer\"},\"process\":" MAYBE_OBJECT
    ",\"reason\":{\"type\":\"string\"},\"partial\":{\"type\":\"boolean\"}"
    ","
    "\"stdout\":" STREAM ",\"stderr\":" STREAM ",\"value\":" MAYBE_OBJECT ",\"error\":" MAYBE_OBJECT
    ",\"displays\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"rejection\":" MAYBE_OBJECT
    ",\"figures\":" FILES ",\"files\":" FILES
    ",\"more_files\":{\"type\":\"integer\"},\"warnings\":{\"type\":\"array\"},\"denials\":{\"type\":"
    "\"array\"},\"usage\":{\"type\":\"object\"}},\"required\":[\"run\",\"status\",\"exit_code\",\"reason\","
    "\"partial\",\"stdout\",\"stderr\",\"value\",\"error\",\"rejection\",\"figures\",\"files\",\"more_"
    "files\",\"warnings\",\"denials\",\"usage\"]}";

/* ---- text that fits ---- */

/* Append a text; of one of more than `max` bytes only the beginning and the end. */
static void append_shortened(const char *text, size_t max, struct hc_buf *out)
{
    size_t len = strlen(text), head = max / 3 * 2, tail = len - (max - head);
    if (len <= max) {
        (void)hc_buf_str(out, text);
        return;
    }
    head -= hc_utf8_unfinished(text, head);
    tail = hc_utf8_boundary(text, len, tail);
    (void)hc_buf_add(out, text, head);
    (void)hc_buf_fmt(out, "\n[%zu bytes are left out here]\n", tail - head);
    (void)hc_buf_str(out, text + tail);
}

static void add_text(cJSON *content, const char *label, const char *text)
{
    hc_autobuf block = {0};
    if (!*text)
        return;
    (void)hc_buf_str(&block, label);
    append_shortened(text, MAX_TEXT, &block);
    if (!block.failed)
        hc_mcp_add(content, hc_mcp_text(block.data));
}

/* ---- as data ---- */

/* A text, or its beginning and end. */
static cJSON *fitting_text(const char *text, size_t max)
{
    hc_autobuf fitting = {0};
    append_shortened(text, max, &fitting);
    return cJSON_CreateString(fitting.data && !fitting.failed ? fitting.data : "");
}

/* What the program printed on one stream. `rest`: path of a file that has all of it; NULL: there is none. */
static cJSON *stream(const cJSON *manifest, const char *name, const char *rest)
{
    const cJSON *from = hc_json_member(manifest, name);
    const char *text = hc_json_text(from, "text");
    const bool cut = strlen(text) > HC_MCP_DATA;
    cJSON *to = cJSON_CreateObject();
    hc_mcp_put(to, "text", fitting_text(text, HC_MCP_DATA));
    hc_mcp_put(to, "bytes", cJSON_CreateNumber((double)hc_json_int(from, "bytes", 0)));
    hc_mcp_put(to, "truncated", cJSON_CreateBool(hc_json_is_true(from, "truncated") || cut));
    if (cut && rest)
        hc_mcp_put(to, "rest", cJSON_CreateString(rest));
    return to;
}

/* Bytes that values may still take. */
struct room {
    size_t text, others; /* as text; in their other forms */
};

/* The forms of a value that fit; pictures are in the answer's content. */
static cJSON *forms(const cJSON *from, struct room *room)
{
    const cJSON *form;
    if (!cJSON_IsObject(from))
        return cJSON_CreateNull();
    cJSON *to = cJSON_CreateObject();
    cJSON_ArrayForEach(form, from)
    {
        if (strcmp(form->string, "text/plain") == 0) {
            const char *plain = cJSON_IsString(form) ? form->valuestring : "";
            hc_mcp_put(to, form->string, fitting_text(plain, room->text));
            room->text -= strlen(plain) < room->text ? strlen(plain) : room->text;
            continue;
        }
        if (strcmp(form->string, EXACT) == 0 || hc_mime_is_image(form->string)) /* a model reads the text */
            continue;
        char *text = cJSON_PrintUnformatted(form);
        if (text && strlen(text) <= room->others && cJSON_AddRawToObject(to, form->string, text))
            room->others -= strlen(text);
        cJSON_free(text);
    }
    return to;
}

/* The first displays. */
static cJSON *displays(const cJSON *guest)
{
    cJSON *to = cJSON_CreateArray();
    const cJSON *shown;
    struct room room = {HC_MCP_DATA, HC_MCP_DATA};
    int count = 0;
    cJSON_ArrayForEach(shown, hc_json_member(guest, "displays"))
    {
        if (count++ < MAX_DISPLAYS)
            hc_mcp_add(to, forms(shown, &room));
    }
    return to;
}

/* An error, a rejection or the end of a process. Its texts are in the answer's text, too: of a long one only
 * the beginning and the end. */
static cJSON *object_or_null(const cJSON *from)
{
    const cJSON *member;
    if (!cJSON_IsObject(from))
        return cJSON_CreateNull();
    cJSON *to = cJSON_CreateObject();
    cJSON_ArrayForEach(member, from)
    {
        const char *text = cJSON_GetStringValue(member);
        hc_mcp_put(to, member->string, text ? fitting_text(text, MAX_FIELD) : cJSON_Duplicate(member, true));
    }
    return to;
}

static cJSON *first_items(const cJSON *list)
{
    cJSON *to = cJSON_CreateArray();
    const cJSON *item;
    size_t room = HC_MCP_DATA;
    cJSON_ArrayForEach(item, list)
    {
        room = hc_mcp_list_item(to, cJSON_Duplicate(item, true), room);
    }
    return to;
}

static cJSON *usage(const cJSON *manifest)
{
    static const char *const names[] = {"wall", "cpu_user", "cpu_system", "memory_peak"};
    cJSON *to = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hc_mcp_put(to, names[i],
                   cJSON_Duplicate(hc_json_member(hc_json_member(manifest, "usage"), names[i]), true));
    return to;
}

/* List files of the run, from index `first` to before `end`, and take those that are listed from `more`. */
static cJSON *file_list(const struct hc_stored_run *run, size_t first, size_t end, size_t *more)
{
    cJSON *list = cJSON_CreateArray();
    size_t room = HC_MCP_DATA;
    for (size_t i = first; i < end && room; i++) {
        const struct hc_stored *f = &run->files[i];
        room = hc_mcp_list_item(list, hc_mcp_file_data(f->path, f->mime, f->bytes), room);
    }
    *more -= (size_t)cJSON_GetArraySize(list);
    return list;
}

static cJSON *structure(const struct hc_stored_run *run, const cJSON *m, size_t figures, const char *state)
{
    cJSON *s = cJSON_CreateObject();
    const cJSON *guest = hc_json_member(m, "guest");
    size_t more = run->count;
    struct room room = {HC_MCP_DATA, HC_MCP_DATA};
    hc_autobuf manifest = {0}; /* a session keeps none */
    if (!state)
        (void)hc_buf_fmt(&manifest, "%s/manifest.json", run->name);
    hc_mcp_put(s, "run", cJSON_CreateString(run->name));
    if (state)
        hc_mcp_put(s, "state", cJSON_CreateString(state));
    hc_mcp_put(s, "status", cJSON_CreateString(hc_json_text(m, "status")));
    hc_mcp_put(s, "exit_code", cJSON_CreateNumber((double)hc_json_int(m, "exit_code", 0)));
    hc_mcp_put(s, "process", object_or_null(hc_json_member(m, "process")));
    hc_mcp_put(s, "reason", cJSON_CreateString(hc_json_text(m, "reason")));
    hc_mcp_put(s, "partial", cJSON_CreateBool(hc_json_is_true(m, "partial")));
    hc_mcp_put(s, "stdout", stream(m, "stdout", manifest.data));
    hc_mcp_put(s, "stderr", stream(m, "stderr", manifest.data));
    hc_mcp_put(s, "value", forms(hc_json_member(guest, "value"), &room));
    hc_mcp_put(s, "displays", displays(guest));
    hc_mcp_put(s, "error", object_or_null(hc_json_member(guest, "error")));
    hc_mcp_put(s, "rejection", object_or_null(hc_json_member(m, "rejection")));
    hc_mcp_put(s, "figures", file_list(run, 0, figures, &more));
    hc_mcp_put(s, "files", file_list(run, figures, run->count, &more));
    hc_mcp_put(s, "more_files", cJSON_CreateNumber((double)more));
    hc_mcp_put(s, "warnings", first_items(hc_json_member(m, "warnings")));
    hc_mcp_put(s, "denials", first_items(hc_json_member(m, "denials")));
    hc_mcp_put(s, "usage", usage(m));
    return s;
}

/* ---- as text and images ---- */

/* The images of an answer so far. */
struct images {
    int64_t bytes;
    int count;
};

static void add_images(const struct hc_mcp *m, const struct hc_stored_run *run, size_t figures,
                       cJSON *content, struct images *sent)
{
    for (size_t i = 0; i < figures && sent->count < MAX_IMAGES; i++) {
        const struct hc_stored *f = &run->files[i];
        hc_autobuf data = {0};
        struct hc_error ignored;
        if (!hc_mime_is_image(f->mime) || f->bytes > IMAGE_BYTES - sent->bytes ||
            hc_files_read(m->store, f, 0, (size_t)f->bytes, &data, &ignored) < 0)
            continue;
        cJSON *block = hc_mcp_blob("data", &data);
        hc_mcp_put(block, "type", cJSON_CreateString("image"));
        hc_mcp_put(block, "mimeType", cJSON_CreateString(f->mime));
        hc_mcp_add(content, block);
        sent->bytes += f->bytes;
        sent->count++;
    }
}

static bool is_base64(const char *text)
{
    size_t digits = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    size_t end = digits + strspn(text + digits, "=");
    return digits && text[end] == '\0' && end % 4 == 0;
}

/* Does the answer have this picture already? A displayed figure is a figure of the run, too. */
static bool has_image(const cJSON *content, const char *base64)
{
    const cJSON *block;
    cJSON_ArrayForEach(block, content)
    {
        if (strcmp(hc_json_text(block, "data"), base64) == 0)
            return true;
    }
    return false;
}

/* Add the pictures that display() has shown. */
static void add_displayed_images(const cJSON *guest, cJSON *content, struct images *sent)
{
    const cJSON *shown, *form;
    cJSON_ArrayForEach(shown, hc_json_member(guest, "displays")) cJSON_ArrayForEach(form, shown)
    {
        const char *data = cJSON_GetStringValue(form);
        int64_t bytes = data ? (int64_t)strlen(data) / 4 * 3 : 0;
        if (sent->count >= MAX_IMAGES || !data || !hc_mime_is_image(form->string) || !is_base64(data) ||
            bytes > IMAGE_BYTES - sent->bytes || has_image(content, data))
            continue;
        cJSON *block = cJSON_CreateObject();
        hc_mcp_put(block, "type", cJSON_CreateString("image"));
        hc_mcp_put(block, "data", cJSON_CreateString(data));
        hc_mcp_put(block, "mimeType", cJSON_CreateString(form->string));
        hc_mcp_add(content, block);
        sent->bytes += bytes;
        sent->count++;
    }
}

/* Add the texts of all displays as one block. */
static void add_displayed_texts(const cJSON *guest, cJSON *content)
{
    const cJSON *shown;
    hc_autobuf all = {0};
    cJSON_ArrayForEach(shown, hc_json_member(guest, "displays"))
    {
        const char *text = hc_json_text(shown, "text/plain");
        if (*text)
            (void)hc_buf_fmt(&all, "%s%s", all.len ? "\n" : "", text);
    }
    if (all.len && !all.failed)
        add_text(content, "displayed:\n", all.data);
}

static void append_finding(const cJSON *finding, struct hc_buf *out)
{
    const char *hint = hc_json_text(finding, "hint");
    const cJSON *line = hc_json_member(finding, "line"), *column = hc_json_member(finding, "column");
    (void)hc_buf_fmt(out, "rejected (%s): ", hc_json_text(finding, "rule"));
    if (cJSON_IsNumber(line) && line->valuedouble > 0)
        (void)hc_buf_fmt(out, "line %.0f, column %.0f: ", line->valuedouble,
                         column ? column->valuedouble : 0);
    (void)hc_buf_fmt(out, "%s\n", hc_json_text(finding, "message"));
    if (*hint)
        (void)hc_buf_fmt(out, "hint: %s\n", hint);
}

/* Append the rejection, unless stderr shows it already. */
static void append_rejection(const cJSON *rejection, const char *shown, struct hc_buf *out)
{
    const cJSON *finding, *all = hc_json_member(rejection, "findings");
    int count = 0;
    if (!cJSON_IsObject(rejection) || strstr(shown, hc_json_text(rejection, "message")))
        return;
    if (!all || !all->child)
        append_finding(rejection, out);
    cJSON_ArrayForEach(finding, all)
    {
        if (count++ < MAX_LISTED / 4)
            append_finding(finding, out);
    }
}

/* Append the run's status, warnings and files. */
static void append_summary(const struct hc_stored_run *run, const cJSON *m, const char *state,
                           struct hc_buf *out)
{
    const cJSON *wall = hc_json_member(hc_json_member(m, "usage"), "wall"), *warning;
    append_rejection(hc_json_member(m, "rejection"), hc_json_text(hc_json_member(m, "stderr"), "text"), out);
    (void)hc_buf_fmt(out, "%s: %s", run->name, hc_json_text(m, "status"));
    if (cJSON_IsNumber(wall))
        (void)hc_buf_fmt(out, " after %.2f s", wall->valuedouble);
    if (*hc_json_text(m, "reason"))
        (void)hc_buf_fmt(out, ": %s", hc_json_text(m, "reason"));
    if (state)
        (void)hc_buf_fmt(out, "\nvariables: %s", state);
    if (!state && (strlen(hc_json_text(hc_json_member(m, "stdout"), "text")) > MAX_TEXT ||
                   strlen(hc_json_text(hc_json_member(m, "stderr"), "text")) > MAX_TEXT))
        (void)hc_buf_fmt(out, "\nall that was printed: %s/manifest.json", run->name);
    cJSON_ArrayForEach(warning, hc_json_member(m, "warnings"))
    {
        if (cJSON_IsString(warning))
            (void)hc_buf_fmt(out, "\nwarning: %s", warning->valuestring);
    }
    for (size_t i = 0; i < run->count && i < MAX_LISTED; i++)
        (void)hc_buf_fmt(out, "%s%s (%lld bytes)", i ? ", " : "\nfiles: ", run->files[i].path,
                         (long long)run->files[i].bytes);
    if (run->count > MAX_LISTED)
        (void)hc_buf_fmt(out, " and %zu more (list_files names them)", run->count - MAX_LISTED);
}

/* Does standard error show the exception, though perhaps with fewer frames of libraries? */
static bool is_shown(const cJSON *error, const char *err)
{
    hc_autobuf last = {0};
    const char *message = hc_json_text(error, "message");
    (void)hc_buf_fmt(&last, "%s%s%s", hc_json_text(error, "type"), *message ? ": " : "", message);
    return !last.failed && strstr(err, last.data ? last.data : "");
}

static cJSON *write_content(const struct hc_mcp *mcp, const struct hc_stored_run *run, const cJSON *m,
                            size_t figures, const char *state)
{
    cJSON *content = cJSON_CreateArray();
    const cJSON *guest = hc_json_member(m, "guest");
    const char *err = hc_json_text(hc_json_member(m, "stderr"), "text"),
               *traceback = hc_json_text(hc_json_member(guest, "error"), "traceback");
    hc_autobuf summary = {0};
    add_text(content, "stdout:\n", hc_json_text(hc_json_member(m, "stdout"), "text"));
    add_text(content, "stderr:\n", err);
    add_displayed_texts(guest, content);
    add_text(content, "value:\n", hc_json_text(hc_json_member(guest, "value"), "text/plain"));
    if (!is_shown(hc_json_member(guest, "error"), err))
        add_text(content, "error:\n", traceback);
    struct images sent = {0};
    add_images(mcp, run, figures, content, &sent);
    add_displayed_images(guest, content, &sent);
    append_summary(run, m, state, &summary);
    if (!summary.failed)
        hc_mcp_add(content, hc_mcp_text(summary.data));
    return content;
}

/* ---- the whole answer ---- */

/* Names that are not UTF-8 are escaped in the manifest, and left out: a client could not ask for them. */
static void list_artifacts(struct hc_stored_run *run, const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *bytes = hc_json_member(item, "bytes");
        if (!hc_json_is_true(item, "escaped") && *hc_json_text(item, "path") && cJSON_IsNumber(bytes))
            (void)hc_stored_list(run, hc_json_text(item, "path"), (int64_t)bytes->valuedouble);
    }
}

cJSON *hc_run_result(const struct hc_mcp *m, struct hc_stored_run *left, const cJSON *manifest,
                     const char *state)
{
    list_artifacts(left, hc_json_member(manifest, "figures"));
    size_t figures = left->count;
    list_artifacts(left, hc_json_member(manifest, "files"));
    cJSON *result = cJSON_CreateObject();
    hc_mcp_put(result, "content", write_content(m, left, manifest, figures, state));
    if (m->version->structured)
        hc_mcp_put(result, "structuredContent", structure(left, manifest, figures, state));
    hc_mcp_put(result, "isError", cJSON_CreateBool(strcmp(hc_json_text(manifest, "status"), "ok") != 0));
    return result;
}
