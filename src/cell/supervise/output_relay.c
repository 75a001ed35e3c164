#include "cell/supervise/output_relay.h"

#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS  16    /* reads in a row, so that one stream cannot keep the loop from its timers */
#define PENDING 65536 /* most bytes of one read */

void hc_output_relay_drop(struct hc_output_relay *r)
{
    r->pass_fd = -1;
    r->from = r->to = 0;
}

void hc_output_relay_write(struct hc_output_relay *r)
{
    while (hc_output_relay_wants_write(r)) {
        ssize_t n = hc_write_some(r->pass_fd, r->passing + r->from, r->to - r->from);
        if (n > 0)
            r->from += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return;
        else if (n < 0 && errno != EINTR) {
            /* A reader that has gone is no error. The job goes on in any case. */
            r->stream->pass_errno = errno == EPIPE || errno == ECONNRESET ? 0 : errno;
            hc_output_relay_drop(r);
        }
    }
}

static void pass_on(struct hc_output_relay *r, const char *data, size_t len)
{
    if (r->sink.take && len)
        r->sink.take(r->sink.ctx, r->sink.stream, data, len);
    if (r->pass_fd < 0 || len == 0)
        return;
    if (r->held) {
        if (hc_buf_add(&r->early, data, len) < 0)
            hc_output_relay_drop(r);
        return;
    }
    r->passing = data;
    r->from = 0;
    r->to = len;
    hc_output_relay_write(r);
}

/* Filter the bytes just read, or the end of the stream (len 0), as the policy says, and pass them on. */
static void pass_on_filtered(struct hc_output_relay *r, size_t len)
{
    hc_buf_clear(&r->changed);
    if (len)
        hc_output_filter_feed(r->filter, r->pending, len, &r->changed);
    else
        hc_output_filter_finish(r->filter, &r->changed);
    pass_on(r, r->changed.data, r->changed.len);
}

/* Count and keep the bytes just read into `pending`, and pass them on. */
static void keep_output(struct hc_output_relay *r, size_t len)
{
    struct hc_stream *st = r->stream;
    int64_t room = r->max - st->bytes;
    size_t kept = room <= 0 ? 0 : (size_t)room < len ? (size_t)room : len;
    st->bytes += (int64_t)len;
    st->truncated = st->truncated || kept < len;
    if (kept)
        (void)hc_buf_add(&st->text, r->pending, kept);
    pass_on(r, r->pending, kept);
}

static ssize_t read_more(struct hc_output_relay *r)
{
    if (!r->pending)
        r->pending = malloc(PENDING);
    if (r->pending)
        return TEMP_FAILURE_RETRY(read(r->fd, r->pending, PENDING));
    errno = ENOMEM;
    return -1;
}

void hc_output_relay_read(struct hc_output_relay *r)
{
    for (int round = 0; (round < ROUNDS || r->orphaned) && hc_output_relay_wants_read(r); round++) {
        ssize_t n = read_more(r);
        if (n < 0 && errno == EAGAIN && !r->orphaned)
            return;
        if (n < 0 && errno != EAGAIN)
            r->read_errno = errno;
        if (n <= 0)
            r->fd = -1;
        if (r->filter)
            pass_on_filtered(r, n > 0 ? (size_t)n : 0);
        else if (n > 0)
            keep_output(r, (size_t)n);
    }
}

void hc_output_relay_release(struct hc_output_relay *r)
{
    bool was_held = r->held;
    r->held = false;
    if (was_held)
        pass_on(r, r->early.data, r->early.len);
}

void hc_output_relay_finish(struct hc_output_relay *r)
{
    hc_buf_finish(&r->early);
    hc_buf_finish(&r->changed);
    free(r->pending);
    r->pending = NULL;
}
