/* record.h - a program that is kept with its results: the file itself, with a text in front that says how to
 * run it again where the policy wants one, and beside it a record of all that went in and came out. */
#ifndef HC_CELL_RECORD_H
#define HC_CELL_RECORD_H

#include "manifest/saved_code.h"
#include "manifest/manifest.h"

#define HC_RECORD_VERSION 1

/* A job's program as it is kept. */
void hc_record_code(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m);

/* The record as JSON text: program, tree, policy and inputs with their hashes, the spec, and the outcome. */
int hc_record_print(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m,
                    struct hc_error *err);

/* What can be compared of a job's outcome: an object of status, exit_code, stdout, value, results, returned,
 * figures, files. Owned by the caller; NULL without memory. */
cJSON *hc_record_outcome(const struct hc_manifest *m);

#endif
