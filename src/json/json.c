#include "base/utf8.h"
#include "json/json.h"
#include "json/scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cJSON copies a number into 64 bytes before it reads it, and fails for a longer one. */
#define CJSON_NUMBER_MAX 63

static bool is_long_number(const struct hc_scan *scan, const struct hc_node *n)
{
    char c = scan->text[n->start];
    return (c == '-' || (c >= '0' && c <= '9')) && n->end - n->start > CJSON_NUMBER_MAX;
}

/* A copy of the text in which numbers that are too long for cJSON are rounded to what a double holds and
 * padded with blanks, so that every position stays. NULL if there are none. */
static char *shorten_numbers(const struct hc_scan *scan, size_t len)
{
    char *copy = NULL;
    for (size_t i = 0; i < scan->count; i++) {
        const struct hc_node *n = &scan->nodes[i];
        if (!is_long_number(scan, n))
            continue;
        if (!copy && !(copy = strndup(scan->text, len)))
            return NULL;
        char behind = copy[n->end];
        copy[n->end] = '\0';
        double value = strtod(copy + n->start, NULL);
        copy[n->end] = behind;
        char number[32];
        int used = snprintf(number, sizeof number, "%.17g", value);
        if (number[used - 1] == 'f') /* inf: cJSON gets there by itself */
            used = snprintf(number, sizeof number, "%s1e999", value < 0 ? "-" : "");
        memset(copy + n->start, ' ', n->end - n->start);
        memcpy(copy + n->start, number, (size_t)used);
    }
    return copy;
}

int hc_json_parse(struct hc_json *out, const char *name, const char *text, size_t len, struct hc_error *err)
{
    *out = (struct hc_json){.name = name, .text = text ? text : "", .len = len};
    hc_autoscan scan;
    if (hc_scan(&scan, name, text, len, 0, err) < 0)
        return -1;
    char *copy = shorten_numbers(&scan, len);
    out->root = cJSON_ParseWithLengthOpts(copy ? copy : out->text, len, NULL, 0);
    free(copy);
    /* The scanner accepts nothing that cJSON refuses: what is left is memory. */
    return out->root ? 0 : hc_fail(err, ENOMEM, "%s", name);
}

void hc_json_finish(struct hc_json *j)
{
    cJSON_Delete(j->root);
    *j = (struct hc_json){0};
}

/* Number of `node` in the order of the text, which is the order of the scanner's list. */
static bool find(const cJSON *tree, const cJSON *node, size_t *index)
{
    if (tree == node)
        return true;
    for (const cJSON *child = tree->child; child; child = child->next) {
        (*index)++;
        if (find(child, node, index))
            return true;
    }
    return false;
}

static bool locate(const struct hc_json *j, const cJSON *node, struct hc_node *out)
{
    size_t index = 0;
    struct hc_error ignored;
    hc_autoscan scan = {0};
    if (!node || !j->root || !find(j->root, node, &index) ||
        hc_scan(&scan, j->name, j->text, j->len, 0, &ignored) < 0 || index >= scan.count)
        return false;
    *out = scan.nodes[index];
    return true;
}

const char *hc_json_source(const struct hc_json *j, const cJSON *node, size_t *len)
{
    struct hc_node n;
    if (!locate(j, node, &n))
        return NULL;
    *len = n.end - n.start;
    return j->text + n.start;
}

int hc_json_fail(const struct hc_json *j, const cJSON *node, bool at_key, struct hc_error *err,
                 const char *fmt, ...)
{
    char what[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    struct hc_node n;
    if (!locate(j, node, &n))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: %s", j->name, what);
    int line, column;
    hc_text_position(j->text, at_key && n.key ? n.key : n.start, &line, &column);
    return hc_fail_as(err, HC_EXIT_DATA, 0, "%s:%d:%d: %s", j->name, line, column, what);
}

const cJSON *hc_json_member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *hc_json_text_or(const cJSON *object, const char *name, const char *otherwise)
{
    const char *text = cJSON_GetStringValue(hc_json_member(object, name));
    return text ? text : otherwise;
}

const char *hc_json_text(const cJSON *object, const char *name)
{
    return hc_json_text_or(object, name, "");
}

int64_t hc_json_int(const cJSON *object, const char *name, int64_t otherwise)
{
    const cJSON *node = hc_json_member(object, name);
    bool good = cJSON_IsNumber(node) && node->valuedouble > -9e15 && node->valuedouble < 9e15;
    return good ? (int64_t)node->valuedouble : otherwise;
}

bool hc_json_is_true(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(hc_json_member(object, name));
}

const char *hc_json_kind(const cJSON *node)
{
    if (!node)
        return "nothing";
    switch (node->type & 0xff) {
    case cJSON_False:
        return "false";
    case cJSON_True:
        return "true";
    case cJSON_NULL:
        return "null";
    case cJSON_Number:
        return "a number";
    case cJSON_String:
        return "a string";
    case cJSON_Array:
        return "a list";
    case cJSON_Object:
        return "an object";
    default:
        return "an unknown value";
    }
}

void hc_json_quote(struct hc_buf *out, const char *text, size_t len)
{
    size_t from = 0;
    (void)hc_buf_str(out, "\"");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        (void)hc_buf_add(out, text + from, i - from);
        from = i + 1;
        if (c == '\n')
            (void)hc_buf_str(out, "\\n");
        else if (c == '"' || c == '\\')
            (void)hc_buf_fmt(out, "\\%c", c);
        else
            (void)hc_buf_fmt(out, "\\u%04x", c);
    }
    (void)hc_buf_add(out, text + from, len - from);
    (void)hc_buf_str(out, "\"");
}
