/* session_incoming.h - files that come into a session in parts. Until its last part a file has no name: it is
 * a descriptor of the launcher's in /output (O_TMPFILE), which no program can open, list or change, and which
 * takes nothing of /output any more when it is closed. */
#ifndef HC_CELL_SESSION_SESSION_INCOMING_H
#define HC_CELL_SESSION_SESSION_INCOMING_H

#include <stdint.h>

#define HC_INCOMING_FILES 8                           /* most files that come in at the same time */
#define HC_INCOMING_US    ((int64_t)5 * 60 * 1000000) /* longest time between two parts of a file */

struct hc_incoming {
    char *path;         /* below /output, where the whole file goes; owned; NULL: the entry is free */
    int fd;             /* of the file without a name; owned; undefined if the entry is free */
    int64_t bytes;      /* bytes that have come */
    int64_t total;      /* bytes of the whole file; -1: the client has not said */
    int64_t touched_us; /* hc_now_us at the last part */
};

struct hc_incoming_files {
    struct hc_incoming list[HC_INCOMING_FILES];
};

/* The file that comes in for this path; borrowed, until it is dropped; NULL: there is none. */
struct hc_incoming *hc_incoming_find(struct hc_incoming_files *f, const char *path);

/* Begin with a file. Takes `fd` in any case. NULL: no memory, or HC_INCOMING_FILES files come in already
 * (`errno` is EBUSY). */
struct hc_incoming *hc_incoming_add(struct hc_incoming_files *f, const char *path, int fd_taken,
                                    int64_t total);

void hc_incoming_drop(struct hc_incoming *in); /* forget the file; NULL is fine */
void hc_incoming_drop_old(
    struct hc_incoming_files *f); /* forget the files whose next part did not come in time */
void hc_incoming_finish(struct hc_incoming_files *f); /* forget all files */

#endif
