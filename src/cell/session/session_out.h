/* session_out.h - private to session_talk.c: the lines that a session's client gets, answers whole and at
 * once, output of a run as the client takes it. */
#ifndef HC_CELL_SESSION_SESSION_OUT_H
#define HC_CELL_SESSION_SESSION_OUT_H

#include "base/error.h"
#include "manifest/figure.h"
#include "wire/events.h"

struct hc_outlet {
    int fd;     /* owned */
    int epoll;  /* borrowed: readable when the client can take more, or has gone; -1: nobody looks */
    bool shows; /* output, while a run goes on */
    bool failed, gone;
    bool waits;              /* for the client to take more */
    struct hc_events output; /* that it has not taken yet */
};

/* `fd` is borrowed. */
int hc_outlet_open(struct hc_outlet *o, int fd, int epoll, struct hc_error *err);
void hc_outlet_finish(struct hc_outlet *o);

/* One line, whose newline is added, however long the client takes for it. */
void hc_outlet_line(struct hc_outlet *o, const char *text);

/* Output of a run; of what the client does not take in time there is an end (HC_EVENTS_MAX). */
void hc_outlet_print(struct hc_outlet *o, int stream, const char *data, size_t len);

/* A figure that a run has made; as output. */
void hc_outlet_figure(struct hc_outlet *o, const struct hc_figure *f);

/* What the client takes now. */
void hc_outlet_flush(struct hc_outlet *o);

/* The run is over: all that is left of it. */
void hc_outlet_settle(struct hc_outlet *o);

#endif
