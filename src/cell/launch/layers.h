/* layers.h - which layers of isolation are on, each with the evidence that was read back. A layer that cannot
 * be proven is a failed launch. */
#ifndef HC_CELL_LAUNCH_LAYERS_H
#define HC_CELL_LAUNCH_LAYERS_H

#include "cell/cgroup.h"
#include "cell/ids.h"
#include "inside/plan.h"
#include "manifest/manifest.h"

/* The namespaces of a process, of the clocks those of its children; in the order of the rows. ENOENT: it has
 * ended. */
#define HC_NAMESPACES 8
struct hc_namespaces {
    ino_t inodes[HC_NAMESPACES];
};
int hc_namespaces_look(pid_t pid, struct hc_namespaces *out, struct hc_error *err);

/* As in /proc/PID/ns, of the first that both have; NULL: they have none in common. */
const char *hc_namespaces_common(const struct hc_namespaces *a, const struct hc_namespaces *b);

/* Check the child from outside (its namespaces and maps, by its host pid) and what it says of itself, and
 * write the rows. Called before the shim runs anything. `seen`: its namespaces, if the caller has looked
 * since the child could last leave one; NULL. */
int hc_layers_check(struct hc_manifest *m, const struct hc_plan *plan, const struct hc_facts *f, pid_t pid,
                    const struct hc_namespaces *seen, const struct hc_cgroup *cgroup, const char *no_cgroup,
                    struct hc_error *err);

/* The row of the job's own filter, known only once the interpreter is ready. */
void hc_layers_job_filter(struct hc_manifest *m, const char *evidence);

#endif
