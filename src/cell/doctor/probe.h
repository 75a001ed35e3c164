/* probe.h - try features of this kernel as this user, one at a time, where they do no harm: in a child
 * process that ends with the attempt, in namespaces of its own. Version numbers are not used. All return
 * 0, or -1 with the reason; err->sys is the errno of the refused call. */
#ifndef HC_CELL_DOCTOR_PROBE_H
#define HC_CELL_DOCTOR_PROBE_H

#include "base/buf.h"
#include "cell/cgroup.h"
#include "cell/ids.h"

#include <stdint.h>

/* Make a user namespace with the id maps of a cell, and use a capability in it. */
int hc_probe_userns(const struct hc_ids *ids, struct hc_error *err);

/* Make one more namespace (CLONE_NEW*) inside a new user namespace. */
int hc_probe_namespace(const struct hc_ids *ids, uint64_t flag, struct hc_error *err);

/* Make the mounts of a cell's root: a new tmpfs with a size limit, clones of mounts, their attributes. Mount
 * a /proc of a new pid namespace. Exchange the root with pivot_root. */
int hc_probe_mounts(const struct hc_ids *ids, struct hc_error *err);
int hc_probe_proc(const struct hc_ids *ids, struct hc_error *err);
int hc_probe_pivot_root(const struct hc_ids *ids, struct hc_error *err);

/* Check that the host's device nodes are the right ones, and can be mounted in a cell. */
int hc_probe_devices(const struct hc_ids *ids, struct hc_error *err);

/* Make an idmapped mount of a directory. Root only. */
int hc_probe_idmap(const char *dir, const struct hc_ids *ids, struct hc_error *err);

/* Load a compiled filter, struct sock_filter[], that refuses unshare, and check that unshare is refused. Make
 * a filter with a listener. Use core scheduling. */
int hc_probe_filter(const struct hc_buf *bpf, struct hc_error *err);
int hc_probe_notification(struct hc_error *err);
int hc_probe_cores(struct hc_error *err);

/* Apply a Landlock ruleset that refuses to read a file, and check that reading is refused. `*abi` gets the
 * kernel's Landlock ABI. */
int hc_probe_landlock(int *abi, struct hc_error *err);

/* Call openat2(2); call close_range(2). */
int hc_probe_openat2(struct hc_error *err);
int hc_probe_close_range(struct hc_error *err);

/* Start, kill and wait for a process by its pidfd. */
int hc_probe_pidfd(struct hc_error *err);

/* Read the list of a thread's children in /proc, by which a cell without a cgroup is watched. */
int hc_probe_children(struct hc_error *err);

/* Start a process in a leaf below `parent` with these limits, and kill and remove the leaf. `*has_kill`:
 * the kernel has cgroup.kill. */
int hc_probe_cgroup(const struct hc_cgroup_parent *parent, const struct hc_limits *limits, bool *has_kill,
                    struct hc_error *err);

#endif
