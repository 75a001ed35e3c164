/* fs.h - make file systems and mounts of a cell, by the system calls that need no path. */
#ifndef HC_INSIDE_FS_H
#define HC_INSIDE_FS_H

#include "base/error.h"

#include <stdint.h>

/* An option of a file system, as fsconfig(2) sets it. */
struct hc_fs_option {
    const char *key;  /* name of the option; NULL ends the list */
    int64_t number;   /* value of the option, used if `text` is NULL */
    const char *text; /* value of the option as text, borrowed; NULL: `number` is its value */
};

/* Make a new file system that is not mounted yet, with the MOUNT_ATTR_* in `attr`. Returns a descriptor
 * that the caller owns. */
int hc_fs_make(const char *type, const struct hc_fs_option *opts, uint64_t attr, struct hc_error *err);

/* Attach a mount at `where` below the directory `root`; `mount_fd` stays the caller's. */
int hc_fs_attach(int mount_fd, int root, const char *where, struct hc_error *err);

#endif
