/* output_relay.h - one output stream of a cell: read as it comes, kept up to its limit, passed on at the
 * reader's own pace. It knows nothing of the loop around it: that asks what the relay waits for, and calls it
 * when that has come. */
#ifndef HC_CELL_SUPERVISE_OUTPUT_RELAY_H
#define HC_CELL_SUPERVISE_OUTPUT_RELAY_H

#include "manifest/output_filter.h"

/* Somebody who is shown the output at once, and takes it without blocking. */
struct hc_sink {
    void (*take)(void *ctx, int stream, const char *data, size_t len); /* NULL: nobody */
    void *ctx;
    int stream;
};

struct hc_output_relay {
    int fd;                         /* read end, non-blocking, borrowed; -1 after end of file */
    int pass_fd;                    /* where to, borrowed; -1: nowhere (any more) */
    int64_t max;                    /* bytes that are kept and passed on */
    struct hc_stream *stream;       /* what was kept and counted */
    struct hc_output_filter *shown; /* what the policy does to it; borrowed; NULL: nothing */
    struct hc_buf changed;          /* what that made of it; owned */
    const char *passing;            /* what is passed on: `pending` or `changed` */
    struct hc_sink sink;            /* what is passed on goes here, too */
    size_t from, to;                /* the part of it that still has to be */
    int read_errno;                 /* reading failed; 0: it did not */
    bool held;                      /* what is to be passed on waits for hc_output_relay_release */
    struct hc_buf early;            /* that; owned */
    /* All writers are dead: an empty pipe has ended. Their own end of file may never come, for a descriptor
     * that was sent through a socket which nobody reads any more still holds the pipe. */
    bool orphaned;
    char pending[65536];
};

/* Read what is there, until the pipe is empty or the reader behind us is slower: then the guest waits, and
 * its clock runs. */
void hc_output_relay_read(struct hc_output_relay *r);

/* The reader can take more. */
void hc_output_relay_write(struct hc_output_relay *r);

/* No longer held: what has waited is passed on. */
void hc_output_relay_release(struct hc_output_relay *r);

void hc_output_relay_finish(struct hc_output_relay *r);

/* Stop passing on: what is pending is dropped, what still comes is only kept and counted. */
void hc_output_relay_drop(struct hc_output_relay *r);

static inline bool hc_output_relay_wants_write(const struct hc_output_relay *r)
{
    return r->from < r->to;
}

static inline bool hc_output_relay_wants_read(const struct hc_output_relay *r)
{
    return r->fd >= 0 && !hc_output_relay_wants_write(r);
}

#endif
