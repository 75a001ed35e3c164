/* listen.h - the sockets that clients connect to: made here, or given by systemd (sd_listen_fds(3)). */
#ifndef HC_DAEMON_HTTP_LISTEN_H
#define HC_DAEMON_HTTP_LISTEN_H

#include "daemon/config/config.h"

#define HC_MAX_LISTENERS 16 /* most sockets that a daemon listens on */

struct hc_listener_socket {
    int fd;      /* descriptor of the socket, owned, non-blocking */
    bool local;  /* a Unix socket: clients are known by their uid */
    bool passed; /* by systemd, which keeps it, and whoever connects to it, for the next daemon */
};

struct hc_listeners {
    struct hc_listener_socket list[HC_MAX_LISTENERS]; /* the sockets */
    size_t count;                                     /* used entries of `list` */
    char path[256]; /* path of the Unix socket that hc_listeners_open made; "": none */
    bool open;      /* users other than its owner may connect to a Unix socket */
};

/* Open the sockets: those that systemd has passed, else the Unix socket of `c`; and a port for each of
 * c->listen. A Unix socket gets its mode and group before any client can connect. */
int hc_listeners_open(struct hc_listeners *out, const struct hc_config *c, struct hc_error *err);

/* Close the sockets; with `remove`, also remove the Unix socket's file. */
void hc_listeners_close(struct hc_listeners *l, bool remove);

#endif
