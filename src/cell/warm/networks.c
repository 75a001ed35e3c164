#include "cell/warm/networks.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

/* The first process of a cell is the last to end: the kernel makes it wait for all others. */
static void forget_ended_cells(struct hc_networks *n)
{
    struct pollfd ends[HC_ZYGOTE_NETWORKS];
    for (size_t i = 0; i < n->count; i++)
        ends[i] = (struct pollfd){.fd = n->list[i].cell, .events = POLLIN};
    if (poll(ends, n->count, 0) <= 0)
        return;
    for (size_t i = 0; i < n->count; i++)
        if (ends[i].revents)
            hc_close_fd(&n->list[i].cell);
}

/* Close those that are idle since many cells lived at one time. */
static void drop_spare(struct hc_networks *n)
{
    size_t idle = 0, kept = 0;
    for (size_t i = 0; i < n->count; i++) {
        if (n->list[i].cell < 0 && ++idle > HC_IDLE_NETWORKS)
            hc_close_fd(&n->list[i].fd);
        else
            n->list[kept++] = n->list[i];
    }
    n->count = kept;
}

struct hc_cell_network *hc_networks_idle(struct hc_networks *n)
{
    forget_ended_cells(n);
    drop_spare(n);
    for (size_t i = 0; i < n->count; i++)
        if (n->list[i].cell < 0)
            return &n->list[i];
    return NULL;
}

/* Fill in a namespace that was made for a cell. */
static int keep(struct hc_cell_network *new, ino_t inode, pid_t pid, struct hc_error *err)
{
    char path[48];
    struct stat st;
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "keep %s", path);
    if (st.st_ino != inode)
        return hc_fail(err, 0, "the new cell has changed its network namespace");
    *new = (struct hc_cell_network){.fd = hc_take(&fd), .cell = -1, .inode = inode};
    return 0;
}

int hc_networks_take(struct hc_networks *n, struct hc_cell_network *given, ino_t inode, pid_t pid, int pidfd,
                     struct hc_error *err)
{
    for (size_t i = 0; i < n->count; i++)
        if ((n->list[i].inode == inode) != (&n->list[i] == given))
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                              "a new cell has another network namespace than it should have");
    if (!given && n->count == HC_ZYGOTE_NETWORKS)
        return 0;
    struct hc_cell_network *of = given ? given : &n->list[n->count];
    if (!given && keep(of, inode, pid, err) < 0)
        return -1;
    n->count += !given;
    of->cell = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
    return of->cell < 0 ? hc_fail(err, errno, "keep an eye on a new cell") : 0;
}

void hc_networks_drop(struct hc_networks *n, struct hc_cell_network *of)
{
    hc_close_fd(&of->fd);
    hc_close_fd(&of->cell);
    *of = n->list[--n->count];
}

void hc_networks_finish(struct hc_networks *n)
{
    for (size_t i = 0; i < n->count; i++) {
        hc_close_fd(&n->list[i].fd);
        hc_close_fd(&n->list[i].cell);
    }
    n->count = 0;
}
