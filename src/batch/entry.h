/* entry.h - one line of a batch's journal: bytes in, struct out, and back. Knows no descriptors. */
#ifndef HC_BATCH_ENTRY_H
#define HC_BATCH_ENTRY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_BATCH_VERSION 1
#define HC_BATCH_SHARDS  100000 /* most */
#define HC_BATCH_ID      72     /* bytes of a job's ID, with its NUL */

enum hc_entry_kind {
    HC_ENTRY_BATCH, /* a run begins, or goes on */
    HC_ENTRY_BLANK, /* a line without a job */
    HC_ENTRY_BEGIN, /* a line is about to be run: on disk before it is */
    HC_ENTRY_START, /* it was handed to a worker; unlike the others not waited for */
    HC_ENTRY_BACK,  /* begun, but not to be run by this run after all */
    HC_ENTRY_END,   /* it has ended, and its result is in results.jsonl or in this entry */
    HC_ENTRY_KINDS
};

struct hc_entry {
    enum hc_entry_kind kind;
    int64_t line; /* of the jobs file, from 1; all but HC_ENTRY_BATCH */
    /* HC_ENTRY_BATCH */
    int64_t shard, shards;
    bool ordered, merged;
    char boot[40]; /* which start of the host */
    char started[40];
    /* HC_ENTRY_BEGIN */
    int64_t attempt;            /* from 1 */
    int64_t bytes;              /* of the jobs file, up to the end of this line */
    char sha256[HC_SHA256_HEX]; /* of so much of it */
    char job_id[HC_BATCH_ID];   /* HC_ENTRY_END, too */
    /* HC_ENTRY_END */
    char status[24];
    size_t result, result_len; /* where in the line the result is; length 0: it is in results.jsonl */
};

/* Append the line, with its end. `result` may be NULL. */
void hc_entry_print(struct hc_buf *out, const struct hc_entry *e, const char *result, size_t len);

/* HC_EXIT_DATA. */
int hc_entry_parse(struct hc_entry *e, const char *name, const char *text, size_t len, struct hc_error *err);

#endif
