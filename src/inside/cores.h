/* cores.h - core scheduling: the two halves of a processor core never run two cells at the same time. */
#ifndef HC_INSIDE_CORES_H
#define HC_INSIDE_CORES_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Have this process, and all that it starts, share a core with each other only. HC_EXIT_UNAVAILABLE; err->sys
 * is ENODEV on a machine without SMT, EINVAL on a kernel without core scheduling. */
int hc_cores_keep(struct hc_error *err);

/* From outside: what a process is told apart by; 0: nothing, or it cannot be asked for. */
uint64_t hc_cores_cookie(pid_t pid);

#endif
