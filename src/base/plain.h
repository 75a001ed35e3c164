/* plain.h - text that somebody else wrote (a program in a cell, a file's name), on its way to a terminal, a
 * log or a sentence of ours: which of its characters may be shown, and what stands for the others. */
#ifndef HC_BASE_PLAIN_H
#define HC_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is it a command to a terminal, or something that nobody sees and that changes how others are read: a
 * control character, a direction of writing, a blank without width, a tag? Newline and tab are. */
bool hc_is_unseen(uint32_t c);

/* In place: '?' for each character that is unseen, and for each malformed part. One line remains. */
void hc_plain_line(char *text);

/* Into `out`, cut to `size`: \uXXXX for each character that is no printable ASCII, \xXX for each byte that is
 * no UTF-8. */
void hc_plain_ascii(char *out, size_t size, const char *text);

/* To standard output, as by hc_plain_line. */
void hc_plain_print(const char *text);

#endif
