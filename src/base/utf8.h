/* utf8.h - whole texts in UTF-8: are they well-formed, made so, and where in one an offset is. One character
 * at a time is in plain.h. */
#ifndef HC_BASE_UTF8_H
#define HC_BASE_UTF8_H

#include "base/buf.h"

/* True if the bytes are well-formed UTF-8; otherwise *bad is the offset of the first wrong byte. */
bool hc_utf8_valid(const char *text, size_t len, size_t *bad);

/* How many bytes of `text` are whole characters: it may have been cut in the middle of one. */
size_t hc_utf8_whole(const char *text);

/* Append `text` to `out` with every malformed UTF-8 sequence replaced by U+FFFD (the practice of the Unicode
 * standard, chapter 3, "U+FFFD Substitution of Maximal Subparts"). */
int hc_utf8_scrub(struct hc_buf *out, const char *text, size_t len);

/* Line and column (both from 1, column in characters) of a byte offset. */
void hc_text_position(const char *text, size_t offset, int *line, int *column);

#endif
