/* cores.h - core scheduling: the threads of a processor core never run two cells at the same time. */
#ifndef HC_INSIDE_CORES_H
#define HC_INSIDE_CORES_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Let this process and its later children share a core only with each other. HC_EXIT_UNAVAILABLE if the
 * kernel refuses; err->sys is ENODEV on a machine without SMT, EINVAL on a kernel without core scheduling. */
int hc_cores_keep(struct hc_error *err);

/* For the launcher: the core scheduling cookie of a process; 0: it has none, or it cannot be read. */
uint64_t hc_cores_cookie(pid_t pid);

#endif
