/* resume.h - read the journal and the results that earlier runs of a batch have left. */
#ifndef HC_BATCH_RESUME_H
#define HC_BATCH_RESUME_H

#include "batch/folder.h"
#include "batch/lineset.h"
#include "batch/result.h"
#include "batch/job_ids.h"

/* A line that was begun and has no result, or that is to be run again. */
struct hc_open_line {
    int64_t line, attempt;    /* number of the line, from 1; number of its last attempt, from 1 */
    char job_id[HC_BATCH_ID]; /* job ID of this attempt */
    bool started;             /* the job may have run; false: it certainly did not */
    bool again;               /* the job has ended, or may have run, and is to be run once more */
};

/* With --ordered: a result in the journal that is not yet in results.jsonl. */
struct hc_waiting_result {
    int64_t line, at; /* number of the line; offset of the result in the journal */
    size_t len;       /* bytes of the result */
};

struct hc_past {
    bool any;                  /* there was an earlier run of the batch */
    struct hc_entry last;      /* the HC_ENTRY_BATCH of the last run; `result` is an offset in the journal */
    struct hc_entry read;      /* the HC_ENTRY_BEGIN of the furthest line; line 0: none */
    struct hc_lineset done;    /* lines with results, and lines without a job, by hc_shard_index */
    struct hc_open_line *open; /* sorted by line; owned */
    /* Lines in `open`; that it has room for; sorted ones, at its beginning. */
    size_t open_count, open_room, sorted;
    struct hc_waiting_result *kept; /* sorted by line, owned */
    size_t kept_count, kept_room;   /* results in `kept`; those that it has room for */
    int64_t dropped; /* number of results that were removed, as their lines are to be run again */
    int copy;        /* copy of results.jsonl without the removed results, owned; -1: not needed */
};

/* The index of a line among its shard's lines, from 0; -1: it is another shard's. */
int64_t hc_shard_index(int64_t line, int64_t shard, int64_t shards);

/* Read both files, cut off a last line that was not written completely, and leave out results whose status
 * is in `rerun`. `job_ids` gets the job IDs, `tally` the results. HC_EXIT_DATA. */
int hc_past_read(struct hc_past *past, struct hc_folder *folder, const bool rerun[HC_BATCH_STATUSES],
                 struct hc_job_ids *job_ids, struct hc_tally *tally, struct hc_error *err);
/* Remove these results from results.jsonl. */
int hc_past_settle(struct hc_past *past, struct hc_folder *folder, struct hc_error *err);
void hc_past_finish(struct hc_past *past, const struct hc_folder *folder);

/* What the jobs of the last run were under, as JSON that the caller frees; "": the journal does not say. NULL
 * with an error: it cannot be read. */
char *hc_past_under(const struct hc_past *past, const struct hc_folder *folder, struct hc_error *err);

struct hc_open_line *hc_past_find(const struct hc_past *past, int64_t line); /* NULL: not open */

/* Check that this is the jobs file of the earlier runs, by the hash of its first lines. The file's
 * position is restored. HC_EXIT_DATA. */
int hc_past_check_input(const struct hc_past *past, int fd, const char *name, struct hc_error *err);

#endif
