/* clocks.h - the cell's own clocks, which hide the host's uptime. */
#ifndef HC_INSIDE_CLOCKS_H
#define HC_INSIDE_CLOCKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Put the children of the calling process, which must have all rights in its user namespace, into a time
 * namespace whose monotonic and boot time clocks start at zero. `follow`: move the process itself, too, which
 * must have one thread and share its memory with no other process. HC_EXIT_UNAVAILABLE if refused. */
int hc_clocks_start(bool follow, struct hc_error *err);

/* For the launcher: how long ago the clocks of a process's children were set to zero, in milliseconds. -1:
 * they were not set, or it cannot be read. */
int64_t hc_clocks_read(pid_t pid);

#endif
