/* A cell that waits for a job: which jobs may use it, how it is sent to another process, and how a job is
 * started in it. */
#include "cell/launch/parked.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/clock.h"
#include "base/packet.h"
#include "cell/launch/launch.h"
#include "cell/launch/layers.h"
#include "policy/options.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* Most us that a cell waits: its clocks started when it was parked, and show its age to the program. */
#define MOST_AGE_US 300000000LL

void hc_parked_init(struct hc_parked *p)
{
    *p = (struct hc_parked){0};
    for (size_t i = 0; i < HC_PARKED_FDS; i++)
        p->fds[i] = -1;
    p->cgroup.fd = p->cgroup.parent_fd = -1;
}

void hc_parked_finish(struct hc_parked *p)
{
    struct hc_error ignored;
    struct pollfd ended = {.fd = p->fds[HC_PARKED_PIDFD], .events = POLLIN};
    if (ended.fd >= 0)
        (void)syscall(SYS_pidfd_send_signal, ended.fd, SIGKILL, NULL, 0);
    if (p->cgroup.fd >= 0)
        hc_cgroup_kill(&p->cgroup);
    while (ended.fd >= 0 && poll(&ended, 1, -1) < 0 && errno == EINTR)
        ;
    for (size_t i = 0; i < HC_PARKED_FDS; i++)
        hc_close_fd(&p->fds[i]);
    if (p->cgroup.fd >= 0)
        (void)hc_cgroup_wait_empty(&p->cgroup, &ignored);
    hc_cgroup_remove(&p->cgroup);
    p->pid = 0;
}

void hc_parked_prepare(struct hc_parked *p)
{
    const struct hc_frame_head head = {.type = HC_FRAME_PREPARE, .flags = HC_FRAME_LAST};
    p->prepared = true;
    (void)send(p->fds[HC_PARKED_CONTROL], &head, sizeof head, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool hc_parked_alive(const struct hc_parked *p)
{
    struct pollfd ended = {.fd = p->fds[HC_PARKED_PIDFD], .events = POLLIN};
    struct pollfd control = {.fd = p->fds[HC_PARKED_CONTROL]};
    return p->pid && poll(&ended, 1, 0) == 0 && poll(&control, 1, 0) == 0;
}

/* ---- which jobs a parked cell may run ---- */

int hc_warm_key(const struct hc_policy *policy, const char *tenant, char key[HC_SHA256_HEX],
                struct hc_error *err)
{
    struct hc_policy same = *policy; /* its pointers are borrowed from `policy` */
    for (size_t i = 0; i < hc_options_count; i++)
        if (hc_options[i].any_cell)
            hc_option_init(&same, &hc_options[i]);
    same.tools = (struct hc_tools){0};
    cJSON *all = hc_policy_to_json(&same);
    char *text = cJSON_PrintUnformatted(all);
    cJSON_Delete(all);
    hc_autobuf bytes = {0};
    (void)hc_buf_fmt(&bytes, "%s\n%d%d\n%s", tenant ? tenant : "", policy->learn, policy->session,
                     text ? text : "");
    cJSON_free(text);
    if (!text || bytes.failed)
        return hc_fail(err, ENOMEM, "describe the policy");
    hc_sha256_hex(bytes.data, bytes.len, key);
    return 0;
}

/* Why the job's inputs do not fit into a parked cell, which gets copies in memory; NULL: they fit. */
static const char *input_trouble(const struct hc_job *job)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < job->input_count; i++) {
        struct stat st;
        if (stat(job->inputs[i].path, &st) < 0)
            return NULL; /* the error is reported when the input is opened */
        bytes += st.st_size + 4096;
    }
    return bytes <= HC_WARM_INPUT_BYTES ? NULL : "inputs";
}

static bool has_key(const struct hc_parked *p, const struct hc_job *job, const struct hc_policy *policy,
                    const char *known)
{
    struct hc_error ignored;
    char key[HC_SHA256_HEX];
    if (!known && hc_warm_key(policy, job->tenant, key, &ignored) < 0)
        return false;
    return strcmp(known ? known : key, p->key) == 0;
}

bool hc_parked_fits(const struct hc_parked *p, const struct hc_job *job, const struct hc_policy *policy,
                    const char *key, const char **why)
{
    *why = job->has_seed                           ? "seed"
           : job->check_only                       ? "check"
           : policy->learn                         ? "learn"
           : job->dir_count                        ? "dirs"
           : job->workdir                          ? "workdir"
           : policy->output_mode == HC_OUTPUT_BIND ? "output.mode"
                                                   : input_trouble(job);
    if (!*why && !has_key(p, job, policy, key))
        *why = "policy";
    if (!*why && hc_now_us() - p->born_us > MOST_AGE_US)
        *why = "age";
    return !*why;
}

/* ---- giving a job to a parked cell ---- */

static int copy_inputs(struct hc_launch *l, int dir, struct hc_error *err)
{
    for (size_t i = 0; i < l->run->job->input_count; i++) {
        char target[128];
        const struct hc_input *in = &l->run->job->inputs[i];
        if (hc_input_cell_path(in, target, sizeof target) < 0)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "input '%s': the name is too long", in->name);
        hc_autofd fd = hc_launch_create_as_guest(l, dir, strrchr(target, '/') + 1, 0400);
        if (fd < 0)
            return hc_fail(err, errno, "make %s", target);
        if (hc_launch_prepare_input(l, in, fd, err) < 0)
            return -1;
    }
    return 0;
}

struct fd_slots {
    int *of[HC_PARKED_FDS]; /* by enum hc_parked_fd; NULL: a launch does not take this descriptor */
};

/* The members of a launch that take over a parked cell's descriptors. */
static struct fd_slots fd_slots_of(struct hc_launch *l)
{
    return (struct fd_slots){.of = {[HC_PARKED_PIDFD] = &l->sup.pidfd,
                                    [HC_PARKED_STDOUT] = &l->stdout_fd,
                                    [HC_PARKED_STDERR] = &l->stderr_fd,
                                    [HC_PARKED_CONTROL] = &l->control_fd,
                                    [HC_PARKED_STATUS] = &l->status_fd,
                                    [HC_PARKED_OUTPUT] = &l->output_fd,
                                    [HC_PARKED_TMP] = &l->tmp_fd}};
}

/* Move everything that the parked cell owns into the launch. */
static void take_over(struct hc_launch *l, struct hc_parked *p)
{
    const struct fd_slots slots = fd_slots_of(l);
    l->ids = (struct hc_ids){.uid = p->uid, .gid = p->gid, .lease_fd = -1}; /* the zygote holds the lease */
    l->plan.host_uid = p->uid;
    l->plan.host_gid = p->gid;
    l->cgroup = p->cgroup;
    p->cgroup.fd = -1;
    (void)snprintf(l->no_cgroup, sizeof l->no_cgroup, "%s", p->no_cgroup);
    l->sup.adopted = true;
    l->sup.filters = p->filters;
    l->sup.pid = p->pid;
    for (size_t i = 0; i < HC_PARKED_FDS; i++)
        if (slots.of[i])
            *slots.of[i] = hc_take(&p->fds[i]);
    memcpy(l->m->tree_sha256, p->tree, sizeof l->m->tree_sha256);
    l->m->tree_layers = p->tree_layers;
    l->program_bytes = p->program_bytes;
    l->m->tree_checked = (enum hc_tree_check)p->tree_checked;
}

void hc_launch_leave(struct hc_launch *l, struct hc_parked *p)
{
    const struct fd_slots slots = fd_slots_of(l);
    for (size_t i = 0; i < HC_PARKED_FDS; i++)
        if (slots.of[i])
            p->fds[i] = hc_take(slots.of[i]);
    p->cgroup = l->cgroup;
    l->cgroup.fd = -1;
}

static int send_handover(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_frame_head head = {.type = HC_FRAME_JOB, .flags = HC_FRAME_LAST};
    hc_autofd input = hc_take(&l->feed.fd); /* close our copy: the pipe must end with the cell */
    const int fds[HC_JOB_FDS] = {l->plan.handover_fd, input};
    const size_t count = input < 0 ? 1 : HC_JOB_FDS;
    return hc_packet_send(l->control_fd, &head, sizeof head, fds, count, MSG_DONTWAIT) < 0
               ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "give the job to the cell")
               : 0;
}

int hc_launch_enter(struct hc_launch *l, struct hc_parked *p, struct hc_error *err)
{
    const char *why;
    if (!hc_parked_fits(p, l->run->job, l->run->policy, l->run->warm_key, &why))
        return hc_fail(err, 0, "the job does not fit into its warm cell: %s", why);
    take_over(l, p);
    hc_autofd input = hc_take(&p->fds[HC_PARKED_INPUT]);
    if (hc_launch_prepare_output(l, err) < 0 || copy_inputs(l, input, err) < 0 ||
        hc_launch_prepare_limits(l, err) < 0 || hc_launch_prepare_handover(l, err) < 0 ||
        hc_layers_check(l->m, &l->plan, &p->facts, l->sup.pid, &p->namespaces, &l->cgroup, l->no_cgroup,
                        err) < 0)
        return -1;
    return send_handover(l, err);
}
