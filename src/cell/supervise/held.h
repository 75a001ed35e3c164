/* held.h - without a cgroup: estimate the kernel memory that a cell's processes occupy and that their
 * pages do not show: buffers of sockets and pipes, descriptions of mappings, kernel stacks of threads,
 * names in a tmpfs. Each object is charged with the most that it can hold, as its real content cannot be
 * read from outside. */
#ifndef HC_CELL_SUPERVISE_HELD_H
#define HC_CELL_SUPERVISE_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The estimate for mappings and open files. It reads files of each process (a look), so looks are the
 * rarer the longer they take, unless the host has lost free memory since the last look. */
struct hc_held {
    int64_t bytes;  /* the estimate of the last look */
    int64_t due_us; /* when the next look is due (CLOCK_MONOTONIC, us); 0: there was no look */
    /* Earliest time at which a loss of the host's free memory makes a look due (likewise). */
    int64_t host_loss_due_us;
    int64_t host_bytes;           /* least memory in use on the host since the last look began */
    int64_t tcp_pages, tcp_bytes; /* pages of all TCP buffers of the host, and bytes queued in the cell's,
                                     when its connections were last listed */
    /* During a look: */
    int64_t limit;        /* bytes of memory: a process with more pages is not examined further */
    int64_t growth_bytes; /* by how many bytes the pages of the last process grew while it was examined */
    int64_t begun_us, mappings, pipes, unread; /* start of the look (likewise); numbers of objects */
    int64_t other_bytes;                       /* bytes charged for other reasons */
    int64_t epolls_read,
        epolls_crowded; /* number of epolls whose descriptors were all read; of epolls with more */
};

/* Whether a look is due. Begin a look (`limit`: limits.memory in bytes), then call hc_held_add for each
 * process, then hc_held_end. */
bool hc_held_due(struct hc_held *h);
void hc_held_begin(struct hc_held *h, int64_t limit);

/* Examine one process: `proc` is its directory in /proc, `at` the path in it of a living thread (watch.c),
 * and `status` that thread's status. */
void hc_held_add(struct hc_held *h, int proc, const char *at, const char *status);
void hc_held_end(struct hc_held *h);

/* Bytes charged for all sockets in the network namespace of a process; -1: unknown. `connections`: also
 * charge the bytes queued in TCP connections, whose buffers grow by themselves. That is a guess: packets
 * are seldom full. */
int64_t hc_held_sockets(struct hc_held *h, pid_t pid, bool connections);

/* Bytes of kernel memory charged for `count` threads, or for `files` names in a tmpfs. */
int64_t hc_held_threads(int64_t count);
int64_t hc_held_names(int64_t files);

#endif
