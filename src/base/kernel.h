/* kernel.h - system calls and constants that Debian 12's libc or headers do not have yet, in one place.
 * Sources: mount_setattr(2), open_tree(2), landlock(7), seccomp(2), and the kernel's include/uapi. */
#ifndef HC_BASE_KERNEL_H
#define HC_BASE_KERNEL_H

#include <errno.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef MOUNT_ATTR_NOSYMFOLLOW
#define MOUNT_ATTR_NOSYMFOLLOW 0x00200000
#endif
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13) /* ABI 2 */
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14) /* ABI 3 */
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15) /* ABI 5 */
#endif
#define HC_LANDLOCK_NET_BIND_TCP    (1ULL << 0) /* ABI 4 */
#define HC_LANDLOCK_NET_CONNECT_TCP (1ULL << 1) /* ABI 4 */
#define HC_LANDLOCK_SCOPE_ABSTRACT  (1ULL << 0) /* ABI 6: abstract Unix sockets */
#define HC_LANDLOCK_SCOPE_SIGNAL    (1ULL << 1) /* ABI 6: signals to other processes */

/* struct landlock_ruleset_attr of ABI 6; older kernels get the size that they know. */
struct hc_landlock_attr {
    uint64_t handled_access_fs;  /* LANDLOCK_ACCESS_FS_* that are refused unless a rule allows them */
    uint64_t handled_access_net; /* HC_LANDLOCK_NET_* rights that the ruleset handles */
    uint64_t scoped;             /* HC_LANDLOCK_SCOPE_* that are refused towards processes outside */
};

static inline int hc_open_tree(int dir_fd, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dir_fd, path, flags);
}

static inline int hc_move_mount(int from_fd, int to_fd, const char *to)
{
    return (int)syscall(SYS_move_mount, from_fd, "", to_fd, to, MOVE_MOUNT_F_EMPTY_PATH);
}

static inline int hc_mount_setattr(int fd, unsigned flags, struct mount_attr *attr)
{
    return (int)syscall(SYS_mount_setattr, fd, "", flags, attr, sizeof *attr);
}

static inline int hc_fsopen(const char *type)
{
    return (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
}

static inline int hc_fsconfig(int fd, unsigned cmd, const char *key, const char *value)
{
    return (int)syscall(SYS_fsconfig, fd, cmd, key, value, 0);
}

static inline int hc_fsmount(int fd, unsigned attr)
{
    return (int)syscall(SYS_fsmount, fd, FSMOUNT_CLOEXEC, attr);
}

/* The kernel gives up with EAGAIN where "..", looked up below a directory, meets a rename anywhere on the
 * host (openat2(2)): another attempt will do. */
static inline int hc_openat2(int dir_fd, const char *path, struct open_how *how)
{
    int fd = -1;
    for (int i = 0; i < 100 && fd < 0 && (i == 0 || errno == EAGAIN); i++)
        fd = (int)syscall(SYS_openat2, dir_fd, path, how, sizeof *how);
    return fd;
}

static inline int hc_clone3(struct clone_args *args)
{
    return (int)syscall(SYS_clone3, args, sizeof *args);
}

static inline int hc_landlock_abi(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* All file rights (LANDLOCK_ACCESS_FS_*) that Landlock of this ABI can handle. */
static inline uint64_t hc_landlock_rights(int abi)
{
    uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1; /* ABI 1 */
    if (abi >= 2)
        all |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        all |= LANDLOCK_ACCESS_FS_TRUNCATE;
    if (abi >= 5)
        all |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
    return all;
}

#endif
