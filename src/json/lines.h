/* lines.h - a program's text by lines, as Python's tokenizer counts them, to say where something stands. */
#ifndef HC_JSON_LINES_H
#define HC_JSON_LINES_H

#include "base/buf.h"

struct hc_lines {
    const char *text; /* borrowed, UTF-8 */
    size_t *starts;   /* owned: offsets, one per line and the end of the text */
    size_t count;
};

/* Where something stands: a line, from 1, and columns in it; the end's is one behind its last one, 0 if it
 * ends in another line. Columns count bytes from 0 until hc_lines_count_characters makes them characters
 * from 1. */
struct hc_place {
    int line, column, end_column;
};

int hc_lines_init(struct hc_lines *lines, const char *text); /* -1: no memory */
void hc_lines_finish(struct hc_lines *lines);

/* A line without its end; *len is 0 for one that does not exist. */
const char *hc_lines_get(const struct hc_lines *lines, int line, size_t *len);

/* From CPython's numbers. Those that are not of this text (in f-strings they are guesses) are moved into it.
 */
struct hc_place hc_lines_place(const struct hc_lines *lines, int line, int column, int end_line,
                               int end_column);

/* Where `word` stands in a line, from a column on; that column if nowhere. */
struct hc_place hc_lines_word(const struct hc_lines *lines, int line, int column, const char *word);

/* The same for a word that ends at a column; line 0 if it does not. */
struct hc_place hc_lines_word_before(const struct hc_lines *lines, int line, int end, const char *word);

/* This reads the line from its start: for what is going to be shown. */
struct hc_place hc_lines_count_characters(const struct hc_lines *lines, struct hc_place at);

/* Append text for a terminal: a blank for each character that is unseen (base/plain.h). */
void hc_plain_add(struct hc_buf *out, const char *text, size_t len);

/* Append the line (or so much of it that the place is to be seen) and below it carets if there is a column,
 * as the interpreter does for syntax errors. Control characters become blanks. Nothing for a line that does
 * not exist or is empty. */
void hc_lines_show(const struct hc_lines *lines, struct hc_place at, struct hc_buf *out);

#endif
