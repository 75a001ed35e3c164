/* One cell, many runs. A run is supervised as a job is (supervise.c), but that its process ends instead of
 * the cell, or goes on to the next run. */
#include "cell/session_parts.h"

#include "base/fd.h"
#include "cell/enforce.h"
#include "cell/flow.h"
#include "cell/stamp.h"
#include "inside/weak.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

static int no_memory(struct hc_error *err)
{
    return hc_fail(err, ENOMEM, "session");
}

/* ---- start ---- */

static bool is_ready(const struct hc_session *s)
{
    return s->launch.sup.go_us || s->launch.sup.exit_known;
}

static int watch_all(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    struct hc_loop *l = &s->loop;
    *l = (struct hc_loop){
        .s = sup, .epoll = epoll_create1(EPOLL_CLOEXEC), .interpreter = -1, .soft = -1, .pace = -1};
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
    return sup->cancel_fd >= 0 ? hc_loop_watch(l, sup->cancel_fd, HC_ON_CANCEL, EPOLLIN, err) : 0;
}

/* Until the interpreter is there, checked, and has been let begin: it then waits for its first run. */
static int await_interpreter(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    if (hc_session_open_flows(s, err) < 0 || hc_timers_start(&s->timers, &s->loop, err) < 0)
        return -1;
    int rc = hc_session_handle(s, is_ready, err);
    hc_timers_finish(&s->timers);
    hc_session_close_flows(s);
    if (rc < 0)
        return -1;
    if (!sup->go_us || s->loop.dead) {
        sup->end_us = hc_now_us();
        return hc_launch_judge(&s->launch, err) < 0
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
    hc_process_stop(&s->active);
    return 0;
}

static int start(struct hc_session *s, struct hc_error *err)
{
    struct hc_launch *l = &s->launch;
    if (s->policy.processes != HC_PROCESSES_NONE)
        return hc_fail_as(
            err, HC_EXIT_CONFIG, 0,
            "policy '%s': a session cannot have processes \"fork\": its runs are one process each",
            s->policy.name);
    if (hc_session_make_tools(s, err) < 0)
        return -1;
    if (hc_launch_describe(&s->run, s->m, s->ahead, err) < 0 || hc_weak_read(err) < 0 ||
        hc_redactor_new(&l->redactor, s->policy.rules, err) < 0 || hc_launch_prepare(l, err) < 0 ||
        (l->cgroup.fd >= 0 && hc_cgroup_spare(&l->cgroup, err) < 0) || hc_launch_construct(l, err) < 0)
        return -1;
    l->t_started = hc_now_us();
    hc_launch_supervisor(l);
    l->sup.session = true;
    l->sup.listener.permit = hc_permits_ask;
    l->sup.listener.ctx = &s->permits;
    return watch_all(s, err) < 0 ? -1 : await_interpreter(s, err);
}

static char no_code[1];

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
    s->policy = *given->policy;
    s->policy.session = true;
    s->policy.limits.cpu_ms = 0; /* counted for each run, by the launcher */
    s->job = *given->job;
    s->job.session = true;
    s->job.code = no_code;
    s->job.code_len = 0;
    s->run = (struct hc_run){.job = &s->job,
                             .policy = &s->policy,
                             .pass_stdout = -1,
                             .pass_stderr = -1,
                             .cancel_fd = given->cancel_fd,
                             .default_dir = given->default_dir,
                             .dest = {.fd = -1}};
    s->m = m;
    s->ahead = hc_stamp_ahead();
    s->since_ns = hc_launch_first_stamp(&s->policy);
    s->active.pidfd = s->copy.pidfd = -1;
    for (size_t i = 0; i < HC_SESSION_COPIES; i++)
        s->points[i].process.pidfd = -1;
    s->loop.epoll = s->loop.interpreter = s->loop.pace = s->loop.soft = -1;
    s->timers = (struct hc_timers){-1, -1, -1};
    hc_launch_init(&s->launch, &s->run, m);
    if (start(s, err) < 0) {
        hc_session_end(s);
        return -1;
    }
    *out = s;
    return 0;
}

int hc_session_run(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                   struct hc_session_result *r, struct hc_error *err)
{
    struct hc_job numbered = *job; /* lent */
    struct hc_policy effective = *policy;
    *r = (struct hc_session_result){.run = ++s->runs, .state = HC_STATE_LOST, .m = calloc(1, sizeof *r->m)};
    if (!r->m)
        return no_memory(err);
    numbered.run = r->run;
    numbered.session = true;
    effective.session = true;
    int rc = hc_session_run_once(s, &numbered, &effective, r, err);
    s->launch.m = s->m;
    s->launch.sup.policy = &s->policy;
    r->m->policy = policy;
    if (rc < 0 || r->state == HC_STATE_LOST)
        s->over = true;
    return rc;
}

bool hc_session_run_may_set(const char *path)
{
    static const char *const of_run[] = {"limits.timeout", "limits.grace",  "limits.cpu",
                                         "limits.stdout",  "limits.stderr", "limits.figures",
                                         "limits.figure",  "limits.code",   "limits.value"};
    for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++)
        if (strcmp(of_run[i], path) == 0)
            return true;
    return false;
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

bool hc_session_alive(const struct hc_session *s)
{
    return !s->over && !s->loop.dead;
}

const char *hc_session_id(const struct hc_session *s)
{
    return s->m->job_id;
}

void hc_session_end(struct hc_session *s)
{
    if (!s)
        return;
    hc_process_kill(&s->active);
    hc_process_kill(&s->copy);
    hc_session_drop_points(s);
    s->launch.sup.run_pid = 0; /* what is killed now is the cell */
    hc_timers_finish(&s->timers);
    hc_enforce_soft_end(&s->loop);
    hc_close_fd(&s->loop.interpreter);
    hc_close_fd(&s->loop.pace);
    hc_close_fd(&s->loop.epoll);
    hc_launch_finish(&s->launch);
    hc_run_finish(&s->run);
    hc_manifest_finish(s->m);
    free(s->m);
    free(s);
}
