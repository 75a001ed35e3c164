/* session_out.h - private to session_talk.c: write lines to a session's client: answers completely and at
 * once, a run's output as fast as the client reads. */
#ifndef HC_CELL_SESSION_SESSION_OUT_H
#define HC_CELL_SESSION_SESSION_OUT_H

#include "base/error.h"
#include "manifest/figure.h"
#include "wire/events.h"

#define HC_LAST_WORDS_MS       5000 /* ms that the client has to take the last lines of a session */
#define HC_MAX_INPUT_REQUESTS  4096 /* most input requests that are sent for one run */
#define HC_INPUT_REQUEST_BYTES ((size_t)4 << 20) /* most bytes of these requests */

struct hc_outlet {
    int fd;            /* socket or pipe to the client; owned */
    int epoll;         /* epoll that reports when the client can take more, or has gone; borrowed; -1: none */
    bool shows;        /* send the output of runs while they go on */
    bool failed, gone; /* an answer could not be written; the client has closed its end */
    bool waits;        /* output waits until epoll reports that the client takes more */
    int cancel_fd;     /* readable when the session is cancelled; borrowed; -1: none */
    int64_t idle_ms;   /* ms after which a client that takes nothing counts as gone */
    int64_t life_us;   /* end of the session's life (hc_now_us); 0: it has not begun */
    int64_t until_us;  /* time by which the client has to take the last lines (hc_now_us); 0: the session
                          goes on */
    int64_t input_requests;         /* input requests of the current run */
    size_t input_request_bytes;     /* bytes of these requests */
    int64_t input_requests_omitted; /* requests of the current run that were not sent */
    struct hc_events output;        /* output that the client has not taken yet */
};

/* Begin to write to the client at `fd`, which is duplicated. */
int hc_outlet_open(struct hc_outlet *o, int fd, int epoll, struct hc_error *err);
void hc_outlet_finish(struct hc_outlet *o);

/* Write one line, to which a newline is added. Waits until the client has taken it, but no longer than a
 * session waits for a request (idle_ms); once the session is cancelled or its life is over, HC_LAST_WORDS_MS
 * remain for all lines together. A client that has taken nothing then has gone. */
void hc_outlet_line(struct hc_outlet *o, const char *text);

/* Send events of commands, or an answer during a run, as whole lines, without waiting. False: the client has
 * not taken HC_EVENTS_MAX of lines, and with `may_drop` these were not added. A client that does not take
 * twice as much counts as gone. */
bool hc_outlet_queue(struct hc_outlet *o, const char *lines, size_t len, bool may_drop);

/* Send output of a run; output beyond HC_EVENTS_MAX that the client has not taken is dropped. */
void hc_outlet_print(struct hc_outlet *o, int stream, const char *data, size_t len);

/* Send a figure that a run has made, in the same way. */
void hc_outlet_figure(struct hc_outlet *o, const struct hc_figure *f);

/* Send the event that the run waits for input, {"event": "input_request", "input_request": `json`}. A request
 * beyond HC_MAX_INPUT_REQUESTS or HC_INPUT_REQUEST_BYTES of the run, or beyond HC_EVENTS_MAX that the client
 * has not taken, is not sent but counted: the event "cut" tells of the first one, and hc_outlet_settle tells
 * their number. */
void hc_outlet_request(struct hc_outlet *o, const char *json, size_t len);

/* Write as much waiting output as the client takes now. */
void hc_outlet_flush(struct hc_outlet *o);

/* To be called when a run is over: write all of its waiting output, as hc_outlet_line does. */
void hc_outlet_settle(struct hc_outlet *o);

#endif
