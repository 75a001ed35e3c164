/* manager.h - the daemon's first process: it has the rights, starts the front and the workers, and starts
 * again what dies. It reads nothing that comes from a client. */
#ifndef HC_DAEMON_MANAGER_H
#define HC_DAEMON_MANAGER_H

#include "daemon/config/config.h"

/* Serve until a signal ends the daemon. `c` is the configuration in force, borrowed, which was loaded from
 * `path`, and which a reload loads again; `path` is absolute, or NULL for the usual place. Returns the exit
 * status. */
int hc_manager_main(struct hc_config *c, const char *path);

#endif
