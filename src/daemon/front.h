/* front.h - the process that clients talk to: HTTP, tenants, queue. It has no rights over cells, and parses
 * what comes from outside; workers build cells, and see no HTTP. One thread, one epoll loop. */
#ifndef HC_DAEMON_FRONT_H
#define HC_DAEMON_FRONT_H

#include "daemon/config/config.h"
#include "daemon/http/listen.h"
#include "daemon/process/trees.h"

/* What the manager gives the front, which owns all of it. */
struct hc_front_setup {
    int manager;                    /* channel to the manager */
    int *workers;                   /* channels to the workers */
    const pid_t *worker_pids;       /* pids of the workers, by the same index */
    size_t worker_count;            /* number of workers */
    struct hc_config *config;       /* the configuration in force */
    struct hc_listeners *listeners; /* open sockets for clients */
    const struct hc_trees *trees;   /* the board of changed trees; borrowed, unlike all other members */
    int64_t alive_every;            /* ms between two HC_SAY_ALIVE to the manager; 0: none is sent */
};

/* Serve until drained, or until the manager has gone. Never returns. */
_Noreturn void hc_front_main(const struct hc_front_setup *setup);

#endif
