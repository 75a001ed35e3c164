/* html.h - markup with other people's text in it, which stays text wherever it is put. */
#ifndef HC_REPORT_HTML_H
#define HC_REPORT_HTML_H

#include "base/buf.h"

/* Append markup. What stands for %s is escaped for text and for quoted attributes alike, and no more than
 * 2000 bytes of it are shown; besides, only %d,
 * %ld, %zu, %f with a precision, and %% are known. */
void hc_html(struct hc_buf *out, const char *markup, ...) __attribute__((format(printf, 2, 3)));

/* Append text. What cannot be seen, or changes the order in which the rest is seen, is named: U+202E. */
void hc_html_text(struct hc_buf *out, const char *text, size_t len);

/* The same of a long text: what is more than `max` bytes is left out of its middle, which is said. */
void hc_html_bounded(struct hc_buf *out, const char *text, size_t len, size_t max);

/* Append bytes in base64, as data: URIs have them. */
void hc_html_base64(struct hc_buf *out, const void *data, size_t len);

/* "1 file", "2 files"; 0 is "no files". `size` of out: 64. Returns it. */
char *hc_html_count(long count, const char *one, const char *more, char out[64]);

/* "1.5 MiB"; "1.53 s", "210 ms". What is no number, or negative, is a dash. */
char *hc_html_size(double bytes, char out[64]);
char *hc_html_time(double seconds, char out[64]);

#endif
