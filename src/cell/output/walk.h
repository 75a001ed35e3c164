/* walk.h - visit all that is below a directory, by descriptor: no link is followed, and no mount entered. */
#ifndef HC_CELL_OUTPUT_WALK_H
#define HC_CELL_OUTPUT_WALK_H

#include "base/error.h"
#include "base/kernel.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define HC_WALK_DEPTH 64 /* most directories above a file */

/* For openat2(2): no way out of the directory by "..", a link or a mount. */
#define HC_CONFINED (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* Open `name`, a single name without a slash, in the directory `dir`, without waiting for a FIFO's other end.
 * Returns a descriptor that the caller owns; -1 with errno as for openat2. */
int hc_walk_open(int dir, const char *name, int flags);

struct hc_walk {
    /* Called for each name in the open directory `dir`; w->path is its path. `fd`: descriptor of the name if
     * it is a directory that could be opened, borrowed; else -1. Returns 1 to enter the directory, which is
     * opened then if it was not yet; 0 to go on without entering; -1 to end the walk. */
    int (*visit)(struct hc_walk *w, int dir, const char *name, const struct stat *st, int fd,
                 struct hc_error *err);
    /* Called when `name`, a directory in `dir` that was entered, has been read. -1: the walk ends. NULL:
     * nothing is called. */
    int (*leave)(struct hc_walk *w, int dir, const char *name, const struct stat *st, struct hc_error *err);
    /* Called when a directory could not be read, or is too deep; errno says why. -1: the walk ends. */
    int (*unread)(struct hc_walk *w, const char *path, struct hc_error *err);
    char path[PATH_MAX]; /* relative to the root of the walk */
    int depth;           /* number of directories above the visited name */
};

/* Walk below `root`, a directory that is open for reading; borrowed. -1: a callback ended the walk. */
int hc_walk(struct hc_walk *w, int root, struct hc_error *err);

#endif
