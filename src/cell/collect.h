/* collect.h - what a dead cell left in /output, taken out by descriptor, never by a name that a guest could
 * have made mean something else. */
#ifndef HC_CELL_COLLECT_H
#define HC_CELL_COLLECT_H

#include "manifest/manifest.h"

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

/* Where results go. The directory is opened, and made, only when there is something to put there. */
struct hc_dest {
    char path[PATH_MAX]; /* as the user named it, or hotcell-output/JOB_ID */
    int at;              /* .. where such a default place is; 0: the current directory. Borrowed */
    bool named;          /* by the user; else it is the default place, which must be ours */
    int fd;              /* -1 until needed; owned */
    mode_t mode;         /* of the directory, when it was opened */
    bool shared;         /* its group may read what we write of our own, which nobody else may otherwise */
};

int hc_dest_open(struct hc_dest *d, struct hc_error *err);
void hc_dest_finish(struct hc_dest *d);

/* Why a write was refused by what is in the destination already, or by its file system, as a reason for the
 * manifest; NULL if it failed for another reason. */
const char *hc_dest_refusal(const struct hc_error *err);

/* A new file of our own in the destination, replacing what was there under that name, mode 0600, or 0640 if
 * it is shared. `name` may hold one directory. */
int hc_dest_write(struct hc_dest *d, const char *name, const void *data, size_t len, struct hc_error *err);

/* A file that gets its name when it is complete, in the place of what was there: `fd` is for writing. `path`
 * is relative, may name directories, which are made, and may come from anybody: links are refused, and
 * nothing outside the destination is reached. */
struct hc_dest_file {
    int dir, fd; /* owned */
    const char *name;
    char temp[64]; /* empty: it has no name at all yet, and goes with its descriptor */
};

int hc_dest_begin(struct hc_dest_file *o, struct hc_dest *d, const char *path, mode_t mode,
                  struct hc_error *err);
int hc_dest_commit(struct hc_dest_file *o, const char *path, struct hc_error *err);
void hc_dest_abandon(struct hc_dest_file *o); /* also after any of them has failed */

/* A directory of our own in the destination, mode 0700, or 0750; one that is there already is left as it is.
 */
int hc_dest_make_dir(struct hc_dest *d, const char *name, struct hc_error *err);

/* Whether all was collected that could be; else what ended it. */
enum hc_collected {
    HC_COLLECTED_ALL,
    HC_COLLECTED_BYTES,     /* bind mode: limits.collect_bytes; what fits was */
    HC_COLLECTED_TIME,      /* limits.collect_time */
    HC_COLLECTED_CANCELLED, /* the job was cancelled */
};

struct hc_collect {
    int from_fd; /* root of /output, readable */
    struct hc_dest *dest;
    bool in_place;     /* bind mode: the files are where they belong; hash and list only */
    bool changed_only; /* as in bind mode, `since_ns` counts: of a session, there is what earlier runs left */
    int64_t since_ns;  /* bind mode: only what changed since this CLOCK_REALTIME time */
    int cancel_fd;     /* readable: end it within a second; -1: none */
    const struct hc_policy *policy;
    struct hc_manifest *manifest; /* gets figures, files, skipped */
    enum hc_collected ended;      /* filled */
    bool planted; /* filled. Bind mode: what a guest left under a name of ours could not be set aside */
};

/* -1 only if results could not be kept (the host's side failed). What a guest did wrong is listed as skipped,
 * and so is what was left when it ended early.
 */
int hc_collect(struct hc_collect *c, struct hc_error *err);

#endif
