/* devices.h - the five device nodes of a cell. */
#ifndef HC_INSIDE_DEVICES_H
#define HC_INSIDE_DEVICES_H

#include "base/error.h"

/* Make nodes that no other cell has, in a read-only tmpfs which is mounted nowhere yet; for a launcher that
 * may. Sets `fd`, owned by the caller, or -1 if this process may make none. */
int hc_devices_make(int *fd, struct hc_error *err);

/* Attach them at /dev below `root`. `fd` -1: the host's own, each bound over the file of the tree that has
 * its name. */
int hc_devices_attach(int fd, int root, struct hc_error *err);

#endif
