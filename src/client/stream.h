/* stream.h - the events of one job, as they come: output is passed on, the end is kept. */
#ifndef HC_CLIENT_STREAM_H
#define HC_CLIENT_STREAM_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

struct hc_event_stream_end {
    int fd;         /* where it is passed on; -1: nowhere, or its reader went away */
    int pass_errno; /* why it was not passed on to the end; 0: it was */
    bool cut;       /* the daemon has left some out */
};

struct hc_json;

struct hc_stream_reader {
    struct hc_event_stream_end out, err;
    int cancel_fd;       /* readable: what cannot be passed on at once is dropped. -1: none */
    struct hc_buf lines; /* that are not whole yet */
    size_t seen;         /* of which there is no line end in this much */
    char *manifest;      /* JSON text, once it has come. Owned */
    char *problem;       /* likewise */
    /* A call of a tool has come. */
    int (*call)(void *desk, const struct hc_json *event, struct hc_error *err);
    void *desk;
};

void hc_stream_finish(struct hc_stream_reader *s);

/* More of the stream. -1: it is not one. */
int hc_stream_feed(struct hc_stream_reader *s, const char *data, size_t len, struct hc_error *err);

#endif
