#include "batch/reader.h"

#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)256 << 10) /* most bytes of one read(2) */

void hc_reader_init(struct hc_reader *r, int fd, size_t max)
{
    *r = (struct hc_reader){.fd = fd, .max = max};
    hc_hash_init(&r->hash);
}

void hc_reader_finish(struct hc_reader *r)
{
    hc_buf_finish(&r->in);
}

/* Count and hash the next `len` bytes. */
static void consume(struct hc_reader *r, size_t len)
{
    hc_hash_add(&r->hash, r->in.data + r->at, len);
    r->bytes += (int64_t)len;
    r->at += len;
    r->seen = r->at;
}

static enum hc_read return_line(struct hc_reader *r, struct hc_line *line, size_t end, bool torn)
{
    size_t len = end - r->at;
    *line = (struct hc_line){
        .text = r->in.data + r->at, .len = len, .torn = torn, .too_long = r->passing || len > r->max};
    consume(r, len + !torn);
    if (torn) { /* hash a newline, too: the file may be continued later */
        hc_hash_add(&r->hash, "\n", 1);
        r->bytes++;
    }
    r->line++;
    r->passing = false;
    return HC_READ_LINE;
}

enum hc_read hc_reader_next(struct hc_reader *r, struct hc_line *line)
{
    size_t left = r->in.len - r->seen;
    const char *end = left ? memchr(r->in.data + r->seen, '\n', left) : NULL;
    if (end)
        return return_line(r, line, (size_t)(end - r->in.data), false);
    r->seen = r->in.len;
    if (!r->eof && r->in.len - r->at > r->max) {
        r->passing = true;
        consume(r, r->in.len - r->at);
    }
    if (!r->eof)
        return HC_READ_MORE;
    return r->in.len > r->at || r->passing ? return_line(r, line, r->in.len, true) : HC_READ_END;
}

/* Remove returned lines from the buffer. */
static void drop_returned(struct hc_reader *r)
{
    if (r->at == 0)
        return;
    memmove(r->in.data, r->in.data + r->at, r->in.len - r->at);
    r->in.len -= r->at;
    r->seen -= r->at;
    r->at = 0;
    if (r->in.len < BLOCK && r->in.cap > 4 * BLOCK) { /* free the memory of a long line */
        char *smaller = realloc(r->in.data, 2 * BLOCK);
        r->in.cap = smaller ? 2 * BLOCK : r->in.cap;
        r->in.data = smaller ? smaller : r->in.data;
    }
}

int hc_reader_fill(struct hc_reader *r, struct hc_error *err)
{
    static char block[BLOCK];
    drop_returned(r);
    ssize_t n = TEMP_FAILURE_RETRY(read(r->fd, block, sizeof block));
    if (n < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "read");
    r->eof = n == 0;
    if (n > 0 && hc_buf_add(&r->in, block, (size_t)n) < 0)
        return hc_fail(err, ENOMEM, "read");
    return 0;
}

int hc_reader_get(struct hc_reader *r, struct hc_line *line, struct hc_error *err)
{
    for (;;) {
        enum hc_read found = hc_reader_next(r, line);
        if (found != HC_READ_MORE)
            return found == HC_READ_LINE;
        if (hc_reader_fill(r, err) < 0)
            return -1;
    }
}

void hc_reader_hash(const struct hc_reader *r, char out[HC_SHA256_HEX])
{
    struct hc_hash copy = r->hash; /* hc_hash_hex ends a hash, and the original goes on */
    hc_hash_hex(&copy, out);
}
