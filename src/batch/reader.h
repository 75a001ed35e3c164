/* reader.h - read a file line by line, with only one line and a block of it in memory. */
#ifndef HC_BATCH_READER_H
#define HC_BATCH_READER_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdint.h>
#include <sys/types.h>

struct hc_reader {
    int fd;              /* descriptor of the file; borrowed */
    size_t max;          /* most bytes of a line; the rest of a longer one is skipped */
    struct hc_buf in;    /* bytes read, owned; those from `at` on were not returned yet */
    size_t at, seen;     /* between `at` and `seen` there is no newline */
    bool eof, passing;   /* the file is at its end; a line that is too long is being skipped */
    struct hc_hash hash; /* SHA-256 of all lines that were returned, so far */
    int64_t line, bytes; /* number of lines returned; their bytes with their newlines */
};

struct hc_line {
    const char *text; /* without its newline; valid until the next call */
    size_t len;       /* bytes of `text` */
    bool torn;        /* the file ends without the line's newline */
    bool too_long;    /* the line has more than `max` bytes: `text` is incomplete */
};

enum hc_read { HC_READ_LINE, HC_READ_MORE, HC_READ_END }; /* there is a line; read more first; end of file */

/* `fd` is borrowed; `max`: most bytes of a line. */
void hc_reader_init(struct hc_reader *r, int fd, size_t max);
void hc_reader_finish(struct hc_reader *r);

/* Return the next line that was read already. HC_READ_MORE: call hc_reader_fill first. */
enum hc_read hc_reader_next(struct hc_reader *r, struct hc_line *line);

/* Do one read(2), which may block, and keep its bytes for hc_reader_next. */
int hc_reader_fill(struct hc_reader *r, struct hc_error *err);

/* Return the next line, reading as needed. 1: there is one; 0: end of file; -1: error. */
int hc_reader_get(struct hc_reader *r, struct hc_line *line, struct hc_error *err);

/* SHA-256 of all bytes up to the end of the last line that was returned. */
void hc_reader_hash(const struct hc_reader *r, char out[HC_SHA256_HEX]);

#endif
