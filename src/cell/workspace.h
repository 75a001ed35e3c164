/* workspace.h - a directory of the host of which a program gets a copy: make the copy, find what the program
 * changed in it, and apply these changes to the directory. Every file is reached by descriptor: names in the
 * directory may belong to other users, names in the copy to a guest. */
#ifndef HC_CELL_WORKSPACE_H
#define HC_CELL_WORKSPACE_H

#include "cell/collect.h"
#include "manifest/changes.h"

/* Refuse (-1) a directory of the host that no job may get or change: the kernel's and hotcell's own
 * directories, and those that contain them. `path`: the real path of the open directory `fd`.
 * (cell/launch/dirs.c) */
int hc_dir_refuse_hosts_own(const char *path, int fd, struct hc_error *err);

/* One entry of the directory as it was when it was copied. */
struct hc_original {
    char *path;                  /* relative to the directory, raw bytes; owned */
    struct hc_entry_state state; /* state of the entry when it was copied */
    bool seen;                   /* hc_workspace_compare has found the entry in the copy */
};

struct hc_originals {
    struct hc_original *list; /* the entries, sorted by path; owned */
    size_t count, room;       /* used entries of `list`; entries that there is room for */
};

void hc_originals_finish(struct hc_originals *o);

struct hc_copying {
    int from_fd;                           /* the directory to copy, borrowed; O_PATH will do */
    int to_fd;                             /* an empty directory for the copy, borrowed */
    int64_t most_bytes;                    /* most bytes of all copies */
    int64_t most_files;                    /* most files, directories and links */
    const char *bytes_limit, *files_limit; /* names of these limits, for messages; NULL: those of a job */
    bool plain_modes; /* modes are 0755, and 0644 for files that are not executable, instead of the original's
                       */
    struct hc_deadline *until; /* when copying must stop; borrowed */
    int64_t bytes, files;    /* bytes and files of all copies so far; each call adds those of its directory */
    struct hc_originals *of; /* gets the entries that were copied; borrowed */
    struct hc_left_list *left; /* gets the others: FIFOs, sockets, devices, what cannot be read; borrowed */
};

/* Copy files, directories and links, with the permissions in 0777 of their modes, and their times. -1 also if
 * a limit is exceeded, or if a file changes meanwhile: HC_EXIT_DATA. */
int hc_workspace_copy(struct hc_copying *c, struct hc_error *err);

struct hc_comparing {
    int root_fd;      /* directory in which the copy is, borrowed */
    const char *name; /* name of the copy in root_fd */
    /* The directory for results; borrowed. NULL: the changes are only listed, no contents are written, and
     * the copy is left as it is, for programs that go on with it. */
    struct hc_dest *dest;
    int64_t most_bytes; /* bytes of new contents that may still be written; each file lowers it */
    size_t path_bytes;  /* bytes of all paths in the lists of all copies so far; each call adds its own */
    struct hc_deadline *until; /* when comparing must stop; borrowed */
    struct hc_originals *of;   /* the entries of the copy as they were at first; borrowed */
    struct hc_changes *found; /* gets the changes; new contents go to its `directory`, below dest; borrowed */
};

/* Find what the program changed in the copy, and write the new contents. -1: the host failed to keep them. A
 * file that the guest made unusable is listed as skipped. */
int hc_workspace_compare(struct hc_comparing *c, struct hc_error *err);

/* Changes that are to be applied to a directory. */
struct hc_applying {
    int host_fd;                 /* the directory, open for reading; borrowed */
    int kept_fd;                 /* directory with new contents, borrowed; -1: there are none */
    const struct hc_changes *of; /* the changes; borrowed */
    /* Called for each change that cannot be applied, with its path and the reason, a phrase. */
    void (*conflict)(void *ctx, const char *path, const char *why);
    void *ctx;                /* first argument of conflict; borrowed */
    int64_t conflicts;        /* number of calls of `conflict` */
    int64_t applied, already; /* number of changes that were applied; that were there already */
    struct hc_seen *seen;     /* what the check has found at the path of each change, by its index; owned */
    char stage_name[40];      /* name in host_fd of the directory that new contents are first written to */
};

/* Check for each changed path that the directory still has there what was copied, or already has what the
 * program left. Conflicts are no error. */
int hc_workspace_check(struct hc_applying *a, struct hc_error *err);

/* After a check without conflicts: apply the changes as the caller, following no link. All new contents are
 * written first, next to the old ones; then each file is exchanged at once. A file that was changed since the
 * check is a conflict: it stays as it is, and nothing more is applied. The caller holds a lock on the
 * directory; remains of an earlier call that was killed are removed first. */
int hc_workspace_apply(struct hc_applying *a, struct hc_error *err);
void hc_applying_finish(struct hc_applying *a);

/* Remove `name` in `dir` and all that is in it, following no link. */
int hc_workspace_remove(int dir, const char *name, struct hc_error *err);

#endif
