#include "shim/harness/finding.h"

#include "base/fd.h"
#include "shim/harness/text.h"

#include <stdlib.h>
#include <string.h>

#define GATHERED_MAX 4096 /* most refusals that are kept to be sorted; more are counted */
#define LONGEST      4096 /* most bytes of one text in JSON */
#define SHOWN_MAX    20   /* most refusals that are shown as text */

void hc_findings_finish(struct hc_findings *f)
{
    free(f->items);
    hc_buf_finish(&f->columns);
    *f = (struct hc_findings){0};
}

static int grow(struct hc_findings *f)
{
    size_t cap = f->cap ? 2 * f->cap : 8;
    struct hc_finding *more = reallocarray(f->items, cap, sizeof *more);
    if (!more)
        return -1;
    f->items = more;
    f->cap = cap;
    return 0;
}

int hc_findings_add(struct hc_findings *f, const struct hc_finding *one)
{
    /* Each kind has its own bound, so that no number of warnings hides a refusal. */
    if (one->warning && f->warnings >= HC_FINDINGS_MAX)
        return 0;
    if (!one->warning && f->count - f->warnings >= GATHERED_MAX) {
        f->more++;
        return 0;
    }
    if (f->count == f->cap && grow(f) < 0)
        return -1;
    f->items[f->count++] = *one;
    f->warnings += one->warning;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct hc_finding *x = a, *y = b;
    if (x->at.line != y->at.line)
        return x->at.line < y->at.line ? -1 : 1;
    if (x->at.column != y->at.column)
        return x->at.column < y->at.column ? -1 : 1;
    int rules = strcmp(x->rule, y->rule);
    return rules ? rules : strcmp(x->message, y->message);
}

void hc_findings_close(struct hc_findings *f, const struct hc_lines *lines)
{
    size_t kept = 0, refusals = 0;
    if (f->count)
        qsort(f->items, f->count, sizeof *f->items, by_place);
    f->warnings = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct hc_finding *one = &f->items[i];
        if (kept && by_place(&f->items[kept - 1], one) == 0)
            continue;
        if (!one->warning && refusals == HC_FINDINGS_MAX) {
            f->more++;
            continue;
        }
        refusals += !one->warning;
        f->warnings += one->warning;
        f->items[kept++] = *one;
    }
    f->count = kept;
    for (size_t i = 0; lines && i < kept; i++)
        f->items[i].at = hc_lines_count_characters(lines, f->items[i].at);
}

bool hc_findings_refuse(const struct hc_findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (!f->items[i].warning)
            return true;
    return false;
}

static void add_number(struct hc_buf *out, const char *key, int n)
{
    if (n > 0)
        (void)hc_buf_fmt(out, ",\"%s\":%d", key, n);
    else
        (void)hc_buf_fmt(out, ",\"%s\":null", key);
}

static void add_text(struct hc_buf *out, const char *key, const char *text)
{
    (void)hc_buf_fmt(out, ",\"%s\":", key);
    if (text)
        (void)hc_json_cstr(out, text, LONGEST);
    else
        (void)hc_buf_str(out, "null");
}

static void add_json(const struct hc_finding *one, struct hc_buf *out)
{
    (void)hc_buf_fmt(out, "{\"rule\":\"%s\"", one->rule);
    add_text(out, "message", one->message);
    add_number(out, "line", one->at.line);
    add_number(out, "column", one->at.column);
    add_number(out, "end_column", one->at.end_column);
    add_text(out, "what", *one->what ? one->what : NULL);
    add_text(out, "hint", one->hint);
    (void)hc_buf_str(out, "}");
}

void hc_findings_json(const struct hc_findings *f, bool warnings, struct hc_buf *out)
{
    bool first = true;
    (void)hc_buf_str(out, "[");
    for (size_t i = 0; i < f->count; i++) {
        if (f->items[i].warning != warnings)
            continue;
        if (!first)
            (void)hc_buf_str(out, ",");
        first = false;
        add_json(&f->items[i], out);
    }
    (void)hc_buf_str(out, "]");
}

static void add_refusal_text(const struct hc_finding *one, const char *filename, const struct hc_lines *lines,
                             struct hc_buf *out)
{
    if (one->at.line) {
        (void)hc_buf_fmt(out, "  File \"%s\", line %d\n", filename, one->at.line);
        hc_lines_show(lines, one->at, out);
    }
    (void)hc_buf_fmt(out, "%s: %s\n", one->rule, one->message);
    if (one->hint)
        (void)hc_buf_fmt(out, "hint: %s\n", one->hint);
}

void hc_findings_show(const struct hc_findings *f, const char *filename, const char *utf8)
{
    struct hc_lines lines;
    struct hc_error err;
    hc_autobuf out = {0};
    size_t shown = 0, more = f->more;
    if (hc_lines_init(&lines, utf8) < 0)
        return;
    for (size_t i = 0; i < f->count; i++) {
        if (f->items[i].warning)
            continue;
        if (shown++ < SHOWN_MAX)
            add_refusal_text(&f->items[i], filename, &lines, &out);
        else
            more++;
    }
    if (more)
        (void)hc_buf_fmt(&out, "and %zu more\n", more);
    (void)hc_write_all(2, out.data, out.len, &err);
    hc_lines_finish(&lines);
}
