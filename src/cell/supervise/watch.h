/* watch.h - what the processes of a cell use, summed from /proc by their host pids. The honest fallback where
 * no cgroup counts: a sample now and then, not an account. */
#ifndef HC_CELL_SUPERVISE_WATCH_H
#define HC_CELL_SUPERVISE_WATCH_H

#include "cell/supervise/held.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hc_sample {
    int64_t memory; /* bytes: anonymous and shared pages, those of the former that were swapped out, and page
                       tables of all processes (files of the tree are not counted) */
    int64_t cpu_user_us, cpu_system_us; /* reaped children included */
    int64_t tasks;                      /* processes and threads */
    bool hidden;                        /* there is one that could not be looked at, and may have any */
};

/* Sample the process tree below and with `pid`, which is the launcher's unreaped child. At most 4224
 * processes; with more it is `hidden`. What the kernel holds for them is added to `held`, which may be NULL.
 */
void hc_watch_sample(pid_t pid, struct hc_held *held, struct hc_sample *out);

/* The memory of all processes below `pid`, of what they share each page once; -1 if it cannot be told. It
 * takes the kernel a look at each page. */
int64_t hc_watch_memory_below(pid_t pid);

/* The processes below `pid`, at most `max`. Returns how many. */
size_t hc_watch_below(pid_t pid, pid_t *out, size_t max);

/* How many processes of the whole host the kernel has ended for want of memory, since it started; -1: it does
 * not say. */
int64_t hc_watch_oom_kills(void);

/* Bytes and inodes in use on the file system of an open directory; 0 if it cannot be told. */
int64_t hc_watch_fs_bytes(int dir_fd);
int64_t hc_watch_fs_files(int dir_fd);

#endif
