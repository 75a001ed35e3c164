#include "json/lines.h"

#include "base/plain.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_CHARS 120 /* most characters shown of one line */

/* The beginning of the line after the one at `at`. Lines end with "\n", "\r\n" or "\r". */
static const char *next_line(const char *at)
{
    at += strcspn(at, "\r\n");
    if (at[0] == '\r' && at[1] == '\n')
        return at + 2;
    return *at ? at + 1 : at;
}

int hc_lines_init(struct hc_lines *lines, const char *text)
{
    size_t count = 0;
    for (const char *at = text; *at; at = next_line(at))
        count++;
    *lines = (struct hc_lines){.text = text, .starts = calloc(count + 1, sizeof *lines->starts)};
    if (!lines->starts)
        return -1;
    for (const char *at = text; *at; at = next_line(at))
        lines->starts[lines->count++] = (size_t)(at - text);
    lines->starts[count] = strlen(text);
    return 0;
}

void hc_lines_finish(struct hc_lines *lines)
{
    free(lines->starts);
    *lines = (struct hc_lines){0};
}

const char *hc_lines_get(const struct hc_lines *lines, int line, size_t *len)
{
    *len = 0;
    if (line < 1 || (size_t)line > lines->count)
        return "";
    const char *start = lines->text + lines->starts[line - 1], *end = lines->text + lines->starts[line];
    while (end > start && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    *len = (size_t)(end - start);
    return start;
}

static int clamp(int n, int least, size_t most)
{
    return n < least ? least : (size_t)n > most ? (int)most : n;
}

struct hc_span hc_lines_place(const struct hc_lines *lines, int line, int column, int end_line,
                              int end_column)
{
    size_t len;
    bool one_line = line == end_line;
    line = clamp(line, 1, lines->count ? lines->count : 1);
    (void)hc_lines_get(lines, line, &len);
    column = clamp(column, 0, len);
    end_column = clamp(end_column, 0, len);
    return (struct hc_span){line, column, one_line && end_column > column ? end_column : 0};
}

struct hc_span hc_lines_word(const struct hc_lines *lines, int line, int column, const char *word)
{
    size_t len, n = strlen(word);
    const char *text = hc_lines_get(lines, line, &len);
    size_t from = (size_t)clamp(column, 0, len);
    const char *at = n ? memmem(text + from, len - from, word, n) : NULL;
    if (!at)
        return hc_lines_place(lines, line, column, 0, 0);
    return hc_lines_place(lines, line, (int)(at - text), line, (int)(at - text + (ptrdiff_t)n));
}

struct hc_span hc_lines_word_before(const struct hc_lines *lines, int line, int end, const char *word)
{
    size_t len, n = strlen(word);
    const char *text = hc_lines_get(lines, line, &len);
    if (end < 0 || (size_t)end > len || (size_t)end < n || memcmp(text + end - n, word, n) != 0)
        return (struct hc_span){0};
    return hc_lines_place(lines, line, end - (int)n, line, end);
}

struct hc_span hc_lines_count_characters(const struct hc_lines *lines, struct hc_span at)
{
    size_t len;
    const char *text = hc_lines_get(lines, at.line, &len);
    if (at.line == 0)
        return at;
    int column = 1 + (int)hc_utf8_count(text, (size_t)clamp(at.column, 0, len));
    int end = at.end_column ? 1 + (int)hc_utf8_count(text, (size_t)clamp(at.end_column, 0, len)) : 0;
    return (struct hc_span){at.line, column, end};
}

/* The place `n` characters of UTF-8 behind `at`; at most `end`. */
static const char *skip_characters(const char *at, const char *end, int n)
{
    for (; at < end && n > 0; n--)
        at += hc_utf8_boundary(at, (size_t)(end - at), 1);
    return at;
}

void hc_plain_add(struct hc_buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const unsigned char *p = (const unsigned char *)text + at;
        int n = hc_utf8_sequence(p, len - at);
        bool shown = n > 0 && !hc_is_unseen(hc_utf8_decode(p, n));
        size_t used = (size_t)(n > 0 ? n : -n);
        (void)hc_buf_add(out, shown ? text + at : " ", shown ? used : 1);
        at += used;
    }
}

void hc_lines_show(const struct hc_lines *lines, struct hc_span at, struct hc_buf *out)
{
    size_t len;
    const char *text = hc_lines_get(lines, at.line, &len), *end = text + len;
    int from = at.column > SHOWN_CHARS / 2 ? at.column - SHOWN_CHARS / 2 : 1;
    const char *start = skip_characters(text, end, from - 1);
    for (; from < at.column && start < end && (*start == ' ' || *start == '\t'); from++)
        start++;
    if (start == end)
        return;
    (void)hc_buf_str(out, "    ");
    hc_plain_add(out, start, (size_t)(skip_characters(start, end, SHOWN_CHARS) - start));
    (void)hc_buf_str(out, "\n");
    if (at.column == 0)
        return;
    int carets = at.end_column > at.column ? at.end_column - at.column : 1;
    carets = carets < SHOWN_CHARS / 2 ? carets : SHOWN_CHARS / 2;
    (void)hc_buf_fmt(out, "    %*s", at.column - from, "");
    while (carets-- > 0)
        (void)hc_buf_str(out, "^");
    (void)hc_buf_str(out, "\n");
}
