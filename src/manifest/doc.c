#include "manifest/doc.h"

#include "base/utf8.h"
#include "manifest/manifest.h"

#include <stdlib.h>
#include <string.h>

cJSON *hc_doc_item(struct hc_doc *d, cJSON *to, const char *name, cJSON *item)
{
    bool added =
        to && item && (name ? cJSON_AddItemToObject(to, name, item) : cJSON_AddItemToArray(to, item));
    if (added)
        return item;
    cJSON_Delete(item);
    d->ok = false;
    return NULL;
}

cJSON *hc_doc_object(struct hc_doc *d, cJSON *to, const char *name)
{
    return hc_doc_item(d, to, name, cJSON_CreateObject());
}

cJSON *hc_doc_list(struct hc_doc *d, cJSON *to, const char *name)
{
    return hc_doc_item(d, to, name, cJSON_CreateArray());
}

void hc_doc_number(struct hc_doc *d, cJSON *to, const char *name, double value)
{
    (void)hc_doc_item(d, to, name, cJSON_CreateNumber(value));
}

void hc_doc_bool(struct hc_doc *d, cJSON *to, const char *name, bool value)
{
    (void)hc_doc_item(d, to, name, cJSON_CreateBool(value));
}

void hc_doc_null(struct hc_doc *d, cJSON *to, const char *name)
{
    (void)hc_doc_item(d, to, name, cJSON_CreateNull());
}

void hc_doc_known(struct hc_doc *d, cJSON *to, const char *name, int64_t value)
{
    if (value < 0)
        hc_doc_null(d, to, name);
    else
        hc_doc_number(d, to, name, (double)value);
}

void hc_doc_seconds(struct hc_doc *d, cJSON *to, const char *name, int64_t us)
{
    if (us < 0)
        hc_doc_null(d, to, name);
    else
        hc_doc_number(d, to, name, (double)us / 1e6);
}

void hc_doc_bytes(struct hc_doc *d, cJSON *to, const char *name, const char *bytes, size_t len)
{
    hc_autobuf clean = {0};
    for (size_t at = 0; at < len;) {
        size_t part = strnlen(bytes + at, len - at);
        (void)hc_utf8_scrub(&clean, bytes + at, part);
        at += part;
        if (at < len) {
            (void)hc_buf_str(&clean, "\xef\xbf\xbd");
            at++;
        }
    }
    (void)hc_doc_item(d, to, name, clean.failed ? NULL : cJSON_CreateString(clean.data ? clean.data : ""));
}

void hc_doc_text(struct hc_doc *d, cJSON *to, const char *name, const char *text)
{
    hc_doc_bytes(d, to, name, text, strlen(text));
}

void hc_doc_text_or_null(struct hc_doc *d, cJSON *to, const char *name, const char *text)
{
    if (text && *text)
        hc_doc_text(d, to, name, text);
    else
        hc_doc_null(d, to, name);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_plain_name(const char *name)
{
    if (!hc_utf8_valid(name, strlen(name), NULL))
        return false;
    for (; *name; name++)
        if (is_control(*name))
            return false;
    return true;
}

/* Write a name with \xHH for bytes that are control characters or not UTF-8, and every backslash doubled:
 * unlike U+FFFD these escapes can be undone, and different names stay different. */
static void escape_name(struct hc_buf *out, const char *name)
{
    while (*name) {
        size_t good = strlen(name);
        (void)hc_utf8_valid(name, good, &good);
        for (const char *end = name + good; name < end; name++) {
            if (is_control(*name))
                (void)hc_buf_fmt(out, "\\x%02x", (unsigned char)*name);
            else
                (void)hc_buf_add(out, *name == '\\' ? "\\\\" : name, *name == '\\' ? 2 : 1);
        }
        if (*name)
            (void)hc_buf_fmt(out, "\\x%02x", (unsigned char)*name++);
    }
}

void hc_name_unescape(char *name)
{
    char *to = name;
    const char *s = name;
    while (*s) {
        if (s[0] == '\\' && s[1] == 'x' && s[2] && s[3]) {
            const char hex[3] = {s[2], s[3], '\0'};
            *to++ = (char)strtol(hex, NULL, 16);
            s += 4;
        } else {
            s += s[0] == '\\' && s[1] == '\\';
            *to++ = *s++;
        }
    }
    *to = '\0';
}

cJSON *hc_name_print(const char *name, bool *escaped)
{
    *escaped = !is_plain_name(name);
    if (!*escaped)
        return cJSON_CreateString(name);
    hc_autobuf text = {0};
    escape_name(&text, name);
    return text.failed ? NULL : cJSON_CreateString(text.data);
}

bool hc_doc_name(struct hc_doc *d, cJSON *to, const char *member, const char *name)
{
    bool escaped;
    (void)hc_doc_item(d, to, member, hc_name_print(name, &escaped));
    return escaped;
}

void hc_doc_path(struct hc_doc *d, cJSON *to, const char *path)
{
    if (hc_doc_name(d, to, "path", path))
        hc_doc_bool(d, to, "escaped", true);
}
