/* plain.h - make untrusted text (a guest's output, a file's name) safe for a terminal, a log or a message:
 * which of its characters may be shown, and what replaces the others. */
#ifndef HC_BASE_PLAIN_H
#define HC_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the character controls a terminal, or is invisible and changes how others appear: a control
 * character (newline and tab included), a direction mark, a blank without width, a tag. */
bool hc_is_unseen(uint32_t c);

/* Replace in place each unseen character (newlines, too) and each malformed part by '?'. */
void hc_plain_line(char *text);

/* Copy `text` into `out`, cut to `size` bytes: \uXXXX stands for each character that is no printable
 * ASCII, \xXX for each byte that is no UTF-8. */
void hc_plain_ascii(char *out, size_t size, const char *text);

/* Print to standard output, with the replacements of hc_plain_line. */
void hc_plain_print(const char *text);

#endif
