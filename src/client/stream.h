/* stream.h - reads the events of one job as they arrive: passes output on, keeps the manifest or problem. */
#ifndef HC_CLIENT_STREAM_H
#define HC_CLIENT_STREAM_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* Where one output stream of the guest goes. */
struct hc_event_stream_end {
    int fd;         /* output is written to it, borrowed; -1: output is dropped, or its reader went away */
    int pass_errno; /* errno of the write that failed; 0: no write failed */
    bool cut;       /* the daemon has left out some of the output */
};

struct hc_json;

/* The reader of one job's events. */
struct hc_stream_reader {
    struct hc_event_stream_end out, err; /* the program's standard output; its standard error */
    int cancel_fd;      /* while it is readable, output that would block is dropped; -1: no such descriptor */
    struct hc_buf line; /* the bytes received so far of a line that has not ended; owned */
    size_t searched;    /* bytes of `line` known to have no line end */
    char *manifest;     /* JSON text, owned; NULL until it arrives */
    char *problem;      /* JSON text of a problem document, owned; NULL until it arrives */
    /* Is called for each call of a tool, with `call_data`. -1 ends the reading. */
    int (*call)(void *call_data, const struct hc_json *event, struct hc_error *err);
    void *call_data; /* first argument of `call`; borrowed */
};

/* Frees what the reader owns. */
void hc_stream_finish(struct hc_stream_reader *s);

/* Reads `len` more bytes of the events. -1: they are not valid events, or have no room in memory. */
int hc_stream_feed(struct hc_stream_reader *s, const char *data, size_t len, struct hc_error *err);

#endif
