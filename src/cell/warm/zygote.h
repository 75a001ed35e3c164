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
#ifndef HC_CELL_WARM_ZYGOTE_H
#define HC_CELL_WARM_ZYGOTE_H

#include "cell/launch/parked.h"
#include "policy/policy.h"

#include <stdint.h>

struct hc_zygote;

/* Start one; it takes as long as its imports do. The policy and `tenant`, which may be NULL, are lent for as
 * long as the zygote lives; `weight` is as in struct hc_run. HC_EXIT_UNAVAILABLE where warm cells cannot be
 * had; HC_EXIT_CONFIG if what the policy has it do fails. */
int hc_zygote_start(struct hc_zygote **out, const struct hc_policy *policy, const char *tenant,
                    int64_t weight, struct hc_error *err);

/* From here on the tenant has this weight, if it had one at the start. */
int hc_zygote_weigh(struct hc_zygote *z, int64_t weight, struct hc_error *err);

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

#endif
