/* The system calls that a zygote needs beyond those of every cell's first process, to make cells from copies
 * of itself. */
#include "policy/calls.h"

#include "base/fd.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080 /* as in base/kernel.h */
#endif

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* as in shim/settle.c */
#endif

#define ANY(call, why)                                                                                       \
    {                                                                                                        \
        call, 0, {{0}}, why, 0, NULL, NULL                                                                   \
    }
#define WORD(call, arg, value, why)                                                                          \
    {                                                                                                        \
        call, 0, {{arg, HC_WORD_MASK, value}, {0}}, why, 0, #value, NULL                                     \
    }

#define OWNER    "a user namespace of its own has the networks of cells"
#define PROGRAM  "what a cell's first process executes is in memory, sealed"
#define LOOPBACK "a cell's loopback interface is raised, and no other is up"
#define MOUNTS   "a cell's own /proc, /input, /output and /tmp"
#define RULES    "a cell's own Landlock rules"
#define RIGHTS   "a cell has none left"

/* Every row acts on namespaces that the zygote or the copy has made for itself; no row reaches the host's. */
const struct hc_call_rule hc_zygote_rules[] = {
    WORD("clone", 0, HC_OWNER_CLONE, OWNER),
    WORD("setns", 1, CLONE_NEWUSER, OWNER),
    WORD("setns", 1, CLONE_NEWNET, "a cell's network, which a cell that has ended had"),
    WORD("unshare", 0, CLONE_NEWNET, "a cell's network"),
    WORD("clone", 0, HC_ZYGOTE_CLONE, "a cell's first process, in namespaces of its own"),
    WORD("memfd_create", 1, HC_MEMFD_FLAGS | MFD_EXEC, PROGRAM),
    WORD("memfd_create", 1, HC_MEMFD_FLAGS, PROGRAM),
    WORD("fcntl", 1, F_ADD_SEALS, PROGRAM),
    WORD("madvise", 2, MADV_COLLAPSE, "memory in huge pages is cheap to copy"),
    WORD("unshare", 0, CLONE_NEWTIME, "a cell's clocks start at zero"),
    WORD("unshare", 0, CLONE_NEWCGROUP, "a cell sees its own cgroup as the root"),
    WORD("unshare", 0, 0, "does nothing: a cell proves its own filter by it"),
    ANY("setresuid", "as root, each cell has a uid of its own"),
    ANY("setresgid", "as root, each cell has a gid of its own"),
    ANY("sethostname", "each cell is called the same"),
    ANY("setdomainname", "each cell is called the same"),
    WORD("ioctl", 1, SIOCSIFFLAGS, LOOPBACK),
    WORD("ioctl", 1, SIOCGIFFLAGS, LOOPBACK),
    WORD("ioctl", 1, SIOCGIFNAME, LOOPBACK),
    {"setsockopt",
     0,
     {{1, HC_WORD_MASK, SOL_SOCKET}, {2, HC_WORD_MASK, SO_PASSCRED}, {0}},
     "a cell's control channel tells who sent what",
     0,
     "SO_PASSCRED",
     NULL},
    WORD("mount", 3, MS_REC | MS_PRIVATE, "mounts of a cell are seen by no other"),
    ANY("fsopen", MOUNTS),
    WORD("fsconfig", 1, FSCONFIG_SET_STRING, MOUNTS),
    WORD("fsconfig", 1, FSCONFIG_CMD_CREATE, MOUNTS),
    ANY("fsmount", MOUNTS),
    WORD("open_tree", 2, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, MOUNTS),
    WORD("move_mount", 4, MOVE_MOUNT_F_EMPTY_PATH, MOUNTS),
    WORD("mount_setattr", 2, AT_EMPTY_PATH, MOUNTS),
    ANY("landlock_create_ruleset", RULES),
    ANY("landlock_add_rule", RULES),
    ANY("landlock_restrict_self", RULES),
    ANY("capset", RIGHTS),
    WORD("prctl", 0, PR_CAPBSET_DROP, RIGHTS),
    WORD("prctl", 0, PR_CAP_AMBIENT, RIGHTS),
    WORD("prctl", 0, PR_SET_SECUREBITS, RIGHTS),
    WORD("prctl", 0, PR_SCHED_CORE, "a cell shares no core with others, if the policy says so"),
};
const size_t hc_zygote_rules_count = sizeof hc_zygote_rules / sizeof *hc_zygote_rules;
