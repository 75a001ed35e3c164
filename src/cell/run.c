/* One job, cold: resolve and open everything, build the cell, supervise it, collect, account. One struct owns
 * every resource; one function gives them back, whatever was reached. */
#include "cell/run.h"

#include "base/fd.h"
#include "base/units.h"
#include "cell/cgroup.h"
#include "cell/filter.h"
#include "cell/ids.h"
#include "cell/kernel.h"
#include "cell/layers.h"
#include "cell/plan.h"
#include "cell/state.h"
#include "cell/supervise.h"
#include "cell/tree.h"
#include "cell/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#define NAMESPACES                                                                                           \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |               \
     CLONE_NEWCGROUP | CLONE_NEWTIME)
#define READ_ONLY            (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define CONSTRUCTION_SECONDS 30

struct launch {
    struct hc_run *run;
    struct hc_manifest *m;
    struct hc_plan plan;
    struct hc_tree tree;
    struct hc_ids ids;
    struct hc_cgroup_parent parent;
    struct hc_cgroup cgroup;
    struct hc_supervisor sup;
    struct hc_buf first_filter;
    int sync_fd, stdout_fd, stderr_fd, control_fd, status_fd; /* our ends; the child's are in the plan */
    int output_fd, tmp_fd;
    char **env;
    int64_t t_start, t_built, t_started;
};

__attribute__((format(printf, 2, 3))) static void warn(struct hc_manifest *m, const char *fmt, ...)
{
    if (m->warning_count >= sizeof m->warnings / sizeof *m->warnings)
        return;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(m->warnings[m->warning_count++], sizeof *m->warnings, fmt, ap);
    va_end(ap);
}

/* ---- names and times ---- */

static void format_time(char out[40])
{
    struct timespec t;
    struct tm tm;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    (void)gmtime_r(&t.tv_sec, &tm);
    char seconds[24];
    (void)strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(out, 40, "%s.%03ldZ", seconds, t.tv_nsec / 1000000);
}

/* Sorts by time, unique without asking anybody: 2026-01-31T120000Z-8f3a61c2. */
static int make_job_id(char out[72], struct hc_error *err)
{
    uint64_t random;
    time_t now = time(NULL);
    struct tm tm;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return hc_fail(err, errno, "getrandom");
    (void)gmtime_r(&now, &tm);
    char stamp[32];
    (void)strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    (void)snprintf(out, 72, "%s-%012llx", stamp, (unsigned long long)random & 0xffffffffffffULL);
    return 0;
}

/* ---- preparation: everything that the cell will need, open ---- */

static int open_source(struct hc_source *s, const char *path, uint64_t attr, struct hc_error *err)
{
    *s = (struct hc_source){.fd = -1, .mount_fd = -1, .attr = attr};
    s->path = strdup(path);
    if (!s->path)
        return hc_fail(err, ENOMEM, "%s", path);
    s->fd = open(path, O_PATH | O_CLOEXEC);
    return s->fd < 0 ? hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path) : 0;
}

static bool have_sys_admin(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[2] = {0};
    return syscall(SYS_capget, &head, d) == 0 && (d[0].effective & (1u << CAP_SYS_ADMIN));
}

/* Files that only their owner may read or write: to the guest's per-job uid they are shown as its own. */
static int map_owner(struct launch *l, struct hc_source *s, const char *what, struct hc_error *err)
{
    struct stat st;
    if (fstat(s->fd, &st) < 0)
        return hc_fail(err, errno, "stat %s", s->path);
    hc_autofd userns = hc_ids_mapping(st.st_uid, st.st_gid, &l->ids, err);
    if (userns < 0)
        return -1;
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (unsigned)userns};
    if (hc_mount_setattr(s->mount_fd, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail_as(
            err, HC_EXIT_UNAVAILABLE, errno,
            "%s %s is for its owner only, and its file system cannot lend it to the cell's uid (idmapped "
            "mount): make it readable for all, or run hotcell as its owner",
            what, s->path);
    return 0;
}

static int prepare_tree(struct launch *l, struct hc_error *err)
{
    if (hc_tree_open(&l->tree, l->run->policy->tree, err) < 0)
        return -1;
    memcpy(l->m->tree_sha256, l->tree.id, sizeof l->m->tree_sha256);
    struct hc_source *s = &l->plan.tree;
    if (open_source(s, l->tree.path, READ_ONLY, err) < 0)
        return -1;
    char shim[PATH_MAX];
    if (hc_shim_path(shim, err) < 0)
        return -1;
    return open_source(&l->plan.shim, shim, READ_ONLY, err);
}

/* Hash what the guest will read. The descriptor that is read is opened through the one that is mounted. */
static int hash_input(const struct hc_source *s, struct hc_manifest_input *in, struct hc_error *err)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "input %s", s->path);
    struct hc_hash h;
    hc_hash_init(&h);
    static char chunk[1 << 17];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0)
            return hc_fail_as(err, HC_EXIT_DATA, errno, "input %s: read", s->path);
        hc_hash_add(&h, chunk, (size_t)n);
        in->bytes += n;
    }
    hc_hash_hex(&h, in->sha256);
    return 0;
}

static int prepare_input(struct launch *l, const struct hc_input *in, struct hc_error *err)
{
    struct hc_source *s = &l->plan.inputs[l->plan.input_count];
    *s = (struct hc_source){.fd = -1, .mount_fd = -1};
    l->plan.input_count++; /* from here on it is finished with the rest */
    if (open_source(s, in->path, READ_ONLY | MOUNT_ATTR_NOEXEC, err) < 0)
        return hc_ctx(err, "input '%s'", in->name);
    struct stat st;
    if (fstat(s->fd, &st) < 0)
        return hc_fail(err, errno, "stat %s", s->path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "input '%s': %s: expected a regular file", in->name,
                          in->path);
    char target[sizeof s->target + 1];
    if (hc_input_cell_path(in, target, sizeof target) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "input '%s': the name is too long", in->name);
    (void)snprintf(s->target, sizeof s->target, "%s", target + 1); /* relative to the new root */
    struct hc_manifest_input *row = &l->m->inputs[l->m->input_count++];
    const char *slash = strrchr(in->path, '/');
    *row = (struct hc_manifest_input){.name = in->name, .file = slash ? slash + 1 : in->path};
    return hash_input(s, row, err);
}

static int prepare_output(struct launch *l, struct hc_error *err)
{
    struct hc_run *r = l->run;
    const struct hc_job *job = r->job;
    r->dest = (struct hc_dest){.fd = -1, .parents = !job->output_dir};
    int n = job->output_dir
                ? snprintf(r->dest.path, sizeof r->dest.path, "%s", job->output_dir)
                : snprintf(r->dest.path, sizeof r->dest.path, "%s/%s", r->default_dir, l->m->job_id);
    if (n < 0 || n >= (int)sizeof r->dest.path)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "output directory");
    bool bind = r->policy->output_mode == HC_OUTPUT_BIND;
    if (bind && !job->output_dir)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "output.mode \"bind\" needs an output directory: give -o DIR");
    /* A directory that was asked for is made and tried now: better than after an hour's work. */
    if (job->output_dir && hc_dest_open(&r->dest, err) < 0)
        return -1;
    if (!bind)
        return 0;
    return open_source(&l->plan.output, r->dest.path,
                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW,
                       err);
}

/* As root, mounts are cloned here, where the rights are; see struct hc_source. */
static int clone_mounts(struct launch *l, struct hc_error *err)
{
    struct hc_plan *p = &l->plan;
    if (!have_sys_admin())
        return 0;
    if ((p->tree.mount_fd = hc_source_clone(&p->tree, false, err)) < 0 ||
        (p->shim.mount_fd = hc_source_clone(&p->shim, false, err)) < 0)
        return -1;
    for (size_t i = 0; i < p->input_count; i++) {
        struct hc_source *s = &p->inputs[i];
        struct stat st;
        if ((s->mount_fd = hc_source_clone(s, false, err)) < 0)
            return -1;
        if (fstat(s->fd, &st) < 0)
            return hc_fail(err, errno, "stat %s", s->path);
        if (!(st.st_mode & S_IROTH) && map_owner(l, s, "input", err) < 0)
            return -1;
    }
    if (p->output.fd < 0)
        return 0;
    if ((p->output.mount_fd = hc_source_clone(&p->output, false, err)) < 0)
        return -1;
    return map_owner(l, &p->output, "output directory", err);
}

static int prepare_limits(struct launch *l, struct hc_error *err)
{
    const struct hc_policy *p = l->run->policy;
    struct hc_error why = {0};
    bool found = p->enforcement != HC_ENFORCE_RLIMITS && hc_cgroup_find(&l->parent, &why) == 0;
    if (!found && p->enforcement == HC_ENFORCE_CGROUP) {
        *err = why;
        return hc_ctx(err, "limits.enforcement is \"cgroup\"");
    }
    const char *by = found ? "cgroup" : "rlimit+watch";
    l->m->enforced_by.memory = by;
    l->m->enforced_by.pids = found ? "cgroup" : "rlimit";
    l->m->enforced_by.cpu = !p->limits.cpu_ms ? "none" : by;
    l->m->enforced_by.cpus = !p->limits.cpus_milli ? "none" : found && l->parent.cpu ? "cgroup" : "none";
    l->m->enforced_by.output = p->output_mode == HC_OUTPUT_CAPPED ? "tmpfs" : "none";
    if (!found) {
        if (p->limits.cpus_milli)
            warn(l->m, "limits.cpus is not enforced: there is no cgroup with the cpu controller");
        l->plan.rlimit_pids = l->plan.rlimit_memory = true;
        return 0;
    }
    (void)hc_cgroup_reap(&l->parent);
    if (hc_cgroup_create(&l->cgroup, &l->parent, l->m->job_id, err) < 0)
        return -1;
    return hc_cgroup_limit(&l->cgroup, &p->limits, err) < 0 ? hc_ctx(err, "limit the cell") : 0;
}

static int add_env(struct launch *l, size_t *n, const char *name, const char *value, struct hc_error *err)
{
    if (asprintf(&l->env[*n], "%s=%s", name, value) < 0) {
        l->env[*n] = NULL;
        return hc_fail(err, ENOMEM, "environment");
    }
    (*n)++;
    return 0;
}

/* As many threads for numeric libraries as there are CPUs for them, and never so many that they use up
 * limits.pids. */
static int64_t numeric_threads(const struct hc_limits *limits)
{
    cpu_set_t set;
    int64_t cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (limits->cpus_milli && limits->cpus_milli / 1000 < cpus)
        cpus = limits->cpus_milli / 1000;
    if (cpus > limits->pids / 4)
        cpus = limits->pids / 4;
    return cpus < 1 ? 1 : cpus;
}

static int prepare_env(struct launch *l, struct hc_error *err)
{
    const cJSON *own = l->run->policy->env;
    char threads[24];
    (void)snprintf(threads, sizeof threads, "%lld", (long long)numeric_threads(&l->run->policy->limits));
    const char *const fixed[][2] = {
        {"HOME", "/tmp"},
        {"TMPDIR", "/tmp"},
        {"LANG", "C.UTF-8"},
        {"PATH", ""},
        {"MPLBACKEND", "Agg"},
        {"MPLCONFIGDIR", "/tmp/.matplotlib"},
        {"TZ", "UTC"},
        {"OMP_NUM_THREADS", threads},
        {"OPENBLAS_NUM_THREADS", threads},
        /* joblib would otherwise try for semaphores, and warn that it cannot have any. */
        {"JOBLIB_MULTIPROCESSING", "0"},
    };
    const size_t fixed_count = sizeof fixed / sizeof *fixed;
    l->env = calloc(fixed_count + (size_t)cJSON_GetArraySize(own) + 1, sizeof *l->env);
    if (!l->env)
        return hc_fail(err, ENOMEM, "environment");
    size_t n = 0;
    for (size_t i = 0; i < fixed_count; i++) {
        const char *name = fixed[i][0];
        if (!cJSON_GetObjectItemCaseSensitive(own, name) && add_env(l, &n, name, fixed[i][1], err) < 0)
            return -1;
    }
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, own)
    {
        if (add_env(l, &n, item->string, item->valuestring, err) < 0)
            return -1;
    }
    l->plan.env = l->env;
    return 0;
}

static int prepare_handover(struct launch *l, struct hc_error *err)
{
    char state[PATH_MAX], cache[PATH_MAX + 8];
    if (hc_state_dir(state, err) < 0)
        return -1;
    (void)snprintf(cache, sizeof cache, "%s/cache", state);
    hc_autobuf job_filter = {0};
    hc_autobuf bytes = {0};
    if (hc_filter_get(HC_FILTER_FIRST, l->run->policy, cache, &l->first_filter, err) < 0 ||
        hc_filter_get(HC_FILTER_JOB, l->run->policy, cache, &job_filter, err) < 0)
        return -1;
    l->plan.filter = (struct sock_fprog){
        .len = (unsigned short)(l->first_filter.len / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(void *)l->first_filter.data,
    };
    if (hc_handover_write(l->run->job, l->run->policy, job_filter.data, job_filter.len, &bytes, err) < 0)
        return -1;
    l->plan.handover_fd = hc_sealed_memfd("hotcell-handover", bytes.data, bytes.len, err);
    return l->plan.handover_fd < 0 ? -1 : 0;
}

static int make_pair(int type, int *ours, int *theirs, struct hc_error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "socketpair");
    *ours = pair[0];
    *theirs = pair[1];
    return 0;
}

static int make_output_pipe(int *ours, int *theirs, struct hc_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    *ours = ends[0];
    *theirs = ends[1];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) < 0 ? hc_fail(err, errno, "pipe") : 0;
}

static int prepare_channels(struct launch *l, struct hc_error *err)
{
    struct hc_plan *p = &l->plan;
    const int on = 1;
    if (make_pair(SOCK_SEQPACKET, &l->sync_fd, &p->sync_fd, err) < 0 ||
        make_pair(SOCK_SEQPACKET, &l->control_fd, &p->control_fd, err) < 0 ||
        make_pair(SOCK_STREAM, &l->status_fd, &p->status_fd, err) < 0 ||
        make_output_pipe(&l->stdout_fd, &p->stdout_fd, err) < 0 ||
        make_output_pipe(&l->stderr_fd, &p->stderr_fd, err) < 0)
        return -1;
    const struct timeval patience = {.tv_sec = CONSTRUCTION_SECONDS};
    if (setsockopt(l->control_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
        setsockopt(l->sync_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
        return hc_fail(err, errno, "setsockopt");
    p->stdin_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return p->stdin_fd < 0 ? hc_fail(err, errno, "open /dev/null") : 0;
}

static int prepare_ids(struct launch *l, struct hc_error *err)
{
    if (hc_ids_lease(&l->ids, err) < 0)
        return -1;
    l->plan.host_uid = l->ids.uid;
    l->plan.host_gid = l->ids.gid;
    l->plan.drop_groups = geteuid() == 0;
    return 0;
}

static int prepare(struct launch *l, struct hc_error *err)
{
    if (prepare_tree(l, err) < 0 || prepare_output(l, err) < 0)
        return -1;
    for (size_t i = 0; i < l->run->job->input_count; i++)
        if (prepare_input(l, &l->run->job->inputs[i], err) < 0)
            return -1;
    if (prepare_ids(l, err) < 0 || clone_mounts(l, err) < 0 || prepare_env(l, err) < 0 ||
        prepare_handover(l, err) < 0 || prepare_channels(l, err) < 0)
        return -1;
    return prepare_limits(l, err);
}

/* ---- construction ---- */

static void close_childs_ends(struct hc_plan *p)
{
    int *const fds[] = {&p->sync_fd,    &p->stdin_fd,    &p->stdout_fd, &p->stderr_fd,
                        &p->control_fd, &p->handover_fd, &p->status_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        hc_close_fd(fds[i]);
}

static int clone_child(struct launch *l, struct hc_error *err)
{
    int pidfd = -1;
    struct clone_args args = {
        .flags = NAMESPACES | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
        .pidfd = (uintptr_t)&pidfd,
        .exit_signal = SIGCHLD,
    };
    if (l->cgroup.fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)l->cgroup.fd;
    }
    pid_t pid = hc_clone3(&args);
    if (pid == 0)
        hc_inside(&l->plan);
    if (pid < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno,
                          "make the cell's namespaces (clone3); 'hotcell doctor' says what this host lacks");
    l->sup.pid = pid;
    l->sup.pidfd = pidfd;
    close_childs_ends(&l->plan);
    return 0;
}

/* One message of the construction socket. `fds` gets the descriptors that came along, or stays as it was. 1:
 * end of file. */
static int receive_sync(int fd, struct hc_sync *msg, int fds[2], struct hc_error *err)
{
    struct iovec iov = {.iov_base = msg, .iov_len = sizeof *msg};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    struct msghdr mh = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    ssize_t n;
    do
        n = recvmsg(fd, &mh, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return hc_fail(err, errno, "wait for the cell's first process");
    if (n == 0)
        return 1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
        memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
    return n == (ssize_t)sizeof *msg
               ? 0
               : hc_fail(err, 0, "a message of %zd bytes from the cell's first process", n);
}

static int construct(struct launch *l, struct hc_error *err)
{
    struct hc_sync msg = {.kind = HC_SYNC_GO};
    if (hc_ids_write_maps(l->sup.pid, HC_GUEST_ID, l->ids.uid, HC_GUEST_ID, l->ids.gid, err) < 0)
        return hc_ctx(err, "map ids into the cell ('hotcell doctor' says more)");
    if (send(l->sync_fd, &msg, sizeof msg, MSG_NOSIGNAL) < 0)
        return hc_fail(err, errno, "start the cell's first process");
    bool checked = false;
    for (;;) {
        int fds[2] = {-1, -1};
        int rc = receive_sync(l->sync_fd, &msg, fds, err);
        if (rc < 0)
            return -1;
        if (rc == 1)
            return checked ? 0 : hc_fail(err, 0, "the cell's first process ended while it was being built");
        if (msg.kind == HC_SYNC_ERROR) {
            *err = msg.error;
            err->text[sizeof err->text - 1] = '\0';
            return hc_ctx(err, "build the cell");
        }
        if (msg.kind == HC_SYNC_MOUNTS) {
            l->output_fd = fds[0];
            l->tmp_fd = fds[1];
        }
        if (msg.kind == HC_SYNC_FACTS) {
            if (hc_layers_check(l->m, &l->plan, &msg.facts, l->sup.pid, &l->cgroup, err) < 0)
                return -1;
            checked = l->output_fd >= 0 && l->tmp_fd >= 0;
        }
    }
}

/* ---- the result ---- */

static int own_filters(void)
{
    char text[4096];
    if (hc_read_attr(AT_FDCWD, "/proc/self/status", text, sizeof text) < 0)
        return 0;
    const char *at = strstr(text, "\nSeccomp_filters:");
    return at ? (int)strtol(at + strlen("\nSeccomp_filters:"), NULL, 10) : 0;
}

static int supervise(struct launch *l, struct hc_error *err)
{
    struct hc_supervisor *s = &l->sup;
    s->policy = l->run->policy;
    s->ids = &l->ids;
    s->cgroup = &l->cgroup;
    s->stdout_fd = l->stdout_fd;
    s->stderr_fd = l->stderr_fd;
    s->control_fd = l->control_fd;
    s->status_fd = l->status_fd;
    s->output_fd = l->output_fd;
    s->tmp_fd = l->tmp_fd;
    s->pass_stdout = l->run->pass_stdout;
    s->pass_stderr = l->run->pass_stderr;
    s->cancel_fd = l->run->cancel_fd;
    s->filters = own_filters();
    s->out = &l->m->out;
    s->err = &l->m->err;
    s->inbox.max = (size_t)l->run->policy->limits.value_bytes + (1 << 20);
    return hc_supervise(s, err);
}

static void fill_usage(struct launch *l)
{
    const struct hc_supervisor *s = &l->sup;
    struct hc_manifest *m = l->m;
    m->usage.wall_us = s->end_us - l->t_started;
    m->usage.cpu_user_us = (int64_t)s->rusage.ru_utime.tv_sec * 1000000 + s->rusage.ru_utime.tv_usec;
    m->usage.cpu_system_us = (int64_t)s->rusage.ru_stime.tv_sec * 1000000 + s->rusage.ru_stime.tv_usec;
    int64_t largest = (int64_t)s->rusage.ru_maxrss * 1024; /* of one process */
    m->usage.memory_peak = s->memory_peak > largest ? s->memory_peak : largest;
    m->usage.pids_peak = s->tasks_peak ? s->tasks_peak : -1;
    m->usage.output_bytes = m->usage.output_files = -1;
    if (l->run->policy->output_mode == HC_OUTPUT_CAPPED) {
        m->usage.output_bytes = hc_watch_fs_bytes(l->output_fd);
        m->usage.output_files = hc_watch_fs_files(l->output_fd) - 1; /* its root */
    }
    if (l->cgroup.fd < 0)
        return;
    struct hc_cgroup_usage u;
    hc_cgroup_usage(&l->cgroup, &u);
    m->usage.cpu_user_us = u.cpu_user_us;
    m->usage.cpu_system_us = u.cpu_system_us;
    m->usage.memory_peak = u.memory_peak;
    m->usage.pids_peak = u.pids_peak;
}

static void fill_timing(struct launch *l)
{
    const struct hc_supervisor *s = &l->sup;
    l->m->timing.build_us = l->t_started - l->t_start;
    l->m->timing.start_us = s->go_us ? s->go_us - l->t_started : -1;
    l->m->timing.run_us = s->go_us ? s->end_us - s->go_us : -1;
}

__attribute__((format(printf, 3, 4))) static void conclude(struct hc_manifest *m, enum hc_status status,
                                                           const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    m->status = status;
    (void)vsnprintf(m->reason, sizeof m->reason, fmt, ap);
    va_end(ap);
}

/* The launcher ended it, and knows why. */
static bool conclude_ended(struct launch *l)
{
    const struct hc_limits *limits = &l->run->policy->limits;
    struct hc_manifest *m = l->m;
    char text[32];
    switch (l->sup.end) {
    case HC_END_TIMEOUT:
        conclude(m, HC_STATUS_TIMEOUT, "ran longer than %s (limits.timeout)",
                 hc_format_duration(limits->timeout_ms, text, sizeof text));
        return true;
    case HC_END_CPU:
        conclude(m, HC_STATUS_CPU, "used more than %s of CPU time (limits.cpu)",
                 hc_format_duration(limits->cpu_ms, text, sizeof text));
        return true;
    case HC_END_MEMORY:
        conclude(m, HC_STATUS_MEMORY, "used more than %s of memory (limits.memory)",
                 hc_format_size(limits->memory, text, sizeof text));
        return true;
    case HC_END_OUTPUT:
        conclude(
            m, HC_STATUS_OUTPUT, "wrote more than %s to %s (output.overflow is \"end\")",
            hc_format_size(m->out.truncated ? limits->stdout_bytes : limits->stderr_bytes, text, sizeof text),
            m->out.truncated ? "standard output (limits.stdout)" : "standard error (limits.stderr)");
        return true;
    case HC_END_CANCELLED:
        conclude(m, HC_STATUS_KILLED, "cancelled from outside");
        return true;
    default:
        return false;
    }
}

/* The kernel ended it, or refused it something that it needed. */
static bool conclude_kernel(struct launch *l)
{
    const struct hc_limits *limits = &l->run->policy->limits;
    struct hc_cgroup_usage u = {0};
    char text[32];
    if (l->cgroup.fd >= 0)
        hc_cgroup_usage(&l->cgroup, &u);
    if (u.oom_kills > 0) {
        conclude(l->m, HC_STATUS_MEMORY, "used more than %s of memory (limits.memory); killed by the kernel",
                 hc_format_size(limits->memory, text, sizeof text));
        return true;
    }
    bool by_signal = l->sup.exit_known && l->sup.exit.code != CLD_EXITED;
    if (by_signal && l->sup.exit.status == SIGXCPU) {
        conclude(l->m, HC_STATUS_CPU, "used more than %s of CPU time (limits.cpu); killed by the kernel",
                 hc_format_duration(limits->cpu_ms, text, sizeof text));
        return true;
    }
    bool failed = !l->sup.exit_known || by_signal || l->sup.exit.status != 0;
    if (failed && !l->sup.inbox.rejected && (u.pids_refused > 0 || l->sup.tasks_peak >= limits->pids)) {
        conclude(l->m, HC_STATUS_PIDS,
                 "wanted more than %lld processes and threads (limits.pids), and failed",
                 (long long)limits->pids);
        return true;
    }
    return false;
}

static const char *string_of(const cJSON *o, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static int number_of(const cJSON *o, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e9 ? (int)item->valuedouble
                                                                                     : 0;
}

/* What the guest's process sent: parsed strictly, kept as it is. Sets *complete if it says that the harness
 * came to its end. */
static void take_message(struct launch *l, bool *complete)
{
    struct hc_manifest *m = l->m;
    struct hc_inbox *in = &l->sup.inbox;
    struct hc_json j = {0};
    struct hc_error err = {0};
    *complete = false;
    if (l->sup.protocol[0])
        warn(m, "the guest's process broke the protocol: %s", l->sup.protocol);
    if (!in->rejected && !in->reported)
        return;
    if (hc_json_parse(&j, "report", in->body.data, in->body.len, &err) < 0 || !cJSON_IsObject(j.root)) {
        warn(m, "the guest's process sent a report that is no JSON object");
    } else if (in->rejected) {
        m->rejection.set = true;
        (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "%s", string_of(j.root, "rule"));
        (void)snprintf(m->rejection.message, sizeof m->rejection.message, "%s", string_of(j.root, "message"));
        (void)snprintf(m->rejection.hint, sizeof m->rejection.hint, "%s", string_of(j.root, "hint"));
        m->rejection.line = number_of(j.root, "line");
        m->rejection.column = number_of(j.root, "column");
    } else {
        *complete = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j.root, "complete"));
        m->guest = hc_buf_take(&in->body);
    }
    hc_json_finish(&j);
}

static void conclude_own_end(struct launch *l, bool complete)
{
    struct hc_supervisor *s = &l->sup;
    struct hc_manifest *m = l->m;
    if (!s->exit_known) {
        conclude(m, HC_STATUS_KILLED, "the cell was killed from outside (its first process ended by %s %d)",
                 s->wait_code == CLD_EXITED ? "exit status" : "signal", s->wait_status);
        return;
    }
    m->process.known = true;
    m->process.signaled = s->exit.code != CLD_EXITED;
    m->process.value = s->exit.status;
    if (m->process.signaled && s->exit.status == SIGKILL)
        conclude(m, HC_STATUS_KILLED, "the interpreter was killed by SIGKILL, which hotcell did not send");
    else if (m->process.signaled)
        conclude(m, HC_STATUS_ERROR, "the interpreter crashed: SIG%s",
                 sigabbrev_np(s->exit.status) ? sigabbrev_np(s->exit.status) : "?");
    else if (m->rejection.set && s->exit.status == HC_EXIT_REJECTED)
        conclude(m, HC_STATUS_REJECTED, "%.400s", m->rejection.message);
    else if (s->exit.status == 0 && complete)
        conclude(m, HC_STATUS_OK, "%s", "");
    else if (s->exit.status == 0)
        conclude(m, HC_STATUS_ERROR, "the program ended its process early, before its results were reported");
    else
        conclude(m, HC_STATUS_ERROR, "the program failed with exit status %d", s->exit.status);
}

/* The shim or its interpreter could not be started: our failure, told with the last line that it printed. */
static int launch_failed(struct launch *l, struct hc_error *err)
{
    if (l->sup.end == HC_END_LAUNCH) {
        *err = l->sup.launch;
        return hc_ctx(err, "check the cell");
    }
    const char *text = l->m->err.text.data ? l->m->err.text.data : "";
    size_t len = strcspn(text, "\n"), at = 0;
    while (text[at + len] == '\n' && text[at + len + 1]) { /* to the last line that is not empty */
        at += len + 1;
        len = strcspn(text + at, "\n");
    }
    return hc_fail(err, 0, "the interpreter did not start: %.*s", len ? (int)len : 16,
                   len ? text + at : "it said nothing");
}

static int judge(struct launch *l, struct hc_error *err)
{
    struct hc_supervisor *s = &l->sup;
    bool complete;
    hc_layers_job_filter(l->m, s->job_filter_evidence);
    take_message(l, &complete);
    if (s->end == HC_END_LAUNCH)
        return launch_failed(l, err);
    if (conclude_ended(l) || conclude_kernel(l))
        return 0;
    if (!s->go_us && !l->m->rejection.set && s->exit_known)
        return launch_failed(l, err);
    if (!s->go_us && !l->m->rejection.set && s->wait_code == CLD_EXITED)
        return launch_failed(l, err);
    conclude_own_end(l, complete);
    return 0;
}

/* ---- keeping ---- */

static int persist_code(struct launch *l, struct hc_error *err)
{
    const struct hc_job *job = l->run->job;
    char stamp[24], name[96];
    uint64_t random;
    time_t now = time(NULL);
    struct tm tm;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return hc_fail(err, errno, "getrandom");
    (void)gmtime_r(&now, &tm);
    (void)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H-%M-%SZ", &tm);
    (void)snprintf(name, sizeof name, "code/run_%s_%012llx.py", stamp,
                   (unsigned long long)random & 0xffffffffffffULL);
    if (hc_dest_write(&l->run->dest, name, job->code, job->code_len, err) < 0)
        return hc_ctx(err, "save the code");
    l->m->code_path = strdup(name);
    return l->m->code_path ? 0 : hc_fail(err, ENOMEM, "save the code");
}

static int keep_results(struct launch *l, int64_t since_ns, struct hc_error *err)
{
    struct hc_collect c = {
        .from_fd = l->output_fd,
        .dest = &l->run->dest,
        .in_place = l->run->policy->output_mode == HC_OUTPUT_BIND,
        .since_ns = since_ns,
        .policy = l->run->policy,
        .manifest = l->m,
    };
    if (hc_collect(&c, err) < 0)
        return -1;
    /* Partial: a limit or an error ended it, and yet there is something. */
    l->m->partial = l->m->status != HC_STATUS_OK && (l->m->figure_count || l->m->file_count);
    return l->run->job->persist_code ? persist_code(l, err) : 0;
}

static void launch_init(struct launch *l, struct hc_run *r, struct hc_manifest *m)
{
    *l = (struct launch){
        .run = r,
        .m = m,
        .sync_fd = -1,
        .stdout_fd = -1,
        .stderr_fd = -1,
        .control_fd = -1,
        .status_fd = -1,
        .output_fd = -1,
        .tmp_fd = -1,
    };
    l->t_start = hc_now_us();
    l->tree.root_fd = -1;
    l->ids.lease_fd = -1;
    l->parent.fd = -1;
    l->cgroup.fd = -1;
    l->sup.pidfd = -1;
    l->sup.cgroup = &l->cgroup;
    struct hc_plan *p = &l->plan;
    p->policy = r->policy;
    p->tree = p->shim = p->output = (struct hc_source){.fd = -1, .mount_fd = -1};
    p->sync_fd = p->stdin_fd = p->stdout_fd = p->stderr_fd = p->control_fd = p->handover_fd = p->status_fd =
        -1;
}

static void source_finish(struct hc_source *s)
{
    free(s->path);
    hc_close_fd(&s->fd);
    hc_close_fd(&s->mount_fd);
}

static void launch_finish(struct launch *l)
{
    hc_supervise_kill(&l->sup);
    hc_close_fd(&l->sup.pidfd);
    hc_inbox_finish(&l->sup.inbox);
    /* The pages of these tmpfs are charged to the cgroup: they go first. */
    hc_close_fd(&l->output_fd);
    hc_close_fd(&l->tmp_fd);
    source_finish(&l->plan.tree);
    source_finish(&l->plan.shim);
    source_finish(&l->plan.output);
    for (size_t i = 0; i < l->plan.input_count; i++)
        source_finish(&l->plan.inputs[i]);
    close_childs_ends(&l->plan);
    int *const fds[] = {&l->sync_fd, &l->stdout_fd, &l->stderr_fd, &l->control_fd, &l->status_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        hc_close_fd(fds[i]);
    hc_cgroup_remove(&l->cgroup);
    hc_cgroup_parent_finish(&l->parent);
    hc_ids_release(&l->ids);
    hc_tree_finish(&l->tree);
    hc_buf_finish(&l->first_filter);
    for (char **e = l->env; e && *e; e++)
        free(*e);
    free(l->env);
}

static int run_cell(struct launch *l, struct hc_error *err)
{
    struct timespec now;
    if (prepare(l, err) < 0)
        return -1;
    /* The kernel stamps files with its coarse clock, which may lag a tick behind. */
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (clone_child(l, err) < 0 || construct(l, err) < 0)
        return -1;
    hc_close_fd(&l->sync_fd);
    l->t_started = hc_now_us();
    if (supervise(l, err) < 0)
        return -1;
    fill_usage(l);
    fill_timing(l);
    if (judge(l, err) < 0)
        return -1;
    int64_t collecting = hc_now_us();
    if (keep_results(l, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, err) < 0)
        return -1;
    l->m->timing.collect_us = hc_now_us() - collecting;
    return 0;
}

/* What is decided without a cell. 1: rejected. */
static int check_size(const struct hc_run *r, struct hc_manifest *m)
{
    int64_t max = r->policy->limits.code_bytes;
    char text[32];
    if ((int64_t)r->job->code_len <= max)
        return 0;
    m->rejection.set = true;
    (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "code_size");
    (void)snprintf(m->rejection.message, sizeof m->rejection.message,
                   "the code has %zu bytes, more than %s (limits.code)", r->job->code_len,
                   hc_format_size(max, text, sizeof text));
    (void)snprintf(m->rejection.hint, sizeof m->rejection.hint,
                   "pass data with --input instead of writing it into the code");
    conclude(m, HC_STATUS_REJECTED, "%s", m->rejection.message);
    return 1;
}

static int describe(struct hc_run *r, struct hc_manifest *m, struct hc_error *err)
{
    const struct hc_job *job = r->job;
    m->policy = r->policy;
    m->tenant = job->tenant;
    m->labels = job->labels;
    m->usage.memory_peak = m->usage.pids_peak = m->usage.output_bytes = m->usage.output_files = -1;
    m->timing.build_us = m->timing.start_us = m->timing.run_us = m->timing.collect_us = -1;
    m->enforced_by.memory = m->enforced_by.pids = m->enforced_by.cpu = m->enforced_by.cpus =
        m->enforced_by.output = "none";
    format_time(m->started);
    if (job->job_id)
        (void)snprintf(m->job_id, sizeof m->job_id, "%s", job->job_id);
    else if (make_job_id(m->job_id, err) < 0)
        return -1;
    cJSON *effective = hc_policy_to_json(r->policy);
    char *text = cJSON_PrintUnformatted(effective);
    cJSON_Delete(effective);
    if (!text)
        return hc_fail(err, ENOMEM, "describe the policy");
    hc_sha256_hex(text, strlen(text), m->policy_sha256);
    cJSON_free(text);
    return 0;
}

int hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err)
{
    struct launch l;
    int rc = describe(r, m, err);
    launch_init(&l, r, m);
    r->dest = (struct hc_dest){.fd = -1};
    if (rc == 0) {
        int rejected = check_size(r, m);
        rc = rejected ? prepare_output(&l, err) : run_cell(&l, err);
    }
    if (rc < 0)
        conclude(m, HC_STATUS_LAUNCH_FAILED, "%.500s", err->text);
    m->exit_code = rc < 0 ? err->exit : hc_status_exit(m->status);
    m->tree_name = r->policy->tree;
    launch_finish(&l);
    format_time(m->finished);
    return rc;
}

int hc_run_write_manifest(struct hc_run *r, struct hc_manifest *m, const void *key, size_t key_len,
                          struct hc_buf *text, struct hc_error *err)
{
    if (hc_manifest_print(m, key, key_len, text, err) < 0)
        return -1;
    if (!r->dest.path[0] || (!r->job->output_dir && r->dest.fd < 0))
        return 0;
    if (hc_dest_write(&r->dest, "manifest.json", text->data, text->len, err) < 0)
        return -1;
    if (!r->job->runner_form)
        return 0;
    hc_autobuf older = {0};
    if (hc_manifest_print_runner(m, &older, err) < 0)
        return -1;
    return hc_dest_write(&r->dest, "_sandbox_result.json", older.data, older.len, err);
}

void hc_run_finish(struct hc_run *r)
{
    hc_dest_finish(&r->dest);
}
