/* reader.h - a file of lines, of any length, of which no more than one line and a block is in memory. */
#ifndef HC_BATCH_READER_H
#define HC_BATCH_READER_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdint.h>
#include <sys/types.h>

struct hc_reader {
    int fd;           /* borrowed */
    size_t max;       /* bytes of one line; what is longer is passed over */
    struct hc_buf in; /* read, and from `at` on not given out */
    size_t at, seen;  /* up to `seen` there is no end of a line */
    bool eof, passing;
    struct hc_hash hash; /* of all lines that were given out */
    int64_t line, bytes; /* how many, and their bytes */
};

struct hc_line {
    const char *text; /* without its end; until the next call */
    size_t len;
    bool torn;     /* the file ends in it, without an end of line */
    bool too_long; /* more than `max`: `text` is no more than its beginning */
};

enum hc_read { HC_READ_LINE, HC_READ_MORE, HC_READ_END };

void hc_reader_init(struct hc_reader *r, int fd, size_t max);
void hc_reader_finish(struct hc_reader *r);

/* The next line that has been read already. HC_READ_MORE: hc_reader_fill first. */
enum hc_read hc_reader_next(struct hc_reader *r, struct hc_line *line);

/* One read(2), which may block. */
int hc_reader_fill(struct hc_reader *r, struct hc_error *err);

/* Both: the next line, read as need be. 1: there is one, 0: there is none, -1. */
int hc_reader_get(struct hc_reader *r, struct hc_line *line, struct hc_error *err);

/* SHA-256 of all bytes up to the end of the last line. */
void hc_reader_hash(const struct hc_reader *r, char out[HC_SHA256_HEX]);

#endif
