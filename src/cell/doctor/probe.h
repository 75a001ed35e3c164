/* probe.h - what this kernel gives to this user, tried one thing at a time, each where it can break nothing:
 * in a child process that ends with the attempt, in namespaces of its own. Nothing is concluded from version
 * numbers. All return 0, or -1 with the reason; err->sys is the errno of the refused call. */
#ifndef HC_CELL_DOCTOR_PROBE_H
#define HC_CELL_DOCTOR_PROBE_H

#include "base/buf.h"
#include "cell/cgroup.h"
#include "cell/ids.h"

#include <stdint.h>

/* A user namespace whose ids are mapped as a cell's are, and capabilities in it that work. */
int hc_probe_userns(const struct hc_ids *ids, struct hc_error *err);

/* One more namespace (CLONE_NEW*) inside a new user namespace. */
int hc_probe_namespace(const struct hc_ids *ids, uint64_t flag, struct hc_error *err);

/* What a cell's root is made with: a new tmpfs with a ceiling, clones of mounts, their attributes. */
int hc_probe_mounts(const struct hc_ids *ids, struct hc_error *err);
int hc_probe_proc(const struct hc_ids *ids, struct hc_error *err);
int hc_probe_pivot_root(const struct hc_ids *ids, struct hc_error *err);

/* Device nodes are what they should be, and can be lent to a cell. */
int hc_probe_devices(const struct hc_ids *ids, struct hc_error *err);

/* An idmapped mount of a directory. Root only. */
int hc_probe_idmap(const char *dir, const struct hc_ids *ids, struct hc_error *err);

/* Load a compiled filter, struct sock_filter[], that refuses unshare, and be refused. */
int hc_probe_filter(const struct hc_buf *bpf, struct hc_error *err);
int hc_probe_notification(struct hc_error *err);
int hc_probe_cores(struct hc_error *err);

/* A Landlock ruleset that refuses to read a file, and be refused. `*abi` is the kernel's. */
int hc_probe_landlock(int *abi, struct hc_error *err);

int hc_probe_openat2(struct hc_error *err);
int hc_probe_close_range(struct hc_error *err);

/* A process that is started, ended and waited for by a descriptor. */
int hc_probe_pidfd(struct hc_error *err);

/* Children of a thread listed in /proc, which the watch over a cell without a cgroup walks along. */
int hc_probe_children(struct hc_error *err);

/* A process started in a leaf below `parent` that has these limits, ended with the leaf. The leaf is gone
 * afterwards. `*has_kill`: the kernel ends a whole cgroup at once. */
int hc_probe_cgroup(const struct hc_cgroup_parent *parent, const struct hc_limits *limits, bool *has_kill,
                    struct hc_error *err);

#endif
