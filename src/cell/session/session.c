/* A session: one cell that does many runs. A run is supervised as a job is (supervise.c), except that the
 * cell stays when it ends: the run's process ends, or goes on to the next run. */
#include "cell/session/session_parts.h"

#include "base/fd.h"
#include "base/clock.h"
#include "base/units.h"
#include "cell/launch/layers.h"
#include "cell/supervise/enforce.h"
#include "cell/supervise/output_pipe.h"
#include "inside/weak.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>

static int no_memory(struct hc_error *err)
{
    return hc_fail(err, ENOMEM, "session");
}

/* ---- starting a session ---- */

static bool is_ready(const struct hc_session *s)
{
    const struct hc_supervisor *sup = &s->launch.sup;
    return (sup->go_us && hc_commands_ready(s)) || sup->exit_known;
}

static int watch_all(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    struct hc_loop *l = &s->loop;
    *l = (struct hc_loop){.s = sup,
                          .epoll = epoll_create1(EPOLL_CLOEXEC),
                          .interpreter = -1,
                          .memory_events = -1,
                          .answer_timer = -1};
    l->out.read_fd = l->out.write_fd = l->err.read_fd = l->err.write_fd = -1;
    l->control_open = l->status_open = true;
    if (l->epoll < 0)
        return hc_fail(err, errno, "epoll_create1");
    if (hc_loop_watch(l, sup->pidfd, HC_ON_PIDFD, EPOLLIN, err) < 0 ||
        hc_loop_watch(l, sup->control_fd, HC_ON_CONTROL, EPOLLIN, err) < 0 ||
        hc_loop_watch(l, sup->status_fd, HC_ON_STATUS, EPOLLIN, err) < 0)
        return -1;
    if (sup->tools && hc_loop_watch(l, hc_toolbox_fd(sup->tools), HC_ON_TOOLS, EPOLLIN, err) < 0)
        return -1;
    if (sup->beside && hc_loop_watch(l, sup->beside->epoll, HC_ON_BESIDE, EPOLLIN, err) < 0)
        return -1;
    return sup->cancel_fd >= 0 ? hc_loop_watch(l, sup->cancel_fd, HC_ON_CANCEL, EPOLLIN, err) : 0;
}

/* Wait until the interpreter has started, was checked and may go on; then it waits for its first run. */
static int await_interpreter(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    if (hc_session_open_pipes(s, err) < 0 || hc_timers_start(&s->timers, &s->loop, err) < 0)
        return -1;
    int rc = hc_session_handle(s, is_ready, err);
    hc_commands_given(s);
    hc_timers_finish(&s->timers);
    hc_session_close_pipes(s);
    if (rc < 0)
        return -1;
    if (!sup->go_us || s->loop.dead) {
        sup->end_us = hc_now_us();
        return hc_launch_set_outcome(&s->launch, err) < 0
                   ? -1
                   : hc_fail(err, 0, "%.400s", s->m->rejection.set ? s->m->rejection.message : s->m->reason);
    }
    if (sup->listener.fd < 0)
        return hc_fail_as(
            err, HC_EXIT_UNAVAILABLE, 0,
            "a session needs a seccomp listener, and the kernel gives none here: is hotcell itself "
            "in a sandbox that has one?");
    if (hc_session_open_process(s, sup->ready_pid, &s->active, err) < 0)
        return -1;
    hc_session_activate(s);
    return hc_process_stop(&s->active) ? 0 : hc_fail(err, 0, "the session's process did not stop");
}

/* Build a cell, or take over the given parked one. */
static int make_cell(struct hc_session *s, struct hc_error *err)
{
    struct hc_launch *l = &s->launch;
    if (s->given.parked)
        return hc_launch_enter(l, s->given.parked, err) < 0 ||
                       (l->cgroup.fd >= 0 && hc_cgroup_oom_kill_one(&l->cgroup, err) < 0)
                   ? -1
                   : 0;
    return hc_launch_prepare(l, err) < 0 ||
                   (l->cgroup.fd >= 0 && hc_cgroup_oom_kill_one(&l->cgroup, err) < 0) ||
                   hc_launch_construct(l, err) < 0
               ? -1
               : 0;
}

static int check_env(const struct hc_session *s, struct hc_error *err)
{
    char why[256];
    return hc_job_refuse_input(&s->job, &s->policy, why, sizeof why)
               ? hc_fail_as(err, HC_EXIT_DATA, 0, "env: %s", why)
               : 0;
}

static int start_session(struct hc_session *s, struct hc_error *err)
{
    struct hc_launch *l = &s->launch;
    if (s->policy.processes != HC_PROCESSES_NONE && !hc_policy_has_commands(&s->policy))
        return hc_fail_as(
            err, HC_EXIT_CONFIG, 0,
            "policy '%s': a session cannot have processes \"fork\": its runs are one process each",
            s->policy.name);
    if (check_env(s, err) < 0 || hc_session_make_tools(s, err) < 0)
        return -1;
    if (hc_launch_describe(&s->run, s->m, s->clock_ahead_ns, err) < 0 ||
        hc_launch_name_policy(&s->run, s->m, err) < 0 || hc_weak_read(err) < 0 ||
        hc_redactor_new(&l->redactor, s->policy.rules, err) < 0 || make_cell(s, err) < 0 ||
        hc_launch_copy_inputs(l, err) < 0)
        return -1;
    l->t_started = hc_now_us();
    hc_launch_supervisor(l);
    l->sup.session = true;
    l->sup.listener.permit = hc_fork_permit_ask;
    l->sup.listener.ctx = &s->fork_permit;
    if (hc_commands_open(s, err) < 0)
        return -1;
    return watch_all(s, err) < 0 ? -1 : await_interpreter(s, err);
}

static char no_code[1];

struct hc_policy hc_session_policy(const struct hc_policy *policy)
{
    struct hc_policy p = *policy;
    p.session = true;
    p.limits.cpu_ms = 0; /* the launcher counts CPU time for each run */
    return p;
}

int hc_session_start(struct hc_session **out, const struct hc_session_given *given, struct hc_error *err)
{
    struct hc_session *s = calloc(1, sizeof *s);
    struct hc_manifest *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!s || !m) {
        free(s);
        free(m);
        return no_memory(err);
    }
    s->given = *given;
    s->policy = hc_session_policy(given->policy);
    s->job = *given->job;
    s->job.session = true;
    s->job.code = no_code;
    s->job.code_len = 0;
    s->run = (struct hc_run){.job = &s->job,
                             .policy = &s->policy,
                             .pass_stdout = -1,
                             .pass_stderr = -1,
                             .cancel_fd = given->cancel_fd,
                             .cancel_has_reason = given->cancel_has_reason,
                             .default_dir = given->default_dir,
                             .else_temporary = given->else_temporary,
                             .share = given->share,
                             .shared = given->shared,
                             .volumes = given->volumes,
                             .dest = {.fd = -1}};
    s->m = m;
    s->clock_ahead_ns = hc_clock_ahead();
    s->session_began_ns = s->run_began_ns = hc_launch_first_stamp(&s->policy);
    m->runs = cJSON_CreateArray();
    s->active.pidfd = s->waiting_active.pidfd = s->copy.pidfd = s->checker.pidfd = s->reader.pidfd =
        s->before.process.pidfd = -1;
    for (size_t i = 0; i < HC_SESSION_COPIES; i++)
        s->checkpoints[i].process.pidfd = -1;
    s->input_fd = -1;
    s->loop.epoll = s->loop.interpreter = s->loop.answer_timer = s->loop.memory_events = -1;
    s->timers = (struct hc_timers){-1, -1, -1};
    hc_launch_init(&s->launch, &s->run, m);
    if (hc_session_first_context(s, err) < 0 || start_session(s, err) < 0) {
        hc_session_end(s);
        return -1;
    }
    *out = s;
    return 0;
}

const char *hc_session_state_text(const struct hc_session_result *r, char out[64])
{
    if (r->state == HC_STATE_KEPT)
        return "kept";
    if (r->state == HC_STATE_LOST)
        return "lost";
    if (!r->back_to)
        return "rolled back to the start";
    (void)snprintf(out, 64, "rolled back to run %d", r->back_to);
    return out;
}

static int list_run(struct hc_session *s, const struct hc_session_result *r, struct hc_error *err)
{
    char state[64];
    const struct hc_manifest *m = r->m;
    cJSON *row = cJSON_CreateObject();
    bool listed = row && cJSON_AddNumberToObject(row, "run", r->run) &&
                  cJSON_AddStringToObject(row, "job_id", m->job_id) &&
                  cJSON_AddStringToObject(row, "context", m->context) &&
                  cJSON_AddStringToObject(row, "code", m->code_sha256) &&
                  cJSON_AddStringToObject(row, "status", hc_status_name(m->status)) &&
                  (*m->reason ? cJSON_AddStringToObject(row, "reason", m->reason)
                              : cJSON_AddNullToObject(row, "reason")) &&
                  cJSON_AddStringToObject(row, "state", hc_session_state_text(r, state)) &&
                  cJSON_AddItemToArray(s->m->runs, row);
    if (!listed)
        cJSON_Delete(row);
    return listed ? 0 : no_memory(err);
}

int64_t hc_session_time_left(const struct hc_session *s)
{
    int64_t left = s->policy.limits.session_life_ms - (hc_now_us() - s->launch.t_started) / 1000;
    return left > 0 ? left : 0;
}

#define OUTPUTS 16 /* all runs together may leave this many times limits.output */

static int64_t cpu_left(const struct hc_session *s)
{
    int64_t user_us, system_us;
    hc_commands_cpu(s, &user_us, &system_us);
    return s->policy.limits.session_cpu_ms - (s->cpu_us + user_us + system_us) / 1000;
}

bool hc_session_used_up(const struct hc_session *s, enum hc_session_end *end)
{
    const struct hc_limits *limits = &s->policy.limits;
    if (hc_session_time_left(s) == 0)
        *end = HC_SESSION_LIFE;
    else if (limits->session_cpu_ms && cpu_left(s) <= 0)
        *end = HC_SESSION_CPU;
    else if (s->runs >= limits->session_runs)
        *end = HC_SESSION_RUNS;
    else if (s->policy.output_mode == HC_OUTPUT_CAPPED && s->left_bytes >= limits->output_bytes * OUTPUTS)
        *end = HC_SESSION_OUTPUT;
    else
        return false;
    return true;
}

/* Lower a run's limits to the time and CPU time that the session has left. */
static void bound_run(const struct hc_session *s, struct hc_limits *run)
{
    int64_t left = hc_session_time_left(s), cpu = cpu_left(s);
    if (run->timeout_ms > left)
        run->timeout_ms = left > 10 ? left : 10;
    if (s->policy.limits.session_cpu_ms && (!run->cpu_ms || run->cpu_ms > cpu))
        run->cpu_ms = cpu > 10 ? cpu : 10;
}

static void count_run(struct hc_session *s, const struct hc_manifest *m)
{
    s->cpu_us += m->usage.cpu_user_us + m->usage.cpu_system_us;
    for (size_t i = 0; i < m->file_count; i++)
        s->left_bytes += m->files[i].bytes;
    for (size_t i = 0; i < m->figure_count; i++)
        s->left_bytes += m->figures[i].bytes;
    s->left_bytes += m->kept_bytes;
}

/* Between runs, what commands do and are refused is the session's. */
static void rest(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    s->launch.m = s->m;
    sup->policy = &s->policy;
    sup->out = &s->m->out;
    sup->err = &s->m->err;
    sup->denials = &s->m->denials;
    sup->samples = &s->m->samples;
}

int hc_session_run(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                   struct hc_session_result *r, struct hc_error *err)
{
    struct hc_job numbered = *job; /* its pointers are borrowed from `job` */
    struct hc_policy effective = *policy;
    *r = (struct hc_session_result){.run = ++s->runs, .state = HC_STATE_LOST, .m = calloc(1, sizeof *r->m)};
    if (!r->m)
        return no_memory(err);
    numbered.run = r->run;
    numbered.session = true;
    effective.session = true;
    bound_run(s, &effective.limits);
    int rc = hc_session_run_once(s, &numbered, &effective, r, err);
    rest(s);
    r->m->policy = policy;
    if (rc == 0)
        count_run(s, r->m);
    if (rc == 0)
        rc = list_run(s, r, err);
    if (rc < 0 || r->state == HC_STATE_LOST)
        s->over = true;
    return rc;
}

void hc_session_result_finish(struct hc_session_result *r)
{
    if (r->m)
        hc_manifest_finish(r->m);
    free(r->m);
    r->m = NULL;
}

void hc_session_interrupt(struct hc_session *s)
{
    s->interrupted = true;
}

void hc_session_abandon(struct hc_session *s)
{
    hc_loop_end(&s->launch.sup, HC_END_CANCELLED);
}

bool hc_session_alive(const struct hc_session *s)
{
    return !s->over && !s->loop.dead;
}

const char *hc_session_id(const struct hc_session *s)
{
    return s->m->job_id;
}

static void conclude_session(struct hc_session *s, enum hc_session_end end)
{
    const struct hc_limits *limits = &s->policy.limits;
    char text[32], why[HC_CANCEL_TEXT + 1];
    switch (end) {
    case HC_SESSION_CLOSED:
        hc_launch_conclude(s->m, HC_STATUS_OK, "%s", "");
        break;
    case HC_SESSION_IDLE:
        hc_launch_conclude(s->m, HC_STATUS_TIMEOUT,
                           "waited longer than %s for its next run (limits.session_idle)",
                           hc_format_duration(limits->session_idle_ms, text, sizeof text));
        break;
    case HC_SESSION_LIFE:
        hc_launch_conclude(s->m, HC_STATUS_TIMEOUT, "lived longer than %s (limits.session_life)",
                           hc_format_duration(limits->session_life_ms, text, sizeof text));
        break;
    case HC_SESSION_CPU:
        hc_launch_conclude(s->m, HC_STATUS_CPU, "its runs used more CPU time than %s (limits.session_cpu)",
                           hc_format_duration(limits->session_cpu_ms, text, sizeof text));
        break;
    case HC_SESSION_RUNS:
        hc_launch_conclude(s->m, HC_STATUS_KILLED,
                           "had as many runs as it may have: %lld (limits.session_runs)",
                           (long long)limits->session_runs);
        break;
    case HC_SESSION_OUTPUT:
        hc_launch_conclude(s->m, HC_STATUS_OUTPUT, "its runs left more than %s, %d times limits.output",
                           hc_format_size(limits->output_bytes * OUTPUTS, text, sizeof text), OUTPUTS);
        break;
    case HC_SESSION_LOST:
        hc_launch_conclude(s->m, HC_STATUS_ERROR, "its state was lost: no copy could take over");
        break;
    case HC_SESSION_CANCELLED:
        hc_launch_conclude(s->m, HC_STATUS_KILLED, "%s", hc_launch_why_cancelled(&s->run, why));
        break;
    }
}

static void kill_all(struct hc_session *s)
{
    hc_process_kill(&s->active);
    hc_process_kill(&s->copy);
    hc_process_kill(&s->checker);
    hc_process_kill(&s->reader);
    hc_session_drop_points(s);
    s->launch.sup.run_pid = 0; /* so that hc_supervise_kill kills the cell */
    hc_supervise_kill(&s->launch.sup);
}

int hc_session_close(struct hc_session *s, enum hc_session_end end, const void *key, size_t key_len,
                     struct hc_buf *text, struct hc_error *err)
{
    struct hc_launch *l = &s->launch;
    kill_all(s);
    hc_commands_close(s, "the session has ended");
    l->m = s->m;
    l->sup.session = false; /* so that all files in /output are collected */
    l->sup.end_us = hc_now_us();
    l->sup.memory_peak = MAX(l->sup.memory_peak, s->memory_peak);
    hc_launch_count_usage(l);
    s->m->timing.build_us = l->t_started - l->t_start;
    s->m->timing.run_us = l->sup.end_us - l->t_started;
    hc_layers_job_filter(s->m, l->sup.job_filter_evidence);
    conclude_session(s, end);
    int rc = hc_launch_keep(l, s->session_began_ns, err);
    s->m->partial = l->collected != HC_COLLECTED_ALL;
    s->m->exit_code = hc_status_exit(s->m->status);
    s->m->tree_name = s->policy.tree;
    hc_clock_text(s->clock_ahead_ns, s->m->finished);
    return rc < 0 ? -1 : hc_run_write_manifest(&s->run, s->m, key, key_len, text, err);
}

int hc_session_exit(const struct hc_session *s)
{
    return s->m->exit_code;
}

void hc_session_end(struct hc_session *s)
{
    if (!s)
        return;
    kill_all(s);
    hc_commands_finish(s);
    hc_session_end_input(s);
    hc_incoming_finish(&s->incoming);
    hc_session_forget_contexts(s);
    hc_timers_finish(&s->timers);
    hc_enforce_soft_end(&s->loop);
    hc_close_fd(&s->loop.interpreter);
    hc_close_fd(&s->loop.answer_timer);
    hc_close_fd(&s->loop.epoll);
    hc_launch_finish(&s->launch);
    hc_run_finish(&s->run);
    hc_manifest_finish(s->m);
    free(s->m);
    free(s);
}
