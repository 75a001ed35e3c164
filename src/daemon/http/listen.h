/* listen.h - the sockets that clients connect to: made here, or given by systemd (sd_listen_fds(3)). */
#ifndef HC_DAEMON_HTTP_LISTEN_H
#define HC_DAEMON_HTTP_LISTEN_H

#include "daemon/config/config.h"

#define HC_MAX_LISTENERS 16

struct hc_listener_socket {
    int fd;     /* owned, non-blocking */
    bool local; /* a Unix socket: clients are known by their uid */
};

struct hc_listeners {
    struct hc_listener_socket list[HC_MAX_LISTENERS];
    size_t count;
    char path[256]; /* of the Unix socket that was made; "": none */
    bool open;      /* more than the owner of a Unix socket may connect to it */
};

/* Those that systemd has passed, else the Unix socket of `c`; and each of c->listen. A Unix socket gets its
 * mode and group before anybody can connect. */
int hc_listeners_open(struct hc_listeners *out, const struct hc_config *c, struct hc_error *err);

/* Closes, and removes the Unix socket if `remove`. */
void hc_listeners_close(struct hc_listeners *l, bool remove);

#endif
