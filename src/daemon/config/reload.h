/* reload.h - a configuration on its way from the manager, who may read the files, to the front. */
#ifndef HC_DAEMON_CONFIG_RELOAD_H
#define HC_DAEMON_CONFIG_RELOAD_H

#include "daemon/config/config.h"
#include "daemon/process/channel.h"

/* Manager: load the file again; if it is good, it takes the place of `c` and is sent to the front. Sockets
 * and state stay what they are. On failure nothing has changed. */
int hc_reload_send(int front, const char *path, struct hc_config *c, struct hc_error *err);

/* Front: what was sent. */
int hc_reload_take(const int fds[HC_RELOAD_FDS], struct hc_config *out, struct hc_error *err);

#endif
