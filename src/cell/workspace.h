/* workspace.h - a directory of the host of which a program gets a copy: making it, finding what the program
 * changed in it, and applying that to the directory. All by descriptor: names in the directory may belong to
 * other users, names in the copy to a guest. */
#ifndef HC_CELL_WORKSPACE_H
#define HC_CELL_WORKSPACE_H

#include "cell/collect.h"
#include "manifest/changes.h"

/* What a copy is made from. */
struct hc_original {
    char *path;                  /* relative to the directory, raw bytes; owned */
    struct hc_entry_state state; /* as it was copied */
    bool seen;                   /* it is still there (hc_workspace_compare) */
};

struct hc_originals {
    struct hc_original *list; /* owned; sorted by path */
    size_t count, room;       /* used entries of `list`; entries that there is room for */
};

void hc_originals_finish(struct hc_originals *o);

struct hc_copying {
    int from_fd;               /* the directory, borrowed; O_PATH will do */
    int to_fd;                 /* an empty directory, borrowed */
    int64_t most_bytes;        /* most bytes of all copies */
    int64_t most_files;        /* most files, directories and links */
    struct hc_deadline *until; /* borrowed */
    int64_t bytes, files;      /* bytes and files of all copies, counted on by each directory */
    struct hc_originals *of;   /* gets what was copied */
    struct hc_left_list *left; /* gets what was not: FIFOs, sockets, devices, what cannot be read */
};

/* Copy files, directories and links, with modes (of 0777) and times. -1 also if there are more than may be,
 * or if a file changes meanwhile: HC_EXIT_DATA. */
int hc_workspace_copy(struct hc_copying *c, struct hc_error *err);

struct hc_comparing {
    int root_fd;               /* directory in which the copy is, borrowed; no process changes it any more */
    const char *name;          /* of the copy in it */
    struct hc_dest *dest;      /* the directory for results; borrowed */
    int64_t most_bytes;        /* most bytes of new contents, counted down */
    struct hc_deadline *until; /* borrowed */
    struct hc_originals *of;   /* what the copy was at first */
    struct hc_changes *found;  /* gets the changes; its `directory` is where the contents go, below dest */
};

/* Find what was changed, and write the new contents. -1: the host failed to keep them. What a guest made
 * unusable is listed as skipped. */
int hc_workspace_compare(struct hc_comparing *c, struct hc_error *err);

#endif
