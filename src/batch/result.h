/* result.h - one line of results.jsonl, and what all of them come to. */
#ifndef HC_BATCH_RESULT_H
#define HC_BATCH_RESULT_H

#include "base/buf.h"
#include "base/error.h"
#include "batch/entry.h"
#include "manifest/manifest.h"

#include <stdint.h>
#include <stdio.h>

/* enum hc_status, and what is no job's end. */
enum hc_batch_status {
    HC_BATCH_OK = HC_STATUS_OK,
    HC_BATCH_LAUNCH_FAILED = HC_STATUS_LAUNCH_FAILED,
    HC_BATCH_INVALID = HC_STATUSES, /* the line is no job that could be run */
    HC_BATCH_OUTCOME_UNKNOWN,       /* begun, and nobody can say how it ended */
    HC_BATCH_STATUSES
};

const char *hc_batch_status_name(int status);
int hc_batch_status_of(const char *name); /* -1: none */

struct hc_result {
    int64_t line;
    char job_id[HC_BATCH_ID]; /* "": none */
    int status;               /* enum hc_batch_status */
    int exit_code;
    char reason[512];
    int64_t attempts;
    char output_dir[4096];                              /* "": none */
    int64_t wall_us, cpu_us, memory_peak, output_bytes; /* of its manifest; -1: unknown */
};

/* Append it as JSON, without an end of line. `manifest` is JSON in one line, or NULL. */
void hc_result_print(struct hc_buf *out, const struct hc_result *r, const char *manifest, size_t len);

/* HC_EXIT_DATA. */
int hc_result_parse(struct hc_result *r, const char *name, const char *text, size_t len,
                    struct hc_error *err);

/* Of a manifest's text, what counts here of its usage. */
void hc_result_read_usage(struct hc_result *r, const char *manifest, size_t len);

/* ---- the whole ---- */

#define HC_TALLY_BUCKETS 640 /* of times: sixteen for each power of two */

/* The first line of the jobs file whose job ended so, and why. */
struct hc_tally_first {
    int64_t line; /* 0: there is none */
    char why[512];
};

struct hc_tally {
    int64_t count[HC_BATCH_STATUSES], ended;
    int64_t again; /* of those, run more than once */
    int64_t wall_us, cpu_us, memory_peak, output_bytes;
    int64_t times[HC_TALLY_BUCKETS], timed; /* of jobs, by their wall time */
    int worst;                              /* exit status */
    struct hc_tally_first invalid, launch_failed;
};

void hc_tally_add(struct hc_tally *t, const struct hc_result *r);

/* How a batch ended, beside its results. */
struct hc_tally_end {
    int64_t lines, not_run; /* of the jobs file, -1: not all were read; jobs that were not begun */
    int64_t here;           /* jobs that this run has ended */
    int64_t took_us;        /* this run */
    int64_t jobs;           /* at once */
    int64_t shard, shards;
    const char *why; /* static: it ended before all was done; NULL: it did not */
};

/* summary.json, and a table for people. */
void hc_tally_print_json(const struct hc_tally *t, const struct hc_tally_end *end, struct hc_buf *out);
void hc_tally_print(const struct hc_tally *t, const struct hc_tally_end *end, FILE *out);

#endif
