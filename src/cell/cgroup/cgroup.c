#include "cell/cgroup.h"

#include "base/clock.h"
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define LEAF_PREFIX "hotcell-job-" /* begins the name of a leaf */
/* Most attempts to make and lock a leaf: before it is locked, another launcher may remove it as a
 * left-over. */
#define REAPED_TRIES 20

/* Lock a new leaf. A reaper that sees the directory before it is locked takes it for a left-over and
 * removes it. 0: it is locked; 1: it is removed, or will be. */
static int lock_leaf(struct hc_cgroup *cg)
{
    hc_autofd fd = openat(cg->parent_fd, cg->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || faccessat(fd, "cgroup.procs", F_OK, 0) < 0)
        return 1;
    cg->fd = hc_take(&fd);
    return 0;
}

static int fail_make(const struct hc_cgroup *cg, const struct hc_cgroup_parent *parent, int error,
                     struct hc_error *err)
{
    const char *why = error == EAGAIN
                          ? "cgroup.max.descendants or cgroup.max.depth, there or above, is reached"
                      : error == ENOENT || error == ENODEV ? "it was removed meanwhile"
                                                           : strerror(error);
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "make the cgroup %s in %s: %s", cg->name, parent->path,
                      why);
}

int hc_cgroup_create(struct hc_cgroup *cg, const struct hc_cgroup_parent *parent, const char *job_id,
                     struct hc_error *err)
{
    *cg = (struct hc_cgroup){.parent_fd = parent->fd, .fd = -1, .cpu = parent->cpu, .io = parent->io};
    (void)snprintf(cg->name, sizeof cg->name, LEAF_PREFIX "%s", job_id);
    for (int attempt = 0; attempt < REAPED_TRIES; attempt++) {
        /* Mode 0700: a user who can open the directory could hold the lock that tells a reaper that the
         * leaf is in use. */
        if (mkdirat(parent->fd, cg->name, 0700) == 0) {
            if (lock_leaf(cg) == 0)
                return 0;
        } else if (errno != EEXIST || attempt == 0) { /* at the first attempt: another job has that name */
            return fail_make(cg, parent, errno, err);
        }
        (void)poll(NULL, 0, attempt); /* give the reaper time to finish */
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

/* Format a limit as the kernel gives it back from the limit's file. */
static void format_limit(const struct hc_option *opt, int64_t value, char *out, size_t size)
{
    if (opt->kind == HC_OPT_SIZE) { /* the kernel rounds down to whole pages */
        int64_t page = sysconf(_SC_PAGESIZE);
        (void)snprintf(out, size, "%lld", (long long)(value / page * page));
    } else if (opt->kind == HC_OPT_MILLI) {
        /* Microseconds per period of 100 ms, or of 1 s where that would be less than the kernel takes. */
        int64_t period = value < 10 ? 1000000 : 100000;
        (void)snprintf(out, size, "%lld %lld", (long long)(value * period / 1000), (long long)period);
    } else {
        (void)snprintf(out, size, "%lld", (long long)value);
    }
}

/* The limit's controller if a place for cells may lack it: "cpu" or "io". NULL for other limits: a directory
 * without memory and pids is no place for cells. */
const char *hc_cgroup_optional(const struct hc_option *opt)
{
    static const char *const controllers[] = {"cpu", "io"};
    const size_t len = opt->cgroup_file ? strcspn(opt->cgroup_file, ".") : 0;
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
        if (len == strlen(controllers[i]) && strncmp(opt->cgroup_file, controllers[i], len) == 0)
            return controllers[i];
    return NULL;
}

bool hc_cgroup_asked(const struct hc_limits *l, const struct hc_option *opt)
{
    return opt->cgroup_file && (!hc_cgroup_optional(opt) || hc_limit_value(l, opt) != opt->def);
}

bool hc_cgroup_can(const struct hc_cgroup *cg, const struct hc_option *opt)
{
    const char *controller = hc_cgroup_optional(opt);
    return cg->fd >= 0 && (!controller || (strcmp(controller, "cpu") == 0 ? cg->cpu : cg->io));
}

static int write_limits(struct hc_cgroup *cg, const struct hc_limits *l, struct hc_error *err)
{
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        char text[64];
        if (opt->cgroup_key || !hc_cgroup_asked(l, opt) || !hc_cgroup_can(cg, opt))
            continue;
        format_limit(opt, hc_limit_value(l, opt), text, sizeof text);
        if (set_and_check(cg->fd, opt->cgroup_file, text, false, err) < 0)
            return -1;
    }
    return 0;
}

int hc_cgroup_oom_kill_one(struct hc_cgroup *cg, struct hc_error *err)
{
    return set_and_check(cg->fd, "memory.oom.group", "0", false, err);
}

int hc_cgroup_limit(struct hc_cgroup *cg, const struct hc_limits *l, struct hc_error *err)
{
    if (hc_cgroup_frozen(cg)) /* its processes would never run */
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "the cgroup is frozen: cgroup.freeze is set there or above");
    /* Swap: absent when the kernel or the host has no swap accounting, or no compressed swap. */
    if (set_and_check(cg->fd, "memory.swap.max", "0", true, err) < 0 ||
        set_and_check(cg->fd, "memory.zswap.max", "0", true, err) < 0 ||
        set_and_check(cg->fd, "memory.oom.group", "1", false, err) < 0)
        return -1;
    return write_limits(cg, l, err);
}

bool hc_cgroup_frozen(const struct hc_cgroup *cg)
{
    char text[256];
    return hc_read_attr(cg->fd, "cgroup.events", text, sizeof text) == 0 && strstr(text, "frozen 1");
}

const char *hc_cgroup_clone_refusal(const struct hc_cgroup *cg, int error)
{
    char type[32];
    if (cg->fd < 0)
        return NULL;
    if (faccessat(cg->fd, "cgroup.procs", F_OK, 0) < 0)
        return "its cgroup was removed by somebody else";
    if (error == EOPNOTSUPP && hc_read_attr(cg->fd, "cgroup.type", type, sizeof type) == 0 &&
        strcmp(type, "domain") != 0)
        return "its cgroup lies in a threaded subtree, which takes no new processes";
    if (error == EACCES)
        return "its cgroup shares no delegated ancestor with ours";
    return error == EAGAIN ? "pids.max of a cgroup above its own is reached" : NULL;
}

int hc_cgroup_move_process(const struct hc_cgroup *cg, pid_t pid, struct hc_error *err)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%d", pid);
    return hc_write_attr(cg->fd, "cgroup.procs", number, err) < 0 ? hc_exit_as(err, HC_EXIT_UNAVAILABLE) : 0;
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
    const int64_t start = hc_mono_ms();
    for (;;) {
        char text[256];
        ssize_t n = pread(events, text, sizeof text - 1, 0);
        if (n < 0)
            return hc_fail(err, errno, "read cgroup.events");
        text[n] = '\0';
        if (strstr(text, "populated 0"))
            return 0;
        if (hc_mono_ms() - start > 10000)
            return hc_fail(err, ETIMEDOUT, "processes of the cell are still there after 10 s");
        struct pollfd p = {.fd = events, .events = POLLPRI};
        (void)poll(&p, 1, 1000);
    }
}

void hc_cgroup_remove(struct hc_cgroup *cg)
{
    if (cg->fd < 0)
        return;
    hc_autofd above = cg->parent_fd >= 0 ? -1 : openat(cg->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)unlinkat(above >= 0 ? above : cg->parent_fd, cg->name, AT_REMOVEDIR);
    hc_close_fd(&cg->fd);
}

static bool reap_one(int parent_fd, const char *name)
{
    struct hc_cgroup cg = {.parent_fd = parent_fd, .fd = -1};
    (void)snprintf(cg.name, sizeof cg.name, "%s", name);
    cg.fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (cg.fd < 0)
        return false;
    if (flock(cg.fd, LOCK_EX | LOCK_NB) < 0) { /* the leaf's launcher still runs */
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
