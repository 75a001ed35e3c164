/* fusion.h - the messages of SandboxFusion's POST /run_code and /run_jupyter, which judges and reinforcement
 * learning send: translates a program into a job spec, and a job's manifest into its answer; the cells of a
 * notebook into a session and its runs, and their results into one answer. */
#ifndef HC_WIRE_FUSION_H
#define HC_WIRE_FUSION_H

#include "base/buf.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

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

/* ---- notebooks ---- */

struct hc_fusion_notebook {
    cJSON *cells;              /* programs that were not run yet, a list of strings; owned; NULL: none */
    cJSON *fetch;              /* files that the answer has to bring; owned; NULL: none */
    int64_t cell_ms, total_ms; /* time for each cell, and for all of them; 0: no limit but the policy's */
    struct hc_buf done;        /* the answers of cells so far, JSON, separated by commas; owned */
    double run_s;              /* seconds that they took */
    int count;                 /* number of cells in `done` */
    bool late;                 /* the last cell has reached its limit of time: no further one is run */
    char why[200];             /* which cell has, and which limit; "": the limit of all cells together */
};

/* Append to `spec` the spec of a session, and fill `n`, for which hc_fusion_notebook_finish is called also
 * after a failure. Errors as of hc_fusion_spec. */
int hc_fusion_notebook(const struct hc_fusion_rules *rules, const char *text, size_t len, struct hc_buf *spec,
                       struct hc_fusion_notebook *n, struct hc_error *err);
void hc_fusion_notebook_finish(struct hc_fusion_notebook *n);

/* Take the next cell, and append the spec of its run, which has `left_ms` of the time for all. 1: there was
 * one; 0: all were run; -1: out of memory. */
int hc_fusion_next_cell(struct hc_fusion_notebook *n, int64_t left_ms, struct hc_buf *out);

/* Appends a figure of a cell as an object of its MIME type and its content. False: it is left out. */
typedef bool hc_fusion_image(void *data, const char *path, const char *mime, struct hc_buf *out);

/* Add the answer of a cell, from the session's result of its run. `image` may be NULL. */
int hc_fusion_add_cell(struct hc_fusion_notebook *n, const char *result, size_t len, hc_fusion_image *image,
                       void *data, struct hc_error *err);

/* Append the answer; `files` as of hc_fusion_answer, borrowed. Append the answer to a notebook that cannot be
 * run. */
int hc_fusion_notebook_answer(const struct hc_fusion_notebook *n, const cJSON *files, struct hc_buf *out);
int hc_fusion_notebook_refusal(const char *why, struct hc_buf *out);

#endif
