/* watch.h - sum what the processes of a cell use from /proc, by their host pids. For cells without a
 * cgroup: samples at intervals, not exact counts. */
#ifndef HC_CELL_SUPERVISE_WATCH_H
#define HC_CELL_SUPERVISE_WATCH_H

#include "cell/supervise/held.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hc_sample {
    /* Bytes: anonymous and shared pages, swapped-out anonymous pages, and page tables of all processes (pages
     * of the tree's files are not counted). */
    int64_t memory;
    /* CPU time of all processes and their reaped children in microseconds: in user mode; in the kernel. */
    int64_t cpu_user_us, cpu_system_us;
    int64_t tasks;      /* number of processes and threads */
    int64_t peak;       /* bytes: the highest peak of one living process, pages of files included */
    int64_t file_pages; /* bytes: the most pages of files that one living process has */
    bool hidden;        /* the memory of some process could not be read, so `memory` may be far too low */
};

/* Sample the process tree below and with `pid`, which is the launcher's unreaped child. At most 4224
 * processes; with more, out->hidden is set. Kernel memory of these processes is added to `held`, which may be
 * NULL. */
void hc_watch_sample(pid_t pid, struct hc_held *held, struct hc_sample *out);

/* The memory of all processes below `pid` in bytes, with each shared page counted once; -1: unknown. The
 * kernel walks all of their pages for it. */
int64_t hc_watch_memory_below(pid_t pid);

#define HC_WATCH_PROCESSES 4224 /* highest limits.pids, and hotcell's own processes of a cell */

/* List the processes below `pid`, at most `max`. Returns their number. */
size_t hc_watch_below(pid_t pid, pid_t *out, size_t max);

/* Number of processes on the whole host that the kernel has killed because memory ran out, since boot; -1:
 * unknown. */
int64_t hc_watch_oom_kills(void);

/* Bytes in use, and number of inodes in use, on the file system of an open directory; 0: unknown. */
int64_t hc_watch_fs_bytes(int dir_fd);
int64_t hc_watch_fs_files(int dir_fd);

#endif
