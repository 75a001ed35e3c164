/* devices.h - the five device nodes of a cell. */
#ifndef HC_INSIDE_DEVICES_H
#define HC_INSIDE_DEVICES_H

#include "base/error.h"

/* Make device nodes for one cell, in a read-only tmpfs that is not mounted yet. Sets `fd`, owned by the
 * caller, to -1 if this process has no right to make nodes. */
int hc_devices_make(int *fd, struct hc_error *err);

/* Attach the tmpfs `fd` at /dev below `root`. `fd` -1: mount each of the host's nodes over the file of its
 * name in the tree. */
int hc_devices_attach(int fd, int root, struct hc_error *err);

#endif
