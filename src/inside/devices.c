/* The times of the host's inodes in /dev reveal when the host was booted, and changes to them are visible
 * to every process that has them. So cells get nodes of their own where the kernel lets the launcher make
 * them (mknod(2): root in the host's first user namespace). */
#include "inside/devices.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "inside/fs.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define FLAGS (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

static const struct node {
    const char *name; /* below /dev */
    unsigned minor;   /* minor number; the major one is 1 (Documentation/admin-guide/devices.txt) */
} nodes[] = {{"null", 3}, {"zero", 5}, {"full", 7}, {"random", 8}, {"urandom", 9}};

#define COUNT (sizeof nodes / sizeof *nodes)

static bool is_right(int fd, const struct node *n)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, n->minor);
}

static int restrict_mount(int fd, const char *what, struct hc_error *err)
{
    struct mount_attr attr = {.attr_set = hc_weak_mount_attr(FLAGS), .propagation = MS_PRIVATE};
    if (hc_mount_setattr(fd, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "restrict the mount of %s", what);
    return 0;
}

/* ---- the cell's own nodes ---- */

/* Make and test a node. False: it cannot be made, or not be opened, as device cgroups may forbid it. */
static bool make_node(int dir, const struct node *n)
{
    static const struct timespec no_time[2] = {{0}, {0}};
    if (mknodat(dir, n->name, S_IFCHR | 0666, makedev(1, n->minor)) < 0 ||
        fchmodat(dir, n->name, 0666, 0) < 0 || /* undo the umask */
        utimensat(dir, n->name, no_time, 0) < 0)
        return false;
    hc_autofd fd = openat(dir, n->name, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && is_right(fd, n);
}

int hc_devices_make(int *fd, struct hc_error *err)
{
    static const struct hc_fs_option opts[] = {
        {"size", 4096, NULL}, {"nr_inodes", COUNT + 1, NULL}, {"mode", 0, "0755"}, {NULL, 0, NULL}};
    *fd = -1;
    hc_autofd dir = hc_fs_make("tmpfs", opts, 0, err);
    if (dir < 0)
        return -1;
    for (size_t i = 0; i < COUNT; i++)
        if (!make_node(dir, &nodes[i]))
            return 0;
    if (restrict_mount(dir, "/dev", err) < 0)
        return -1;
    *fd = hc_take(&dir);
    return 0;
}

/* ---- the host's nodes ---- */

static int attach_node(const struct node *n, int root, struct hc_error *err)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/dev/%s", n->name);
    hc_autofd fd = hc_open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "clone the mount of %s", path);
    if (!is_right(fd, n))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%s is not the device that it should be", path);
    if (restrict_mount(fd, path, err) < 0)
        return -1;
    return hc_fs_attach(fd, root, path + 1, err);
}

int hc_devices_attach(int fd, int root, struct hc_error *err)
{
    if (fd >= 0)
        return hc_fs_attach(fd, root, "dev", err);
    for (size_t i = 0; i < COUNT; i++)
        if (attach_node(&nodes[i], root, err) < 0)
            return -1;
    return 0;
}
