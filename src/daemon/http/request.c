#include "daemon/http/request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the head ---- */

/* Lines that may occur once: of two with different values, a proxy could use the first and this daemon the
 * second. */
static const char *const unique_lines[] = {
    "Host", "Content-Length", "Transfer-Encoding", "Content-Type", "Authorization", "Idempotency-Key",
};
#define HOST    (1U << 0)
#define LENGTH  (1U << 1)
#define CHUNKED (1U << 2)

static bool is_name(const char *name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    const char *end = name;
    while ((*end >= '0' && *end <= '9') || (*end >= 'A' && *end <= 'Z') || (*end >= 'a' && *end <= 'z') ||
           (*end && strchr(others, *end)))
        end++;
    return end > name && !*end;
}

static bool is_value(const char *value)
{
    for (; *value; value++)
        if ((unsigned char)*value < ' ' ? *value != '\t' : *value == 0x7f)
            return false;
    return true;
}

static int take_once(struct hc_head *h, const char *name, struct hc_error *err)
{
    for (unsigned i = 0; i < sizeof unique_lines / sizeof *unique_lines; i++) {
        if (strcasecmp(name, unique_lines[i]) != 0)
            continue;
        if (h->seen & 1U << i)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: stands twice", unique_lines[i]);
        h->seen |= 1U << i;
    }
    return 0;
}

/* ---- the bytes of the head ---- */

/* Are there exactly `lines` line breaks, of one or two bytes each, between the end of `text` and `next`? */
static bool follows(const char *text, const char *next, ptrdiff_t lines)
{
    const char *end = text + strlen(text);
    if (next - end < lines || next - end > 2 * lines)
        return false;
    while (end < next && !*end)
        end++;
    return end == next;
}

static int torn(struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_DATA, 0,
                      "the head has a zero byte, or a line that goes on with the next one");
}

int hc_head_begin(struct hc_head *h, const char *behind_target, const char *version, struct hc_error *err)
{
    *h = (struct hc_head){.next = version};
    return behind_target == version ? 0 : torn(err);
}

int hc_head_take(struct hc_head *h, const char *name, const char *value, struct hc_error *err)
{
    if (h->next && !follows(h->next, name, 1))
        return torn(err);
    if (h->next)
        h->next = value;
    if (!is_name(name))
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "a line of the head has a name with other than letters, digits and signs before its colon");
    if (!is_value(value))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%.100s: has a control character", name);
    if (take_once(h, name, err) < 0)
        return -1;
    if (strcasecmp(name, "Transfer-Encoding") == 0 && strcasecmp(value, "chunked") != 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "Transfer-Encoding: expected chunked");
    if ((h->seen & LENGTH) && (h->seen & CHUNKED))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "Content-Length and Transfer-Encoding: expected one of them");
    return 0;
}

int hc_head_end(const struct hc_head *h, const char *version, const char *end, struct hc_error *err)
{
    if (end && h->next && !follows(h->next, end, 2))
        return torn(err);
    if (!(h->seen & HOST) && strcmp(version, "HTTP/1.0") != 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected a line Host");
    return 0;
}

bool hc_has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t n = strcspn(list, ",; \t");
        if (n == len && strncasecmp(list, word, len) == 0)
            return true;
        list += n;
        list += strcspn(list, ",");
    }
    return false;
}

/* Reads a number of 1 to 18 digits at `*at`, and moves `*at` past it. */
static bool read_offset(const char **at, uint64_t *out)
{
    const size_t digits = strspn(*at, "0123456789");
    *out = digits && digits <= 18 ? strtoull(*at, NULL, 10) : 0;
    *at += digits;
    return digits && digits <= 18;
}

enum hc_range hc_range_read(const char *header, uint64_t size, uint64_t *first, uint64_t *len)
{
    static const char unit[] = "bytes=";
    uint64_t from, to;
    if (!header || strncasecmp(header, unit, sizeof unit - 1) != 0)
        return HC_RANGE_ALL;
    const char *at = header + sizeof unit - 1;
    const bool begins = read_offset(&at, &from);
    if (*at != '-')
        return HC_RANGE_ALL;
    at++;
    const bool ends = read_offset(&at, &to);
    if (*at || (!begins && !ends) || (begins && ends && to < from))
        return HC_RANGE_ALL;
    if (begins ? from >= size : to == 0 || size == 0)
        return HC_RANGE_NONE;
    *first = begins ? from : to < size ? size - to : 0;
    *len = begins && ends && to < size ? to - from + 1 : size - *first;
    return HC_RANGE_PART;
}

/* ---- the path ---- */

/* The bytes of `path` up to its next slash or its end. */
static size_t piece(const char *path)
{
    return strcspn(path, "/");
}

bool hc_path_fits(const char *pattern, const char *path, struct hc_path_parts *out)
{
    *out = (struct hc_path_parts){0};
    while (*pattern == '/' && *path == '/') {
        pattern++;
        path++;
        size_t p = piece(pattern), n = piece(path);
        if (strncmp(pattern, "{rest}", p) == 0 && *path) {
            out->rest = path;
            return true;
        }
        if (p == 4 && strncmp(pattern, "{id}", p) == 0 && n > 0) {
            out->id = path;
            out->id_len = n;
        } else if (p == 9 && n > 0 &&
                   (strncmp(pattern, "{command}", p) == 0 || strncmp(pattern, "{context}", p) == 0)) {
            out->part = path;
            out->part_len = n;
        } else if (p != n || strncmp(pattern, path, n) != 0) {
            return false;
        }
        pattern += p;
        path += n;
    }
    return !*pattern && !*path;
}

/* ---- the body ---- */

const char *hc_request_member(const struct hc_json *body, const char *member, size_t *len,
                              struct hc_error *err)
{
    const cJSON *node = body->root;
    bool fits = cJSON_IsObject(node);
    if (fits && member) {
        node = node->child;
        fits = node && !node->next && strcmp(node->string, member) == 0;
    }
    if (!fits) {
        (void)hc_json_fail(body, body->root, false, err,
                           member ? "expected {\"%s\": ...}" : "expected an object%s", member ? member : "");
        return NULL;
    }
    const char *source = hc_json_source(body, node, len);
    if (!source)
        (void)hc_fail(err, 0, "request: no source");
    return source;
}
