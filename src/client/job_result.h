/* job_result.h - decodes what a daemon sends at a job's end: a manifest or a problem document. */
#ifndef HC_CLIENT_JOB_RESULT_H
#define HC_CLIENT_JOB_RESULT_H

#include "manifest/manifest.h"

/* Fills `m` with those members of `manifest` that a terminal shows: status, reason, rejection, streams,
 * warnings; the others stay empty. The caller calls hc_manifest_finish. */
void hc_job_result_read(const cJSON *manifest, struct hc_manifest *m);

/* Turns a problem document (`len` bytes at `text`) into an error whose exit status is the one that the same
 * job would have had without a daemon. `status` is the HTTP status. `*manifest` becomes the text of the
 * manifest in the document, which the caller frees, or NULL. Always returns -1. */
int hc_job_result_problem(const char *text, size_t len, int status, char **manifest, struct hc_error *err);

#endif
