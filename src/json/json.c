#include "base/utf8.h"
#include "json/json.h"
#include "json/scan.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree: from the scanner's spans ---- */

/* The decoded string behind an opening quote, owned by the caller. `len` bytes are enough, as no escape is
 * shorter than the character that it stands for. */
static char *decode_string(const char *quote, size_t len)
{
    char *text = cJSON_malloc(len), *to = text;
    const char *p = quote + 1;
    while (text && *p != '"') {
        size_t plain = 0;
        while (p[plain] != '"' && p[plain] != '\\')
            plain++;
        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (*p == '\\')
            to += hc_utf8_encode(hc_scan_char(&p), to);
    }
    if (text)
        *to = '\0';
    return text;
}

/* Copies the digits first: strtod would read on behind the end of the text, and expects the decimal point of
 * the locale. */
static bool read_number(cJSON *to, const char *digits, size_t len)
{
    char small[64];
    char *copy = len < sizeof small ? small : malloc(len + 1);
    if (!copy)
        return false;
    memcpy(copy, digits, len);
    copy[len] = '\0';
    char *point = memchr(copy, '.', len);
    if (point)
        *point = *localeconv()->decimal_point;
    (void)cJSON_SetNumberValue(to, strtod(copy, NULL));
    if (copy != small)
        free(copy);
    return true;
}

static bool read_value(cJSON *to, const char *text, size_t len)
{
    switch (*text) {
    case '{':
        to->type = cJSON_Object;
        return true;
    case '[':
        to->type = cJSON_Array;
        return true;
    case '"':
        to->type = cJSON_String;
        return (to->valuestring = decode_string(text, len));
    case 't':
        to->type = cJSON_True;
        to->valueint = 1;
        return true;
    case 'f':
        to->type = cJSON_False;
        return true;
    case 'n':
        return true;
    default:
        to->type = cJSON_Number;
        return read_number(to, text, len);
    }
}

/* Links a child as cJSON does: the `prev` of the first child is the last child. */
static void append_child(cJSON *parent, cJSON *child)
{
    if (!parent->child) {
        parent->child = child->prev = child;
        return;
    }
    child->prev = parent->child->prev;
    child->prev->next = child;
    parent->child->prev = child;
}

/* The tree of a node and all nodes within it, at most HC_JSON_DEPTH levels. NULL: out of memory. */
static cJSON *build_tree(const struct hc_scan *s, size_t at)
{
    const struct hc_node *n = &s->nodes[at];
    cJSON *node = cJSON_CreateNull();
    bool good = node && read_value(node, s->text + n->start, n->end - n->start) &&
                (!n->key || (node->string = decode_string(s->text + n->key, n->start - n->key)));
    for (size_t i = at + 1; good && i < n->next; i = s->nodes[i].next) {
        cJSON *child = build_tree(s, i);
        good = child;
        if (child)
            append_child(node, child);
    }
    if (good)
        return node;
    cJSON_Delete(node);
    return NULL;
}

int hc_json_parse(struct hc_json *out, const char *name, const char *text, size_t len, struct hc_error *err)
{
    *out = (struct hc_json){.name = name, .text = text ? text : "", .len = len};
    hc_autoscan scan;
    if (hc_scan(&scan, name, text, len, 0, err) < 0)
        return -1;
    out->root = build_tree(&scan, 0);
    if (!out->root)
        return hc_fail(err, ENOMEM, "%s", name);
    out->nodes = scan.nodes;
    out->count = scan.count;
    scan.nodes = NULL;
    return 0;
}

void hc_json_finish(struct hc_json *j)
{
    free(j->nodes);
    cJSON_Delete(j->root);
    *j = (struct hc_json){0};
}

cJSON *hc_json_take(struct hc_json *j)
{
    cJSON *root = j->root;
    j->root = NULL;
    hc_json_finish(j);
    return root;
}

/* Adds to *index the number of nodes before `node` in the order of the text, which is the order of the
 * scanner's nodes. False: `node` is not in `tree`. */
static bool find_node(const cJSON *tree, const cJSON *node, size_t *index)
{
    if (tree == node)
        return true;
    for (const cJSON *child = tree->child; child; child = child->next) {
        (*index)++;
        if (find_node(child, node, index))
            return true;
    }
    return false;
}

static const struct hc_node *locate(const struct hc_json *j, const cJSON *node)
{
    size_t index = 0;
    return node && j->root && find_node(j->root, node, &index) && index < j->count ? &j->nodes[index] : NULL;
}

const char *hc_json_source(const struct hc_json *j, const cJSON *node, size_t *len)
{
    const struct hc_node *n = locate(j, node);
    if (!n)
        return NULL;
    *len = n->end - n->start;
    return j->text + n->start;
}

int hc_json_fail(const struct hc_json *j, const cJSON *node, bool at_key, struct hc_error *err,
                 const char *fmt, ...)
{
    char what[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    const struct hc_node *n = locate(j, node);
    if (!n)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: %s", j->name, what);
    int line, column;
    hc_text_position(j->text, at_key && n->key ? n->key : n->start, &line, &column);
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

int hc_json_print(struct hc_buf *out, cJSON *object_taken, const char *name, struct hc_error *err)
{
    char *text = cJSON_PrintUnformatted(object_taken);
    cJSON_Delete(object_taken);
    out->failed |= !text;
    (void)hc_buf_str(out, text ? text : "");
    cJSON_free(text);
    return out->failed ? hc_fail(err, ENOMEM, "%s", name) : 0;
}
