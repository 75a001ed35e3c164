/* layers.h - which layers of isolation are on, each with the evidence that was read back. A layer that cannot
 * be proven is a failed launch. */
#ifndef HC_CELL_LAUNCH_LAYERS_H
#define HC_CELL_LAUNCH_LAYERS_H

#include "cell/cgroup.h"
#include "cell/ids.h"
#include "inside/plan.h"
#include "manifest/manifest.h"

#define HC_NAMESPACES 8 /* number of a process's namespaces that are compared */

/* The namespaces of a process; the time namespace is that of its children. hc_namespaces_read fails with
 * ENOENT in err->sys if the process has ended. */
struct hc_namespaces {
    ino_t inodes[HC_NAMESPACES]; /* inode numbers of the links in /proc/PID/ns, in the order of layers.c */
};
int hc_namespaces_read(pid_t pid, struct hc_namespaces *out, struct hc_error *err);

/* The inode number of the network namespace. */
ino_t hc_namespaces_network(const struct hc_namespaces *of);

/* The name, as in /proc/PID/ns, of the first namespace that both processes are in; NULL: they share none. */
const char *hc_namespaces_common(const struct hc_namespaces *a, const struct hc_namespaces *b);

/* Check the cell's first process from outside (its namespaces and id maps, by its host pid), and the facts
 * `f` that it reported, and add a row per layer to the manifest. Called before the shim runs guest code.
 * `seen`: its namespaces, if the caller has read them since the process could last leave one; else NULL. */
int hc_layers_check(struct hc_manifest *m, const struct hc_plan *plan, const struct hc_facts *f, pid_t pid,
                    const struct hc_namespaces *seen, const struct hc_cgroup *cgroup, const char *no_cgroup,
                    struct hc_error *err);

/* Add the row of the job's own filter, whose evidence is known only once the interpreter is ready. */
void hc_layers_job_filter(struct hc_manifest *m, const char *evidence);

#endif
