/* park.h - a launcher's request to a zygote to make a cell of a copy of itself, which waits for a job.
 *
 * One request is one packet on the zygote's control channel, with descriptors (enum hc_park_fd). From then on
 * the new cell itself sends messages on the construction socket that is among them, as in plan.h; end of
 * file on it means that the cell is parked. */
#ifndef HC_INSIDE_PARK_H
#define HC_INSIDE_PARK_H

#include "policy/policy.h"

#include <sys/types.h>

#define HC_PARK_MAGIC 0x68635031u /* "hcP1" */

/* Descriptors that a packet carries, in this order: the new cell's ends of the construction socket, of the
 * output pipes, and of the socket for the status of pid 1; and the network namespace for the cell, without
 * which it gets a new one. */
enum hc_park_fd {
    HC_PARK_SYNC,
    HC_PARK_STDOUT,
    HC_PARK_STDERR,
    HC_PARK_STATUS,
    HC_PARK_NETWORK,
    HC_PARK_FDS
};

struct hc_park {
    uint32_t magic;                      /* HC_PARK_MAGIC */
    uid_t uid;                           /* uid of the new cell, as the zygote's user namespace numbers it */
    gid_t gid;                           /* gid of the new cell, in the same namespace */
    struct hc_limits limits;             /* the cell's limits */
    int64_t network, cores, output_mode; /* as in struct hc_policy */
    bool rlimit_pids, rlimit_memory;     /* as in struct hc_plan */
};

#endif
