#include "report/code.h"

#include "report/html.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MAX_LINES 20000
#define MAX_WIDTH 4000 /* bytes of a line */

/* ---- colours: Python's tokens, as far as it takes to tell words from text ---- */

enum kind { PLAIN, KEYWORD, STRING, COMMENT, NUMBER, MARKED = 8 };

static const char *const keywords[] = {
    "False",  "None",     "True",   "and", "as",    "assert", "async",  "await",    "break", "case",
    "class",  "continue", "def",    "del", "elif",  "else",   "except", "finally",  "for",   "from",
    "global", "if",       "import", "in",  "is",    "lambda", "match",  "nonlocal", "not",   "or",
    "pass",   "raise",    "return", "try", "while", "with",   "yield",
};

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_keyword(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strlen(keywords[i]) == len && memcmp(keywords[i], word, len) == 0)
            return true;
    return false;
}

/* The length of a string that begins at a quote: to its end, or without three quotes to that of the line. */
static size_t string_length(const char *text, size_t len)
{
    const char quote = text[0];
    const bool triple = len >= 3 && text[1] == quote && text[2] == quote;
    size_t at = triple ? 3 : 1;
    while (at < len) {
        if (text[at] == '\\') {
            at += 2;
            continue;
        }
        if (!triple && text[at] == '\n')
            return at;
        if (text[at] == quote &&
            (!triple || (at + 2 < len && text[at + 1] == quote && text[at + 2] == quote)))
            return at + (triple ? 3 : 1);
        at++;
    }
    return len;
}

static size_t word_length(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && in_word(text[n]))
        n++;
    return n;
}

/* "rb" and the like, right before a quote. */
static bool is_prefix(const char *text, size_t n, size_t len)
{
    return n <= 2 && n < len && (text[n] == '"' || text[n] == '\'') && strspn(text, "rRbBuUfF") >= n;
}

static size_t next_token(const char *text, size_t len, enum kind *kind)
{
    *kind = PLAIN;
    if (*text == '#') {
        const char *end = memchr(text, '\n', len);
        *kind = COMMENT;
        return end ? (size_t)(end - text) : len;
    }
    size_t word = word_length(text, len);
    if (*text == '"' || *text == '\'' || (word && is_prefix(text, word, len))) {
        *kind = STRING;
        return word + string_length(text + word, len - word);
    }
    if (!word)
        return 1;
    if (*text >= '0' && *text <= '9')
        *kind = NUMBER;
    else if (is_keyword(text, word))
        *kind = KEYWORD;
    return word;
}

/* A kind for each byte; NULL without memory. */
static unsigned char *classify(const char *text, size_t len)
{
    unsigned char *kinds = calloc(len + 1, 1);
    for (size_t at = 0, n; kinds && at < len; at += n) {
        enum kind kind;
        n = MIN(next_token(text + at, len - at, &kind), len - at);
        memset(kinds + at, (int)kind, n);
    }
    return kinds;
}

/* ---- lines ---- */

static size_t offset_of(const char *line, size_t len, long column)
{
    size_t at = 0;
    for (long c = 1; c < column && at < len; c++)
        do
            at++;
        while (at < len && ((unsigned char)line[at] & 0xc0) == 0x80);
    return at;
}

static void mark_range(unsigned char *kinds, const char *line, size_t len, const struct hc_mark *mark)
{
    if (mark->column < 1)
        return;
    size_t from = offset_of(line, len, mark->column);
    size_t to = mark->end_column > mark->column ? offset_of(line, len, mark->end_column) : len;
    for (size_t i = from; i < to; i++)
        kinds[i] |= MARKED;
}

static void put_run(struct hc_buf *out, const char *text, size_t len, unsigned kind)
{
    static const char *const classes[] = {"", "k", "s", "c", "n"};
    const char *class = classes[kind & 7];
    if (kind & MARKED)
        (void)hc_buf_str(out, "<mark>");
    if (*class)
        hc_html(out, "<i class=\"%s\">", class);
    hc_html_text(out, text, len);
    if (*class)
        (void)hc_buf_str(out, "</i>");
    if (kind & MARKED)
        (void)hc_buf_str(out, "</mark>");
}

static size_t run_length(const unsigned char *kinds, size_t len)
{
    size_t n = 1;
    while (n < len && kinds[n] == kinds[0])
        n++;
    return n;
}

static void put_text(struct hc_buf *out, const char *line, size_t len, const unsigned char *kinds)
{
    size_t shown = MIN(len, MAX_WIDTH);
    while (shown < len && ((unsigned char)line[shown] & 0xc0) == 0x80)
        shown++;
    for (size_t at = 0, n; at < shown; at += n) {
        n = run_length(kinds + at, shown - at);
        put_run(out, line + at, n, kinds[at]);
    }
    char left_out[64];
    if (shown < len)
        hc_html(out, "<span class=\"cut\">%s left out here</span>",
                hc_html_count((long)(len - shown), "byte", "bytes", left_out));
}

static const char *worst(const struct hc_mark *marks, size_t count)
{
    const char *class = count ? marks[0].class : "";
    for (size_t i = 1; i < count; i++)
        if (strcmp(marks[i].class, "refused") == 0)
            class = marks[i].class;
    return class;
}

void hc_code_put_note(struct hc_buf *out, const struct hc_mark *mark)
{
    hc_html(out, "<div class=\"note %s\"><b>%s</b> %s", mark->class, mark->what, mark->message);
    if (mark->count > 1)
        hc_html(out, " <span class=\"muted\">%ld times</span>", mark->count);
    if (mark->said)
        (void)hc_buf_str(out, " <span class=\"said\">said by the program</span>");
    if (*mark->hint)
        hc_html(out, "<br><span class=\"hint\">%s</span>", mark->hint);
    (void)hc_buf_str(out, "</div>\n");
}

static int by_line(const void *a, const void *b)
{
    const struct hc_mark *one = a, *other = b;
    if (one->line != other->line)
        return one->line < other->line ? -1 : 1;
    return one->column < other->column ? -1 : one->column > other->column;
}

static void put_line(struct hc_buf *out, long number, const char *line, size_t len, unsigned char *kinds,
                     const struct hc_mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mark_range(kinds, line, len, &marks[i]);
    hc_html(out, "<div class=\"l %s\" id=\"L%ld\"><a href=\"#L%ld\">%ld</a><code>", worst(marks, count),
            number, number, number);
    put_text(out, line, len, kinds);
    (void)hc_buf_str(out, "</code></div>\n");
    for (size_t i = 0; i < count; i++)
        hc_code_put_note(out, &marks[i]);
}

static size_t of_line(const struct hc_mark *marks, size_t count, long line)
{
    size_t n = 0;
    while (n < count && marks[n].line <= line)
        n++;
    return n;
}

void hc_code_put(struct hc_buf *out, const char *text, size_t len, struct hc_mark *marks, size_t count)
{
    unsigned char *kinds = classify(text, len);
    if (!kinds) {
        out->failed = true;
        return;
    }
    if (count)
        qsort(marks, count, sizeof *marks, by_line);
    (void)hc_buf_str(out, "<div class=\"code\">\n");
    size_t at = 0, done = 0;
    long number = 1;
    for (; at < len && number <= MAX_LINES; number++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        size_t here = of_line(marks + done, count - done, number);
        put_line(out, number, text + at, n, kinds + at, marks + done, here);
        done += here;
        at += n + 1;
    }
    free(kinds);
    if (at < len)
        hc_html(out, "<div class=\"note\">The lines from %ld on are not shown.</div>\n", number);
    for (; done < count; done++)
        hc_code_put_note(out, &marks[done]);
    (void)hc_buf_str(out, "</div>\n");
}
