/* job_result.h - what a daemon says of a job's end: its manifest, or its problem. */
#ifndef HC_CLIENT_JOB_RESULT_H
#define HC_CLIENT_JOB_RESULT_H

#include "manifest/manifest.h"

/* What is told of a job on a terminal, from its manifest: status, reason, rejection, streams, warnings. For
 * hc_manifest_finish; the rest of `m` stays empty. */
void hc_job_result_read(const cJSON *manifest, struct hc_manifest *m);

/* A problem document as an error, with the status that the same job would have ended with without a daemon.
 * `status` is HTTP's. `manifest` gets the manifest in it as text, owned by the caller, or NULL. */
int hc_job_result_problem(const char *text, size_t len, int status, char **manifest, struct hc_error *err);

#endif
