/* reload.h - send a configuration from the manager, which may read the files, to the front. */
#ifndef HC_DAEMON_CONFIG_RELOAD_H
#define HC_DAEMON_CONFIG_RELOAD_H

#include "daemon/config/config.h"
#include "daemon/process/channel.h"

/* Manager: load the file again; if it has no error, it replaces `c` and is sent to the front. Sockets, state
 * directory and signing key stay as they are. On failure nothing has changed. */
int hc_reload_send(int front, const char *path, struct hc_config *c, struct hc_error *err);

/* Front: read the configuration that the manager has sent. */
int hc_reload_take(const int fds[HC_RELOAD_FDS], struct hc_config *out, struct hc_error *err);

#endif
