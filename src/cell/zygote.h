/* zygote.h - warm cells: an interpreter with its policy's libraries loaded, and cells made of copies of it,
 * which wait for a job.
 *
 * A zygote belongs to one policy and one tenant, and knows no job. Each of its cells is for one job: it has
 * namespaces of its own, as root a uid of its own on the host, and is under the limits, rules and filters of
 * a cold cell before the job's data comes near it, those of its own cgroup included, where there are cgroups:
 * what it has of the zygote's memory is counted there, its own from its birth on. What hangs on the launcher
 * alone may differ from job to job; a job that asks for anything else is not for these cells
 * (hc_parked_fits), and is run in a cold one.
 *
 * When a zygote ends, so do all of its cells, those that run a job included: end it when they have ended.
 * When the process that started it ends, so does the zygote. */
#ifndef HC_CELL_ZYGOTE_H
#define HC_CELL_ZYGOTE_H

#include "cell/ids.h"
#include "base/hash.h"
#include "cell/cgroup.h"
#include "cell/layers.h"
#include "inside/plan.h"
#include "spec/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_zygote;

/* Start one; it takes as long as its imports do. The policy and `tenant`, which may be NULL, are lent for as
 * long as the zygote lives; `weight` is as in struct hc_run. HC_EXIT_UNAVAILABLE where warm cells cannot be
 * had; HC_EXIT_CONFIG if what the policy has it do fails. */
int hc_zygote_start(struct hc_zygote **out, const struct hc_policy *policy, const char *tenant,
                    int64_t weight, struct hc_error *err);

/* From here on the tenant has this weight, if it had one at the start. */
int hc_zygote_weigh(struct hc_zygote *z, int64_t weight, struct hc_error *err);

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

/* Have the zygote make one. If the zygote has died, every later call fails, too: start another. */
int hc_zygote_park(struct hc_zygote *z, struct hc_parked *out, struct hc_error *err);

/* How many cells it has made: zygotes are replaced now and then, since their cells share an address layout.
 */
int hc_zygote_made(const struct hc_zygote *z);

/* The ID of its tree. */
const char *hc_zygote_tree(const struct hc_zygote *z);

/* Readable when the zygote has died; borrowed. */
int hc_zygote_pidfd(const struct hc_zygote *z);

/* Kill it, with all of its cells. NULL is fine. */
void hc_zygote_stop(struct hc_zygote *z);

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
