/* buf.h - a growable byte buffer with a ceiling. Always NUL-terminated, though it may hold NUL bytes. */
#ifndef HC_BASE_BUF_H
#define HC_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct hc_buf {
    char *data;  /* owned; NULL until the first byte */
    size_t len;  /* bytes in use, without the NUL */
    size_t cap;  /* bytes allocated at `data` */
    size_t max;  /* ceiling in bytes, 0 for none */
    bool failed; /* an append did not fit or memory ran out; later appends are ignored */
};

#define hc_autobuf __attribute__((cleanup(hc_buf_finish))) struct hc_buf

void hc_buf_finish(struct hc_buf *b); /* frees and zeroes; fine on a zeroed buffer */
void hc_buf_clear(struct hc_buf *b);  /* empties, keeps the memory */

/* Append `len` bytes; a string without its NUL; formatted text. Each returns 0, or -1 if the ceiling was
 * reached or memory ran out; `failed` remembers it, so that several appends need one check at their end. */
int hc_buf_add(struct hc_buf *b, const void *data, size_t len);
int hc_buf_str(struct hc_buf *b, const char *s);
int hc_buf_fmt(struct hc_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The content as a malloc'd, NUL-terminated string that the caller owns; the buffer is empty afterwards.
 * NULL if an append failed. */
char *hc_buf_take(struct hc_buf *b);

#endif
