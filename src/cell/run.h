/* run.h - one job: run it from a checked specification and policy to a filled manifest. */
#ifndef HC_CELL_RUN_H
#define HC_CELL_RUN_H

#include "cell/cgroup.h"
#include "cell/collect.h"
#include "cell/seccomp/learn.h"
#include "cell/supervise/figures.h"
#include "cell/volume.h"
#include "manifest/manifest.h"

#define HC_CANCEL_TEXT 400 /* most bytes of a reason that is read from cancel_fd */

struct hc_parked;

/* How the manifest is printed that no directory keeps. */
enum hc_printing {
    HC_PRINT_INDENTED, /* as in a file */
    HC_PRINT_PLAIN,    /* without indentation */
    HC_PRINT_NOTHING,  /* the manifest is not printed, as nobody reads it */
};

struct hc_run {
    const struct hc_job *job;       /* the job; borrowed */
    const struct hc_policy *policy; /* the effective policy, with the job's overrides; borrowed */
    int pass_stdout, pass_stderr; /* also write the guest's output to these as it comes, borrowed; -1: it goes
                                     only into the manifest */
    int cancel_fd;                /* readable: end the job; borrowed. -1: none */
    bool cancel_has_reason; /* cancel_fd is a socket; a sentence that can be read from it is the reason */
    int stdin_fd; /* the program's standard input as a stream of any kind, borrowed; 0: none. It is read by a
                     process of its own (launch/feed.c); its flags stay as they are */
    int tool_fd;  /* stream socket to the client that answers tools without a command, borrowed; 0: none */
    const char *default_dir; /* parent of the output directory if the job names none: "hotcell-output" */
    int default_at;          /* directory that default_dir is relative to, borrowed; 0: the current one */
    bool else_temporary;     /* if default_dir cannot be had, a temporary directory gets the results */
    /* The job's tenant and its weight; tenant NULL: the cgroup is made in the common place. */
    struct hc_share share;
    struct hc_parked *parked;  /* run the job in this cell (parked.h), which is used up even on failure; NULL:
                                  build a cell */
    const char *policy_hash;   /* hc_policy_hash, if the caller has it; else NULL */
    struct hc_policy *unnamed; /* the same as `policy`, if the job has not changed it and hc_policy_begin was
                                  not called for it, which is left to who writes the manifest; else NULL */
    const char *warm_key;      /* hc_warm_key of this job and policy, if the caller has it; else NULL */
    struct hc_figure_sink figure_sink; /* receives figures while the program runs */
    /* The open volumes of those directories of the job that are volumes, by the same index as job->dirs;
     * borrowed; NULL: no directory is a volume. */
    const struct hc_volume *volumes;
    bool shared;               /* the output directory's group may read the files that hotcell writes there */
    enum hc_printing printing; /* what hc_run_write_manifest does if no directory keeps the manifest */
    struct hc_learned *learned; /* filled if the policy learns; may be NULL */
    struct hc_dest dest;        /* filled; hc_run_finish closes it */
};

/* Run the job. 0: there is a result, whatever the guest did; it is in `m`. -1: the cell could not be built
 * or its results could not be kept (err; m->status is HC_STATUS_LAUNCH_FAILED). In both cases no process,
 * mount or cgroup of the cell is left. */
int hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);

/* Write manifest.json (and _sandbox_result.json) into the directory of the results. `key` as for
 * hc_manifest_print. `text` gets the manifest as printed. If the user named no directory and the job has
 * no results to keep, only `text` is filled, as r->printing says. */
int hc_run_write_manifest(struct hc_run *r, struct hc_manifest *m, const void *key, size_t key_len,
                          struct hc_buf *text, struct hc_error *err);

void hc_run_finish(struct hc_run *r); /* closes r->dest */

#endif
