/* parked.h - a cell that waits for a job: which jobs may use it, and how it is sent to another process.
 * Zygotes make such cells (zygote.h); hc_run and hc_session_start run a job in one. */
#ifndef HC_CELL_LAUNCH_PARKED_H
#define HC_CELL_LAUNCH_PARKED_H

#include "base/hash.h"
#include "cell/cgroup.h"
#include "cell/launch/layers.h"
#include "inside/plan.h"
#include "job/job.h"

#include <stdbool.h>
#include <stdint.h>

/* Indexes of hc_parked.fds; the channels are the launcher's ends. */
enum hc_parked_fd {
    HC_PARKED_PIDFD,   /* the cell's first process */
    HC_PARKED_STDOUT,  /* pipe, its end for reading */
    HC_PARKED_STDERR,  /* pipe, its end for reading */
    HC_PARKED_CONTROL, /* socket for frames (wire/frame.h) */
    HC_PARKED_STATUS,  /* socket for reports of the first process */
    HC_PARKED_OUTPUT,  /* root of the cell's /output */
    HC_PARKED_TMP,     /* root of its /tmp */
    HC_PARKED_INPUT,   /* root of its /input, which can be written through this descriptor only */
    HC_PARKED_FDS
};

/* A cell that waits for a job. Plain data and descriptors, so that it can be handed to another process of the
 * same user, which then runs the job; the zygote's process must live on meanwhile. */
struct hc_parked {
    char key[HC_SHA256_HEX];               /* hc_warm_key of the jobs that may use the cell */
    char tree[HC_SHA256_HEX];              /* ID of the cell's tree */
    struct hc_manifest_layers tree_layers; /* layers of its tree */
    int64_t program_bytes;                 /* bytes of the files of tree, layers and shim; -1: unknown */
    int64_t tree_checked;                  /* enum hc_tree_check: the check made when its zygote started */
    uid_t uid;                             /* uid of the cell's processes on the host */
    gid_t gid;                             /* gid of these processes on the host */
    pid_t pid;             /* first process of the cell, as the host numbers it; 0: there is no cell */
    int filters;           /* number of seccomp filters that its zygote is under */
    int64_t born_us;       /* time at which the cell was parked (CLOCK_MONOTONIC, us) */
    struct hc_facts facts; /* facts that the first process has sent about itself */
    struct hc_namespaces
        namespaces;         /* namespaces of the first process, read when it was made; it cannot leave them */
    int fds[HC_PARKED_FDS]; /* descriptors of the cell, by enum hc_parked_fd; owned; -1: not open */
    struct hc_cgroup cgroup; /* cgroup of the cell, with all limits set; owned; fd -1: none */
    bool io;                 /* the cgroup has the io.* limits (hc_cgroup_asks_io) */
    bool prepared;           /* hc_parked_prepare was called */
    char no_cgroup[200];     /* why the cell has no cgroup, for messages; empty: it has one */
};

/* Hash the parts of a policy, and the tenant, that a cell is built for: jobs with the same key can use the
 * same parked cell. Limits that the launcher alone enforces are left out. */
int hc_warm_key(const struct hc_policy *policy, const char *tenant, char key[HC_SHA256_HEX],
                struct hc_error *err);

/* Whether this job, under its effective policy, may run in the cell `p`. If not, `why` gets the reason in
 * a word or two, static. `key` is the hc_warm_key of job and policy; NULL: compute it. */
bool hc_parked_fits(const struct hc_parked *p, const struct hc_job *job, const struct hc_policy *policy,
                    const char *key, const char **why);

/* Have the cell copy the pages that jobs write to, which takes some milliseconds, so that its job need not.
 * It stops when its job comes. To be called where a processor would be idle. */
void hc_parked_prepare(struct hc_parked *p);

/* Whether the cell still waits: its first process lives, and its control channel is open. */
bool hc_parked_alive(const struct hc_parked *p);

/* hc_parked_init makes an empty struct that owns nothing. hc_parked_finish kills the cell, unless hc_run
 * has taken it over. */
void hc_parked_init(struct hc_parked *p);
void hc_parked_finish(struct hc_parked *p);

#endif
