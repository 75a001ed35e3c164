/* weak.h - switch layers of isolation off on purpose, so that tests can show that the other layers hold.
 *
 * Only in builds with -DHC_WEAK (make WEAK=1), which are for tests only: in other builds hc_weak() is
 * constant false, and the compiler drops the code that depends on it. In a weak build the environment
 * variable HC_WEAK_VARIABLE names the layers. The manifest of such a cell lists each as off; all other
 * layers are checked as always.
 *
 * The mount namespace cannot be switched off: the cell's root is made of mounts, which need it. */
#ifndef HC_INSIDE_WEAK_H
#define HC_INSIDE_WEAK_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum hc_weak_layer {
    HC_WEAK_USER_NAMESPACE = 1 << 0, /* the guest really is its host uid */
    HC_WEAK_PID_NAMESPACE =
        1 << 1, /* /proc is then the host's; a new one would not show the host's processes */
    HC_WEAK_NETWORK_NAMESPACE = 1 << 2, /* the cell has the host's network; likewise the next four */
    HC_WEAK_IPC_NAMESPACE = 1 << 3,
    HC_WEAK_UTS_NAMESPACE = 1 << 4,
    HC_WEAK_CGROUP_NAMESPACE = 1 << 5,
    HC_WEAK_TIME_NAMESPACE = 1 << 6,
    HC_WEAK_IDS = 1 << 7,             /* the guest is the launcher's uid, with its groups */
    HC_WEAK_CAPABILITIES = 1 << 8,    /* the guest has all capabilities, in the cell's user namespace */
    HC_WEAK_NO_NEW_PRIVS = 1 << 9,    /* only together with seccomp and landlock, which need it */
    HC_WEAK_READ_ONLY_TREE = 1 << 10, /* no mount is read-only */
    HC_WEAK_MOUNT_FLAGS = 1 << 11,    /* mounts lack noexec, nosymfollow, nodev, nosuid */
    HC_WEAK_PROC = 1 << 12,           /* there is a /proc, without subset=pid and hidepid */
    HC_WEAK_SECCOMP = 1 << 13,        /* no filter is installed */
    HC_WEAK_LANDLOCK = 1 << 14,       /* no Landlock rule is set */
    HC_WEAK_RLIMITS = 1 << 15,        /* no resource limit is set */
    HC_WEAK_CGROUP = 1 << 16,         /* the cell has no cgroup */
    HC_WEAK_GUARD = 1 << 17,          /* the guard is off */
    /* Tasks of the launcher, for which the manifest has no row: */
    HC_WEAK_WATCH = 1 << 18,      /* no memory is counted without a cgroup */
    HC_WEAK_COLLECTING = 1 << 19, /* collecting has no time limit */
    HC_WEAK_CHECKER = 1 << 20,    /* in a session, runs check their own programs */
};

#ifdef HC_WEAK

#define HC_WEAK_VARIABLE "HOTCELL_WITHOUT"

/* Whether one of these layers, bits of enum hc_weak_layer, is off. */
bool hc_weak(unsigned layers);

/* Whether the layer of this name in the manifest is off. */
bool hc_weak_named(const char *name);

/* Return flags of clone3, and of mount_setattr, without those of layers that are off. */
uint64_t hc_weak_clone_flags(uint64_t flags);
uint64_t hc_weak_mount_attr(uint64_t attr);

/* Read the variable. HC_EXIT_CONFIG for an unknown name, or a layer that cannot be off here. */
int hc_weak_read(struct hc_error *err);

#else

static inline bool hc_weak(unsigned layers)
{
    (void)layers;
    return false;
}

static inline bool hc_weak_named(const char *name)
{
    (void)name;
    return false;
}

static inline uint64_t hc_weak_clone_flags(uint64_t flags)
{
    return flags;
}

static inline uint64_t hc_weak_mount_attr(uint64_t attr)
{
    return attr;
}

static inline int hc_weak_read(struct hc_error *err)
{
    (void)err;
    return 0;
}

#endif
#endif
