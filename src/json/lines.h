/* lines.h - find and show lines of a program's text, as Python's tokenizer counts them, for messages about a
 * place in the program. */
#ifndef HC_JSON_LINES_H
#define HC_JSON_LINES_H

#include "base/buf.h"

struct hc_lines {
    const char *text; /* text of the program, UTF-8; borrowed */
    size_t *starts;   /* offset of each line in bytes, and behind them the offset of the text's end; owned */
    size_t count;     /* number of lines */
};

/* A place in a program: a line, from 1, the column where the place begins and the column behind its last one,
 * `end_column`, which is 0 if the place ends in another line. Columns count bytes from 0 until
 * hc_lines_count_characters makes them characters from 1. */
struct hc_span {
    int line, column, end_column; /* see above; line 0: there is no place */
};

int hc_lines_init(struct hc_lines *lines, const char *text); /* -1: no memory */
void hc_lines_finish(struct hc_lines *lines);

/* The text of a line without its line break; *len is 0 if there is no such line. */
const char *hc_lines_get(const struct hc_lines *lines, int line, size_t *len);

/* Make a place of the numbers that CPython gives: lines from 1, columns in bytes from 0. Numbers that do not
 * fit the text (CPython guesses places within f-strings) are moved to the nearest place that exists. */
struct hc_span hc_lines_place(const struct hc_lines *lines, int line, int column, int end_line,
                              int end_column);

/* The place of the first `word` in a line, from `column` on; `column` itself if there is none. */
struct hc_span hc_lines_word(const struct hc_lines *lines, int line, int column, const char *word);

/* The place of a `word` that ends at column `end`; its line is 0 if the text before `end` is not `word`. */
struct hc_span hc_lines_word_before(const struct hc_lines *lines, int line, int end, const char *word);

/* Returns the place `at` with columns in characters. It reads the line from its start, so use it only for
 * places that are shown. */
struct hc_span hc_lines_count_characters(const struct hc_lines *lines, struct hc_span at);

/* Append text for a terminal, with a blank in the place of each character that is unseen (base/plain.h). */
void hc_plain_add(struct hc_buf *out, const char *text, size_t len);

/* Append the line (the part of a long line that has the place in it) and, if the place has a column, carets
 * below it, as the interpreter does for syntax errors. Control characters become blanks. Appends nothing if
 * the line does not exist or is empty. */
void hc_lines_show(const struct hc_lines *lines, struct hc_span at, struct hc_buf *out);

#endif
