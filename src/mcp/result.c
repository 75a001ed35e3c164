/* Turn a program's manifest into a result for a model: text and images, and the essential part as data. */
#include "mcp/server.h"

#include "base/utf8.h"
#include "mcp/mime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT     ((size_t)48 << 10) /* most bytes of one stream or value in an answer's text */
#define MAX_DATA     ((size_t)8 << 10)  /* most bytes of one stream or value in an answer's structured part */
#define MAX_LISTED   100                /* most files in one answer */
#define EXACT        "application/vnd.hotcell.value+json"
#define MAX_IMAGES   8                  /* most images in one answer */
#define MAX_DISPLAYS 50                 /* most displays in an answer */
#define IMAGE_BYTES  ((int64_t)6 << 20) /* most bytes of all images */

#define STREAM                                                                                               \
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"},"  \
    "\"truncated\":{\"type\":\"boolean\"}},\"required\":[\"text\",\"bytes\",\"truncated\"]}"
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

static cJSON *stream(const cJSON *manifest, const char *name)
{
    const cJSON *from = hc_json_member(manifest, name);
    const char *text = hc_json_text(from, "text");
    cJSON *to = cJSON_CreateObject();
    hc_autobuf fitting = {0};
    append_shortened(text, MAX_DATA, &fitting);
    hc_mcp_put(to, "text", cJSON_CreateString(fitting.data ? fitting.data : ""));
    hc_mcp_put(to, "bytes", cJSON_CreateNumber((double)hc_json_int(from, "bytes", 0)));
    hc_mcp_put(to, "truncated",
               cJSON_CreateBool(hc_json_is_true(from, "truncated") || strlen(text) > MAX_DATA));
    return to;
}

/* The forms of a value that are not too large; pictures are in the answer's content. */
static cJSON *forms(const cJSON *from)
{
    const cJSON *form;
    if (!cJSON_IsObject(from))
        return cJSON_CreateNull();
    cJSON *to = cJSON_CreateObject();
    cJSON_ArrayForEach(form, from)
    {
        if (strcmp(form->string, "text/plain") == 0) {
            hc_autobuf fitting = {0};
            append_shortened(cJSON_IsString(form) ? form->valuestring : "", MAX_DATA, &fitting);
            hc_mcp_put(to, form->string, cJSON_CreateString(fitting.data ? fitting.data : ""));
            continue;
        }
        if (strcmp(form->string, EXACT) == 0) /* for programs: a model reads the text */
            continue;
        char *text = cJSON_PrintUnformatted(form);
        if (text && strlen(text) <= MAX_TEXT)
            (void)cJSON_AddRawToObject(to, form->string, text);
        cJSON_free(text);
    }
    return to;
}

/* The first displays, as many as fit into MAX_TEXT bytes. */
static cJSON *displays(const cJSON *guest)
{
    cJSON *to = cJSON_CreateArray();
    const cJSON *shown;
    size_t bytes = 0;
    int count = 0;
    cJSON_ArrayForEach(shown, hc_json_member(guest, "displays"))
    {
        cJSON *each = forms(shown);
        char *text = cJSON_PrintUnformatted(each);
        bytes += text ? strlen(text) : 0;
        cJSON_free(text);
        if (bytes > MAX_TEXT || count++ >= MAX_DISPLAYS) {
            cJSON_Delete(each);
            break;
        }
        hc_mcp_add(to, each);
    }
    return to;
}

static cJSON *object_or_null(const cJSON *from)
{
    cJSON *to = cJSON_IsObject(from) ? cJSON_Duplicate(from, true) : cJSON_CreateNull();
    cJSON *traceback = cJSON_DetachItemFromObjectCaseSensitive(to, "traceback");
    if (traceback && strlen(hc_json_text(from, "traceback")) <= MAX_TEXT)
        hc_mcp_put(to, "traceback", traceback);
    else
        cJSON_Delete(traceback);
    return to;
}

static cJSON *first_items(const cJSON *list)
{
    cJSON *to = cJSON_CreateArray();
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (count++ < MAX_LISTED / 2)
            hc_mcp_add(to, cJSON_Duplicate(item, true));
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

/* List files of the run, from index `first` to before `end`. */
static cJSON *file_list(const struct hc_stored_run *run, size_t first, size_t end)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = first; i < end && i < first + MAX_LISTED; i++) {
        cJSON *file = cJSON_CreateObject();
        hc_mcp_put(file, "path", cJSON_CreateString(run->files[i].path));
        hc_mcp_put(file, "mime", cJSON_CreateString(run->files[i].mime));
        hc_mcp_put(file, "bytes", cJSON_CreateNumber((double)run->files[i].bytes));
        hc_mcp_add(list, file);
    }
    return list;
}

static cJSON *structure(const struct hc_stored_run *run, const cJSON *m, size_t figures, const char *state)
{
    cJSON *s = cJSON_CreateObject();
    const cJSON *guest = hc_json_member(m, "guest");
    size_t files = run->count - figures;
    size_t more =
        (files > MAX_LISTED ? files - MAX_LISTED : 0) + (figures > MAX_LISTED ? figures - MAX_LISTED : 0);
    hc_mcp_put(s, "run", cJSON_CreateString(run->name));
    if (state)
        hc_mcp_put(s, "state", cJSON_CreateString(state));
    hc_mcp_put(s, "status", cJSON_CreateString(hc_json_text(m, "status")));
    hc_mcp_put(s, "exit_code", cJSON_CreateNumber((double)hc_json_int(m, "exit_code", 0)));
    hc_mcp_put(s, "process", object_or_null(hc_json_member(m, "process")));
    hc_mcp_put(s, "reason", cJSON_CreateString(hc_json_text(m, "reason")));
    hc_mcp_put(s, "partial", cJSON_CreateBool(hc_json_is_true(m, "partial")));
    hc_mcp_put(s, "stdout", stream(m, "stdout"));
    hc_mcp_put(s, "stderr", stream(m, "stderr"));
    hc_mcp_put(s, "value", forms(hc_json_member(guest, "value")));
    hc_mcp_put(s, "displays", displays(guest));
    hc_mcp_put(s, "error", object_or_null(hc_json_member(guest, "error")));
    hc_mcp_put(s, "rejection", object_or_null(hc_json_member(m, "rejection")));
    hc_mcp_put(s, "figures", file_list(run, 0, figures));
    hc_mcp_put(s, "files", file_list(run, figures, run->count));
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
