/* collect.h - copy the files that a dead cell left in /output, by descriptors: a guest may have put
 * another file under any name. */
#ifndef HC_CELL_COLLECT_H
#define HC_CELL_COLLECT_H

#include "manifest/figure.h"
#include "manifest/manifest.h"

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The directory for a job's results. It is made and opened when the first file is written. */
struct hc_dest {
    char path[PATH_MAX];        /* path: as the user named it, hotcell-output/JOB_ID, or a temporary one */
    bool else_temporary;        /* if the default directory cannot be had, take a temporary one */
    char temporary_reason[256]; /* why the directory is a temporary one; empty: it is not temporary */
    int at;      /* directory that a relative default path starts from, borrowed; 0: the current directory */
    bool named;  /* the user named the directory; else it is the default one, which must belong to us */
    int fd;      /* descriptor of the directory, owned; -1 until the first file is written */
    mode_t mode; /* permissions of the directory, when it was opened */
    bool shared; /* the directory's group may read hotcell's own files there; else only their owner may */
};

/* Make the directory if it is missing, and open it; does nothing if it is open. */
int hc_dest_open(struct hc_dest *d, struct hc_error *err);
void hc_dest_finish(struct hc_dest *d);

/* Why a write failed, as a reason for the manifest, if a file that is in the destination already or its
 * file system was the cause; else NULL. */
const char *hc_dest_refusal(const struct hc_error *err);

/* Write one of hotcell's own files in the destination, mode 0600, or 0640 if `d` is shared. It replaces a
 * file of that name. `name` may hold one directory. */
int hc_dest_write(struct hc_dest *d, const char *name, const void *data, size_t len, struct hc_error *err);

/* A file that is written to `fd` and gets its name only when it is complete (hc_dest_commit), replacing
 * any older file. `path` is relative; directories in it are made. The guest may have chosen `path`:
 * symbolic links are refused, and no file outside the destination is reached. */
struct hc_dest_file {
    int dir, fd;      /* directory of the file, and the file; both owned */
    const char *name; /* last part of `path`, borrowed */
    char temp[64];    /* name of the incomplete file; empty: it has none, and vanishes when `fd` is closed */
};

int hc_dest_begin(struct hc_dest_file *o, struct hc_dest *d, const char *path, mode_t mode,
                  struct hc_error *err);
int hc_dest_commit(struct hc_dest_file *o, const char *path, struct hc_error *err);
void hc_dest_abandon(struct hc_dest_file *o); /* also after hc_dest_begin or hc_dest_commit failed */

/* Make one of hotcell's own directories in the destination, mode 0700, or 0750 if `d` is shared. An
 * existing directory is left as it is. */
int hc_dest_make_dir(struct hc_dest *d, const char *name, struct hc_error *err);

/* What ended the collection. */
enum hc_collected {
    HC_COLLECTED_ALL,   /* no file was left to collect */
    HC_COLLECTED_BYTES, /* bind mode: limits.collect_bytes is reached; the files before that are collected */
    HC_COLLECTED_TIME,  /* limits.collect_time was over */
    HC_COLLECTED_CANCELLED, /* the job was cancelled */
};

struct hc_collect {
    int from_fd;          /* root of the cell's /output, open for reading; borrowed */
    struct hc_dest *dest; /* directory that gets the files; borrowed */
    bool in_place;        /* bind mode: the files are where they belong, and are only hashed and listed */
    /* Collect only files changed since `since_ns` outside bind mode, too: a session's earlier runs left
     * files. */
    bool changed_only;
    int64_t since_ns; /* bind mode: collect only files changed since then (CLOCK_REALTIME, ns) */
    int cancel_fd;    /* readable: end the collection within a second; -1: none. Borrowed */
    /* Returns true for a file of /output that was there before the program and is unchanged: it is not
     * collected. NULL: there was no such file. */
    bool (*was_there)(const void *ctx, const char *path, const struct stat *st);
    const void *ctx;                    /* first argument of was_there; borrowed */
    const struct hc_policy *policy;     /* the effective policy; borrowed */
    const struct hc_figure_list *drawn; /* files that are figures; all others are plain files; borrowed */
    struct hc_manifest *manifest;       /* gets figures, files and skipped files; borrowed */
    enum hc_collected ended;            /* filled: what ended the collection */
    bool reserved_name_left; /* filled: bind mode, a guest's file with a name of hotcell's own could not be
                                renamed */
};

/* Is this name in /output one that hotcell uses itself, or the directory of figures? */
bool hc_collect_reserves(const char *name, const struct hc_policy *policy);

/* Collect as `c` says. -1 only if the host failed to keep the results. A file that the guest made
 * unusable, or that was left when the collection ended early, is listed as skipped. */
int hc_collect(struct hc_collect *c, struct hc_error *err);

#endif
