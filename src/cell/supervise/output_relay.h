/* output_relay.h - one output stream of a cell: read as it comes, kept up to its limit, passed on at the
 * reader's own pace. The relay knows nothing of the loop around it: the loop asks which descriptor the
 * relay waits for, and calls it when that is ready. */
#ifndef HC_CELL_SUPERVISE_OUTPUT_RELAY_H
#define HC_CELL_SUPERVISE_OUTPUT_RELAY_H

#include "manifest/output_filter.h"

/* A receiver that gets the output at once; `take` must not block. */
struct hc_sink {
    void (*take)(void *ctx, int stream, const char *data, size_t len); /* NULL: there is no receiver */
    void *ctx;                                                         /* for `take`; borrowed */
    int stream; /* for `take`: 0: standard output, 1: standard error */
};

struct hc_output_relay {
    int fd;                          /* read end, non-blocking, borrowed; -1 after end of file */
    int pass_fd;                     /* where output is passed on, borrowed; -1: nowhere, or no longer */
    int64_t max;                     /* most bytes that are kept and passed on */
    struct hc_stream *stream;        /* gets the kept text and the counts; borrowed */
    struct hc_output_filter *filter; /* the policy's redaction and cutting; borrowed; NULL: none */
    struct hc_buf changed;           /* the filter's output; owned */
    const char *passing;             /* the buffer being passed on: `pending` or `changed` */
    struct hc_sink sink;             /* receives everything that is passed on, too */
    size_t from, to;                 /* offsets of the part of `passing` that is not written yet */
    int read_errno;                  /* errno of a failed read; 0: none failed */
    bool held;                       /* keep output in `early` until hc_output_relay_release */
    struct hc_buf early;             /* output that came while `held`; owned */
    /* All writers are dead: an empty pipe has ended. Their own end of file may never come, for a
     * descriptor that was sent through a socket and never received still holds the pipe. */
    bool orphaned;
    char *pending; /* the bytes that were read last; owned; NULL: nothing was read yet */
};

/* Read until the pipe is empty or pass_fd takes no more. In the latter case the guest waits, and its time
 * limit runs on. */
void hc_output_relay_read(struct hc_output_relay *r);

/* To be called when pass_fd is writable: write more of the pending output to it. */
void hc_output_relay_write(struct hc_output_relay *r);

/* End `held`, and pass on what has waited. */
void hc_output_relay_release(struct hc_output_relay *r);

void hc_output_relay_finish(struct hc_output_relay *r);

/* Stop passing on: pending output is dropped, and later output is only kept and counted. */
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
