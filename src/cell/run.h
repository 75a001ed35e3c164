/* run.h - one job: from a checked spec and policy to a filled manifest. */
#ifndef HC_CELL_RUN_H
#define HC_CELL_RUN_H

#include "cell/cgroup.h"
#include "cell/collect.h"
#include "cell/seccomp/learn.h"
#include "cell/supervise/figures.h"
#include "manifest/manifest.h"

#define HC_CANCEL_TEXT 400 /* bytes at most, of what a cancel_fd that says why has to say */

struct hc_parked;

struct hc_run {
    const struct hc_job *job;       /* borrowed */
    const struct hc_policy *policy; /* effective: the job's overrides applied. Borrowed */
    int pass_stdout, pass_stderr;   /* the guest's output as it comes; -1: only into the manifest */
    int cancel_fd;                  /* readable: end the job. -1: none */
    bool cancel_says; /* it is a socket, and what can be read of it, if anything, is a sentence: why */
    int tool_fd;      /* stream socket of the client that answers tools without a command; 0: there is none */
    const char *default_dir;  /* parent of the output directory if the job names none: "hotcell-output" */
    int default_at;           /* the directory that it is relative to; 0: the current one */
    struct hc_share share;    /* tenant NULL: the place of all is this job's, too */
    struct hc_parked *parked; /* run it in this cell (parked.h), whatever becomes of it; NULL: in one of its
                                 own */
    const char *policy_hash;  /* hc_policy_hash, if the caller knows; NULL */
    const char *warm_key;     /* of this job and policy (hc_warm_key), if the caller knows; NULL */
    struct hc_figure_sink figure_sink; /* is told of figures while the program runs */
    bool shared;                /* what is kept of the program is for the output directory's group, too */
    bool plain_manifest;        /* not indented, unless it is kept in a file */
    struct hc_learned *lessons; /* filled, if the policy is one that learns; NULL */
    struct hc_dest dest;        /* filled; hc_run_finish closes it */
};

/* Run the job. 0: there is a result, whatever the guest did, and `m` says it all. -1: the cell could not be
 * built or its results could not be kept (err; m->status is HC_STATUS_LAUNCH_FAILED). In both cases nothing
 * of the cell is left. */
int hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);

/* Write manifest.json (and _sandbox_result.json) where results went, or are to go. `key` as for
 * hc_manifest_print. `text` gets the manifest as printed. Without -o and without anything to keep, only
 * `text` is filled. */
int hc_run_write_manifest(struct hc_run *r, struct hc_manifest *m, const void *key, size_t key_len,
                          struct hc_buf *text, struct hc_error *err);

void hc_run_finish(struct hc_run *r);

#endif
