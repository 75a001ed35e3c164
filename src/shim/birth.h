/* birth.h - in which namespaces a zygote makes the first process of a cell, and with which ids.
 *
 * A network namespace takes half a millisecond to make and to take down. Where no program can make a socket
 * in it but pairs of Unix sockets, which have no names, none leaves anything in it, and the launcher gives it
 * to another cell once all processes of the one before have ended (cell/warm/networks.h). To enter one takes
 * rights in the user namespace that owns it. So all networks of a zygote's cells belong to one user
 * namespace, "the owner", in which nothing runs but the process between (below), and which is the parent of
 * the cells' own user namespaces: a cell's processes never have any right over its network. */
#ifndef HC_SHIM_BIRTH_H
#define HC_SHIM_BIRTH_H

#include "base/error.h"

#include <sys/types.h>

struct hc_birth {
    uid_t uid;               /* uid of the cell, as the zygote's user namespace numbers it */
    gid_t gid;               /* gid of the cell, likewise */
    int network_fd;          /* the cell's network namespace, borrowed; -1: a new one */
    int (*first)(void *arg); /* what the first process calls, in the zygote's memory; never returns */
    void *arg;
};

/* Make the owner, with the zygote's own ids. Before the first birth, and after the
 * check of open files (copyable.h). */
int hc_birth_prepare(struct hc_error *err);

/* Make the first process of a cell, a child of the caller, whose memory it uses on a stack of its own.
 * Returns its pid when it has executed a program or has ended; -1 with errno set. */
pid_t hc_birth_give(const struct hc_birth *birth);

#endif
