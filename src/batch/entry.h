/* entry.h - one line of a batch's journal: parse it into a struct, and print it. Does no input or output. */
#ifndef HC_BATCH_ENTRY_H
#define HC_BATCH_ENTRY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_BATCH_VERSION 1      /* "version" of journals that this code reads and writes */
#define HC_BATCH_SHARDS  100000 /* most shards of a batch */
#define HC_BATCH_ID      72     /* bytes of a job's ID, with its NUL */

enum hc_entry_kind {
    HC_ENTRY_BATCH, /* a run of the batch begins, or resumes */
    HC_ENTRY_BLANK, /* a line without a job */
    HC_ENTRY_BEGIN, /* a line's job is about to be run; this entry is on disk before that */
    HC_ENTRY_START, /* the line was sent to a worker; the only entry that is not waited for to be on disk */
    HC_ENTRY_BACK,  /* the line was begun, but this run of the batch will not run it */
    HC_ENTRY_END,   /* the line's job has ended; its result is in results.jsonl or in this entry */
    HC_ENTRY_KINDS
};

struct hc_entry {
    enum hc_entry_kind kind; /* kind of the entry: which of the members below are set */
    int64_t line; /* number of the line in the jobs file, from 1; in all kinds but HC_ENTRY_BATCH */
    /* HC_ENTRY_BATCH */
    int64_t shard, shards; /* number of the shard, from 1; number of shards */
    bool ordered, merged;  /* the batch runs with --ordered; it was made of other batches */
    char boot[40];         /* the host's boot ID when this run began */
    char started[40];      /* when this run began, RFC 3339 */
    /* HC_ENTRY_BEGIN */
    int64_t attempt;            /* number of the attempt, from 1 */
    int64_t bytes;              /* bytes of the jobs file up to the end of this line; 0 for a retry */
    char sha256[HC_SHA256_HEX]; /* SHA-256 of these bytes of the jobs file */
    char job_id[HC_BATCH_ID];   /* the job's ID; also in HC_ENTRY_END */
    /* HC_ENTRY_END */
    char status[24]; /* hc_batch_status_name */
    /* Offset and length of JSON in the entry's line: in HC_ENTRY_END the result, length 0: it is in
     * results.jsonl; in HC_ENTRY_BATCH what the jobs of this run are under (under.h), length 0: unknown. */
    size_t result, result_len;
};

/* Append the entry's line with its newline. `result`: JSON to put into the entry (see there); NULL: none. */
void hc_entry_print(struct hc_buf *out, const struct hc_entry *e, const char *result, size_t len);

/* Parse a line. `name` is the file's, for messages. HC_EXIT_DATA. */
int hc_entry_parse(struct hc_entry *e, const char *name, const char *text, size_t len, struct hc_error *err);

#endif
