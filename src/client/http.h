/* http.h - an HTTP client for hotcelld: its address, one connection for each request, the answer in pieces.
 *
 * It uses neither libcurl nor a library for TLS: to load them takes up to 20 ms, as much as a whole warm run.
 * A connection by https is carried by a process of its own, hotcell-tls (src/tls), which only that address
 * starts. */
#ifndef HC_CLIENT_HTTP_H
#define HC_CLIENT_HTTP_H

#include "base/error.h"
#include "wire/answer.h"

#include <limits.h>

/* The address of a daemon. */
struct hc_daemon_address {
    char path[PATH_MAX];      /* path of its Unix socket; empty: it listens on TCP */
    char host[256], port[8];  /* host name or address, and decimal port, of its TCP socket */
    char prefix[256];         /* what its routes begin with behind a server in front of it: "" or "/..." */
    bool encrypted;           /* that server speaks TLS (https) */
    const char *token;        /* the bearer token, borrowed from the environment; NULL: no token */
    char name[PATH_MAX + 32]; /* the address as messages write it */
};

/* Finds the daemon: at $HOTCELL_SOCKET, which is a path, or http://HOST:PORT or https://HOST:PORT with
 * /PREFIX behind it or without (and $HOTCELL_TOKEN); without that variable at the default socket of this
 * user's daemon, or of root's. -1 with HC_EXIT_USAGE: a variable has a wrong value. */
int hc_daemon_address_find(struct hc_daemon_address *p, struct hc_error *err);

/* Fills `p` with the address `named`, which is written as in $HOTCELL_SOCKET and not empty. Errors as above.
 */
int hc_daemon_address_parse(struct hc_daemon_address *p, const char *named, struct hc_error *err);

/* Can the text be a bearer token? */
bool hc_is_bearer_token(const char *text);

/* One request; all pointers are borrowed. */
struct hc_exchange_head {
    const char *method, *path; /* method, such as "POST"; path and query, percent-encoded already */
    const char *accept;        /* the media type of the answer; NULL: any */
    const char *type;          /* the media type of the body; NULL: JSON */
    const void *body;          /* NULL: no body */
    size_t body_len;           /* bytes of `body` */
};

/* Connects; returns a socket that the caller closes. -1: HC_EXIT_UNAVAILABLE, with err->sys set unless the
 * host's name could not be resolved. */
int hc_dial(const struct hc_daemon_address *p, struct hc_error *err);

/* Appends the head of a request, up to its blank line. `out->failed` says whether there was memory. */
void hc_put_request_head(struct hc_buf *out, const struct hc_daemon_address *p,
                         const struct hc_exchange_head *h);

/* Sends a request. If the daemon closes its end before the whole body is sent, sending ends with 0, as the
 * answer may say why. */
int hc_send(int fd, const struct hc_daemon_address *p, const struct hc_exchange_head *h,
            struct hc_error *err);

/* Waits for the next bytes of the answer and feeds them to `a`, whose state says whether the answer is whole;
 * returns 0. If `cancel_fd` or `other_fd` (-1: no such descriptor) becomes readable first, reads nothing and
 * returns HC_CANCELLED or HC_OTHER_READY. -1: the connection broke, or the answer is not HTTP. */
enum { HC_CANCELLED = 1, HC_OTHER_READY = 2 }; /* cancel_fd was readable; other_fd was */
int hc_receive(int fd, struct hc_answer *a, int cancel_fd, int other_fd, struct hc_error *err);

/* Connects, sends a request and reads the whole answer into `a`, which the caller finishes in any case. */
int hc_exchange(const struct hc_daemon_address *p, const struct hc_exchange_head *h, struct hc_answer *a,
                struct hc_error *err);

/* The exit status of `hotcell run` for an HTTP status that is no success. */
int hc_exit_of_http(int status);

#endif
