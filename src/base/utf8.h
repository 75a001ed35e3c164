/* utf8.h - text in UTF-8: one character at a time, where it may be cut, whether all of it is well-formed. */
#ifndef HC_BASE_UTF8_H
#define HC_BASE_UTF8_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- one character ---- */

/* Is it a byte of a character that an earlier byte has begun? */
static inline bool hc_utf8_continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* How many bytes a character has that begins with this byte; 1 for a byte that begins none. */
static inline size_t hc_utf8_length(char first)
{
    unsigned char c = (unsigned char)first;
    return c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
}

/* Length of the well-formed UTF-8 sequence at `p`, or minus the length of the maximal malformed part of one
 * (Unicode standard, table 3-7). `left`: bytes of the text from `p` on, at least 1. */
int hc_utf8_sequence(const unsigned char *p, size_t left);

/* The character of a well-formed sequence of `len` bytes. */
uint32_t hc_utf8_decode(const unsigned char *p, int len);

/* Write a character, which is no surrogate and at most U+10FFFF, to `out`, without a NUL. Returns the number
 * of its bytes, 1 to 4. */
size_t hc_utf8_encode(uint32_t c, char *out);

/* ---- where a text may be cut ---- */

/* The number of bytes at the end of the text that begin a character without completing it: 0 to 3. */
size_t hc_utf8_unfinished(const char *text, size_t len);

/* The offset, from `at` on, at which the next character begins; `len` if none does. */
size_t hc_utf8_boundary(const char *text, size_t len, size_t at);

/* How many characters the text has. */
size_t hc_utf8_count(const char *text, size_t len);

/* ---- a whole text ---- */

/* True if the bytes are well-formed UTF-8; otherwise *bad is the offset of the first wrong byte. */
bool hc_utf8_valid(const char *text, size_t len, size_t *bad);

/* Number of bytes of `text` that are whole characters: it may have been cut in the middle of one. */
size_t hc_utf8_whole(const char *text);

/* Append `text` to `out` with every malformed UTF-8 sequence replaced by U+FFFD (the practice of the Unicode
 * standard, chapter 3, "U+FFFD Substitution of Maximal Subparts"). */
int hc_utf8_scrub(struct hc_buf *out, const char *text, size_t len);

/* Line and column (both from 1, column in characters) of a byte offset. */
void hc_text_position(const char *text, size_t offset, int *line, int *column);

#endif
