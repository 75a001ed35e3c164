#include "inside/weak.h"

#ifdef HC_WEAK

#include "base/kernel.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const struct layer {
    const char *name;                /* name of the layer in a manifest */
    unsigned bit;                    /* enum hc_weak_layer */
    uint64_t clone_flag, mount_attr; /* the flag that makes the layer, if it is one */
    bool root_only;                  /* only a launcher that is root can do without it */
    unsigned with;                   /* layers that must be off, too */
    const char *why;                 /* the reason for `root_only` or `with`; empty: neither */
} table[] = {
    {"user_namespace", HC_WEAK_USER_NAMESPACE, CLONE_NEWUSER, 0, true, 0,
     "an ordinary user has no rights to make the others without it"},
    {"pid_namespace", HC_WEAK_PID_NAMESPACE, CLONE_NEWPID, 0, false, 0, ""},
    {"network_namespace", HC_WEAK_NETWORK_NAMESPACE, CLONE_NEWNET, 0, false, 0, ""},
    {"ipc_namespace", HC_WEAK_IPC_NAMESPACE, CLONE_NEWIPC, 0, false, 0, ""},
    {"uts_namespace", HC_WEAK_UTS_NAMESPACE, CLONE_NEWUTS, 0, false, 0, ""},
    {"cgroup_namespace", HC_WEAK_CGROUP_NAMESPACE, CLONE_NEWCGROUP, 0, false, 0, ""},
    {"time_namespace", HC_WEAK_TIME_NAMESPACE, CLONE_NEWTIME, 0, false, 0, ""},
    {"ids", HC_WEAK_IDS, 0, 0, true, 0, "an ordinary user has no other ids to give away"},
    {"capabilities", HC_WEAK_CAPABILITIES, 0, 0, false, 0, ""},
    {"no_new_privs", HC_WEAK_NO_NEW_PRIVS, 0, 0, false, HC_WEAK_SECCOMP | HC_WEAK_LANDLOCK,
     "the kernel takes no filter and no Landlock rules without it: seccomp and landlock must be off, too"},
    {"read_only_tree", HC_WEAK_READ_ONLY_TREE, 0, MOUNT_ATTR_RDONLY, false, 0, ""},
    {"mount_flags", HC_WEAK_MOUNT_FLAGS, 0,
     MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID, false, 0, ""},
    {"proc", HC_WEAK_PROC, 0, 0, false, 0, ""},
    {"seccomp", HC_WEAK_SECCOMP, 0, 0, false, 0, ""},
    {"landlock", HC_WEAK_LANDLOCK, 0, 0, false, 0, ""},
    {"rlimits", HC_WEAK_RLIMITS, 0, 0, false, 0, ""},
    {"cgroup", HC_WEAK_CGROUP, 0, 0, false, 0, ""},
    {"guard", HC_WEAK_GUARD, 0, 0, false, 0, ""},
    {"watch", HC_WEAK_WATCH, 0, 0, false, 0, ""},
    {"collecting", HC_WEAK_COLLECTING, 0, 0, false, 0, ""},
    {"checker", HC_WEAK_CHECKER, 0, 0, false, 0, ""},
};

#define COUNT (sizeof table / sizeof *table)

static unsigned off; /* enum hc_weak_layer of the layers that are off */

bool hc_weak(unsigned layers)
{
    return off & layers;
}

bool hc_weak_named(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return hc_weak(table[i].bit);
    return false;
}

uint64_t hc_weak_clone_flags(uint64_t flags)
{
    for (size_t i = 0; i < COUNT; i++)
        if (hc_weak(table[i].bit))
            flags &= ~table[i].clone_flag;
    return flags;
}

uint64_t hc_weak_mount_attr(uint64_t attr)
{
    for (size_t i = 0; i < COUNT; i++)
        if (hc_weak(table[i].bit))
            attr &= ~table[i].mount_attr;
    return attr;
}

static int switch_off(const char *name, size_t len, struct hc_error *err)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strncmp(table[i].name, name, len) == 0 && table[i].name[len] == '\0') {
            off |= table[i].bit;
            return 0;
        }
    }
    return hc_fail_as(err, HC_EXIT_CONFIG, 0, HC_WEAK_VARIABLE ": '%.*s' is no layer that can be off",
                      (int)len, name);
}

static int check_possible(const struct layer *l, struct hc_error *err)
{
    bool possible = !(l->root_only && geteuid() != 0) && (off & l->with) == l->with;
    return possible ? 0
                    : hc_fail_as(err, HC_EXIT_CONFIG, 0, HC_WEAK_VARIABLE ": %s cannot be off: %s", l->name,
                                 l->why);
}

int hc_weak_read(struct hc_error *err)
{
    const char *names = getenv(HC_WEAK_VARIABLE);
    while (names && *names) {
        size_t len = strcspn(names, ",");
        if (switch_off(names, len, err) < 0)
            return -1;
        names += len + (names[len] == ',');
    }
    for (size_t i = 0; i < COUNT; i++)
        if (hc_weak(table[i].bit) && check_possible(&table[i], err) < 0)
            return -1;
    return 0;
}

#endif
