/* How this host enforces a job's limits, and what the job used in the end. */
#include "cell/launch/launch.h"

#include "cell/launch/parked.h"
#include "cell/supervise/watch.h"
#include "inside/weak.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Note that a limit cannot be enforced on this host: with enforcement "cgroup" the job fails, with "auto" the
 * manifest gets a warning. */
static int note_unenforced(struct hc_launch *l, const char *limit, const char *why, struct hc_error *err)
{
    if (l->run->policy->enforcement == HC_ENFORCE_CGROUP)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "%s cannot be enforced: %s (limits.enforcement is \"cgroup\")", limit, why);
    hc_launch_warn(l->m, "%s is not enforced: %s", limit, why);
    return 0;
}

/* Note what enforces the limits that have a cgroup file of their own. */
static int note_number_limits(struct hc_launch *l, struct hc_error *err)
{
    char why[80];
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        const char *controller = hc_cgroup_optional(opt);
        if (!controller || opt->cgroup_key || !hc_cgroup_asked(&l->run->policy->limits, opt))
            continue;
        if (hc_cgroup_can(&l->cgroup, opt)) {
            *(const char **)(void *)((char *)&l->m->enforced_by + opt->enforced) = "cgroup";
            continue;
        }
        (void)snprintf(why, sizeof why, "there is no cgroup with the %s controller", controller);
        if (note_unenforced(l, opt->path, why, err) < 0)
            return -1;
    }
    return 0;
}

/* All limits of io.max are unenforced for the same reason: note those that the policy sets in one message. */
static int note_unenforced_io(struct hc_launch *l, const char *why, struct hc_error *err)
{
    hc_autobuf names = {0};
    for (size_t i = 0; i < hc_options_count; i++)
        if (hc_options[i].cgroup_key && hc_cgroup_asked(&l->run->policy->limits, &hc_options[i]))
            (void)hc_buf_fmt(&names, "%s%s", names.len ? " and " : "", hc_options[i].path);
    return note_unenforced(l, names.data ? names.data : "limits.io_read", why, err);
}

static int limit_disk_of(struct hc_launch *l, struct hc_cgroup_disks *disks, const struct hc_source *s,
                         struct hc_error *err)
{
    char why[256];
    if (s->fd < 0 || hc_cgroup_disk_of(disks, s->fd))
        return 0;
    (void)snprintf(why, sizeof why, "%.200s lies on no disk that could be told", s->path);
    return note_unenforced_io(l, why, err);
}

static int limit_io(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_limits *limits = &l->run->policy->limits;
    struct hc_cgroup_disks disks = {0};
    if (!hc_cgroup_asks_io(limits))
        return 0;
    if (l->cgroup.fd < 0 || !l->cgroup.io)
        return note_unenforced_io(l, "there is no cgroup with the io controller", err);
    if (l->run->parked) { /* a parked cell has copies of its inputs in memory: only its tree is on a disk */
        if (!l->run->parked->io)
            return note_unenforced_io(l, "the tree lies on no disk that could be told", err);
        l->m->enforced_by.io = "cgroup";
        return 0;
    }
    if (limit_disk_of(l, &disks, &l->plan.tree, err) < 0 ||
        limit_disk_of(l, &disks, &l->plan.output, err) < 0)
        return -1;
    for (size_t i = 0; i < l->plan.input_count; i++)
        if (limit_disk_of(l, &disks, &l->plan.inputs[i], err) < 0)
            return -1;
    for (size_t i = 0; i < l->plan.dir_count; i++)
        if (limit_disk_of(l, &disks, &l->plan.dirs[i].from, err) < 0)
            return -1;
    if (disks.count)
        l->m->enforced_by.io = "cgroup";
    return hc_cgroup_limit_io(&l->cgroup, limits, &disks, err);
}

static int make_leaf(struct hc_launch *l, struct hc_error *err)
{
    (void)hc_cgroup_reap(&l->parent);
    if (hc_cgroup_create(&l->cgroup, &l->parent, l->m->job_id, err) < 0)
        return -1;
    return hc_cgroup_limit(&l->cgroup, &l->run->policy->limits, err) < 0 ? hc_ctx(err, "limit the cell") : 0;
}

int hc_launch_find_place(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_policy *p = l->run->policy;
    struct hc_error why = {0};
    if (hc_weak(HC_WEAK_CGROUP))
        (void)hc_fail_as(&why, HC_EXIT_UNAVAILABLE, 0, "switched off in a weakened build");
    bool found =
        p->enforcement != HC_ENFORCE_RLIMITS && why.exit == 0 && hc_cgroup_find(&l->parent, true, &why) == 0;
    if (!found && why.exit == HC_EXIT_CONFIG) { /* HOTCELL_CGROUP names an unusable place */
        *err = why;
        return -1;
    }
    if (!found && p->enforcement == HC_ENFORCE_CGROUP) {
        *err = why;
        return hc_ctx(err, "limits.enforcement is \"cgroup\"");
    }
    (void)snprintf(l->no_cgroup, sizeof l->no_cgroup, "%s",
                   why.exit ? why.text : "limits.enforcement is \"rlimits\"");
    if (found && l->run->share.tenant && hc_cgroup_enter_tenant(&l->parent, &l->run->share, err) < 0)
        return -1;
    return found;
}

/* Rights of a cell whose use of the host's memory the watch does not count completely. */
static const struct {
    /* The policy's member and value; what is not counted, for messages. */
    const char *member, *value, *unseen;
    bool network; /* the member is "network", else "processes" */
} unwatched[] = {
    {"network", "loopback", "all that waits in its sockets", true},
    {"processes", "fork", "locks of files, and processes that end before they are looked at", false},
};

static bool is_unwatched(size_t i, const struct hc_policy *p)
{
    return unwatched[i].network ? p->network == HC_NETWORK_LOOPBACK : p->processes == HC_PROCESSES_FORK;
}

int hc_launch_check_watch(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_policy *p = l->run->policy;
    for (size_t i = 0; i < sizeof unwatched / sizeof *unwatched; i++) {
        if (!is_unwatched(i, p))
            continue;
        /* A program whose needs are learnt is trusted, and is not restricted. */
        if (p->enforcement == HC_ENFORCE_AUTO && !p->learn && !hc_weak(HC_WEAK_CGROUP))
            return hc_fail_as(
                err, HC_EXIT_UNAVAILABLE, 0,
                "\"%s\": \"%s\" needs a cgroup that counts its memory, and there is none: %s. Have the "
                "controllers delegated (hotcell(1), Cgroups), or say limits.enforcement \"rlimits\" "
                "(--enforcement rlimits): then nobody counts %s",
                unwatched[i].member, unwatched[i].value, l->no_cgroup, unwatched[i].unseen);
        hc_launch_warn(l->m, "limits.memory does not count %s: there is no cgroup (\"%s\": \"%s\")",
                       unwatched[i].unseen, unwatched[i].member, unwatched[i].value);
    }
    return 0;
}

static const char *watched_memory(const struct hc_policy *p)
{
    static const char *const words[2][2] = {
        {"rlimit+watch", "rlimit+watch, without locks"},
        {"rlimit+watch, without sockets", "rlimit+watch, without sockets and locks"}};
    return words[is_unwatched(0, p)][is_unwatched(1, p)];
}

int hc_launch_prepare_limits(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_policy *p = l->run->policy;
    const bool parked = l->run->parked != NULL; /* a parked cell brings its cgroup, if it has one */
    int found = parked ? l->cgroup.fd >= 0 : hc_launch_find_place(l, err);
    if (found < 0 || (!found && hc_launch_check_watch(l, err) < 0))
        return -1;
    const char *by = found ? "cgroup" : "rlimit+watch";
    l->m->enforced_by.memory = found ? by : watched_memory(p);
    l->m->enforced_by.memory_soft = !hc_memory_soft(&p->limits) ? "none" : found ? "cgroup" : "watch";
    l->m->enforced_by.pids = found ? "cgroup" : "rlimit";
    l->m->enforced_by.cpu = !p->limits.cpu_ms ? "none" : by;
    l->m->enforced_by.output = p->output_mode == HC_OUTPUT_CAPPED ? "tmpfs" : "none";
    if (!found && hc_weak(HC_WEAK_RLIMITS))
        l->m->enforced_by.pids = "none";
    l->plan.rlimit_pids = l->plan.rlimit_memory = !found;
    if (found && !parked && make_leaf(l, err) < 0)
        return -1;
    return note_number_limits(l, err) < 0 ? -1 : limit_io(l, err);
}

/* ---- pages of files ---- */

/* How often a program may have mapped each of its inputs at one time: more often, and pages of files would be
 * taken for memory of its own. */
#define INPUT_MAPS 8

int64_t hc_launch_program_bytes(const struct hc_launch *l)
{
    struct stat shim;
    const int64_t tree = hc_tree_bytes(&l->tree);
    return tree < 0 || fstat(l->plan.shim.fd, &shim) < 0 ? -1 : tree + shim.st_size;
}

/* A process maps each library once, and but a part of the tree: that the kernel counts pages of a process on
 * each processor apart, and the peak by what is known of these, makes less of a difference. Files in a tmpfs
 * of the cell, as in a capped /output, are memory of the cell. */
int64_t hc_launch_file_pages(const struct hc_launch *l)
{
    const struct hc_run *r = l->run;
    if (r->job->dir_count || r->job->workdir || r->policy->output_mode != HC_OUTPUT_CAPPED)
        return -1;
    int64_t sum = l->sup.adopted ? l->program_bytes : hc_launch_program_bytes(l);
    for (size_t i = 0; sum >= 0 && i < l->m->input_count; i++) {
        const int64_t bytes = l->m->inputs[i].bytes;
        sum = bytes < (INT64_MAX - sum) / INPUT_MAPS ? sum + INPUT_MAPS * bytes : -1;
    }
    return sum;
}

/* ---- usage of an ended job ---- */

/* Without a cgroup: fill in the usage from wait4's counts and from the watch's samples. */
static void fill_usage_from_samples(struct hc_launch *l)
{
    const struct hc_supervisor *s = &l->sup;
    struct hc_manifest *m = l->m;
    /* The launcher is not the parent of an adopted cell: the cell's first process reports the usage of the
     * interpreter. */
    m->usage.cpu_user_us = s->adopted
                               ? s->exit.cpu_user_us
                               : (int64_t)s->rusage.ru_utime.tv_sec * 1000000 + s->rusage.ru_utime.tv_usec;
    m->usage.cpu_system_us = s->adopted
                                 ? s->exit.cpu_system_us
                                 : (int64_t)s->rusage.ru_stime.tv_sec * 1000000 + s->rusage.ru_stime.tv_usec;
    if (s->cpu_user_us + s->cpu_system_us > m->usage.cpu_user_us + m->usage.cpu_system_us) {
        m->usage.cpu_user_us = s->cpu_user_us;
        m->usage.cpu_system_us = s->cpu_system_us;
    }
    int64_t largest = s->adopted ? s->exit.interpreter_peak
                                 : (int64_t)s->rusage.ru_maxrss * 1024; /* peak of the largest process */
    m->usage.memory_peak = s->memory_peak > largest ? s->memory_peak : largest;
    m->usage.pids_peak = s->tasks_peak ? s->tasks_peak : -1;
}

void hc_launch_count_usage(struct hc_launch *l)
{
    struct hc_manifest *m = l->m;
    if (l->cgroup.fd < 0) {
        fill_usage_from_samples(l);
    } else {
        hc_cgroup_usage(&l->cgroup, &l->used);
        m->usage = l->used.of_cell;
    }
    m->usage.wall_us = l->sup.end_us - l->t_started;
    if (l->run->policy->output_mode == HC_OUTPUT_CAPPED) {
        m->usage.output_bytes = hc_watch_fs_bytes(l->output_fd);
        m->usage.output_files = hc_watch_fs_files(l->output_fd) - 1; /* without the root directory itself */
    }
}
