/* fs.h - file systems and mounts of a cell, made by the calls that need no path. */
#ifndef HC_INSIDE_FS_H
#define HC_INSIDE_FS_H

#include "base/error.h"

#include <stdint.h>

struct hc_fs_option {
    const char *key;  /* the option's name; NULL ends the list */
    int64_t number;   /* value of the attribute, used if `text` is NULL */
    const char *text; /* value of the attribute as text, borrowed */
};

/* Make a new file system that is not mounted yet, with the MOUNT_ATTR_* in `attr`. Returns a descriptor
 * that the caller owns. */
int hc_fs_make(const char *type, const struct hc_fs_option *opts, uint64_t attr, struct hc_error *err);

/* Attach a mount at `where` below the directory `root`; `mount_fd` stays the caller's. */
int hc_fs_attach(int mount_fd, int root, const char *where, struct hc_error *err);

#endif
