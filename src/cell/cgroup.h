/* cgroup.h - one cgroup v2 directory per cell: find a place for it, create, limit, account, kill, remove.
 * Kernel documentation: Documentation/admin-guide/cgroup-v2.rst. */
#ifndef HC_CELL_CGROUP_H
#define HC_CELL_CGROUP_H

#include "base/error.h"
#include "manifest/usage.h"
#include "policy/options.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- the place (cgroup_place.c) ---- */

/* The directory in which each cell gets its own cgroup (a leaf), and the controllers that these leaves
 * have. */
struct hc_cgroup_parent {
    int fd;                     /* descriptor of the directory, owned */
    char path[PATH_MAX];        /* absolute path of the directory */
    bool memory, pids, cpu, io; /* the leaves have this controller */
};

/* Find the place for cells and fill `out`, which the caller finishes. The first of these that exists: the
 * directory that $HOTCELL_CGROUP names; for root "hotcell" at the top of the hierarchy; the delegated part
 * of the hierarchy around the caller's own cgroup; with `ask`, a new scope from the user's service
 * manager, into which the calling process moves. -1 if no place with the memory and pids controllers can
 * be had: the error says why and what to do; HC_EXIT_CONFIG if HOTCELL_CGROUP names an unusable place. */
int hc_cgroup_find(struct hc_cgroup_parent *out, bool ask, struct hc_error *err);
void hc_cgroup_parent_finish(struct hc_cgroup_parent *p);

/* One tenant's share of the host. hc_cgroup_enter_tenant turns `p`, the place for all cells, into the
 * tenant's own directory below it; the directory stays for as long as `p` or a leaf in it exists.
 * hc_cgroup_weigh changes the weight of a tenant's directory. (cgroup_tenant.c) */
struct hc_share {
    const char *tenant; /* name of the tenant; borrowed; NULL: the job has none */
    int64_t weight;     /* share of the processors beside other tenants, 1 to 10000; unused without cpu */
};
int hc_cgroup_enter_tenant(struct hc_cgroup_parent *p, const struct hc_share *share, struct hc_error *err);
int hc_cgroup_weigh(const struct hc_cgroup_parent *tenant, int64_t weight, struct hc_error *err);

/* Call hc_cgroup_reap for this directory and for those of all tenants, and remove the tenants' directories
 * that no process uses. Returns the number of leaves removed. */
int hc_cgroup_reap_all(const struct hc_cgroup_parent *parent);

/* Enable in this directory's children all controllers that it has, and note in `p` which the children got.
 * -1 if memory or pids is missing. (cgroup_place.c) */
int hc_cgroup_divide(struct hc_cgroup_parent *p);

/* Ask the user's service manager to move this process into a scope of its own whose cgroup is delegated to
 * the process. Waits 5 seconds at most. (cgroup_scope.c) */
#define HC_SCOPE_PREFIX "hotcell-" /* begins the scope's name */
int hc_cgroup_enter_scope(struct hc_error *err);

/* ---- the leaf (cgroup.c) ---- */

/* A cell's own cgroup. A lock on the directory says that it is in use, for as long as this struct lives.
 * Each job gets a new leaf: kernels before 6.1.192 and 6.12.102 kill at once any process that is cloned
 * into a cgroup that was ever killed. */
struct hc_cgroup {
    int parent_fd; /* the hc_cgroup_parent's, borrowed; -1: looked up when it is needed */
    int fd;        /* descriptor of the leaf's directory, owned; -1: there is no leaf */
    char name[96]; /* name of the directory in its parent */
    bool cpu, io;  /* whether the leaf has these controllers */
};

/* Make and lock a leaf in `parent`, whose name has the job's ID in it. */
int hc_cgroup_create(struct hc_cgroup *cg, const struct hc_cgroup_parent *parent, const char *job_id,
                     struct hc_error *err);

/* The name of the controller that a limit's file needs, if the controller is optional (not every place for
 * cells has it); else NULL. At its default, which is the kernel's own, such a limit needs no controller. */
const char *hc_cgroup_optional(const struct hc_option *opt);

/* Must the limit's file be written? Not if the limit has no file, or if the file's controller is optional and
 * the limit is at the kernel's default. Does the leaf have the controller of the limit's file? */
bool hc_cgroup_asked(const struct hc_limits *l, const struct hc_option *opt);
bool hc_cgroup_can(const struct hc_cgroup *cg, const struct hc_option *opt);

/* Writes each limit that has a file of its own (limits.def) and reads it back. Those that need a controller
 * which the leaf does not have are left out: the caller asks hc_cgroup_can. */
int hc_cgroup_limit(struct hc_cgroup *cg, const struct hc_limits *l, struct hc_error *err);

/* When memory runs out, let the kernel kill one process instead of all: in a session, the current run. */
int hc_cgroup_oom_kill_one(struct hc_cgroup *cg, struct hc_error *err);

bool hc_cgroup_holds(const struct hc_cgroup *cg, pid_t pid); /* is the process in the leaf? */
bool hc_cgroup_frozen(const struct hc_cgroup *cg);           /* are its processes frozen? */

/* Move a process with all of its threads into the leaf. Memory that the process has already stays charged
 * to its old cgroup. */
int hc_cgroup_move_process(const struct hc_cgroup *cg, pid_t pid, struct hc_error *err);

/* Why clone3 failed with `error`, if the leaf is the reason, as a static text; else NULL. */
const char *hc_cgroup_clone_refusal(const struct hc_cgroup *cg, int error);

/* Kill all processes of the leaf; wait at most 10 s until cgroup.events says "populated 0"; remove the leaf
 * and close its descriptors. The last does nothing if the leaf was never created. */
void hc_cgroup_kill(const struct hc_cgroup *cg);
int hc_cgroup_wait_empty(const struct hc_cgroup *cg, struct hc_error *err);
void hc_cgroup_remove(struct hc_cgroup *cg);

/* Remove the leaves whose launcher has ended. Returns the number of leaves removed. */
int hc_cgroup_reap(const struct hc_cgroup_parent *parent);

/* ---- the soft mark on memory (cgroup_soft.c) ---- */

/* Set memory.high to `mark` bytes. `*events` gets a descriptor, owned by the caller, on which epoll reports
 * EPOLLPRI each time that hc_cgroup_soft_reached should be called, which says whether the cell has reached
 * the mark. hc_cgroup_soft_lift removes memory.high, above which the kernel slows the cell down. */
int hc_cgroup_soft_begin(const struct hc_cgroup *cg, int64_t mark, int *events, struct hc_error *err);
bool hc_cgroup_soft_reached(const struct hc_cgroup *cg, int events, int64_t mark);
void hc_cgroup_soft_lift(const struct hc_cgroup *cg);

/* ---- input and output (cgroup_io.c) ---- */

#define HC_CGROUP_DISKS 8 /* most disks whose use a cell's cgroup limits */

/* Whole disks (no partitions), as io.max names them. */
struct hc_cgroup_disks {
    dev_t list[HC_CGROUP_DISKS]; /* their numbers */
    size_t count;                /* used entries of `list` */
};

/* Add the disk on which the open file `fd` lies. False if no single disk can be named: file systems in
 * memory and on the network have no disk, and some use several. */
bool hc_cgroup_disk_of(struct hc_cgroup_disks *disks, int fd);

/* Is one of the limits that io.max holds set? Write these limits for each of the disks. */
bool hc_cgroup_asks_io(const struct hc_limits *l);
int hc_cgroup_limit_io(const struct hc_cgroup *cg, const struct hc_limits *l,
                       const struct hc_cgroup_disks *disks, struct hc_error *err);

/* ---- what the cell used (cgroup_usage.c) ---- */

/* What a leaf's processes used. A number is -1 if the kernel does not report it or the controller is
 * missing. */
struct hc_cgroup_usage {
    struct hc_job_usage of_cell;     /* the numbers whose rows in usage.def name a file of the cgroup */
    int64_t oom_kills, pids_refused; /* processes killed as memory ran out; forks refused */
};

/* Fill `out`. It reads many files of the cgroup: call it once, at the cell's end. */
void hc_cgroup_usage(const struct hc_cgroup *cg, struct hc_cgroup_usage *out);

/* CPU time of the leaf's processes, user and system time together, in microseconds; -1: unknown. */
int64_t hc_cgroup_cpu_us(const struct hc_cgroup *cg);

/* What the leaf holds now: memory in bytes; number of processes and threads together; -1: unknown. */
void hc_cgroup_now(const struct hc_cgroup *cg, int64_t *memory, int64_t *pids);

#endif
