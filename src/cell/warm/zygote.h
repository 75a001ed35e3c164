/* zygote.h - warm cells: an interpreter with its policy's libraries loaded, and cells made of copies of
 * it, which wait for a job.
 *
 * A zygote belongs to one policy, and never sees a job's data. Each of its cells is for one
 * job: it has namespaces of its own, as root a uid of its own on the host, and all limits, rules and
 * filters of a cold cell before it gets the job's data. Where there are cgroups it has one of its own;
 * memory shared with the zygote stays charged to the zygote's cgroup. Options that only the launcher
 * enforces may differ from job to job; a job with other options does not fit (hc_parked_fits), and is run
 * in a cold cell.
 *
 * When a zygote ends, all of its cells end, even those that run a job: stop it only when they have ended.
 * When the process that started it ends, so does the zygote. */
#ifndef HC_CELL_WARM_ZYGOTE_H
#define HC_CELL_WARM_ZYGOTE_H

#include "cell/launch/parked.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_zygote;

/* Start a zygote for one rung of the policy's ladder (ladder.h), and wait for its imports. The policy is
 * borrowed for as long as the zygote lives. HC_EXIT_UNAVAILABLE where warm cells cannot be made;
 * HC_EXIT_CONFIG if the policy's imports or prelude fail. */
#define HC_ZYGOTE_TOP SIZE_MAX /* the highest rung */
int hc_zygote_start(struct hc_zygote **out, const struct hc_policy *policy, size_t rung,
                    struct hc_error *err);

/* The jobs that a cell is made for: those of one tenant. */
struct hc_zygote_heir {
    const char *key;       /* hc_warm_key of the zygote's policy and this tenant; borrowed */
    struct hc_share share; /* the cell's cgroup is made in this tenant's; weight 0: in the common place */
};

/* Have the zygote make a cell for `heir` (NULL: for jobs without a tenant), which the caller finishes
 * (hc_parked_finish). If the zygote has died, all later calls fail, too: start another zygote. */
int hc_zygote_park(struct hc_zygote *z, const struct hc_zygote_heir *heir, struct hc_parked *out,
                   struct hc_error *err);

/* Why the policy's warm.sample failed, in the words of its own code; "": it did not, or there is none.
 * Borrowed. */
const char *hc_zygote_sample(const struct hc_zygote *z);

/* May it make one more cell now? As root, each living one has a uid of the zygote's block. To be asked before
 * hc_zygote_park. */
bool hc_zygote_has_room(struct hc_zygote *z);

/* Number of cells that the zygote has made: zygotes are replaced now and then, since their cells share an
 * address layout. */
int hc_zygote_made(const struct hc_zygote *z);

/* The zygote's tree, as the policy names it, and the IDs of the tree and of its layers; borrowed. Returns the
 * number of IDs. */
size_t hc_zygote_trees(const struct hc_zygote *z, const char **name, const char *ids[HC_MAX_TREE_LAYERS + 1]);

/* A pidfd that is readable when the zygote has died; borrowed. */
int hc_zygote_pidfd(const struct hc_zygote *z);

/* Kill the zygote with all of its cells, and free it. NULL is fine. */
void hc_zygote_stop(struct hc_zygote *z);

#endif
