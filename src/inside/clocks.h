/* clocks.h - the cell's own clocks: how long the host has been up is none of its business. */
#ifndef HC_INSIDE_CLOCKS_H
#define HC_INSIDE_CLOCKS_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Move the calling process, which must have one thread and all rights in its user namespace, into a time
 * namespace whose monotonic and boot time clocks start at zero. HC_EXIT_UNAVAILABLE. */
int hc_clocks_start(struct hc_error *err);

/* From outside: how long ago the clocks of a process were set so, in milliseconds. -1: they were not, or the
 * process's children will have other clocks than it has itself. */
int64_t hc_clocks_read(pid_t pid);

#endif
