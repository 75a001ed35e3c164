/* cgroup.h - one cgroup v2 directory per cell: create, limit, account, kill, remove. Kernel documentation:
 * Documentation/admin-guide/cgroup-v2.rst. */
#ifndef HC_CELL_CGROUP_H
#define HC_CELL_CGROUP_H

#include "base/error.h"
#include "spec/policy.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A place below which cells get their leaves, with the controllers that those leaves have. */
struct hc_cgroup_parent {
    int fd; /* owned */
    char path[PATH_MAX];
    bool memory, pids, cpu;
};

/* $HOTCELL_CGROUP; as root "hotcell" at the top of the hierarchy; else what is delegated to us around our own
 * cgroup. -1 with the reason and what to do about it if no place with the memory and pids controllers can be
 * had. */
int hc_cgroup_find(struct hc_cgroup_parent *out, struct hc_error *err);
void hc_cgroup_parent_finish(struct hc_cgroup_parent *p);

/* A leaf, held by a lock on its directory for as long as this struct lives. */
struct hc_cgroup {
    int parent_fd; /* borrowed from the parent */
    int fd;        /* owned; -1: none */
    char name[96];
    bool cpu;
};

int hc_cgroup_create(struct hc_cgroup *cg, const struct hc_cgroup_parent *parent, const char *job_id,
                     struct hc_error *err);
int hc_cgroup_limit(struct hc_cgroup *cg, const struct hc_limits *l,
                    struct hc_error *err); /* and reads back */
bool hc_cgroup_holds(const struct hc_cgroup *cg, pid_t pid);

struct hc_cgroup_usage {
    int64_t cpu_user_us, cpu_system_us, memory_peak, pids_peak; /* -1: this kernel does not tell */
    int64_t oom_kills, pids_refused;
};
void hc_cgroup_usage(const struct hc_cgroup *cg, struct hc_cgroup_usage *out);

void hc_cgroup_kill(const struct hc_cgroup *cg);
int hc_cgroup_wait_empty(const struct hc_cgroup *cg,
                         struct hc_error *err); /* until populated 0, at most 10 s */
void hc_cgroup_remove(struct hc_cgroup *cg);    /* and closes; fine on a leaf that was never created */

/* Remove leaves that no launcher holds any more. Returns how many. */
int hc_cgroup_reap(const struct hc_cgroup_parent *parent);

#endif
