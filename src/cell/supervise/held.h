/* held.h - what the kernel holds for the processes of a cell and no page of theirs shows, where no cgroup
 * counts it: buffers of sockets and pipes, descriptions of mappings, stacks of threads, names in a tmpfs.
 * Charged by number, each with what it can hold at most: what is really in it nobody can tell from outside.
 */
#ifndef HC_CELL_SUPERVISE_HELD_H
#define HC_CELL_SUPERVISE_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What takes a look at each process, and so is looked at more seldom the longer that takes, unless the host
 * lacks more memory than at the last look. */
struct hc_held {
    int64_t bytes; /* as of the last look */
    int64_t due_us;
    int64_t soonest_us;           /* from when on what the host lacks makes a look due */
    int64_t host_bytes;           /* the least that the host had taken since the last look began */
    int64_t tcp_pages, tcp_bytes; /* of the host, and of the cell, when its connections were listed last */
    /* Of a look that goes on: */
    int64_t limit; /* of memory: a process whose pages are more is looked at no further */
    int64_t grown; /* by how much the pages of the last one have, meanwhile */
    int64_t begun_us, mappings, pipes, unread, rest;
    int64_t waits, crowds; /* epolls with few descriptors, and with more than were looked at */
};

bool hc_held_due(struct hc_held *h);
void hc_held_begin(struct hc_held *h, int64_t limit);
/* A process: its directory, where in it the files of a thread that lives are (watch.c), and the status of
 * that. */
void hc_held_add(struct hc_held *h, int proc, const char *at, const char *status);
void hc_held_end(struct hc_held *h);

/* Of all sockets in the network namespace of a process, whoever has them; -1: it cannot be told.
 * `connections`: with what waits in those of TCP, whose buffers grow by themselves. That is a guess: packets
 * are seldom full. */
int64_t hc_held_sockets(struct hc_held *h, pid_t pid, bool connections);

int64_t hc_held_threads(int64_t count);
int64_t hc_held_names(int64_t files);

#endif
