/* front.h - the process that clients talk to: HTTP, tenants, queue. It has no rights over cells, and parses
 * what comes from outside; workers build cells, and see no HTTP. One thread, one epoll loop. */
#ifndef HC_DAEMON_FRONT_H
#define HC_DAEMON_FRONT_H

#include "daemon/config/config.h"
#include "daemon/http/listen.h"
#include "daemon/process/trees.h"

/* What the manager gives its child. The front owns it all. */
struct hc_front_setup {
    int manager;  /* channel */
    int *workers; /* channels */
    const pid_t *worker_pids;
    size_t worker_count;
    struct hc_config *config;
    struct hc_listeners *listeners;
    const struct hc_trees *trees; /* lent */
    int64_t alive_every;          /* ms between two signs of life; 0: nobody asks for them */
};

/* Serve until drained, or until the manager has gone. Never returns. */
_Noreturn void hc_front_main(const struct hc_front_setup *setup);

#endif
