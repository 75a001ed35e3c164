/* cgroup.h - one cgroup v2 directory per cell: find a place for it, create, limit, account, kill, remove.
 * Kernel documentation: Documentation/admin-guide/cgroup-v2.rst. */
#ifndef HC_CELL_CGROUP_H
#define HC_CELL_CGROUP_H

#include "base/error.h"
#include "policy/options.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- the place (cgroup_place.c) ---- */

/* Below it cells get their leaves, with the controllers that these leaves have. */
struct hc_cgroup_parent {
    int fd; /* owned */
    char path[PATH_MAX];
    bool memory, pids, cpu, io;
};

/* $HOTCELL_CGROUP; as root "hotcell" at the top of the hierarchy; else what is delegated to us around our own
 * cgroup; else, where the user has a service manager, and it may be asked (`ask`), a scope of its, which we
 * are in afterwards. -1 with the reason and what to do about it if no place with the memory and pids
 * controllers can be had; HC_EXIT_CONFIG if it was HOTCELL_CGROUP that named one which will not do. */
int hc_cgroup_find(struct hc_cgroup_parent *out, bool ask, struct hc_error *err);
void hc_cgroup_parent_finish(struct hc_cgroup_parent *p);

/* From there to the place of one tenant below it, which has `weight` (1 to 10000) of the processors beside
 * other tenants, where there is the controller for it. It stays for as long as `p` does, or a leaf in it. A
 * later weight holds from then on. (cgroup_tenant.c) */
struct hc_share {
    const char *tenant; /* lent */
    int64_t weight;
};
int hc_cgroup_enter_tenant(struct hc_cgroup_parent *p, const struct hc_share *share, struct hc_error *err);
int hc_cgroup_weigh(const struct hc_cgroup_parent *tenant, int64_t weight, struct hc_error *err);

/* hc_cgroup_reap there and in the places of all tenants, of which those that nobody uses go. Returns how many
 * leaves it were. */
int hc_cgroup_reap_all(const struct hc_cgroup_parent *parent);

/* Give children of this directory the controllers that it can give, and see which they have; -1: without
 * those for memory and processes. (cgroup_place.c) */
int hc_cgroup_divide(struct hc_cgroup_parent *p);

/* Have the user's service manager put this process into a scope of its own, delegated to it. Takes 5 seconds
 * at most. (cgroup_scope.c) */
#define HC_SCOPE_PREFIX "hotcell-"
int hc_cgroup_enter_scope(struct hc_error *err);

/* ---- the leaf (cgroup.c) ---- */

/* Held by a lock on its directory for as long as this struct lives. One leaf, one job: kernels before 6.1.192
 * and 6.12.102 kill at once what is cloned into a cgroup that was ever killed. */
struct hc_cgroup {
    int parent_fd; /* borrowed from the parent; -1: found when it is needed */
    int fd;        /* owned; -1: none */
    char name[96];
    bool cpu, io;
};

int hc_cgroup_create(struct hc_cgroup *cg, const struct hc_cgroup_parent *parent, const char *job_id,
                     struct hc_error *err);

/* Of a limit whose file needs a controller that not every place has: this controller; else NULL. Such a limit
 * asks for nothing at its default, which is the kernel's. */
const char *hc_cgroup_optional(const struct hc_option *opt);
bool hc_cgroup_asked(const struct hc_limits *l, const struct hc_option *opt); /* is there a file to write? */
bool hc_cgroup_can(const struct hc_cgroup *cg, const struct hc_option *opt);  /* does the leaf have it? */

/* Writes each limit that has a file of its own (limits.def) and reads it back. Those that need a controller
 * which the leaf does not have are left out: the caller asks hc_cgroup_can. */
int hc_cgroup_limit(struct hc_cgroup *cg, const struct hc_limits *l, struct hc_error *err);

/* Out of memory, the kernel shall end one process, not all: of a session, the run. */
int hc_cgroup_spare(struct hc_cgroup *cg, struct hc_error *err);
bool hc_cgroup_holds(const struct hc_cgroup *cg, pid_t pid);
bool hc_cgroup_frozen(const struct hc_cgroup *cg);

/* Have a process go on in it, with all of its threads. What memory it has already stays with where it was. */
int hc_cgroup_put(const struct hc_cgroup *cg, pid_t pid, struct hc_error *err);

/* Why clone3 could not start a process in the leaf, if that is the leaf's fault; NULL: it is not. */
const char *hc_cgroup_clone_refusal(const struct hc_cgroup *cg, int error);

void hc_cgroup_kill(const struct hc_cgroup *cg);
int hc_cgroup_wait_empty(const struct hc_cgroup *cg,
                         struct hc_error *err); /* until populated 0, at most 10 s */
void hc_cgroup_remove(struct hc_cgroup *cg);    /* and closes; fine on a leaf that was never created */

/* Remove leaves that no launcher holds any more. Returns how many. */
int hc_cgroup_reap(const struct hc_cgroup_parent *parent);

/* ---- the soft mark on memory (cgroup_soft.c) ---- */

/* Set memory.high. `events`, owned by the caller, has EPOLLPRI when there is reason to ask whether the mark
 * is reached. */
int hc_cgroup_soft_begin(const struct hc_cgroup *cg, int64_t mark, int *events, struct hc_error *err);
bool hc_cgroup_soft_reached(const struct hc_cgroup *cg, int events, int64_t mark);
void hc_cgroup_soft_lift(const struct hc_cgroup *cg); /* or the kernel slows the cell down */

/* ---- input and output (cgroup_io.c) ---- */

#define HC_CGROUP_DISKS 8

/* Whole disks, as io.max wants them. */
struct hc_cgroup_disks {
    dev_t list[HC_CGROUP_DISKS];
    size_t count;
};

/* Add the disk on which an open file lies. False if there is none that could be told: file systems in memory
 * and on the network have no disk, and some spread over several. */
bool hc_cgroup_disk_of(struct hc_cgroup_disks *disks, int fd);
bool hc_cgroup_asks_io(const struct hc_limits *l); /* for anything in io.max? */
int hc_cgroup_limit_io(const struct hc_cgroup *cg, const struct hc_limits *l,
                       const struct hc_cgroup_disks *disks, struct hc_error *err);

/* ---- the account (cgroup_usage.c) ---- */

/* -1: this kernel does not tell, or the controller is not there. Times in microseconds. */
struct hc_cgroup_usage {
    int64_t cpu_user_us, cpu_system_us, cpu_throttled_us;
    int64_t memory_peak, pids_peak;
    int64_t oom_kills, pids_refused;
    int64_t memory_max_hits, memory_high_hits;
    int64_t read_bytes, written_bytes, reads, writes;
    struct hc_pressure {
        int64_t some_us, full_us;
    } memory_pressure, cpu_pressure, io_pressure;
};
void hc_cgroup_usage(const struct hc_cgroup *cg,
                     struct hc_cgroup_usage *out);    /* all of it: once, at the end */
int64_t hc_cgroup_cpu_us(const struct hc_cgroup *cg); /* user and system */
void hc_cgroup_now(const struct hc_cgroup *cg, int64_t *memory, int64_t *pids);

#endif
