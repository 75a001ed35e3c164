/* host_checks.h - private to the examination of a host (host.c): state that its checks share, and their
 * list. */
#ifndef HC_CELL_DOCTOR_HOST_CHECKS_H
#define HC_CELL_DOCTOR_HOST_CHECKS_H

#include "cell/cgroup.h"
#include "cell/host.h"
#include "cell/ids.h"
#include "policy/policy.h"

#include <limits.h>

/* Facts that checks establish, and that later checks need. */
enum {
    HC_HAS_ROOT = 1,    /* this process is root */
    HC_HAS_POLICY = 2,  /* the default policy loads */
    HC_HAS_IDS = 4,     /* there are ids for a cell */
    HC_HAS_USERNS = 8,  /* a user namespace can be made */
    HC_HAS_CGROUP = 16, /* there is a place for cgroups */
    HC_HAS_TREE = 32,   /* there is a tree */
    HC_HAS_STATE = 64,  /* there is a state directory */
};

struct hc_host {
    unsigned has;                   /* HC_HAS_* bits */
    struct hc_policy policy;        /* the default policy; valid with HC_HAS_POLICY */
    struct hc_ids ids;              /* ids on the host for the probes' cells; owned; valid with HC_HAS_IDS */
    struct hc_cgroup_parent parent; /* place for cgroups; valid with HC_HAS_CGROUP */
    char state[PATH_MAX];           /* path of the state directory, which need not exist */
    char tree[256]; /* an existing tree, the default policy's if possible; valid with HC_HAS_TREE */
};

/* Fills row->detail, and row->cost and row->mend where they differ from the table's. Returns the level. */
typedef enum hc_host_level hc_host_check_fn(struct hc_host *h, struct hc_host_row *row);

/* host_place.c: the policy, ids, directories, files, and a complete cell */
hc_host_check_fn hc_host_check_policy;
hc_host_check_fn hc_host_check_ids;
hc_host_check_fn hc_host_check_state;
hc_host_check_fn hc_host_check_idmap;
hc_host_check_fn hc_host_check_shim;
hc_host_check_fn hc_host_check_tree;
hc_host_check_fn hc_host_check_stamps;
hc_host_check_fn hc_host_check_cell;

/* host_kernel.c: features of the kernel that are present and allowed */
hc_host_check_fn hc_host_check_userns;
hc_host_check_fn hc_host_check_namespaces;
hc_host_check_fn hc_host_check_mounts;
hc_host_check_fn hc_host_check_proc;
hc_host_check_fn hc_host_check_pivot_root;
hc_host_check_fn hc_host_check_devices;
hc_host_check_fn hc_host_check_filter;
hc_host_check_fn hc_host_check_notification;
hc_host_check_fn hc_host_check_cores;
hc_host_check_fn hc_host_check_landlock;
hc_host_check_fn hc_host_check_calls;
hc_host_check_fn hc_host_check_children;

/* host_cgroup.c */
hc_host_check_fn hc_host_check_cgroup;
hc_host_check_fn hc_host_check_leaf;

/* ---- texts of the rows ---- */

#define HC_NO_CELLS "no cell can be built" /* a row's `cost` */

#define HC_MEND_CONTAINER                                                                                    \
    "hotcell itself runs under a seccomp filter, as in a container: start that with '--security-opt "        \
    "seccomp=unconfined' (a pod with 'seccompProfile: {type: Unconfined}'), or with a profile that allows "  \
    "clone3, unshare, seccomp and the mount calls; hotcell-hosts(7) names one"

/* Set row->detail, and return the level. */
enum hc_host_level hc_host_say(enum hc_host_level level, struct hc_host_row *row, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Append to row->detail, after the separator unless it is empty. */
void hc_host_add(struct hc_host_row *row, const char *separator, const char *text);
/* Set row->mend, the remedy. */
void hc_host_mend(struct hc_host_row *row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether this process is under a seccomp filter, as in most containers. */
bool hc_host_filtered(void);

/* Fill the row from a probe's result: `good` if rc is 0, else the error, at this level. If a filter or a
 * security module around this process explains the error, row->mend says so. */
enum hc_host_level hc_host_probed(int rc, const struct hc_error *err, enum hc_host_level level,
                                  struct hc_host_row *row, const char *good);

#endif
