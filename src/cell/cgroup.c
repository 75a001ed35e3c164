#include "cell/cgroup.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#define LEAF_PREFIX  "hotcell-job-"
#define REAPED_TRIES 20

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

/* Give children of this directory the controllers, and see which they have. */
static int enable(struct hc_cgroup_parent *p)
{
    char has[256] = "";
    if (hc_read_attr(p->fd, "cgroup.subtree_control", has, sizeof has) < 0)
        return -1;
    static const char *const wanted[] = {"memory", "pids", "cpu"};
    struct hc_error ignored;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char on[16];
        (void)snprintf(on, sizeof on, "+%s", wanted[i]);
        if (!has_word(has, wanted[i]))
            (void)hc_write_attr(p->fd, "cgroup.subtree_control", on, &ignored);
    }
    if (hc_read_attr(p->fd, "cgroup.subtree_control", has, sizeof has) < 0)
        return -1;
    p->memory = has_word(has, "memory");
    p->pids = has_word(has, "pids");
    p->cpu = has_word(has, "cpu");
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

static int use_named(struct hc_cgroup_parent *p, const char *path, struct hc_error *err)
{
    if (path[0] != '/' || open_place(p, path) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "HOTCELL_CGROUP: %s is not a cgroup v2 directory", path);
    if (!writable(p))
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "HOTCELL_CGROUP: %s is not delegated to uid %u", path,
                          geteuid());
    if (enable(p) < 0)
        return hc_fail_as(
            err, HC_EXIT_CONFIG, 0,
            "HOTCELL_CGROUP: %s does not give its children the memory and pids controllers (its own "
            "processes must be in a child of it)",
            path);
    return 0;
}

static int use_top(struct hc_cgroup_parent *p, const char *mnt, struct hc_error *err)
{
    char path[PATH_MAX];
    if (open_place(p, mnt) < 0 || enable(p) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "%s has no memory and pids controllers to give (they may be bound to cgroup v1)",
                          mnt);
    (void)snprintf(path, sizeof path, "%s/hotcell", mnt);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make %s", path);
    if (open_place(p, path) < 0 || enable(p) < 0)
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

/* A cgroup that was delegated to us with ourselves in it: the rule against inner processes wants us in a leaf
 * before it can have controllers for its children. Works only if we are alone in it. */
static int move_aside(struct hc_cgroup_parent *p)
{
    struct hc_error ignored;
    if (mkdirat(p->fd, "hotcell-launcher", 0755) < 0 && errno != EEXIST)
        return -1;
    hc_autofd leaf = openat(p->fd, "hotcell-launcher", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (leaf < 0 || hc_write_attr(leaf, "cgroup.procs", "0", &ignored) < 0)
        return -1;
    if (enable(p) == 0)
        return 0;
    (void)hc_write_attr(p->fd, "cgroup.procs", "0", &ignored);
    (void)unlinkat(p->fd, "hotcell-launcher", AT_REMOVEDIR);
    return -1;
}

static int use_delegated(struct hc_cgroup_parent *p, const char *mnt, struct hc_error *err)
{
    char path[PATH_MAX];
    if (own_cgroup(mnt, path) == 0 && open_place(p, path) == 0) {
        if (writable(p) && (enable(p) == 0 || move_aside(p) == 0))
            return 0;
        char *slash = strrchr(path, '/');
        if ((size_t)(slash - path) > strlen(mnt)) {
            *slash = '\0';
            if (open_place(p, path) == 0 && writable(p) && enable(p) == 0)
                return 0;
        }
    }
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "no cgroup with the memory and pids controllers is delegated to uid %u: run it under "
                      "'systemd-run --user --scope -p Delegate=yes', or set HOTCELL_CGROUP",
                      geteuid());
}

int hc_cgroup_find(struct hc_cgroup_parent *out, struct hc_error *err)
{
    *out = (struct hc_cgroup_parent){.fd = -1};
    const char *named = getenv("HOTCELL_CGROUP");
    const char *mnt = mount_point();
    int rc = named && *named ? use_named(out, named, err)
             : !mnt ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "cgroup v2 is not mounted on this host")
             : geteuid() == 0 ? use_top(out, mnt, err)
                              : use_delegated(out, mnt, err);
    if (rc < 0)
        hc_cgroup_parent_finish(out);
    return rc;
}

void hc_cgroup_parent_finish(struct hc_cgroup_parent *p)
{
    hc_close_fd(&p->fd);
}

/* A reaper that sees the new directory before we hold it takes it for a left-over and removes it. 0: it is
 * ours; 1: it is or will be gone. */
static int hold_leaf(struct hc_cgroup *cg)
{
    hc_autofd fd = openat(cg->parent_fd, cg->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || faccessat(fd, "cgroup.procs", F_OK, 0) < 0)
        return 1;
    cg->fd = hc_take(&fd);
    return 0;
}

int hc_cgroup_create(struct hc_cgroup *cg, const struct hc_cgroup_parent *parent, const char *job_id,
                     struct hc_error *err)
{
    *cg = (struct hc_cgroup){.parent_fd = parent->fd, .fd = -1, .cpu = parent->cpu};
    (void)snprintf(cg->name, sizeof cg->name, LEAF_PREFIX "%s", job_id);
    for (int attempt = 0; attempt < REAPED_TRIES; attempt++) {
        if (mkdirat(parent->fd, cg->name, 0755) == 0) {
            if (hold_leaf(cg) == 0)
                return 0;
        } else if (errno != EEXIST || attempt == 0) { /* at first: another job has that name */
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make the cgroup %s/%s", parent->path,
                              cg->name);
        }
        (void)poll(NULL, 0, attempt); /* until the reaper is through with it */
    }
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, EBUSY, "hold the cgroup %s/%s", parent->path, cg->name);
}

static int set_and_check(int dir, const char *attr, const char *value, bool optional, struct hc_error *err)
{
    char now[64];
    if (optional && faccessat(dir, attr, F_OK, 0) < 0)
        return 0;
    if (hc_write_attr(dir, attr, value, err) < 0)
        return hc_exit_as(err, HC_EXIT_UNAVAILABLE);
    if (hc_read_attr(dir, attr, now, sizeof now) < 0 || strcmp(now, value) != 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%s reads back as '%s', not '%s'", attr, now, value);
    return 0;
}

int hc_cgroup_limit(struct hc_cgroup *cg, const struct hc_limits *l, struct hc_error *err)
{
    char memory[32], pids[32], cpu[64];
    int64_t page = sysconf(_SC_PAGESIZE);
    (void)snprintf(memory, sizeof memory, "%lld",
                   (long long)(l->memory / page * page)); /* as the kernel rounds it */
    (void)snprintf(pids, sizeof pids, "%lld", (long long)l->pids);
    /* Microseconds per period of 100 ms, or of 1 s where that would be less than the kernel takes. */
    int64_t period = l->cpus_milli < 10 ? 1000000 : 100000;
    (void)snprintf(cpu, sizeof cpu, "%lld %lld", (long long)(l->cpus_milli * period / 1000),
                   (long long)period);
    if (set_and_check(cg->fd, "memory.max", memory, false, err) < 0 ||
        /* Absent when the kernel or the host has no swap accounting. */
        set_and_check(cg->fd, "memory.swap.max", "0", true, err) < 0 ||
        set_and_check(cg->fd, "memory.oom.group", "1", false, err) < 0 ||
        set_and_check(cg->fd, "pids.max", pids, false, err) < 0)
        return -1;
    if (l->cpus_milli && !cg->cpu)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "limits.cpus is set, but the cpu controller is not delegated");
    return l->cpus_milli ? set_and_check(cg->fd, "cpu.max", cpu, false, err) : 0;
}

bool hc_cgroup_holds(const struct hc_cgroup *cg, pid_t pid)
{
    char text[4096];
    if (hc_read_attr(cg->fd, "cgroup.procs", text, sizeof text) < 0)
        return false;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (strtol(line, NULL, 10) == pid)
            return true;
    return false;
}

/* The number after `key ` in a flat keyed file, or in a file that is just a number (key NULL). */
static int64_t read_number(int dir, const char *file, const char *key)
{
    char text[4096];
    if (hc_read_attr(dir, file, text, sizeof text) < 0)
        return -1;
    const char *p = text;
    if (key) {
        size_t len = strlen(key);
        while (p && !(strncmp(p, key, len) == 0 && p[len] == ' ')) {
            p = strchr(p, '\n');
            p = p ? p + 1 : NULL;
        }
        if (!p)
            return -1;
        p += len + 1;
    }
    return strtoll(p, NULL, 10);
}

void hc_cgroup_usage(const struct hc_cgroup *cg, struct hc_cgroup_usage *out)
{
    *out = (struct hc_cgroup_usage){
        .cpu_user_us = read_number(cg->fd, "cpu.stat", "user_usec"),
        .cpu_system_us = read_number(cg->fd, "cpu.stat", "system_usec"),
        .memory_peak = read_number(cg->fd, "memory.peak", NULL), /* since Linux 5.19 */
        .pids_peak = read_number(cg->fd, "pids.peak", NULL),     /* since Linux 6.1 */
        .oom_kills = read_number(cg->fd, "memory.events", "oom_kill"),
        .pids_refused = read_number(cg->fd, "pids.events", "max"),
    };
}

void hc_cgroup_kill(const struct hc_cgroup *cg)
{
    struct hc_error ignored;
    (void)hc_write_attr(cg->fd, "cgroup.kill", "1", &ignored);
}

int hc_cgroup_wait_empty(const struct hc_cgroup *cg, struct hc_error *err)
{
    hc_autofd events = openat(cg->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
    if (events < 0)
        return hc_fail(err, errno, "open cgroup.events");
    struct timespec start, now;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        char text[256];
        ssize_t n = pread(events, text, sizeof text - 1, 0);
        if (n < 0)
            return hc_fail(err, errno, "read cgroup.events");
        text[n] = '\0';
        if (strstr(text, "populated 0"))
            return 0;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > 10)
            return hc_fail(err, ETIMEDOUT, "processes of the cell are still there after 10 s");
        struct pollfd p = {.fd = events, .events = POLLPRI};
        (void)poll(&p, 1, 1000);
    }
}

void hc_cgroup_remove(struct hc_cgroup *cg)
{
    if (cg->fd < 0)
        return;
    (void)unlinkat(cg->parent_fd, cg->name, AT_REMOVEDIR);
    hc_close_fd(&cg->fd);
}

static bool reap_one(int parent_fd, const char *name)
{
    struct hc_cgroup cg = {.parent_fd = parent_fd, .fd = -1};
    (void)snprintf(cg.name, sizeof cg.name, "%s", name);
    cg.fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (cg.fd < 0)
        return false;
    if (flock(cg.fd, LOCK_EX | LOCK_NB) < 0) { /* its launcher lives */
        hc_close_fd(&cg.fd);
        return false;
    }
    struct hc_error ignored;
    hc_cgroup_kill(&cg);
    (void)hc_cgroup_wait_empty(&cg, &ignored);
    hc_cgroup_remove(&cg);
    return true;
}

int hc_cgroup_reap(const struct hc_cgroup_parent *parent)
{
    int fd = openat(parent->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        hc_close_fd(&fd);
        return 0;
    }
    int count = 0;
    for (struct dirent *e; (e = readdir(dir));)
        if (strncmp(e->d_name, LEAF_PREFIX, strlen(LEAF_PREFIX)) == 0 && strlen(e->d_name) < 96)
            count += reap_one(parent->fd, e->d_name);
    (void)closedir(dir);
    return count;
}
