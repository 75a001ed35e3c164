/* fusion.h - the messages of SandboxFusion's POST /run_code, which judges and reinforcement learning send:
 * translates a request into a job spec, and a job's manifest into its answer. */
#ifndef HC_WIRE_FUSION_H
#define HC_WIRE_FUSION_H

#include "base/buf.h"
#include "base/error.h"

#include <cjson/cJSON.h>

/* What the daemon lets such requests have. */
struct hc_fusion_rules {
    const char *policy;   /* policy of programs in Python */
    const char *commands; /* policy of languages that are commands; "": there are no such languages */
};

/* Append to `spec` the job spec, as hc_job_parse_upload takes it, of a request. `*fetch` becomes the list of
 * files that the answer has to bring, owned by the caller; NULL: none. HC_EXIT_DATA: the request is
 * malformed, with line, column and what was expected; HC_EXIT_UNAVAILABLE: it is well-formed, and its
 * language or its files are not to be had here. */
int hc_fusion_spec(const struct hc_fusion_rules *rules, const char *text, size_t len, struct hc_buf *spec,
                   cJSON **fetch, struct hc_error *err);

/* Append to `out` the answer that a manifest, JSON of a job, makes. `files`: object of paths and base64,
 * which is added; NULL: none. */
int hc_fusion_answer(const char *manifest, size_t len, cJSON *files, struct hc_buf *out,
                     struct hc_error *err);

/* Append to `out` the answer to a request that no cell can run, for this reason. */
int hc_fusion_refusal(const char *why, struct hc_buf *out);

#endif
