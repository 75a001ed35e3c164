#include "cell/supervise/supervise.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/clock.h"
#include "cell/supervise/control.h"
#include "cell/supervise/enforce.h"
#include "cell/supervise/output_pipe.h"
#include "cell/supervise/early_exit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/wait.h>

#define ACCOUNT_MS 100 /* ms between readings of the cgroup's counters */

#define ANSWERS 64 /* most refused calls answered in one round of the loop */
/* After HC_LISTENER_FLOOD refused calls: ms between answers, and most answers each time. */
#define PACE_MS      100
#define PACE_ANSWERS 16

/* ---- the end of a cell ---- */

/* The wait status goes only to the process's parent, the zygote. The first process exits by itself only
 * after it has reported how the interpreter ended; without a report it was killed. */
static void await_adopted(struct hc_supervisor *s)
{
    struct pollfd ended = {.fd = s->pidfd, .events = POLLIN};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR)
        ;
    s->reaped = true;
    s->wait_code = CLD_KILLED;
    s->wait_status = SIGKILL;
}

static void reap(struct hc_supervisor *s)
{
    siginfo_t info = {0};
    if (s->adopted && !s->reaped)
        await_adopted(s);
    while (!s->reaped) {
        long rc = syscall(SYS_waitid, P_PIDFD, s->pidfd, &info, WEXITED, &s->rusage);
        if (rc < 0 && errno == EINTR)
            continue;
        s->reaped = true;
        if (rc == 0) {
            s->wait_code = info.si_code;
            s->wait_status = info.si_status;
        }
    }
}

void hc_supervise_kill(struct hc_supervisor *s)
{
    if (s->pidfd < 0)
        return;
    if (!s->reaped)
        hc_loop_kill(s);
    reap(s);
    struct hc_error ignored;
    if (s->cgroup->fd >= 0) {
        hc_cgroup_kill(s->cgroup);
        (void)hc_cgroup_wait_empty(s->cgroup, &ignored);
    }
}

/* If the interpreter did not start, the launcher's error quotes its last line, so its stderr is not passed
 * on as well. What a prelude printed is passed on for its author. */
static bool is_quoted_in_error(const struct hc_supervisor *s)
{
    bool by_prelude = s->exit_known && s->exit.status == HC_EXIT_CONFIG;
    return !s->go_us && !by_prelude && (s->end == HC_END_NONE || s->end == HC_END_LAUNCH);
}

/* No process is left that could write. Read the rest of the channels, whether they are at end of file or
 * not. */
static void drain_channels(struct hc_loop *l)
{
    while (l->status_open)
        hc_control_read_status(l);
    hc_control_read(l);
    if (is_quoted_in_error(l->s))
        hc_output_relay_drop(&l->err.relay);
    hc_output_relay_release(&l->err.relay);
    l->out.relay.orphaned = l->err.relay.orphaned = true;
    hc_output_pipe_read(l, &l->out);
    hc_output_pipe_read(l, &l->err);
}

static void reap_cell(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    hc_loop_unwatch(l, s->pidfd);
    l->dead = true;
    if (s->tools) {
        hc_loop_unwatch(l, hc_toolbox_fd(s->tools));
        hc_toolbox_stop(s->tools);
    }
    hc_enforce_soft_end(l);
    s->end_us = hc_now_us();
    /* The first process of a pid namespace takes all others with it before it can be waited for. */
    hc_supervise_kill(s);
    drain_channels(l);
}

/* Stop supervising after an early exit, while the cell still dies. */
static void leave_dying_cell(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    hc_loop_unwatch(l, s->pidfd);
    l->dead = s->over = true;
    hc_enforce_soft_end(l);
    s->end_us = hc_now_us();
    drain_channels(l);
}

static void cancel(struct hc_loop *l)
{
    hc_loop_unwatch(l, l->s->cancel_fd);
    if (!l->dead)
        hc_loop_end(l->s, HC_END_CANCELLED);
    /* A cancelled job does not wait for a slow reader of its output. */
    hc_output_relay_drop(&l->out.relay);
    hc_output_relay_drop(&l->err.relay);
    hc_output_pipe_sync(l, &l->out);
    hc_output_pipe_sync(l, &l->err);
}

static void end_by_timeout(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    s->frozen = !l->dead && s->cgroup->fd >= 0 && hc_cgroup_frozen(s->cgroup);
    if (!l->dead) /* once it is dead, the loop waits only for a slow reader, which is not the job's time */
        hc_loop_end(s, HC_END_TIMEOUT);
}

/* ---- refused calls ---- */

/* A program that repeats refused calls must not keep the launcher busy. The listener stays open: without
 * it the process could make another listener, and let its own calls pass. */
static void slow_down_answers(struct hc_loop *l)
{
    struct hc_error ignored;
    hc_autofd timer = hc_loop_timer(PACE_MS, PACE_MS, &ignored);
    if (timer < 0 || hc_loop_watch(l, timer, HC_ON_PACE, EPOLLIN, &ignored) < 0)
        return;
    l->answer_timer = hc_take(&timer);
    hc_loop_unwatch(l, l->s->listener.fd);
}

static void answer_waiting_calls(struct hc_supervisor *s, int most)
{
    /* Calls refused before the program was read are the interpreter's, and are not listed. */
    hc_listener_answer(&s->listener, most, s->go_us ? s->denials : NULL, s->learned);
}

static void answer_refused(struct hc_loop *l, uint32_t events)
{
    answer_waiting_calls(l->s, ANSWERS);
    if (!(events & EPOLLIN)) { /* no process is left under the filter */
        hc_loop_unwatch(l, l->s->listener.fd);
        if (hc_early_exit(l))
            leave_dying_cell(l);
    } else if (l->s->listener.answered > HC_LISTENER_FLOOD && !l->s->learned)
        slow_down_answers(l);
}

/* ---- the loop ---- */

static void sample_usage(struct hc_loop *l, int ticker)
{
    int64_t every = l->watch_ms;
    hc_enforce_watch(l);
    if (l->watch_ms != every) /* cannot fail for intervals above zero */
        (void)hc_loop_set_timer(ticker, l->watch_ms, l->watch_ms);
}

/* The program begins, and its time counts from here: the interpreter's start, the policy's prelude and the
 * reading of inputs had a time of their own, of the same length. */
static void restart_deadlines(const struct hc_loop *l, const struct hc_timers *timers)
{
    const struct hc_limits *limits = &l->s->policy->limits;
    /* cannot fail for times above zero */
    (void)hc_loop_set_timer(timers->wall, hc_hard_timeout(limits), 0);
    if (timers->grace >= 0)
        (void)hc_loop_set_timer(timers->grace, limits->timeout_ms, 0);
}

/* The program's time begins when its interpreter gets GO. */
static void answer_control(struct hc_loop *l, const struct hc_timers *timers)
{
    const bool starts = !l->s->go_us;
    hc_control_answer(l);
    hc_control_read(l);
    if (starts && l->s->go_us)
        restart_deadlines(l, timers);
}

static void handle(struct hc_loop *l, const struct epoll_event *event, const struct hc_timers *timers)
{
    switch ((enum hc_occasion)event->data.u32) {
    case HC_ON_STDOUT:
        hc_output_pipe_read(l, &l->out);
        break;
    case HC_ON_STDERR:
        hc_output_pipe_read(l, &l->err);
        break;
    case HC_ON_PASS_OUT:
        hc_output_pipe_write(l, &l->out);
        break;
    case HC_ON_PASS_ERR:
        hc_output_pipe_write(l, &l->err);
        break;
    case HC_ON_CONTROL:
        answer_control(l, timers);
        break;
    case HC_ON_TOOLS:
        hc_toolbox_work(l->s->tools);
        hc_control_answer(l);
        break;
    case HC_ON_STATUS:
        hc_control_read_status(l);
        break;
    case HC_ON_WALL:
        hc_loop_drain_timer(timers->wall);
        end_by_timeout(l);
        break;
    case HC_ON_GRACE:
        hc_loop_drain_timer(timers->grace);
        hc_enforce_warn(l, HC_SIGNAL_DEADLINE, HC_WARNED_TIME);
        break;
    case HC_ON_SOFT:
        hc_enforce_soft_check(l);
        break;
    case HC_ON_WATCH:
        hc_loop_drain_timer(timers->ticker);
        if (!l->dead)
            sample_usage(l, timers->ticker);
        break;
    case HC_ON_CANCEL:
        cancel(l);
        break;
    case HC_ON_REFUSED:
        answer_refused(l, event->events);
        break;
    case HC_ON_PACE:
        hc_loop_drain_timer(l->answer_timer);
        answer_waiting_calls(l->s, PACE_ANSWERS);
        break;
    case HC_ON_PIDFD:
        reap_cell(l);
        break;
    case HC_ON_BESIDE:
        l->s->beside->work(l->s->beside->ctx);
        break;
    case HC_ON_WAKE:
        l->woken = true;
        break;
    }
}

int hc_loop_turn(struct hc_loop *l, const struct hc_timers *timers, struct hc_error *err)
{
    struct epoll_event events[16];
    int n = epoll_wait(l->epoll, events, 16, -1);
    if (n < 0 && errno != EINTR)
        return hc_fail(err, errno, "epoll_wait");
    for (int i = 0; i < n; i++)
        handle(l, &events[i], timers);
    return 0;
}

static bool finished(const struct hc_loop *l)
{
    return l->dead && hc_output_pipe_ended(&l->out) && hc_output_pipe_ended(&l->err) && !l->control_open &&
           !l->status_open;
}

static int run_loop(struct hc_loop *l, const struct hc_timers *timers, struct hc_error *err)
{
    struct hc_supervisor *s = l->s;
    if (hc_loop_watch(l, s->pidfd, HC_ON_PIDFD, EPOLLIN, err) < 0 ||
        hc_loop_watch(l, s->control_fd, HC_ON_CONTROL, EPOLLIN, err) < 0 ||
        hc_loop_watch(l, s->status_fd, HC_ON_STATUS, EPOLLIN, err) < 0 ||
        (s->tools && hc_loop_watch(l, hc_toolbox_fd(s->tools), HC_ON_TOOLS, EPOLLIN, err) < 0) ||
        (s->cancel_fd >= 0 && hc_loop_watch(l, s->cancel_fd, HC_ON_CANCEL, EPOLLIN, err) < 0))
        return -1;
    hc_output_pipe_sync(l, &l->out);
    hc_output_pipe_sync(l, &l->err);
    while (!finished(l))
        if (hc_loop_turn(l, timers, err) < 0)
            return -1;
    return 0;
}

int hc_timers_start(struct hc_timers *out, struct hc_loop *l, struct hc_error *err)
{
    const struct hc_limits *limits = &l->s->policy->limits;
    bool by_watch = l->s->cgroup->fd < 0;
    l->watch_ms = by_watch ? HC_WATCH_MS : ACCOUNT_MS;
    *out = (struct hc_timers){-1, -1, -1};
    if ((out->wall = hc_loop_timer(hc_hard_timeout(limits), 0, err)) < 0 ||
        (limits->grace_ms && (out->grace = hc_loop_timer(limits->timeout_ms, 0, err)) < 0) ||
        (out->ticker = hc_loop_timer(l->watch_ms, l->watch_ms, err)) < 0)
        return -1;
    if (hc_loop_watch(l, out->wall, HC_ON_WALL, EPOLLIN, err) < 0 ||
        (out->grace >= 0 && hc_loop_watch(l, out->grace, HC_ON_GRACE, EPOLLIN, err) < 0) ||
        hc_loop_watch(l, out->ticker, HC_ON_WATCH, EPOLLIN, err) < 0)
        return -1;
    return 0;
}

void hc_timers_finish(struct hc_timers *t)
{
    hc_close_fd(&t->wall);
    hc_close_fd(&t->grace);
    hc_close_fd(&t->ticker);
}

static int prepare_filters(struct hc_loop *l, struct hc_error *err)
{
    const struct hc_supervisor *s = l->s;
    struct hc_output_relay *out = &l->out.relay, *errors = &l->err.relay;
    if (hc_output_filter_new(&out->filter, s->policy, s->redactor, out->max, out->stream, err) < 0)
        return -1;
    return hc_output_filter_new(&errors->filter, s->policy, s->redactor, errors->max, errors->stream, err);
}

static int supervise(struct hc_loop *l, const struct hc_timers *timers, struct hc_error *err)
{
    struct hc_supervisor *s = l->s;
    const struct hc_limits *limits = &s->policy->limits;
    l->interpreter = l->answer_timer = l->memory_events = -1;
    l->control_open = l->status_open = true;
    l->out = hc_output_pipe_new(s->stdout_fd, s->pass_stdout, limits->stdout_bytes, s->out, HC_ON_STDOUT,
                                HC_ON_PASS_OUT);
    l->err = hc_output_pipe_new(s->stderr_fd, s->pass_stderr, limits->stderr_bytes, s->err, HC_ON_STDERR,
                                HC_ON_PASS_ERR);
    l->err.relay.held = true;
    int rc = prepare_filters(l, err) < 0 ? -1 : run_loop(l, timers, err);
    hc_output_pipe_finish(&l->out);
    hc_output_pipe_finish(&l->err);
    hc_close_fd(&l->interpreter);
    hc_close_fd(&l->answer_timer);
    hc_close_fd(&l->memory_events);
    return rc;
}

int hc_supervise(struct hc_supervisor *s, struct hc_error *err)
{
    struct hc_timers timers = {-1, -1, -1};
    struct hc_loop l = {.s = s, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    int rc = l.epoll < 0 ? hc_fail(err, errno, "epoll_create1") : hc_timers_start(&timers, &l, err);
    if (rc == 0)
        rc = supervise(&l, &timers, err);
    hc_timers_finish(&timers);
    hc_close_fd(&l.epoll);
    if (rc < 0)
        s->over = false;
    if (!s->over)
        hc_supervise_kill(s);
    return rc;
}
