#include "json/scan.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 4300 /* most digits of a number; see hc_scan_numbers */

struct scanner {
    struct hc_scan *out;  /* gets the nodes; borrowed */
    const char *name;     /* name of the text, for messages */
    const char *p, *end;  /* next byte of the text; end of the text */
    int depth;            /* lists and objects around `p` */
    struct hc_error *err; /* the caller's error */
};

static int fail_at(const struct scanner *s, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int fail_at(const struct scanner *s, const char *where, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    int line, column;
    hc_text_position(s->out->text, (size_t)(where - s->out->text), &line, &column);
    return hc_fail_as(s->err, HC_EXIT_DATA, 0, "%s:%d:%d: %s", s->name, line, column, what);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool at_digit(const struct scanner *s)
{
    return s->p < s->end && is_digit(*s->p);
}

static bool at(const struct scanner *s, char c)
{
    return s->p < s->end && *s->p == c;
}

static void skip_blanks(struct scanner *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
        s->p++;
}

/* Fails with "expected WHAT, found 'x'" at the next byte of the text. */
static int fail_expected(const struct scanner *s, const char *what)
{
    if (s->p == s->end)
        return fail_at(s, s->p, "expected %s, found end of file", what);
    unsigned char c = (unsigned char)*s->p;
    if (c < 0x20 || c == 0x7f)
        return fail_at(s, s->p, "expected %s, found a control character (0x%02x)", what, c);
    if (s->end - s->p >= 3 && memcmp(s->p, "\xef\xbb\xbf", 3) == 0)
        return fail_at(s, s->p, "expected %s, found a byte order mark", what);
    int len = (int)hc_utf8_boundary(s->p, (size_t)(s->end - s->p), 1);
    return fail_at(s, s->p, "expected %s, found '%.*s'", what, len, s->p);
}

static int add_node(struct scanner *s, size_t key, size_t *index)
{
    struct hc_scan *out = s->out;
    if (out->count == HC_JSON_VALUES)
        return fail_at(s, s->p, "more than %d values", HC_JSON_VALUES);
    if (out->count == out->cap) {
        size_t cap = out->cap ? out->cap * 2 : 64;
        struct hc_node *nodes = reallocarray(out->nodes, cap, sizeof *nodes);
        if (!nodes)
            return hc_fail(s->err, ENOMEM, "%s", s->name);
        out->nodes = nodes;
        out->cap = cap;
    }
    *index = out->count++;
    out->nodes[*index] = (struct hc_node){.start = (uint32_t)(s->p - out->text), .key = (uint32_t)key};
    return 0;
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int scan_hex4(struct scanner *s, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, s->p++) {
        int digit = s->p < s->end ? hex_value(*s->p) : -1;
        if (digit < 0)
            return fail_expected(s, "four hex digits after \\u");
        *value = *value * 16 + (uint32_t)digit;
    }
    return 0;
}

/* Scans the digits behind "\u". Half a surrogate pair is refused, as it has no UTF-8 form, and so is a NUL,
 * which would cut every C string short. */
static int scan_unicode(struct scanner *s)
{
    const char *escape = s->p - 2;
    uint32_t high, low;
    if (scan_hex4(s, &high) < 0)
        return -1;
    if (high == 0)
        return fail_at(s, escape, "a string must not contain \\u0000");
    if (high < 0xd800 || high > 0xdfff)
        return 0;
    if (high > 0xdbff || s->end - s->p < 2 || s->p[0] != '\\' || s->p[1] != 'u')
        return fail_at(s, escape, "half of a surrogate pair in a string");
    s->p += 2;
    if (scan_hex4(s, &low) < 0)
        return -1;
    if (low < 0xdc00 || low > 0xdfff)
        return fail_at(s, escape, "half of a surrogate pair in a string");
    return 0;
}

static int scan_string(struct scanner *s)
{
    for (s->p++;; s->p++) {
        if (s->p == s->end)
            return fail_expected(s, "'\"' at the end of a string");
        unsigned char c = (unsigned char)*s->p;
        if (c < 0x20)
            return fail_at(s, s->p, "control character 0x%02x in a string: write it as \\u%04x", c, c);
        if (c == '"') {
            s->p++;
            return 0;
        }
        if (c != '\\')
            continue;
        s->p++;
        if (s->p == s->end || !strchr("\"\\/bfnrtu", *s->p) || !*s->p)
            return fail_expected(s, "one of \" \\ / b f n r t u after a backslash");
        if (*s->p != 'u')
            continue;
        s->p++;
        if (scan_unicode(s) < 0)
            return -1;
        s->p--;
    }
}

static int scan_digits(struct scanner *s, const char *what)
{
    if (!at_digit(s))
        return fail_expected(s, what);
    while (at_digit(s))
        s->p++;
    return 0;
}

static int scan_number(struct scanner *s)
{
    if (at(s, '-'))
        s->p++;
    const char *first = s->p;
    if (scan_digits(s, "a digit") < 0)
        return -1;
    if (*first == '0' && s->p > first + 1)
        return fail_at(s, first, "a number must not begin with 0");
    if (at(s, '.')) {
        s->p++;
        if (scan_digits(s, "a digit after the decimal point") < 0)
            return -1;
    }
    if (!at(s, 'e') && !at(s, 'E'))
        return 0;
    s->p++;
    if (at(s, '+') || at(s, '-'))
        s->p++;
    return scan_digits(s, "a digit in the exponent");
}

static int scan_word(struct scanner *s)
{
    static const char *const words[] = {"true", "false", "null"};
    static const char *const not_json[] = {"NaN", "Infinity", "-Infinity"};
    size_t left = (size_t)(s->end - s->p);
    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);
        if (left >= len && memcmp(s->p, words[i], len) == 0) {
            s->p += len;
            return 0;
        }
    }
    for (size_t i = 0; i < 3; i++)
        if (left >= strlen(not_json[i]) && memcmp(s->p, not_json[i], strlen(not_json[i])) == 0)
            return fail_at(s, s->p, "expected a JSON value, found %s, which JSON does not have", not_json[i]);
    return fail_expected(s, "a JSON value");
}

static int scan_value(struct scanner *s, size_t key);

static int scan_list(struct scanner *s)
{
    s->p++;
    skip_blanks(s);
    if (at(s, ']')) {
        s->p++;
        return 0;
    }
    for (;;) {
        if (scan_value(s, 0) < 0)
            return -1;
        skip_blanks(s);
        if (!at(s, ',') && !at(s, ']'))
            return fail_expected(s, "',' or ']' after an element");
        if (*s->p++ == ']')
            return 0;
        skip_blanks(s);
    }
}

static int scan_members(struct scanner *s)
{
    s->p++;
    skip_blanks(s);
    if (at(s, '}')) {
        s->p++;
        return 0;
    }
    for (bool first = true;; first = false) {
        if (!at(s, '"'))
            return fail_expected(s, first ? "a member's name in double quotes or '}'"
                                          : "a member's name in double quotes");
        size_t key = (size_t)(s->p - s->out->text);
        if (scan_string(s) < 0)
            return -1;
        skip_blanks(s);
        if (!at(s, ':'))
            return fail_expected(s, "':' after a member's name");
        s->p++;
        skip_blanks(s);
        if (scan_value(s, key) < 0)
            return -1;
        skip_blanks(s);
        if (!at(s, ',') && !at(s, '}'))
            return fail_expected(s, "',' or '}' after a member");
        if (*s->p++ == '}')
            return 0;
        skip_blanks(s);
    }
}

uint32_t hc_scan_char(const char **p)
{
    static const char escapes[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    const unsigned char *c = (const unsigned char *)*p;
    if (*c == '"')
        return HC_SCAN_END;
    if (*c < 0x80 && *c != '\\') {
        *p += 1;
        return *c;
    }
    if (*c >= 0x80) {
        size_t len = hc_utf8_length(**p);
        *p += len;
        return hc_utf8_decode(c, (int)len);
    }
    if (c[1] != 'u') {
        *p += 2;
        return (unsigned char)plain[strchr(escapes, c[1]) - escapes];
    }
    uint32_t unit[2] = {0, 0};
    for (int half = 0; half < 2; half++) {
        *p += 2;
        for (int i = 0; i < 4; i++)
            unit[half] = unit[half] * 16 + (uint32_t)hex_value(*(*p)++);
        if (unit[0] < 0xd800 || unit[0] > 0xdfff)
            return unit[0];
    }
    return 0x10000 + ((unit[0] - 0xd800) << 10) + (unit[1] - 0xdc00);
}

/* Compares by code points, which have the same order as their bytes in UTF-8. */
static int compare_names(const struct hc_scan *s, uint32_t a, uint32_t b)
{
    const char *p = s->text + s->nodes[a].key + 1, *q = s->text + s->nodes[b].key + 1;
    for (;;) {
        uint32_t c = hc_scan_char(&p), d = hc_scan_char(&q);
        if (c == d && c == HC_SCAN_END)
            return 0;
        if (c == HC_SCAN_END || d == HC_SCAN_END)
            return c == HC_SCAN_END ? -1 : 1;
        if (c != d)
            return c < d ? -1 : 1;
    }
}

static int by_name(const void *a, const void *b, void *scan)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare_names(scan, x, y);
    return order ? order : (x > y) - (x < y);
}

uint32_t *hc_scan_children(const struct hc_scan *s, size_t node, bool sorted, size_t *count)
{
    size_t n = 0;
    for (uint32_t i = (uint32_t)node + 1; i < s->nodes[node].next; i = s->nodes[i].next)
        n++;
    uint32_t *list = malloc((n + 1) * sizeof *list);
    if (!list)
        return NULL;
    n = 0;
    for (uint32_t i = (uint32_t)node + 1; i < s->nodes[node].next; i = s->nodes[i].next)
        list[n++] = i;
    if (sorted && n > 1)
        qsort_r(list, n, sizeof *list, by_name, (void *)s);
    *count = n;
    return list;
}

/* Refuses two members of one name: some readers take the value of the first, others that of the second. */
static int refuse_duplicates(struct scanner *s, size_t node)
{
    const struct hc_scan *scan = s->out;
    size_t count;
    uint32_t *members = hc_scan_children(scan, node, true, &count);
    if (!members)
        return hc_fail(s->err, ENOMEM, "%s", s->name);
    uint32_t again = 0; /* the first member in the text that repeats a name */
    for (size_t i = 1; i < count; i++)
        if (compare_names(scan, members[i - 1], members[i]) == 0 && (!again || members[i] < again))
            again = members[i];
    free(members);
    if (!again)
        return 0;
    const char *key = scan->text + scan->nodes[again].key;
    struct scanner behind = *s;
    behind.p = key;
    (void)scan_string(&behind);
    int len = (int)(behind.p - key - 2);
    return fail_at(s, key, "'%.*s' is given twice in one object", len < 80 ? len : 80, key + 1);
}

static int scan_value(struct scanner *s, size_t key)
{
    size_t node = 0;
    if (add_node(s, key, &node) < 0)
        return -1;
    char c = s->p < s->end ? *s->p : '\0';
    bool nests = c == '{' || c == '[';
    if (nests && ++s->depth > HC_JSON_DEPTH)
        return fail_at(s, s->p, "nested deeper than %d levels", HC_JSON_DEPTH);
    int rc;
    if (c == '{')
        rc = scan_members(s);
    else if (c == '[')
        rc = scan_list(s);
    else if (c == '"')
        rc = scan_string(s);
    else if (is_digit(c) || (c == '-' && s->end - s->p > 1 && s->p[1] != 'I'))
        rc = scan_number(s);
    else
        rc = scan_word(s);
    if (rc < 0)
        return -1;
    s->depth -= nests;
    s->out->nodes[node].end = (uint32_t)(s->p - s->out->text);
    s->out->nodes[node].next = (uint32_t)s->out->count;
    return c == '{' ? refuse_duplicates(s, node) : 0;
}

static int scan_document(struct scanner *s, size_t len)
{
    size_t bad;
    if (len >= UINT32_MAX)
        return hc_fail_as(s->err, HC_EXIT_DATA, EFBIG, "%s", s->name);
    if (!hc_utf8_valid(s->p, len, &bad))
        return fail_at(s, s->p + bad, "not UTF-8 (byte 0x%02x)", (unsigned char)s->p[bad]);
    skip_blanks(s);
    if (scan_value(s, 0) < 0)
        return -1;
    skip_blanks(s);
    return s->p == s->end ? 0 : fail_expected(s, "the end of the document");
}

int hc_scan(struct hc_scan *out, const char *name, const char *text, size_t len, int depth,
            struct hc_error *err)
{
    *out = (struct hc_scan){.text = text ? text : ""};
    struct scanner s = {
        .out = out, .name = name, .p = out->text, .end = out->text + len, .depth = depth, .err = err};
    if (scan_document(&s, len) == 0)
        return 0;
    hc_scan_finish(out);
    return -1;
}

int hc_scan_numbers(const struct hc_scan *s, const char *name, struct hc_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct hc_node *n = &s->nodes[i];
        char first = s->text[n->start];
        if ((first == '-' || is_digit(first)) && n->end - n->start > NUMBER_MAX)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: a number of more than %d digits", name, NUMBER_MAX);
    }
    return 0;
}

void hc_scan_finish(struct hc_scan *s)
{
    free(s->nodes);
    *s = (struct hc_scan){0};
}
