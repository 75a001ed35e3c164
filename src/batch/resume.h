/* resume.h - what earlier runs of a batch have left: read back from its journal and its results. */
#ifndef HC_BATCH_RESUME_H
#define HC_BATCH_RESUME_H

#include "batch/folder.h"
#include "batch/lineset.h"
#include "batch/result.h"
#include "batch/job_ids.h"

/* A line that was begun, or is to be run again. */
struct hc_open_line {
    int64_t line, attempt;
    char job_id[HC_BATCH_ID];
    bool started; /* else it was begun, but not run for sure */
    bool again;   /* it has ended, or may have run, and is to be run once more */
};

/* A result that stands in the journal, and not yet in its place. */
struct hc_saved_code {
    int64_t line, at;
    size_t len;
};

struct hc_past {
    bool any;                             /* there was an earlier run */
    struct hc_entry last;                 /* the batch, as its last run has begun it */
    struct hc_entry read;                 /* the furthest line that was begun; line 0: none */
    struct hc_lineset done;               /* results, and lines without a job: by hc_shard_index */
    struct hc_open_line *open;            /* sorted by line */
    size_t open_count, open_room, sorted; /* sorted: so many at its beginning */
    struct hc_saved_code *kept;           /* sorted by line */
    size_t kept_count, kept_room;
    int64_t dropped; /* results that were taken out, for their lines to be run again */
    int copy;        /* of the results, without those; -1: none is needed. Owned */
};

/* Which of its shard's lines it is, from 0; -1: it is another shard's. */
int64_t hc_shard_index(int64_t line, int64_t shard, int64_t shards);

/* Read both files, cut off what was not written whole, and leave out the results of such a status. `seen`
 * gets the IDs, `tally` the results. HC_EXIT_DATA. */
int hc_past_read(struct hc_past *past, struct hc_folder *folder, const bool rerun[HC_BATCH_STATUSES],
                 struct hc_job_ids *seen, struct hc_tally *tally, struct hc_error *err);
/* Take those results out for good. */
int hc_past_settle(struct hc_past *past, struct hc_folder *folder, struct hc_error *err);
void hc_past_finish(struct hc_past *past, const struct hc_folder *folder);

struct hc_open_line *hc_past_find(const struct hc_past *past, int64_t line); /* NULL: not open */

/* Is this the file whose lines were begun? It is read from its beginning; at the end its position is what it
 * was. HC_EXIT_DATA. */
int hc_past_check_input(const struct hc_past *past, int fd, const char *name, struct hc_error *err);

#endif
