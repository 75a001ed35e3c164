/* layers.h - which layers of isolation are on, each with the evidence that was read back. A layer that cannot
 * be proven is a failed launch. */
#ifndef HC_CELL_LAYERS_H
#define HC_CELL_LAYERS_H

#include "cell/cgroup.h"
#include "cell/ids.h"
#include "inside/plan.h"
#include "spec/manifest.h"

/* Check the child from outside (its namespaces and maps, by its host pid) and what it says of itself, and
 * write the rows. Called before the shim runs anything. */
int hc_layers_check(struct hc_manifest *m, const struct hc_plan *plan, const struct hc_facts *f, pid_t pid,
                    const struct hc_cgroup *cgroup, const char *no_cgroup, struct hc_error *err);

/* The row of the job's own filter, known only once the interpreter is ready. */
void hc_layers_job_filter(struct hc_manifest *m, const char *evidence);

#endif
