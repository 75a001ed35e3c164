/* Find the directory in which cells get their cgroups: one that this user may divide, and that has
 * controllers to give. */
#include "cell/cgroup.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += len)
        if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0'))
            return true;
    return false;
}

static bool is_cgroup2(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Where cgroup v2 is mounted: alone, or beside v1 in systemd's hybrid layout. */
static const char *mount_point(void)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        hc_autofd fd = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && is_cgroup2(fd))
            return places[i];
    }
    return NULL;
}

/* The leaf into which the launcher moves, so that the rest of its own cgroup can be divided. */
#define LAUNCHER_LEAF "hotcell-launcher"

/* Enable the controllers for children of this directory, and note which ones are enabled. Memory comes
 * first, and without it none: a cgroup with processes of its own refuses it, but would take pids and cpu,
 * which threads can have too. It would then be the head of a threaded subtree, whose children take no
 * process (EOPNOTSUPP), and the launcher could not move aside any more. */
int hc_cgroup_divide(struct hc_cgroup_parent *p)
{
    char has[256] = "";
    if (hc_read_attr(p->fd, "cgroup.subtree_control", has, sizeof has) < 0)
        return -1;
    static const char *const wanted[] = {"memory", "pids", "cpu", "io"};
    struct hc_error ignored;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char on[16];
        (void)snprintf(on, sizeof on, "+%s", wanted[i]);
        if (!has_word(has, wanted[i]) && hc_write_attr(p->fd, "cgroup.subtree_control", on, &ignored) < 0 &&
            i == 0)
            return -1;
    }
    if (hc_read_attr(p->fd, "cgroup.subtree_control", has, sizeof has) < 0)
        return -1;
    p->memory = has_word(has, "memory");
    p->pids = has_word(has, "pids");
    p->cpu = has_word(has, "cpu");
    p->io = has_word(has, "io");
    return p->memory && p->pids ? 0 : -1;
}

static int open_place(struct hc_cgroup_parent *p, const char *path)
{
    hc_close_fd(&p->fd);
    (void)snprintf(p->path, sizeof p->path, "%s", path);
    p->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return p->fd >= 0 && is_cgroup2(p->fd) ? 0 : -1;
}

static bool writable(const struct hc_cgroup_parent *p)
{
    return faccessat(p->fd, ".", W_OK, AT_EACCESS) == 0 &&
           faccessat(p->fd, "cgroup.procs", W_OK, AT_EACCESS) == 0;
}

/* Whether the cgroup is threaded: below it there is no memory controller, and no process can be started. */
static bool threaded(const struct hc_cgroup_parent *p)
{
    char type[32]; /* the top of the hierarchy has no such file */
    return hc_read_attr(p->fd, "cgroup.type", type, sizeof type) == 0 && strcmp(type, "domain") != 0;
}

static int use_named_place(struct hc_cgroup_parent *p, const char *path, struct hc_error *err)
{
    if (path[0] != '/' || open_place(p, path) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "HOTCELL_CGROUP: %s is not a cgroup v2 directory", path);
    if (!writable(p))
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "HOTCELL_CGROUP: %s is not delegated to uid %u", path,
                          geteuid());
    if (threaded(p))
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "HOTCELL_CGROUP: %s is a threaded cgroup, which holds no jobs", path);
    if (hc_cgroup_divide(p) < 0)
        return hc_fail_as(
            err, HC_EXIT_CONFIG, 0,
            "HOTCELL_CGROUP: %s does not give its children the memory and pids controllers (its own "
            "processes must be in a child of it)",
            path);
    return 0;
}

/* systemd writes the same cgroup.subtree_control at the top. That is safe both ways: it never removes a
 * directory that it did not make, and a controller that "hotcell" has given to its own children cannot be
 * taken from "hotcell" (EBUSY). A scope of systemd's own would cost each job a conversation with it. */
static int use_top_place(struct hc_cgroup_parent *p, const char *mnt, struct hc_error *err)
{
    char path[PATH_MAX];
    if (open_place(p, mnt) < 0 || hc_cgroup_divide(p) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "%s has no memory and pids controllers to give (they may be bound to cgroup v1)",
                          mnt);
    (void)snprintf(path, sizeof path, "%s/hotcell", mnt);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make %s", path);
    if (open_place(p, path) < 0 || hc_cgroup_divide(p) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%s cannot have the memory and pids controllers",
                          path);
    return 0;
}

static int own_cgroup(const char *mnt, char out[PATH_MAX])
{
    char text[PATH_MAX];
    if (hc_read_attr(AT_FDCWD, "/proc/self/cgroup", text, sizeof text) < 0)
        return -1;
    char *line = strstr(text, "0::/"); /* the v2 line; v1 lines begin with other numbers */
    if (!line || (line != text && line[-1] != '\n'))
        return -1;
    line[strcspn(line, "\n")] = '\0';
    int n = snprintf(out, PATH_MAX, "%s%s", mnt, line + 3);
    return n > 0 && n < PATH_MAX ? 0 : -1;
}

/* Whether the cgroup has memory and pids at all. Checked before the launcher moves, as a move in vain
 * takes milliseconds. */
static bool has_controllers(const struct hc_cgroup_parent *p)
{
    char all[256];
    return hc_read_attr(p->fd, "cgroup.controllers", all, sizeof all) == 0 && has_word(all, "memory") &&
           has_word(all, "pids");
}

/* Move the launcher out of its own, delegated cgroup into a leaf below: only a cgroup without processes
 * can enable controllers for its children. Works only if no other process is in the cgroup. */
static int move_aside(struct hc_cgroup_parent *p)
{
    struct hc_error ignored;
    if (mkdirat(p->fd, LAUNCHER_LEAF, 0755) < 0 && errno != EEXIST)
        return -1;
    hc_autofd leaf = openat(p->fd, LAUNCHER_LEAF, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (leaf >= 0 && hc_write_attr(leaf, "cgroup.procs", "0", &ignored) == 0) {
        if (hc_cgroup_divide(p) == 0)
            return 0;
        (void)hc_write_attr(p->fd, "cgroup.procs", "0", &ignored);
    }
    (void)unlinkat(p->fd, LAUNCHER_LEAF, AT_REMOVEDIR);
    return -1;
}

/* Try the parent of the launcher's cgroup. A slice is refused: systemd owns slices, delegates only scopes
 * and services, and sets a slice's controllers at will. */
static bool use_above(struct hc_cgroup_parent *p, const char *mnt, char path[PATH_MAX])
{
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) <= strlen(mnt))
        return false;
    *slash = '\0';
    size_t len = strlen(path);
    bool slice = len > 6 && strcmp(path + len - 6, ".slice") == 0;
    return !slice && open_place(p, path) == 0 && writable(p) && !threaded(p) && hc_cgroup_divide(p) == 0;
}

static bool use_own(struct hc_cgroup_parent *p, const char *mnt)
{
    char path[PATH_MAX];
    if (own_cgroup(mnt, path) < 0 || open_place(p, path) < 0)
        return false;
    const char *name = strrchr(path, '/');
    if (name && strcmp(name, "/" LAUNCHER_LEAF) == 0) /* the launcher is in that leaf already */
        return use_above(p, mnt, path);
    if (has_controllers(p) && writable(p) && !threaded(p) && (hc_cgroup_divide(p) == 0 || move_aside(p) == 0))
        return true;
    return use_above(p, mnt, path);
}

static int use_delegated(struct hc_cgroup_parent *p, const char *mnt, bool ask, struct hc_error *err)
{
    struct hc_error why = {0};
    if (use_own(p, mnt))
        return 0;
    if (ask && access("/run/systemd/system", F_OK) == 0 && hc_cgroup_enter_scope(&why) == 0) {
        if (use_own(p, mnt))
            return 0;
        (void)hc_fail(&why, 0, "the scope that was started cannot be divided");
    }
    return hc_fail_as(
        err, HC_EXIT_UNAVAILABLE, 0,
        "no cgroup with the memory and pids controllers is delegated to uid %u%s%.200s%s: run it "
        "under 'systemd-run --user --scope -p Delegate=yes', or set HOTCELL_CGROUP",
        geteuid(), why.exit ? " (" : "", why.text, why.exit ? ")" : "");
}

/* In a container the top of the mounted hierarchy is the container's own cgroup, which has processes in
 * it: then try the launcher's own cgroup. */
static int use_as_root(struct hc_cgroup_parent *p, const char *mnt, struct hc_error *err)
{
    if (use_top_place(p, mnt, err) == 0)
        return 0;
    return use_own(p, mnt) ? 0 : -1;
}

int hc_cgroup_find(struct hc_cgroup_parent *out, bool ask, struct hc_error *err)
{
    *out = (struct hc_cgroup_parent){.fd = -1};
    const char *named = getenv("HOTCELL_CGROUP");
    const char *mnt = mount_point();
    int rc = named && *named ? use_named_place(out, named, err)
             : !mnt ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "cgroup v2 is not mounted on this host")
             : geteuid() == 0 ? use_as_root(out, mnt, err)
                              : use_delegated(out, mnt, ask, err);
    if (rc < 0)
        hc_cgroup_parent_finish(out);
    return rc;
}

void hc_cgroup_parent_finish(struct hc_cgroup_parent *p)
{
    hc_close_fd(&p->fd);
}
