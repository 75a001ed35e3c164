#include "json/scan.h"

#include "base/plain.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    const struct hc_scan *scan; /* the scanned document; borrowed */
    struct hc_buf *out;         /* gets the text; borrowed */
    const char *without;        /* top-level member to leave out; NULL: none */
    const char *brief;          /* top-level member whose members have one line each; NULL: none */
    bool sorted;                /* canonical form; else the text's order and spelling, indented */
    int depth;                  /* lists and objects around the value that is being written */
    int most;                   /* values nested deeper than this stay on one line */
};

static void write_string(struct hc_buf *out, const char *quote)
{
    static const char escapes[] = "btn\0fr"; /* escapes of 0x08 to 0x0d */
    const char *p = quote + 1;
    char utf8[4];
    (void)hc_buf_str(out, "\"");
    for (uint32_t c; (c = hc_scan_char(&p)) != HC_SCAN_END;) {
        if (c == '"' || c == '\\')
            (void)hc_buf_fmt(out, "\\%c", (int)c);
        else if (c >= 0x08 && c <= 0x0d && c != 0x0b)
            (void)hc_buf_fmt(out, "\\%c", escapes[c - 0x08]);
        else if (c < 0x20)
            (void)hc_buf_fmt(out, "\\u%04x", c);
        else
            (void)hc_buf_add(out, utf8, hc_utf8_encode(c, utf8));
    }
    (void)hc_buf_str(out, "\"");
}

static const char *string_end(const char *quote)
{
    const char *p = quote + 1;
    while (hc_scan_char(&p) != HC_SCAN_END)
        ;
    return p + 1;
}

static void new_line(const struct writer *w)
{
    (void)hc_buf_str(w->out, "\n");
    for (int i = 0; i < w->depth; i++)
        (void)hc_buf_str(w->out, "  ");
}

/* Writes text as it stands, but with escapes for characters that JSON allows although they are invisible or
 * commands to a terminal: people print manifests on terminals. */
static void write_visible(struct hc_buf *out, const char *text, size_t len)
{
    size_t done = 0;
    for (size_t i = 0; i < len;) {
        const unsigned char *p = (const unsigned char *)text + i;
        int n = hc_utf8_sequence(p, len - i);
        size_t used = (size_t)(n > 0 ? n : -n);
        const uint32_t c = n > 0 ? hc_utf8_decode(p, n) : ' ';
        i += used;
        if (!hc_is_unseen(c))
            continue;
        (void)hc_buf_add(out, text + done, i - used - done);
        done = i;
        if (c > 0xffff)
            (void)hc_buf_fmt(out, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
                             (unsigned)(0xdc00 + (c & 0x3ff)));
        else
            (void)hc_buf_fmt(out, "\\u%04x", (unsigned)c);
    }
    (void)hc_buf_add(out, text + done, len - done);
}

static void write_name(const struct writer *w, const char *key)
{
    if (w->sorted)
        write_string(w->out, key);
    else
        write_visible(w->out, key, (size_t)(string_end(key) - key));
    (void)hc_buf_str(w->out, w->depth > w->most ? ":" : ": ");
}

static bool is_name(const char *key, const char *name)
{
    const char *p = key + 1;
    for (; *name; name++)
        if (hc_scan_char(&p) != (unsigned char)*name)
            return false;
    return hc_scan_char(&p) == HC_SCAN_END;
}

static int write_node(struct writer *w, uint32_t index);

/* Writes a value on one line: indentation grows with the depth, so a guest that nests values could make a
 * large document from a small report. */
static int write_briefly(struct writer *w, uint32_t index)
{
    const int most = w->most;
    w->most = w->depth + 1;
    int rc = write_node(w, index);
    w->most = most;
    return rc;
}

static int write_children(struct writer *w, uint32_t index)
{
    const struct hc_scan *scan = w->scan;
    const char *text = scan->text + scan->nodes[index].start;
    bool object = *text == '{', any = false;
    size_t count;
    uint32_t *list = hc_scan_children(scan, index, w->sorted && object, &count);
    if (!list)
        return -1;
    (void)hc_buf_add(w->out, text, 1);
    const bool in_lines = w->depth++ < w->most;
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const char *key = scan->text + scan->nodes[list[i]].key;
        if (object && index == 0 && w->without && is_name(key, w->without))
            continue;
        (void)hc_buf_str(w->out, any ? "," : "");
        if (in_lines)
            new_line(w);
        if (object)
            write_name(w, key);
        bool brief = object && index == 0 && w->brief && is_name(key, w->brief);
        rc = brief ? write_briefly(w, list[i]) : write_node(w, list[i]);
        any = true;
    }
    free(list);
    w->depth--;
    if (any && in_lines)
        new_line(w);
    (void)hc_buf_str(w->out, object ? "}" : "]");
    return rc;
}

static int write_node(struct writer *w, uint32_t index)
{
    const struct hc_node *n = &w->scan->nodes[index];
    const char *text = w->scan->text + n->start;
    if (*text == '{' || *text == '[')
        return write_children(w, index);
    if (*text == '"' && w->sorted)
        write_string(w->out, text);
    else
        write_visible(w->out, text, n->end - n->start);
    return 0;
}

static int rewrite_text(struct writer *w, const char *text, size_t len, struct hc_error *err)
{
    hc_autoscan scan;
    if (hc_scan(&scan, "document", text, len, 0, err) < 0)
        return -1;
    w->scan = &scan;
    int rc = write_node(w, 0);
    w->scan = NULL;
    return rc < 0 || w->out->failed ? hc_fail(err, ENOMEM, "write JSON") : 0;
}

int hc_json_canonical(const char *text, size_t len, const char *without, struct hc_buf *out,
                      struct hc_error *err)
{
    struct writer w = {.out = out, .without = without, .sorted = true};
    return rewrite_text(&w, text, len, err);
}

int hc_json_indent(const char *text, size_t len, const char *brief, struct hc_buf *out, struct hc_error *err)
{
    struct writer w = {.out = out, .brief = brief, .most = INT_MAX};
    if (rewrite_text(&w, text, len, err) < 0)
        return -1;
    return hc_buf_str(out, "\n") < 0 ? hc_fail(err, ENOMEM, "write JSON") : 0;
}
