/* result.h - the result of one job, a line of results.jsonl, and the totals of all results. */
#ifndef HC_BATCH_RESULT_H
#define HC_BATCH_RESULT_H

#include "base/buf.h"
#include "base/error.h"
#include "batch/entry.h"
#include "manifest/manifest.h"

#include <stdint.h>
#include <stdio.h>

/* The values of enum hc_status, and those of lines without an outcome. */
enum hc_batch_status {
    HC_BATCH_OK = HC_STATUS_OK,
    HC_BATCH_LAUNCH_FAILED = HC_STATUS_LAUNCH_FAILED,
    HC_BATCH_INVALID = HC_STATUSES, /* the line is no valid job */
    HC_BATCH_OUTCOME_UNKNOWN,       /* the job was begun, and its end is unknown */
    HC_BATCH_STATUSES
};

const char *hc_batch_status_name(int status); /* name of an enum hc_batch_status, "ok", ...; static */
int hc_batch_status_of(const char *name);     /* the enum hc_batch_status of this name; -1: there is none */

struct hc_result {
    int64_t line;             /* number of the job's line in the jobs file, from 1 */
    char job_id[HC_BATCH_ID]; /* the job's ID; "": none */
    int status;               /* enum hc_batch_status */
    int exit_code;            /* exit status that `hotcell run` would have had */
    char reason[512];         /* why the job has this status, one sentence; empty for ok */
    int64_t attempts;         /* number of the job's last attempt, from 1 */
    char output_dir[4096];    /* path of the job's own results; "": none */
    /* Usage of the manifest, in us and bytes; -1: unknown. */
    int64_t wall_us, cpu_us, memory_peak, output_bytes;
};

/* Append the result as JSON without a newline. `manifest` is JSON in one line, or NULL. */
void hc_result_print(struct hc_buf *out, const struct hc_result *r, const char *manifest, size_t len);

/* Parse a line of results.jsonl. `name` is the file's, for messages. HC_EXIT_DATA. */
int hc_result_parse(struct hc_result *r, const char *name, const char *text, size_t len,
                    struct hc_error *err);

/* Fill the usage in `r` from a manifest's text. */
void hc_result_read_usage(struct hc_result *r, const char *manifest, size_t len);

/* ---- the totals ---- */

#define HC_TALLY_BUCKETS 640 /* buckets of the histogram of wall times: 16 per power of two */

/* The first line of the jobs file whose job ended with some status, and the reason. */
struct hc_tally_first {
    int64_t line;  /* number of the line, from 1; 0: there is none */
    char why[512]; /* the result's reason */
};

/* The totals of all results. */
struct hc_tally {
    int64_t count[HC_BATCH_STATUSES], ended; /* numbers of jobs by status; of all together */
    int64_t again;                           /* number of jobs that were run more than once */
    /* Sums over jobs (us, us, bytes); memory_peak: the highest. */
    int64_t wall_us, cpu_us, memory_peak, output_bytes;
    int64_t times[HC_TALLY_BUCKETS], timed; /* histogram of jobs by wall time in us; number of jobs in it */
    int worst;                              /* worst exit status of a job */
    /* First line that ended with HC_BATCH_INVALID; with HC_BATCH_LAUNCH_FAILED. */
    struct hc_tally_first invalid, launch_failed;
};

void hc_tally_add(struct hc_tally *t, const struct hc_result *r); /* adds one result to the totals */

/* Facts about a run of the batch besides its results. */
struct hc_tally_end {
    int64_t lines;         /* number of lines of the jobs file; -1: not all were read */
    int64_t here;          /* number of jobs that this run has ended */
    int64_t took_us;       /* duration of this run in microseconds */
    int64_t jobs;          /* most jobs that ran at one time */
    int64_t shard, shards; /* as in struct hc_batch_options */
    const char *why;       /* why the batch ended before all jobs were done, static; NULL: all are */
};

/* Append summary.json, and print a table for people. */
void hc_tally_print_json(const struct hc_tally *t, const struct hc_tally_end *end, struct hc_buf *out);
void hc_tally_print(const struct hc_tally *t, const struct hc_tally_end *end, FILE *out);

#endif
