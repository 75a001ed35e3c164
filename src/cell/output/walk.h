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

/* Open the one name in the directory, without waiting for a FIFO's other end. errno as for openat2. */
int hc_walk_open(int dir, const char *name, int flags);

struct hc_walk {
    /* Called for each name in the open directory `dir`; walk->path is its path. `fd`: a directory
     * that could be opened, else -1. 1: enter the directory, which is opened now if it was not. -1: the walk
     * ends. */
    int (*visit)(struct hc_walk *w, int dir, const char *name, const struct stat *st, int fd,
                 struct hc_error *err);
    /* Called when `name`, a directory in `dir` that was entered, has been read. NULL: nobody wants to know.
     */
    int (*leave)(struct hc_walk *w, int dir, const char *name, const struct stat *st, struct hc_error *err);
    /* Called when a directory could not be read, or is too deep; errno says why. -1: the walk ends. */
    int (*unread)(struct hc_walk *w, const char *path, struct hc_error *err);
    char path[PATH_MAX]; /* relative to the root of the walk */
    int depth;           /* number of directories above the visited name */
};

/* Walk below `root`, a directory that is open for reading; borrowed. */
int hc_walk(struct hc_walk *w, int root, struct hc_error *err);

#endif
