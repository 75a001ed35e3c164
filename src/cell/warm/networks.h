/* networks.h - the network namespaces of a zygote's cells, which are used again one after the other.
 *
 * Only for policies whose filter lets a program make no socket but pairs of Unix sockets: such sockets have
 * no names and reach nothing else, so a cell leaves nothing in its network namespace. One socket there has a
 * name, the launcher's end of the control channel: the kernel gives it one for SO_PASSCRED, which no program
 * can set. To reach a socket of that kind takes connect(2), which no program may call.
 *
 * The launcher holds the namespaces, gives one to a cell only when all processes of the cell before have
 * ended, and looks afterwards whether the new cell is in that one. Of more than HC_ZYGOTE_NETWORKS cells at
 * a time the others have namespaces of their own, as they would have without all this.
 */
#ifndef HC_CELL_WARM_NETWORKS_H
#define HC_CELL_WARM_NETWORKS_H

#include "base/error.h"

#include <sys/types.h>

#define HC_ZYGOTE_NETWORKS 64 /* most namespaces that are kept for the cells of one zygote */
#define HC_IDLE_NETWORKS   8  /* most of them without a cell: each is 200 KiB of kernel memory */

struct hc_cell_network {
    int fd;      /* the namespace; owned */
    int cell;    /* pidfd of the first process of the cell that was last in it, owned; -1: that has ended */
    ino_t inode; /* the namespace's inode number, by which it is known */
};

/* All zero is empty. */
struct hc_networks {
    struct hc_cell_network list[HC_ZYGOTE_NETWORKS];
    size_t count; /* used entries of `list` */
};

/* A namespace that no living cell is in, borrowed until the next call; NULL: there is none. Closes those of
 * them that are more than HC_IDLE_NETWORKS. */
struct hc_cell_network *hc_networks_idle(struct hc_networks *n);

/* A new cell is in the namespace `inode`, with `pid` and `pidfd` as its first process, which waits for us.
 * Check that it is `given`, or with NULL one that no other cell had, and keep it for later cells. */
int hc_networks_take(struct hc_networks *n, struct hc_cell_network *given, ino_t inode, pid_t pid, int pidfd,
                     struct hc_error *err);

/* Use a namespace no more: a cell that was to have it was not made, and whether a process is in it is not
 * known. */
void hc_networks_drop(struct hc_networks *n, struct hc_cell_network *of);

void hc_networks_finish(struct hc_networks *n);

#endif
