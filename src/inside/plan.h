/* plan.h - everything that a launch needs, resolved and open before the cell's first process exists. The
 * launcher fills it, the child of clone3 (inside.c) reads it, and no path is looked up again afterwards. A
 * zygote fills one, too, for each cell that it makes of a copy of itself (park.h), without sources.
 *
 * Also the messages of the child's construction socket (SOCK_SEQPACKET, closed by the successful exec). */
#ifndef HC_INSIDE_PLAN_H
#define HC_INSIDE_PLAN_H

#include "base/error.h"
#include "inside/weak.h"
#include "policy/policy.h"
#include "wire/handover.h"

#include <linux/filter.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define HC_WARM_INPUT_BYTES (16 << 20) /* most bytes of all inputs of a job in a warm cell */

#define HC_GUEST_ID 1000 /* uid and gid inside; /etc/passwd of every tree calls it "guest" */

/* No capabilities for uid 0, none raised again, and all of that for good: capabilities(7). */
#define HC_SECUREBITS                                                                                        \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |         \
     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* A place on the host that becomes a mount of the cell. With CAP_SYS_ADMIN the launcher clones the mount
 * itself (`mount_fd`). Without, only the child can, in its own mount namespace, where descriptors of the old
 * one are refused: it looks `path` up once more and must meet the same inode. */
struct hc_source {
    char *path;      /* path of the place on the host; owned */
    int fd;          /* descriptor of the place, O_PATH; owned */
    int mount_fd;    /* detached clone of the mount, owned; -1: the child makes it */
    uint64_t attr;   /* MOUNT_ATTR_* of the clone */
    char target[80]; /* where it is mounted below the cell's root, without leading slash; empty for the root
                        itself and the shim */
};

/* A directory of the host in the cell. */
struct hc_dir_source {
    struct hc_source from; /* the directory on the host; owned */
    const char *place;     /* absolute path in the cell; borrowed */
    enum hc_dir_mode mode; /* the program's access to the directory */
};

struct hc_plan {
    const struct hc_policy *policy;      /* the effective policy; borrowed */
    struct hc_source tree, shim, output; /* output.fd -1: capped tmpfs; of a copy, only shim.fd is open */
    struct hc_source layers[HC_MAX_TREE_LAYERS]; /* layers of the tree, below HC_LAYERS_PLACE */
    size_t layer_count;                          /* used entries of `layers` */
    struct hc_source local;                      /* /usr/local, of a layer with programs; fd -1: none has */
    struct hc_source inputs[HC_MAX_INPUTS];      /* files and directories below /input */
    size_t input_count;                          /* used entries of `inputs` */
    struct hc_dir_source dirs[HC_MAX_DIRS];      /* directories of the host */
    size_t dir_count;                            /* used entries of `dirs` */
    const char *workdir; /* directory of the cell that the program begins in; borrowed. NULL: /output */
    int devices_fd;      /* a mount of the cell's own device nodes, owned; -1: the host's nodes are mounted */
    uid_t host_uid;      /* uid of the cell's processes on the host */
    gid_t host_gid;      /* gid of these processes on the host */
    bool drop_groups;    /* the launcher is root: supplementary groups can and must go */
    bool awaits_check;   /* the tree is being checked: the child waits for HC_SYNC_GO before its exec */
    bool rlimit_pids;    /* no pids controller: set RLIMIT_NPROC */
    bool rlimit_memory;  /* no memory controller: set RLIMIT_DATA, in case a process outruns the watch */
    bool zygote;         /* the cell makes cells: it has no Landlock, which would refuse its mounts, and with
                            `drop_groups` it keeps the right to change its ids */
    int sync_fd;         /* the child's end of the construction socket, owned */
    int stdin_fd;        /* child's end of the pipe for standard input, owned; -1: the cell's /dev/null */
    int stdout_fd, stderr_fd, handover_fd, status_fd; /* the child's ends, owned (enum hc_cell_fd) */
    struct sock_fprog filter;                         /* the first filter; of a zygote, its own */
    char **env;                                       /* environment of the shim, NULL-terminated; borrowed */
};

#define HC_SYNC_FDS 4 /* most descriptors that come with one message */

enum hc_sync_kind {
    HC_SYNC_GO = 1, /* launcher to child: what it waits for is done, at first its id maps or its cgroup */
    HC_SYNC_BORN,   /* child of a zygote to launcher: it has started, and waits for HC_SYNC_GO */
    HC_SYNC_KEPT, /* child to launcher, with descriptors: roots of /output and /tmp, control channel, and root
                     of /input in a warm cell */
    HC_SYNC_COPIES, /* child to launcher, with a descriptor: the directory for copies of directories; the
                       child waits for HC_SYNC_GO */
    HC_SYNC_FACTS,  /* child to launcher: about to exec; the facts that it read back. With `awaits_check` it
                       waits for HC_SYNC_GO */
    HC_SYNC_ERROR,  /* child to launcher: the launch has failed */
};

/* Facts about itself that the child read back after the last step, before exec. */
struct hc_facts {
    pid_t pid;              /* pid of the process in the cell's pid namespace */
    uid_t ruid, euid, suid; /* real, effective and saved uid, in the cell's user namespace */
    gid_t rgid, egid, sgid; /* real, effective and saved gid, likewise */
    int groups;             /* number of supplementary groups */
    /* Sets of capabilities, a bit each. */
    uint64_t caps_effective, caps_permitted, caps_inheritable, caps_bounding, caps_ambient;
    int securebits, no_new_privs, seccomp_mode; /* as prctl(2) gives them */
    int landlock_abi;                           /* Landlock ABI of the kernel; 0: no Landlock */
    int interfaces, loopback_up; /* number of interfaces that are up; whether the loopback is */
    int root_write_errno;        /* errno of creating a file in the tree; 0: it succeeded */
    int landlock_errno;          /* errno of making a symbolic link in /output */
    int filter_errno;            /* errno of unshare(0), which only a filter refuses */
    /* Soft limits, as getrlimit(2) gives them. */
    uint64_t rlimit_core, rlimit_files, rlimit_file, rlimit_stack, rlimit_pids, rlimit_data, rlimit_cpu;
};

struct hc_sync {
    int kind; /* enum hc_sync_kind */
    union {
        struct hc_error error; /* failure, if the message is HC_SYNC_ERROR */
        struct hc_facts facts; /* facts about the cell, if the message is HC_SYNC_FACTS */
    };
};

/* The guest's ids inside the cell. */
static inline uid_t hc_guest_uid(const struct hc_plan *plan)
{
    return hc_weak(HC_WEAK_USER_NAMESPACE) ? plan->host_uid : HC_GUEST_ID;
}

static inline gid_t hc_guest_gid(const struct hc_plan *plan)
{
    return hc_weak(HC_WEAK_USER_NAMESPACE) ? plan->host_gid : HC_GUEST_ID;
}

/* The child of clone3: builds the cell around itself and execs the shim. Never returns. (inside.c) */
_Noreturn void hc_inside(const struct hc_plan *plan);

/* The child of a zygote's clone3: builds the cell in the same way, but returns instead of the exec. The open
 * descriptors are then those of enum hc_cell_fd, HC_FD_SYNC, and HC_FD_SHIM, which the caller executes.
 * SIGCHLD stays blocked. Ends the process if a step fails. (inside.c) */
#define HC_FD_SYNC (HC_FD_STATUS + 1) /* the construction socket */
#define HC_FD_SHIM (HC_FD_SYNC + 1)   /* the shim's file */
void hc_inside_copy(const struct hc_plan *plan);

/* Clone the mount of a source, with its attributes, as a detached mount. `same`: look `path` up again and
 * compare with `fd` (for the child). Returns a descriptor that the caller owns. (mounts.c) */
int hc_source_clone(const struct hc_source *s, bool same, struct hc_error *err);

/* Hand the launcher the directory for copies, and wait until it has filled them. (inside.c) */
int hc_inside_offer_copies(const struct hc_plan *plan, int space_fd, struct hc_error *err);

/* Build the root of the cell: tree, its layers, /dev, /input, /output, /tmp, and a zygote's /proc; the host's
 * root is detached. `out` gets descriptors that the caller owns. (mounts.c) */
struct hc_mounted {
    /* Roots of /output and /tmp; detached mount of the shim; root of /input. -1: not made. */
    int output_fd, tmp_fd, shim_fd, input_fd;
};
int hc_mounts_build(const struct hc_plan *plan, struct hc_mounted *out, struct hc_error *err);

/* Make the mounts of a copy of a zygote, whose root and /dev are built already: mount fresh /output, /tmp and
 * /input over those of the zygote, and an empty directory on /proc. /input is read-only except through
 * `input_fd`. (mounts.c) */
int hc_mounts_renew(const struct hc_plan *plan, struct hc_mounted *out, struct hc_error *err);

/* Bring up the loopback interface, or if `raised` leave that to who made the network namespace, for want of
 * the right to. *interfaces: number of interfaces that are up; *up: whether the loopback is. (loopback.c) */
int hc_loopback_up(bool raised, int *interfaces, int *up, struct hc_error *err);

/* Enforce with Landlock, too, which files the cell may read and write, at the ABI of the kernel, which is
 * returned; 0 if the kernel has no Landlock. (landlock.c) */
int hc_landlock_apply(const struct hc_plan *plan, int shim_fd, struct hc_error *err);

/* One Landlock rule, for people. hc_landlock_each visits all; `counted`: a cgroup counts the cell's
 * memory. */
struct hc_landlock_row {
    const char *path, *why; /* path in the cell; reason of the rule, a phrase */
    /* The cell may read below the path; may write; may make symbolic links and pipes, too. */
    bool reads, writes, links;
};
void hc_landlock_each(bool counted, void (*each)(void *ctx, const struct hc_landlock_row *row), void *ctx);

/* Change to the guest's ids; set resource limits; drop all rights, and prove that they cannot come back; read
 * the rights back into `f`. (rights.c) */
int hc_rights_become_guest(const struct hc_plan *plan, struct hc_error *err);
int hc_rights_limit(const struct hc_plan *plan, struct hc_error *err);
int hc_rights_drop(const struct hc_plan *plan, struct hc_error *err);
int hc_rights_read_back(struct hc_facts *f, struct hc_error *err);

#endif
