/* folder.h - the directory of a batch: its journal and its results, appended to, and when they are on disk.
 */
#ifndef HC_BATCH_FOLDER_H
#define HC_BATCH_FOLDER_H

#include "base/buf.h"
#include "base/error.h"
#include "batch/entry.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HC_BATCH_JOURNAL "journal.jsonl"
#define HC_BATCH_RESULTS "results.jsonl"
#define HC_BATCH_SUMMARY "summary.json"
#define HC_BATCH_JOBS    "jobs"

struct hc_folder {
    const char *path;          /* borrowed */
    int dir, journal, results; /* owned; the journal is locked */
    int64_t journal_bytes;
    int sync_fd; /* of the process that waits for disks, so that no job has to; -1: none */
    pid_t syncer;
    uint64_t asked, synced; /* how often; those are done */
    bool waiting;
};

/* Make it, if it is missing, or open it; nobody else has it open. HC_EXIT_DATA. */
int hc_folder_open(struct hc_folder *p, const char *path, struct hc_error *err);
void hc_folder_close(struct hc_folder *p);

/* Append. `at` (may be NULL) becomes where the result stands in the journal. */
int hc_folder_note(struct hc_folder *p, const struct hc_entry *e, const char *result, size_t len, int64_t *at,
                   struct hc_error *err);
int hc_folder_result(struct hc_folder *p, const char *text, size_t len, struct hc_error *err);

/* A process of its own that has both files put on disk, as often as there is something new. */
int hc_folder_start_syncer(struct hc_folder *p, struct hc_error *err);
/* What was appended so far is to be put on disk: the number that `synced` has to reach. */
uint64_t hc_folder_want(struct hc_folder *p);
int hc_folder_ask(struct hc_folder *p, struct hc_error *err);   /* if need be */
int hc_folder_heard(struct hc_folder *p, struct hc_error *err); /* sync_fd is readable */

/* Write summary.json in one step, and everything else to disk. */
int hc_folder_settle(struct hc_folder *p, const struct hc_buf *summary, struct hc_error *err);

#endif
