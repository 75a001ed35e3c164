/* parked.h - a cell that waits for a job: for which jobs it is, and how it changes hands. Zygotes make them
 * (zygote.h); hc_run and hc_session_start run a job in one. */
#ifndef HC_CELL_LAUNCH_PARKED_H
#define HC_CELL_LAUNCH_PARKED_H

#include "base/hash.h"
#include "cell/cgroup.h"
#include "cell/launch/layers.h"
#include "inside/plan.h"
#include "job/job.h"

#include <stdbool.h>
#include <stdint.h>

/* A cell that waits for a job. Plain data and descriptors, so that it can be handed to another process of the
 * same user (hc_parked_send), which then runs the job; the zygote's process must live on meanwhile. */
enum hc_parked_fd {
    HC_PARKED_PIDFD,
    HC_PARKED_STDOUT,
    HC_PARKED_STDERR,
    HC_PARKED_CONTROL,
    HC_PARKED_STATUS,
    HC_PARKED_OUTPUT,
    HC_PARKED_TMP,
    HC_PARKED_INPUT,
    HC_PARKED_FDS
};
struct hc_parked {
    char key[HC_SHA256_HEX];  /* hc_warm_key: for which jobs it is */
    char tree[HC_SHA256_HEX]; /* ID of its tree */
    int64_t tree_checked;     /* enum hc_tree_check: when its zygote started */
    uid_t uid;                /* on the host */
    gid_t gid;
    pid_t pid;   /* first process of the cell, as the host numbers it */
    int filters; /* seccomp filters that its zygote is under */
    int64_t born_us;
    struct hc_facts facts;
    struct hc_namespaces namespaces; /* of the first process, as seen when it was made; it can leave none */
    int fds[HC_PARKED_FDS];          /* owned */
    struct hc_cgroup cgroup; /* owned, fd -1: none; limits stand there since before the cell was in it */
    bool io;                 /* limits of io among them */
    char no_cgroup[200];     /* why there is none */
};

/* What a policy and a tenant come to for a parked cell, without what the launcher alone sees to. */
int hc_warm_key(const struct hc_policy *policy, const char *tenant, char key[HC_SHA256_HEX],
                struct hc_error *err);

/* May this job, under its effective policy, run in it? If not, `why` says why, in a word or two, and it is
 * run cold. `key` is what both come to, if that is known already (NULL: it is not). */
bool hc_parked_fits(const struct hc_parked *p, const struct hc_job *job, const struct hc_policy *policy,
                    const char *key, const char **why);

/* Does it still wait? */
bool hc_parked_alive(const struct hc_parked *p);

/* Over a SOCK_SEQPACKET socket, from one process of ours to another. The sender's copy is finished by its
 * owner. */
int hc_parked_send(int socket, const struct hc_parked *p, struct hc_error *err);
int hc_parked_receive(int socket, struct hc_parked *out, struct hc_error *err); /* 1: end of file */

/* An empty one owns nothing. A cell that was not given to hc_run ends with this. */
void hc_parked_init(struct hc_parked *p);
void hc_parked_finish(struct hc_parked *p);

#endif
