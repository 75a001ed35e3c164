/* session_out.h - private to session_talk.c: write lines to a session's client: answers completely and at
 * once, a run's output as fast as the client reads. */
#ifndef HC_CELL_SESSION_SESSION_OUT_H
#define HC_CELL_SESSION_SESSION_OUT_H

#include "base/error.h"
#include "manifest/figure.h"
#include "wire/events.h"

struct hc_outlet {
    int fd;                  /* owned */
    int epoll;               /* borrowed; reports when the client can take more, or has gone. -1: none */
    bool shows;              /* send the output of runs while they go on */
    bool failed, gone;       /* an answer could not be written; the client has closed its end */
    bool waits;              /* output waits until the client takes more */
    struct hc_events output; /* output that the client has not taken yet */
};

/* Begin to write to the client at `fd`, which is duplicated. */
int hc_outlet_open(struct hc_outlet *o, int fd, int epoll, struct hc_error *err);
void hc_outlet_finish(struct hc_outlet *o);

/* Write one line, to which a newline is added; blocks until the client has taken it. */
void hc_outlet_line(struct hc_outlet *o, const char *text);

/* Send output of a run; output beyond HC_EVENTS_MAX that the client has not taken is dropped. */
void hc_outlet_print(struct hc_outlet *o, int stream, const char *data, size_t len);

/* Send a figure that a run has made, in the same way. */
void hc_outlet_figure(struct hc_outlet *o, const struct hc_figure *f);

/* Tell that the run waits for input, {"event": "input_request", "input_request": `json`}; always sent. */
void hc_outlet_request(struct hc_outlet *o, const char *json, size_t len);

/* Write as much waiting output as the client takes now. */
void hc_outlet_flush(struct hc_outlet *o);

/* To be called when a run is over: write all of its waiting output, which may block. */
void hc_outlet_settle(struct hc_outlet *o);

#endif
