/* copyable.h - can this process be copied into cells that share nothing with it and with each other? */
#ifndef HC_SHIM_COPYABLE_H
#define HC_SHIM_COPYABLE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* A file of the tree that a library keeps open, such as a font. A copy closes every descriptor that it
 * inherits, and opens these files again under the same numbers. */
struct hc_open_file {
    int fd;     /* number of the descriptor in the zygote */
    off_t at;   /* offset of the descriptor in its file, in bytes */
    char *path; /* path of the file in the cell; owned */
};
struct hc_open_files {
    struct hc_open_file *list; /* the files; owned */
    size_t count;              /* number of files in `list` */
};

/* Occupies the descriptor numbers that each cell uses, so that no library's file gets one; called before
 * anything is imported. */
int hc_copyable_reserve(struct hc_error *err);

/* Checks this process after the policy's own code has run, and lists its open files in `out`, which the
 * caller keeps. -1 with HC_EXIT_CONFIG: that code has started a thread, or has made memory or opened a file
 * that copies would share. */
int hc_copyable(struct hc_open_files *out, struct hc_error *err);

/* Opens these files again, under the same numbers; called in a copy. */
int hc_copyable_reopen(const struct hc_open_files *files, struct hc_error *err);

/* Gives new seeds to libraries that tell a fork from its parent by the process number, since all copies have
 * the zygote's; called in a copy. guest_warm.py does it for Python modules. */
void hc_copyable_reseed(void);

/* Registers restartable sequences (rseq(2)) again: the kernel drops them for a process made with CLONE_VM,
 * and for its forks; called in a copy that such a process has forked. */
void hc_renew_rseq(void);

#endif
