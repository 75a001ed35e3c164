#include "inside/plan.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "inside/devices.h"
#include "inside/fs.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define NO_SUID_NO_DEV (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

int hc_source_clone(const struct hc_source *s, bool same, struct hc_error *err)
{
    unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
    hc_autofd fd =
        same ? hc_open_tree(AT_FDCWD, s->path, flags) : hc_open_tree(s->fd, "", flags | AT_EMPTY_PATH);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "clone the mount of %s", s->path);
    struct stat was, now;
    if (fstat(s->fd, &was) < 0 || fstat(fd, &now) < 0)
        return hc_fail(err, errno, "stat %s", s->path);
    if (was.st_dev != now.st_dev || was.st_ino != now.st_ino)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s was replaced while the cell was being built", s->path);
    struct mount_attr attr = {.attr_set = hc_weak_mount_attr(s->attr), .propagation = MS_PRIVATE};
    if (hc_mount_setattr(fd, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "restrict the mount of %s", s->path);
    return hc_take(&fd);
}

static int mount_of_source(const struct hc_source *s, struct hc_error *err)
{
    return s->mount_fd >= 0 ? s->mount_fd : hc_source_clone(s, true, err);
}

/* Make a tmpfs that the guest owns, with limits of bytes and inodes (the root directory takes one). */
static int make_tmpfs(const struct hc_plan *plan, int64_t bytes, int64_t files, uint64_t attr,
                      struct hc_error *err)
{
    const struct hc_fs_option opts[] = {
        {"size", bytes, NULL},
        {"nr_inodes", files + 1, NULL},
        {"mode", 0, "0700"},
        {"uid", hc_guest_uid(plan), NULL},
        {"gid", hc_guest_gid(plan), NULL},
        {NULL, 0, NULL},
    };
    return hc_fs_make("tmpfs", opts, attr, err);
}

/* Clone the host's /proc with all mounts in it: a new one can only be made for an own pid namespace. */
static int clone_proc(struct hc_error *err)
{
    hc_autofd fd =
        hc_open_tree(AT_FDCWD, "/proc", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (unsigned)AT_RECURSIVE);
    struct mount_attr attr = {
        .attr_set = hc_weak_mount_attr(NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY),
        .propagation = MS_PRIVATE,
    };
    if (fd < 0 || hc_mount_setattr(fd, AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "clone the host's /proc");
    return hc_take(&fd);
}

/* Whether the cell has a /proc. Cells for programs have none: stat(2) of its root reveals the number of
 * processes of the whole machine, whatever its options, and programs may read no file in it anyway. A
 * zygote runs no program. */
static bool has_proc(const struct hc_plan *plan)
{
    return plan->zygote || hc_weak(HC_WEAK_PROC);
}

static int make_proc(const struct hc_plan *plan, struct hc_error *err)
{
    /* subset=pid shows only processes. Without it the kernel refuses this mount on a host that hides parts
     * of its own /proc. Not read-only: a zygote's copies write their id maps. */
    static const struct hc_fs_option opts[] = {
        {"hidepid", 0, "invisible"}, {"subset", 0, "pid"}, {NULL, 0, NULL}};
    if (hc_weak(HC_WEAK_PID_NAMESPACE))
        return clone_proc(err);
    int fd = hc_fs_make("proc", hc_weak(HC_WEAK_PROC) ? NULL : opts,
                        NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC | (plan->zygote ? 0 : MOUNT_ATTR_RDONLY), err);
    return fd >= 0 ? fd : hc_ctx(err, "make a /proc for warm cells ('hotcell doctor' says more)");
}

/* Cover the zygote's /proc, which its copies have used until here, by an empty directory of the tree. */
static int make_no_proc(int root, struct hc_error *err)
{
    int fd = hc_open_tree(root, "input", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    return fd >= 0 ? fd : hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "clone the tree's /input");
}

/* /input is a small tmpfs of empty files, each covered by the file that it stands for. */
static int attach_inputs(const struct hc_plan *plan, int root, struct hc_error *err)
{
    if (!plan->input_count)
        return 0;
    hc_autofd dir = make_tmpfs(plan, 1 << 16, HC_MAX_INPUTS + 2,
                               NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW, err);
    if (dir < 0)
        return -1;
    for (size_t i = 0; i < plan->input_count; i++) {
        const char *name = strrchr(plan->inputs[i].target, '/') + 1;
        hc_autofd fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
        if (fd < 0)
            return hc_fail(err, errno, "make /input/%s", name);
    }
    if (hc_fs_attach(dir, root, "input", err) < 0)
        return -1;
    for (size_t i = 0; i < plan->input_count; i++) {
        hc_autofd fd = mount_of_source(&plan->inputs[i], err);
        if (fd < 0 || hc_fs_attach(fd, root, plan->inputs[i].target, err) < 0)
            return -1;
    }
    struct mount_attr attr = {.attr_set = hc_weak_mount_attr(MOUNT_ATTR_RDONLY)};
    if (hc_mount_setattr(dir, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make /input read-only");
    return 0;
}

/* HC_LAYERS_PLACE is a small tmpfs of empty directories, on each of which the layer of its name is mounted.
 */
static int attach_layers(const struct hc_plan *plan, int root, struct hc_error *err)
{
    if (!plan->layer_count)
        return 0;
    hc_autofd dir = make_tmpfs(plan, 1 << 16, HC_MAX_TREE_LAYERS + 2,
                               NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW, err);
    if (dir < 0 || hc_fs_attach(dir, root, &HC_LAYERS_PLACE[1], err) < 0)
        return -1;
    if (fchmodat(dir, ".", 0755, 0) < 0) /* cells of a zygote have other uids */
        return hc_fail(err, errno, "open " HC_LAYERS_PLACE " to all");
    for (size_t i = 0; i < plan->layer_count; i++) {
        const struct hc_source *layer = &plan->layers[i];
        hc_autofd fd = mount_of_source(layer, err);
        if (fd < 0)
            return -1;
        if (mkdirat(dir, strrchr(layer->target, '/') + 1, 0755) < 0)
            return hc_fail(err, errno, "make /%s", layer->target);
        if (hc_fs_attach(fd, root, layer->target, err) < 0)
            return -1;
    }
    struct mount_attr attr = {.attr_set = hc_weak_mount_attr(MOUNT_ATTR_RDONLY)};
    if (hc_mount_setattr(dir, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make " HC_LAYERS_PLACE " read-only");
    return 0;
}

/* Cover the tree's empty /usr/local by a layer's programs and libraries. */
static int attach_local(const struct hc_plan *plan, int root, struct hc_error *err)
{
    if (plan->local.fd < 0)
        return 0;
    hc_autofd fd = mount_of_source(&plan->local, err);
    return fd < 0 ? -1 : hc_fs_attach(fd, root, plan->local.target, err);
}

static int attach_output(const struct hc_plan *plan, int root, struct hc_error *err)
{
    const uint64_t attrs = NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW;
    const struct hc_limits *l = &plan->policy->limits;
    hc_autofd fd = plan->output.fd >= 0 ? mount_of_source(&plan->output, err)
                                        : make_tmpfs(plan, l->output_bytes, l->output_files, attrs, err);
    if (fd < 0 || hc_fs_attach(fd, root, "output", err) < 0)
        return -1;
    return hc_take(&fd);
}

static int attach_tmp(const struct hc_plan *plan, int root, struct hc_error *err)
{
    const uint64_t attrs = NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW;
    hc_autofd fd =
        make_tmpfs(plan, plan->policy->limits.tmp_bytes, plan->policy->limits.tmp_files, attrs, err);
    if (fd < 0 || hc_fs_attach(fd, root, "tmp", err) < 0)
        return -1;
    return hc_take(&fd);
}

/* Most directories that places need: "/a/b/c" needs three. */
#define MOST_PLACE_DIRS (HC_MAX_DIRS * HC_DIR_PLACE / 2)

/* Make the directory `place`, and those above it, below `root`. */
static int make_place(int root, const char *place, struct hc_error *err)
{
    char path[HC_DIR_PLACE + 1];
    (void)snprintf(path, sizeof path, "%s", place + 1);
    for (char *slash = strchr(path, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (mkdirat(root, path, 0755) < 0 && errno != EEXIST)
            return hc_fail(err, errno, "make %s", place);
        if (!slash)
            return 0;
        *slash = '/';
    }
}

/* Returns a descriptor that the caller owns: of "/" if the cell's user may not enter the launcher's
 * directory, from which it can find nothing either. */
static int open_working_directory(void)
{
    int fd = open(".", O_PATH | O_CLOEXEC);
    return fd < 0 && errno == EACCES ? open("/", O_PATH | O_CLOEXEC) : fd;
}

/* Detach what stands on the tree's /output. The kernel does that by path alone. */
static int detach_output(int root, struct hc_error *err)
{
    hc_autofd before = open_working_directory();
    if (before < 0)
        return hc_fail(err, errno, "open the working directory");
    if (fchdir(root) < 0 || umount2("output", MNT_DETACH | UMOUNT_NOFOLLOW) < 0 || fchdir(before) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "detach what stands on /output");
    return 0;
}

/* Make a read-only overlay file system of the mount `top` over `bottom`, a path below `root`. The kernel
 * finds layers by path alone: `top` stands on the tree's empty /output meanwhile. */
static int make_overlay(int root, int top, const char *bottom, uint64_t attr, struct hc_error *err)
{
    char layers[32];
    (void)snprintf(layers, sizeof layers, "output:%s", bottom);
    const struct hc_fs_option opts[] = {{"lowerdir", 0, layers}, {NULL, 0, NULL}};
    hc_autofd before = open_working_directory();
    if (before < 0)
        return hc_fail(err, errno, "open the working directory");
    if (hc_fs_attach(top, root, "output", err) < 0)
        return -1;
    if (fchdir(root) < 0)
        return hc_fail(err, errno, "enter the tree");
    hc_autofd fd = hc_fs_make("overlay", opts, attr, err);
    if (fd < 0)
        return -1;
    if (umount2("output", MNT_DETACH | UMOUNT_NOFOLLOW) < 0 || fchdir(before) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "detach a layer");
    return hc_take(&fd);
}

/* Make a root that has all of the tree, and empty directories on which the host's directories are mounted. */
static int make_root_with_places(const struct hc_plan *plan, int tree, struct hc_error *err)
{
    hc_autofd places = make_tmpfs(plan, 1 << 20, MOST_PLACE_DIRS, NO_SUID_NO_DEV, err);
    if (places < 0)
        return -1;
    for (size_t i = 0; i < plan->dir_count; i++)
        if (!hc_path_covers("/tmp", plan->dirs[i].place) && make_place(places, plan->dirs[i].place, err) < 0)
            return -1;
    return make_overlay(tree, places, ".", NO_SUID_NO_DEV | MOUNT_ATTR_RDONLY, err);
}

/* Attach the tree where the host has its /proc: any directory can be the mount point, as pivot_root moves the
 * mount later. Returns a descriptor of the cell's root. */
static int attach_root(const struct hc_plan *plan, struct hc_error *err)
{
    hc_autofd tree = mount_of_source(&plan->tree, err);
    if (tree < 0)
        return -1;
    if (hc_move_mount(tree, AT_FDCWD, "/proc") < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "attach the tree");
    if (!plan->dir_count)
        return hc_take(&tree);
    hc_autofd root = make_root_with_places(plan, tree, err);
    if (root < 0)
        return -1;
    if (hc_move_mount(root, AT_FDCWD, "/proc") < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "attach the tree");
    return hc_take(&root);
}

static int attach_at_place(const struct hc_dir_source *dir, int mount, int root, struct hc_error *err)
{
    if (hc_path_covers("/tmp", dir->place) && make_place(root, dir->place, err) < 0)
        return -1;
    return hc_fs_attach(mount, root, dir->place + 1, err);
}

/* A directory of the host is not mounted itself, but below an overlay that only reads: so its FIFOs and
 * sockets lead to no process of the host, and locks are the cell's own. Only a directory that
 * the policy lets the program write to is mounted. */
static int attach_dir(const struct hc_dir_source *dir, int root, struct hc_error *err)
{
    hc_autofd fd = mount_of_source(&dir->from, err);
    if (fd < 0 && err->sys == EINVAL)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "other file systems are mounted in it: give directories that have none");
    if (fd >= 0 && dir->mode == HC_DIR_RW)
        return attach_at_place(dir, fd, root, err);
    hc_autofd shown = fd < 0 ? -1 : make_overlay(root, fd, "input", dir->from.attr, err);
    return shown < 0 ? -1 : attach_at_place(dir, shown, root, err);
}

static int attach_copy(const struct hc_dir_source *dir, int root, size_t number, struct hc_error *err)
{
    char path[32];
    (void)snprintf(path, sizeof path, "output/%zu", number);
    hc_autofd fd = hc_open_tree(root, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    return fd < 0 ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "clone the mount of a copy")
                  : attach_at_place(dir, fd, root, err);
}

/* Copies of directories have one tmpfs, which stands on the tree's empty /output until each is at its place.
 */
static int attach_copies(const struct hc_plan *plan, int root, struct hc_error *err)
{
    const struct hc_limits *l = &plan->policy->limits;
    size_t count = 0;
    char name[24];
    for (size_t i = 0; i < plan->dir_count; i++)
        count += plan->dirs[i].mode == HC_DIR_COW;
    if (!count)
        return 0;
    hc_autofd space = make_tmpfs(plan, l->output_bytes, l->output_files + (int64_t)count,
                                 NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC, err);
    if (space < 0 || hc_fs_attach(space, root, "output", err) < 0)
        return -1;
    for (size_t i = 0; i < plan->dir_count; i++) {
        (void)snprintf(name, sizeof name, "%zu", i);
        if (plan->dirs[i].mode != HC_DIR_COW)
            continue;
        if (mkdirat(space, name, 0755) < 0)
            return hc_fail(err, errno, "make a copy");
        if (attach_copy(&plan->dirs[i], root, i, err) < 0)
            return -1;
    }
    hc_autofd readable = openat(space, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (readable < 0)
        return hc_fail(err, errno, "open the copies");
    return detach_output(root, err) < 0 ? -1 : hc_inside_offer_copies(plan, readable, err);
}

/* Make a directory in /tmp and mount it at the place, too: both share the limits of /tmp. Links are followed
 * there, which lead only to what the cell has. */
static int attach_scratch(const struct hc_plan *plan, size_t at, int root, struct hc_error *err)
{
    char path[40];
    (void)snprintf(path, sizeof path, "tmp/.scratch-%zu", at);
    if (mkdirat(root, path, 0700) < 0 ||
        fchownat(root, path, hc_guest_uid(plan), hc_guest_gid(plan), AT_SYMLINK_NOFOLLOW) < 0)
        return hc_fail(err, errno, "make /%s", path);
    hc_autofd fd = hc_open_tree(root, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_NOSYMFOLLOW};
    if (fd < 0 || hc_mount_setattr(fd, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "clone the mount of /%s", path);
    return attach_at_place(&plan->dirs[at], fd, root, err);
}

static int attach_dirs(const struct hc_plan *plan, int root, struct hc_error *err)
{
    for (size_t i = 0; i < plan->dir_count; i++) {
        const struct hc_dir_source *dir = &plan->dirs[i];
        if (dir->mode == HC_DIR_COW)
            continue;
        if ((dir->mode == HC_DIR_SCRATCH ? attach_scratch(plan, i, root, err) : attach_dir(dir, root, err)) <
            0)
            return hc_ctx(err, "directory %.200s", dir->from.path);
    }
    return attach_copies(plan, root, err);
}

/* The tree becomes "/" and the host's root goes: see pivot_root(2), "pivot_root(".", ".")". */
static int enter_root(int root, const char *workdir, struct hc_error *err)
{
    if (fchdir(root) < 0)
        return hc_fail(err, errno, "enter the tree");
    if (syscall(SYS_pivot_root, ".", ".") < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "pivot_root into the tree");
    if (umount2(".", MNT_DETACH) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "detach the host's root");
    if (chdir(workdir ? workdir : "/output") < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "the working directory %.200s",
                          workdir ? workdir : "/output");
    return 0;
}

/* Open a directory for reading: descriptors of fsmount and open_tree are O_PATH. */
static int reopen_dir(const char *path, struct hc_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd : hc_fail(err, errno, "open %s", path);
}

int hc_mounts_build(const struct hc_plan *plan, struct hc_mounted *out, struct hc_error *err)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "cut mount propagation");
    hc_autofd shim = mount_of_source(&plan->shim, err);
    if (shim < 0)
        return -1;
    hc_autofd root = attach_root(plan, err);
    if (root < 0)
        return -1;
    if (attach_layers(plan, root, err) < 0 || attach_local(plan, root, err) < 0)
        return -1;
    hc_autofd proc = has_proc(plan) ? make_proc(plan, err) : -1;
    if (proc < 0 && has_proc(plan))
        return -1;
    if ((proc >= 0 && hc_fs_attach(proc, root, "proc", err) < 0) ||
        hc_devices_attach(plan->devices_fd, root, err) < 0)
        return -1;
    hc_autofd tmp = attach_tmp(plan, root, err);
    if (tmp < 0 || attach_dirs(plan, root, err) < 0 || attach_inputs(plan, root, err) < 0)
        return -1;
    hc_autofd output = attach_output(plan, root, err);
    if (output < 0)
        return -1;
    if (enter_root(root, plan->workdir, err) < 0)
        return -1;
    *out = (struct hc_mounted){-1, -1, -1, -1};
    if ((out->output_fd = reopen_dir("/output", err)) < 0 || (out->tmp_fd = reopen_dir("/tmp", err)) < 0)
        return -1;
    out->shim_fd = hc_take(&shim);
    return 0;
}

/* Mount one tmpfs twice: the cell gets the read-only mount. Returns a directory of the writable one, for
 * inputs. */
static int renew_input(const struct hc_plan *plan, int root, struct hc_error *err)
{
    hc_autofd fd = make_tmpfs(plan, HC_WARM_INPUT_BYTES, HC_MAX_INPUTS + 2,
                              NO_SUID_NO_DEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW, err);
    if (fd < 0 || hc_fs_attach(fd, root, "input", err) < 0)
        return -1;
    hc_autofd other = hc_open_tree(AT_FDCWD, "/input", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (other < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "clone the mount of /input");
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (hc_mount_setattr(fd, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make /input read-only");
    int dir = openat(other, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir >= 0 ? dir : hc_fail(err, errno, "open /input");
}

int hc_mounts_renew(const struct hc_plan *plan, struct hc_mounted *out, struct hc_error *err)
{
    *out = (struct hc_mounted){-1, -1, -1, -1};
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "cut mount propagation");
    hc_autofd root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return hc_fail(err, errno, "open the tree");
    hc_autofd proc = has_proc(plan) ? make_proc(plan, err) : make_no_proc(root, err);
    if (proc < 0 || hc_fs_attach(proc, root, "proc", err) < 0)
        return -1;
    hc_autofd output = attach_output(plan, root, err);
    if (output < 0)
        return -1;
    hc_autofd tmp = attach_tmp(plan, root, err);
    if (tmp < 0 || (out->input_fd = renew_input(plan, root, err)) < 0)
        return -1;
    if (chdir("/output") < 0)
        return hc_fail(err, errno, "enter /output");
    out->shim_fd = plan->shim.fd;
    return (out->output_fd = reopen_dir("/output", err)) < 0 || (out->tmp_fd = reopen_dir("/tmp", err)) < 0
               ? -1
               : 0;
}
