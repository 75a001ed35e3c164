/* Resolve, open and make everything that a cell needs before its first process exists. */
#include "cell/launch/launch.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/state.h"
#include "cell/filter.h"
#include "cell/steps.h"
#include "cell/tree_check.h"
#include "inside/devices.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* MOUNT_ATTR_* of the tree, the shim and the inputs. */
#define READ_ONLY            (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define CONSTRUCTION_SECONDS 30 /* longest wait for a message from the cell's first process */

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

int hc_launch_map_owner(struct hc_launch *l, struct hc_source *s, const char *remedy, struct hc_error *err)
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
            "%s: its file system cannot lend it to the uid of the cell (no idmapped mounts): %s", s->path,
            remedy);
    return 0;
}

/* A process that serves many jobs, a zygote's or a session's, has its tree checked more thoroughly. */
static bool serves_many(const struct hc_launch *l)
{
    return l->plan.zygote || l->run->policy->session;
}

int hc_launch_check_tree(struct hc_launch *l, struct hc_error *err)
{
    return hc_tree_check(&l->tree, (enum hc_tree_check)l->run->policy->tree_check, serves_many(l),
                         &l->m->tree_checked, err);
}

static int prepare_tree(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_policy *policy = l->run->policy;
    l->plan.awaits_check = policy->tree_check == HC_TREE_QUICK && !serves_many(l);
    if (hc_policy_check_layers(policy, err) < 0 || hc_tree_open(&l->tree, policy->tree, err) < 0 ||
        hc_tree_hold(&l->tree, err) < 0 || (!l->plan.awaits_check && hc_launch_check_tree(l, err) < 0))
        return -1;
    memcpy(l->m->tree_sha256, l->tree.id, sizeof l->m->tree_sha256);
    struct hc_source *s = &l->plan.tree;
    if (open_source(s, l->tree.path, READ_ONLY, err) < 0 || hc_launch_open_layers(l, READ_ONLY, err) < 0)
        return -1;
    char shim[PATH_MAX];
    if (hc_shim_path(l->tree.abi, shim, err) < 0)
        return hc_ctx(err, "tree '%s'", l->tree.name);
    return open_source(&l->plan.shim, shim, READ_ONLY, err);
}

/* Hash the file that the guest will read, and copy it to `copy_fd` unless that is -1. The file is opened
 * again through the descriptor that is mounted, so both are the same file. */
static int hash_input(const struct hc_source *s, struct hc_manifest_input *in, int copy_fd,
                      struct hc_error *err)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    hc_autofd fd = hc_open_quietly(AT_FDCWD, path, 0);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "input '%s': %s", in->name, s->path);
    struct hc_hash h;
    hc_hash_init(&h);
    static char chunk[1 << 17];
    for (ssize_t n; (n = TEMP_FAILURE_RETRY(read(fd, chunk, sizeof chunk))) != 0;) {
        if (n < 0)
            return hc_fail_as(err, HC_EXIT_DATA, errno, "input '%s': read %s", in->name, s->path);
        hc_hash_add(&h, chunk, (size_t)n);
        in->bytes += n;
        if (copy_fd >= 0 && hc_write_all(copy_fd, chunk, (size_t)n, err) < 0)
            return hc_ctx(err, "input '%s': copy it into the cell", in->name);
    }
    hc_hash_hex(&h, in->sha256);
    return 0;
}

int hc_launch_prepare_input(struct hc_launch *l, const struct hc_input *in, int copy_fd, struct hc_error *err)
{
    struct hc_source *s = &l->plan.inputs[l->plan.input_count];
    *s = (struct hc_source){.fd = -1, .mount_fd = -1};
    l->plan.input_count++; /* hc_launch_finish frees it from here on */
    if (open_source(s, in->path, READ_ONLY | MOUNT_ATTR_NOEXEC, err) < 0)
        return hc_ctx(err, "input '%s'", in->name);
    struct stat st;
    if (fstat(s->fd, &st) < 0)
        return hc_fail(err, errno, "stat %s", s->path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "input '%s': %s: expected a regular file%s", in->name,
                          in->path, S_ISDIR(st.st_mode) ? ": give a directory with --dir" : "");
    char target[sizeof s->target + 1];
    if (hc_input_cell_path(in, target, sizeof target) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "input '%s': the name is too long", in->name);
    (void)snprintf(s->target, sizeof s->target, "%s", target + 1); /* relative to the new root */
    struct hc_manifest_input *row = &l->m->inputs[l->m->input_count++];
    const char *slash = strrchr(in->path, '/');
    *row = (struct hc_manifest_input){.name = in->name, .file = slash ? slash + 1 : in->path};
    return hash_input(s, row, copy_fd, err);
}

/* Remove an earlier job's manifest, so that a file of that name found afterwards is the guest's. A file
 * that hotcell did not write belongs to the user, and stays. */
static int remove_old_manifests(const struct hc_run *r, struct hc_error *err)
{
    struct stat st;
    if (fstatat(r->dest.fd, "manifest.json", &st, AT_SYMLINK_NOFOLLOW) == 0 && !hc_has_manifest(r->dest.fd))
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s/manifest.json is no manifest of hotcell: move it away, or give another -o DIR",
                          r->dest.path);
    (void)unlinkat(r->dest.fd, "manifest.json", 0);
    if (r->job->runner_form)
        (void)unlinkat(r->dest.fd, "_sandbox_result.json", 0);
    return 0;
}

int hc_launch_prepare_output(struct hc_launch *l, struct hc_error *err)
{
    struct hc_run *r = l->run;
    const struct hc_job *job = r->job;
    r->dest = (struct hc_dest){.fd = -1,
                               .at = r->default_at,
                               .named = job->output_dir != NULL,
                               .else_temporary = r->else_temporary,
                               .shared = r->shared};
    int n = job->output_dir
                ? snprintf(r->dest.path, sizeof r->dest.path, "%s", job->output_dir)
                : snprintf(r->dest.path, sizeof r->dest.path, "%s/%s", r->default_dir, l->m->job_id);
    if (n < 0 || n >= (int)sizeof r->dest.path)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "output directory");
    bool bind = r->policy->output_mode == HC_OUTPUT_BIND;
    if (bind && !job->output_dir)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "output.mode \"bind\" needs an output directory: give -o DIR");
    /* Make and test the user's output directory now: an error after the job would lose its results. */
    if (job->output_dir && hc_dest_open(&r->dest, err) < 0)
        return -1;
    if (!bind)
        return 0;
    if (remove_old_manifests(r, err) < 0) {
        hc_dest_finish(&r->dest);
        r->dest.path[0] = '\0'; /* then no manifest is written there */
        return -1;
    }
    return open_source(&l->plan.output, r->dest.path,
                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW,
                       err);
}

/* As root, clone mounts and make devices here, as only the launcher has the rights; see struct hc_source. */
static int clone_mounts(struct hc_launch *l, struct hc_error *err)
{
    struct hc_plan *p = &l->plan;
    if (!have_sys_admin())
        return 0;
    if ((p->tree.mount_fd = hc_source_clone(&p->tree, false, err)) < 0 ||
        (p->shim.mount_fd = hc_source_clone(&p->shim, false, err)) < 0 ||
        hc_launch_clone_layers(l, err) < 0 || hc_devices_make(&p->devices_fd, err) < 0)
        return -1;
    for (size_t i = 0; i < p->input_count; i++) {
        struct hc_source *s = &p->inputs[i];
        struct stat st;
        if ((s->mount_fd = hc_source_clone(s, false, err)) < 0)
            return -1;
        if (fstat(s->fd, &st) < 0)
            return hc_fail(err, errno, "stat %s", s->path);
        if (!(st.st_mode & S_IROTH) && hc_launch_map_owner(l, s, "make it readable for all", err) < 0)
            return -1;
    }
    if (hc_launch_clone_dirs(l, err) < 0)
        return -1;
    if (p->output.fd < 0)
        return 0;
    if ((p->output.mount_fd = hc_source_clone(&p->output, false, err)) < 0)
        return -1;
    return hc_launch_map_owner(l, &p->output, "use --output-mode capped", err);
}

static int add_env(struct hc_launch *l, size_t *n, const char *name, const char *value, struct hc_error *err)
{
    if (asprintf(&l->env[*n], "%s=%s", name, value) < 0) {
        l->env[*n] = NULL;
        return hc_fail(err, ENOMEM, "environment");
    }
    (*n)++;
    return 0;
}

/* Threads for numeric libraries: as many as the cell has CPUs, and at most a quarter of limits.pids. */
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

/* Add a variable of the cell. To PATH are added the programs of layers: those of the tree are found first. */
static int add_variable(struct hc_launch *l, size_t *n, const char *name, const char *value,
                        struct hc_error *err)
{
    hc_autobuf path = {0};
    if (strcmp(name, "PATH") != 0)
        return add_env(l, n, name, value, err);
    (void)hc_buf_str(&path, value);
    return hc_launch_add_programs(l, &path, err) < 0 ? -1
                                                     : add_env(l, n, name, path.data ? path.data : "", err);
}

static int prepare_env(struct hc_launch *l, struct hc_error *err)
{
    const cJSON *own = l->run->policy->env;
    char threads[24];
    /* A process with several threads cannot be copied by fork, so a zygote has one. */
    int64_t count = l->plan.zygote ? 1 : numeric_threads(&l->run->policy->limits);
    (void)snprintf(threads, sizeof threads, "%lld", (long long)count);
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
        /* Else joblib tries to make semaphores, fails, and prints a warning. */
        {"JOBLIB_MULTIPROCESSING", "0"},
    };
    const size_t fixed_count = sizeof fixed / sizeof *fixed;
    l->env = calloc(fixed_count + (size_t)cJSON_GetArraySize(own) + 1, sizeof *l->env);
    if (!l->env)
        return hc_fail(err, ENOMEM, "environment");
    size_t n = 0;
    for (size_t i = 0; i < fixed_count; i++) {
        const char *name = fixed[i][0];
        if (!cJSON_GetObjectItemCaseSensitive(own, name) && add_variable(l, &n, name, fixed[i][1], err) < 0)
            return -1;
    }
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, own)
    {
        if (add_variable(l, &n, item->string, item->valuestring, err) < 0)
            return -1;
    }
    l->plan.env = l->env;
    return 0;
}

/* Filters of a handover, as in struct hc_handover_filters; owned. */
struct filters {
    struct hc_buf first, report, own;
};

/* The filter of the zygote itself; those of its copies are in the handover. */
static int get_zygote_filter(struct hc_launch *l, bool counted, const char *cache, struct hc_error *err)
{
    return hc_filter_get(HC_FILTER_ZYGOTE, l->run->policy, counted, cache, &l->first_filter, err);
}

static bool needs_job_filter(const struct hc_launch *l)
{
    return !l->sup.adopted || !hc_handover_locks_early(l->run->policy->rules);
}

/* Get the filters for the handover. A cold cell gets the two that the interpreter's process sets on
 * itself; a zygote those that it sets on its copies before they have a job; a copy only the job's filter,
 * if it needs one of its own. */
static int get_filters(struct hc_launch *l, const char *cache, struct filters *out, struct hc_error *err)
{
    const struct hc_policy *policy = l->run->policy;
    const bool counted = l->cgroup.fd >= 0, zygote = l->plan.zygote, copy = l->sup.adopted;
    struct hc_buf *first = zygote ? &out->first : &l->first_filter;
    if ((!copy && hc_filter_get(HC_FILTER_FIRST, policy, counted, cache, first, err) < 0) ||
        (!copy && hc_filter_get(HC_FILTER_REPORT, policy, counted, cache, &out->report, err) < 0) ||
        (needs_job_filter(l) && hc_filter_get(HC_FILTER_JOB, policy, counted, cache, &out->own, err) < 0) ||
        (zygote && get_zygote_filter(l, counted, cache, err) < 0))
        return -1;
    l->plan.filter = (struct sock_fprog){
        .len = (unsigned short)(l->first_filter.len / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(void *)l->first_filter.data,
    };
    if (hc_weak(HC_WEAK_SECCOMP)) {
        hc_buf_clear(&out->first);
        hc_buf_clear(&out->report);
        hc_buf_clear(&out->own);
    }
    return 0;
}

/* Change the rules of `shims`, which are borrowed, into what this cell's directories and layers add to them.
 * `*own` gets the changed rules, which the caller owns; NULL: nothing was to be added. */
static int adapt_rules(struct hc_launch *l, struct hc_policy *shims, cJSON **own, struct hc_error *err)
{
    *own = NULL;
    if (!shims->rules || (!l->plan.dir_count && !l->plan.layer_count))
        return 0;
    *own = cJSON_Duplicate(shims->rules, true);
    if (!*own)
        return hc_fail(err, ENOMEM, "handover");
    shims->rules = *own;
    return hc_launch_allow_dirs(l, *own, err) < 0 ? -1 : hc_launch_allow_layers(l, *own, err);
}

static int write_handover(struct hc_launch *l, const struct filters *f, struct hc_error *err)
{
    const struct hc_policy *policy = l->run->policy;
    struct hc_policy shims = *policy; /* its pointers are borrowed from `policy`, except `rules` */
    if (hc_weak(HC_WEAK_GUARD))
        shims.guard = HC_GUARD_OFF;
    hc_autobuf bytes = {0};
    const struct hc_handover_filters filters = {.first = {f->first.data, f->first.len},
                                                .report = {f->report.data, f->report.len},
                                                .own = {f->own.data, f->own.len}};
    const enum hc_handover_kind kind = l->plan.zygote   ? HC_HANDOVER_ZYGOTE
                                       : l->sup.adopted ? HC_HANDOVER_COPY
                                                        : HC_HANDOVER_CELL;
    cJSON *own;
    int rc = adapt_rules(l, &shims, &own, err);
    if (rc == 0)
        rc = hc_handover_write(kind, l->run->job, &shims, &filters, &bytes, err);
    cJSON_Delete(own);
    if (rc < 0)
        return -1;
    l->plan.handover_fd = hc_sealed_memfd("hotcell-handover", bytes.data, bytes.len, err);
    return l->plan.handover_fd < 0 ? -1 : 0;
}

int hc_launch_prepare_handover(struct hc_launch *l, struct hc_error *err)
{
    char state[PATH_MAX], cache[PATH_MAX + 8];
    /* A user without a state directory has no cache of filters. */
    struct hc_error ignored;
    bool cached = hc_state_dir(state, &ignored) == 0;
    (void)snprintf(cache, sizeof cache, "%s/cache", cached ? state : "");
    struct filters f = {0};
    int rc = get_filters(l, cached ? cache : NULL, &f, err);
    if (rc == 0)
        rc = write_handover(l, &f, err);
    hc_buf_finish(&f.first);
    hc_buf_finish(&f.report);
    hc_buf_finish(&f.own);
    return rc;
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

int hc_launch_prepare_channels(struct hc_launch *l, struct hc_error *err)
{
    struct hc_plan *p = &l->plan;
    if (make_pair(SOCK_SEQPACKET, &l->sync_fd, &p->sync_fd, err) < 0 ||
        make_pair(SOCK_STREAM, &l->status_fd, &p->status_fd, err) < 0 ||
        make_output_pipe(&l->stdout_fd, &p->stdout_fd, err) < 0 ||
        make_output_pipe(&l->stderr_fd, &p->stderr_fd, err) < 0)
        return -1;
    p->stdin_fd = hc_take(&l->feed.fd);
    const struct timeval patience = {.tv_sec = CONSTRUCTION_SECONDS};
    return setsockopt(l->sync_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0
               ? hc_fail(err, errno, "setsockopt")
               : 0;
}

static int prepare_ids(struct hc_launch *l, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_IDS))
        l->ids = (struct hc_ids){.uid = geteuid(), .gid = getegid(), .lease_fd = -1};
    else if (hc_ids_lease(&l->ids, err) < 0)
        return -1;
    l->plan.host_uid = l->ids.uid;
    l->plan.host_gid = l->ids.gid;
    l->plan.drop_groups = geteuid() == 0 && !hc_weak(HC_WEAK_IDS);
    return 0;
}

int hc_launch_prepare(struct hc_launch *l, struct hc_error *err)
{
    if (prepare_tree(l, err) < 0 || hc_launch_prepare_output(l, err) < 0)
        return -1;
    for (size_t i = 0; i < l->run->job->input_count; i++)
        if (hc_launch_prepare_input(l, &l->run->job->inputs[i], -1, err) < 0)
            return -1;
    if (hc_launch_prepare_dirs(l, err) < 0 || prepare_ids(l, err) < 0 || clone_mounts(l, err) < 0 ||
        prepare_env(l, err) < 0 ||
        hc_launch_prepare_limits(l, err) <
            0) /* before the handover: its filters depend on whether a cgroup counts memory */
        return -1;
    return hc_launch_prepare_handover(l, err) < 0 ? -1 : hc_launch_prepare_channels(l, err);
}

int hc_launch_prepare_zygote(struct hc_launch *l, struct hc_error *err)
{
    l->plan.zygote = true;
    if (prepare_tree(l, err) < 0 || prepare_ids(l, err) < 0)
        return -1;
    int count = l->plan.drop_groups ? hc_ids_lease_block(&l->block, HC_ZYGOTE_IDS, err) : 0;
    l->block_count = count > 0 ? (uid_t)count : 0;
    if (count < 0 || clone_mounts(l, err) < 0 || prepare_env(l, err) < 0 ||
        hc_launch_prepare_handover(l, err) < 0)
        return -1;
    return hc_launch_prepare_channels(l, err);
}
