#include "cell/output/pump.h"

#include "base/fd.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/param.h>

/* Ms after a cancellation in which small files are still collected: a cancelled job ends in less than a
 * second. */
#define AFTER_CANCEL_MS 700

/* ---- the deadline ---- */

void hc_deadline_start(struct hc_deadline *d, int cancel_fd, int64_t ms)
{
    *d = (struct hc_deadline){.cancel_fd = cancel_fd, .at_us = hc_now_us() + ms * 1000};
}

bool hc_deadline_passed(struct hc_deadline *d)
{
    struct pollfd cancel = {.fd = d->cancel_fd, .events = POLLIN};
    if (d->passed)
        return true;
    int64_t now = hc_now_us();
    if (!d->cancelled && poll(&cancel, 1, 0) > 0) {
        d->cancelled = true;
        d->at_us = MIN(d->at_us, now + AFTER_CANCEL_MS * 1000);
    }
    d->passed = now >= d->at_us;
    return d->passed;
}

/* ---- the content of a file ---- */

static char chunk[1 << 16];

/* Offset of the next data, or the end of the file. Not every file system reports holes. */
static int64_t next_data(const struct hc_pump *p)
{
    if (!p->sparse)
        return p->bytes;
    off_t at = lseek(p->from, p->bytes, SEEK_DATA);
    if (at < 0 && errno == ENXIO)
        at = lseek(p->from, 0, SEEK_END);
    return MAX(at, p->bytes);
}

static int64_t next_hole(const struct hc_pump *p)
{
    off_t at = p->sparse ? lseek(p->from, p->bytes, SEEK_HOLE) : -1;
    return at < 0 ? INT64_MAX : at;
}

/* Hash a hole as zeros, without reading or writing them. */
static int add_hole(struct hc_pump *p, int64_t end, struct hc_error *err)
{
    static const char zeros[sizeof chunk];
    if (end > p->max)
        return HC_PUMPED_TOO_LARGE;
    while (p->bytes < end) {
        int64_t n = MIN(end - p->bytes, (int64_t)sizeof zeros);
        if (hc_deadline_passed(p->deadline))
            return HC_PUMPED_STOPPED;
        hc_hash_add(&p->hash, zeros, (size_t)n);
        p->bytes += n;
    }
    if (p->to >= 0 && (ftruncate(p->to, end) < 0 || lseek(p->to, end, SEEK_SET) < 0))
        return hc_fail(err, errno, "write");
    return HC_PUMPED_WHOLE;
}

static ssize_t read_some(const struct hc_pump *p, int64_t end)
{
    size_t room = (size_t)MIN(end - p->bytes, (int64_t)sizeof chunk);
    ssize_t n;
    do
        n = pread(p->from, chunk, room, p->bytes);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Hash and copy data up to offset `end`. *ended: the file has ended. */
static int add_data(struct hc_pump *p, int64_t end, bool *ended, struct hc_error *err)
{
    while (p->bytes < end) {
        if (hc_deadline_passed(p->deadline))
            return HC_PUMPED_STOPPED;
        ssize_t n = read_some(p, end);
        if (n < 0) {
            p->source_failed = true;
            return hc_fail(err, errno, "read");
        }
        *ended = n == 0;
        if (*ended)
            return HC_PUMPED_WHOLE;
        p->bytes += n;
        if (p->bytes > p->max)
            return HC_PUMPED_TOO_LARGE;
        hc_hash_add(&p->hash, chunk, (size_t)n);
        if (p->to >= 0 && hc_write_all(p->to, chunk, (size_t)n, err) < 0)
            return -1;
    }
    return HC_PUMPED_WHOLE;
}

int hc_pump(struct hc_pump *p, struct hc_error *err)
{
    bool ended = false;
    hc_hash_init(&p->hash);
    /* In bind mode another process may punch and fill holes while this loop reads, which the deadline bounds,
     * too. */
    while (!ended && !hc_deadline_passed(p->deadline)) {
        int64_t data = next_data(p);
        int rc = data > p->bytes ? add_hole(p, data, err) : HC_PUMPED_WHOLE;
        if (rc == HC_PUMPED_WHOLE)
            rc = add_data(p, next_hole(p), &ended, err);
        if (rc != HC_PUMPED_WHOLE)
            return rc;
    }
    return ended ? HC_PUMPED_WHOLE : HC_PUMPED_STOPPED;
}
