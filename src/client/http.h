/* http.h - requests to hotcelld: where it is, one connection for each request, its answer bit by bit.
 *
 * Own code, as it is small and starts in no time: libcurl alone takes 10 ms to be loaded, half of what a
 * whole cold run takes. */
#ifndef HC_CLIENT_HTTP_H
#define HC_CLIENT_HTTP_H

#include "base/error.h"
#include "wire/answer.h"

#include <limits.h>

struct hc_place {
    char path[PATH_MAX]; /* of a Unix socket; empty: TCP */
    char host[256], port[8];
    const char *token;        /* NULL: none. Borrowed from the environment */
    char name[PATH_MAX + 32]; /* for messages */
};

/* Where the daemon is: $HOTCELL_SOCKET, a path or http://HOST:PORT, with $HOTCELL_TOKEN; else where a daemon
 * of this user, or root's, makes its socket by default. HC_EXIT_USAGE. */
int hc_place_find(struct hc_place *p, struct hc_error *err);

struct hc_exchange_head {
    const char *method, *path; /* the path percent-encoded */
    const char *accept;        /* NULL: anything */
    const void *body;          /* JSON; NULL: none */
    size_t body_len;
};

/* Connect. -1 with err->sys set and HC_EXIT_UNAVAILABLE. */
int hc_dial(const struct hc_place *p, struct hc_error *err);

/* Send it. An answer that comes before all is sent ends the sending. */
int hc_send(int fd, const struct hc_place *p, const struct hc_exchange_head *h, struct hc_error *err);

/* Wait for the next bytes of the answer. 0: fed, or the connection has ended as it may; a->state tells. If
 * one of the two others (-1: none) is readable, nothing is read, and that is told instead. */
enum { HC_CANCELLED = 1, HC_OTHER_READY = 2 };
int hc_receive(int fd, struct hc_answer *a, int cancel_fd, int other_fd, struct hc_error *err);

/* The whole of it: a connection, a request, its answer in `a`, for the caller to finish. */
int hc_exchange(const struct hc_place *p, const struct hc_exchange_head *h, struct hc_answer *a,
                struct hc_error *err);

#endif
