/* workspace.h - a directory of the host of which a program gets a copy: making it, finding what the program
 * changed in it, and applying that to the directory. All by descriptor: names in the directory may belong to
 * other users, names in the copy to a guest. */
#ifndef HC_CELL_WORKSPACE_H
#define HC_CELL_WORKSPACE_H

#include "cell/collect.h"
#include "manifest/changes.h"

/* Refuse directories of the host that no job gets or changes: the kernel's and hotcell's own, and what holds
 * them. `path`: the real one of the open directory `fd`. (cell/launch/dirs.c) */
int hc_dir_refuse_hosts_own(const char *path, int fd, struct hc_error *err);

/* What a copy is made from. */
struct hc_original {
    char *path;                  /* relative to the directory, raw bytes; owned */
    struct hc_entry_state state; /* state of the entry when it was copied */
    bool seen;                   /* it is still there (hc_workspace_compare) */
};

struct hc_originals {
    struct hc_original *list; /* owned; sorted by path */
    size_t count, room;       /* used entries of `list`; entries that there is room for */
};

void hc_originals_finish(struct hc_originals *o);

struct hc_copying {
    int from_fd;                           /* the directory, borrowed; O_PATH will do */
    int to_fd;                             /* an empty directory, borrowed */
    int64_t most_bytes;                    /* most bytes of all copies */
    int64_t most_files;                    /* most files, directories and links */
    const char *bytes_limit, *files_limit; /* names of these limits, for messages; NULL: those of a job */
    bool plain_modes; /* modes are 0755, and 0644 for files that are not executable, instead of the original's
                       */
    struct hc_deadline *until; /* borrowed */
    int64_t bytes, files;      /* bytes and files of all copies, counted on by each directory */
    struct hc_originals *of;   /* gets what was copied */
    struct hc_left_list *left; /* gets what was not: FIFOs, sockets, devices, what cannot be read */
};

/* Copy files, directories and links, with modes (of 0777) and times. -1 also if there are more than may be,
 * or if a file changes meanwhile: HC_EXIT_DATA. */
int hc_workspace_copy(struct hc_copying *c, struct hc_error *err);

struct hc_comparing {
    int root_fd;          /* directory in which the copy is, borrowed; no process changes it any more */
    const char *name;     /* name of the copy in root_fd */
    struct hc_dest *dest; /* the directory for results; borrowed */
    int64_t most_bytes;   /* most bytes of new contents, counted down */
    size_t path_bytes;    /* bytes of all paths in the lists of all copies, counted on by each directory */
    struct hc_deadline *until; /* borrowed */
    struct hc_originals *of;   /* what the copy was at first */
    struct hc_changes *found;  /* gets the changes; its `directory` is where the contents go, below dest */
};

/* Find what was changed, and write the new contents. -1: the host failed to keep them. What a guest made
 * unusable is listed as skipped. */
int hc_workspace_compare(struct hc_comparing *c, struct hc_error *err);

/* Changes that are to be applied to a directory. */
struct hc_applying {
    int host_fd;                 /* the directory, open for reading; borrowed */
    int kept_fd;                 /* directory with new contents, borrowed; -1: there are none */
    const struct hc_changes *of; /* borrowed */
    /* Called for each change that cannot be applied, with its path and the reason, a phrase. */
    void (*conflict)(void *ctx, const char *path, const char *why);
    void *ctx;                /* first argument of conflict; borrowed */
    int64_t conflicts;        /* number of calls of it */
    int64_t applied, already; /* changes that were applied; that the directory had already */
    struct hc_seen *seen;     /* what the check has found, one for each change; owned */
    char stage_name[40];      /* name of the directory for new contents, in the directory */
};

/* Look whether each path that was changed is still in the directory as it was when the copy was made, or is
 * already as the program left it. Conflicts are no error. */
int hc_workspace_check(struct hc_applying *a, struct hc_error *err);

/* After a check without conflicts: apply the changes as the caller, following no link. All new contents are
 * written first, next to the old ones; then each file is exchanged at once. Where somebody has changed a file
 * since the check, that is a conflict, the file is as it was, and nothing more is applied. The caller holds a
 * lock on the directory: what an earlier call left that was killed is removed first. */
int hc_workspace_apply(struct hc_applying *a, struct hc_error *err);
void hc_applying_finish(struct hc_applying *a);

/* Remove `name` in `dir` and all that is in it, following no link. */
int hc_workspace_remove(int dir, const char *name, struct hc_error *err);

#endif
