/* folder.h - the directory of a batch: append to its journal and its results, and have them written to
 * disk. */
#ifndef HC_BATCH_FOLDER_H
#define HC_BATCH_FOLDER_H

#include "base/buf.h"
#include "base/error.h"
#include "batch/entry.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HC_BATCH_JOURNAL "journal.jsonl" /* file in the directory: what was begun and has ended */
#define HC_BATCH_RESULTS "results.jsonl" /* file in it: one result in a line */
#define HC_BATCH_SUMMARY "summary.json"  /* file in it: the totals */
#define HC_BATCH_JOBS    "jobs"          /* directory in it for the jobs' own results */

struct hc_folder {
    const char *path;          /* path of the directory; borrowed */
    int dir, journal, results; /* the directory and its files, owned; the journal is locked */
    int64_t journal_bytes;     /* size of the journal, in bytes */
    int sync_fd;  /* socket to a process that calls fdatasync, so that jobs need not wait; owned. -1: none */
    pid_t syncer; /* the process that syncs; 0: none */
    uint64_t asked;  /* number of syncs requested so far */
    uint64_t synced; /* number of the last of these that is done */
    bool waiting;    /* another sync is wanted */
    bool is_new;     /* the directory was made for this batch */
};

/* Open the directory, or make it, and lock it against other batches. `path` is borrowed. HC_EXIT_DATA. */
int hc_folder_open(struct hc_folder *p, const char *path, struct hc_error *err);
/* Remove those of its files that are empty, and the directory if it was made here and is empty then. To be
 * called after hc_folder_open has succeeded, and before hc_folder_close. */
void hc_folder_discard(const struct hc_folder *p);
void hc_folder_close(struct hc_folder *p);

/* Append an entry to the journal. `result`: JSON of `len` bytes to put into the entry; NULL: none. *at (may
 * be NULL) gets the result's offset in the journal. */
int hc_folder_note(struct hc_folder *p, const struct hc_entry *e, const char *result, size_t len, int64_t *at,
                   struct hc_error *err);
/* Append a line, newline included, to the results. */
int hc_folder_result(struct hc_folder *p, const char *text, size_t len, struct hc_error *err);

/* Start the process that writes both files to disk on request. */
int hc_folder_start_syncer(struct hc_folder *p, struct hc_error *err);
/* Note that all appended bytes should go to disk. They are there when `synced` reaches the returned
 * number. */
uint64_t hc_folder_want_sync(struct hc_folder *p);
/* Start a sync if one is wanted and none is under way. */
int hc_folder_start_sync(struct hc_folder *p, struct hc_error *err);
/* To be called when sync_fd is readable: take the answer, and set `synced`. */
int hc_folder_read_sync(struct hc_folder *p, struct hc_error *err);

/* Write the results and the journal to disk, then replace summary.json. */
int hc_folder_settle(struct hc_folder *p, const struct hc_buf *summary, struct hc_error *err);

#endif
