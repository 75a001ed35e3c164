/* record.h - save a job's program with its results: the program's file, which begins with instructions for
 * running it again if the policy asks for them, and beside it a record of the job's inputs and outcome. */
#ifndef HC_CELL_RECORD_H
#define HC_CELL_RECORD_H

#include "manifest/saved_code.h"
#include "manifest/manifest.h"

#define HC_RECORD_VERSION 1 /* "version" in records */

/* Entries of "missing" in records: what the job had, and a replay has not. */
#define HC_RECORD_NO_STDIN "stdin"
#define HC_RECORD_NO_FILES "output_dir" /* copies of files that were in the output directory before */

/* Append the job's program as it is saved. */
void hc_record_code(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m);

/* Append the record as JSON text: program, tree, policy and inputs with their hashes, the job's
 * specification, and the outcome. */
int hc_record_print(struct hc_buf *out, const struct hc_job *job, const struct hc_manifest *m,
                    struct hc_error *err);

/* The part of a job's outcome that two runs can be compared by: an object with status, exit_code, stdout,
 * value, results, returned, figures and files. Owned by the caller; NULL: no memory. */
cJSON *hc_record_outcome(const struct hc_manifest *m);

#endif
