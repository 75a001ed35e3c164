#include "cell/supervise/enforce.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/clock.h"
#include "cell/supervise/peak.h"

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/param.h>

void hc_enforce_soft_end(struct hc_loop *l)
{
    if (l->memory_events < 0)
        return;
    hc_loop_unwatch(l, l->memory_events);
    hc_close_fd(&l->memory_events);
    hc_cgroup_soft_lift(l->s->cgroup);
}

/* Least bytes between the soft mark and limits.memory: beyond memory.high the kernel slows a process down
 * before it can take that much more. */
#define LEAST_ROOM (INT64_C(4) << 20)

static int64_t mark_of(const struct hc_loop *l)
{
    const struct hc_limits *limits = &l->s->policy->limits;
    if (!l->last_mark)
        return hc_memory_soft(limits);
    return limits->memory - MIN(MAX(limits->memory / 32, LEAST_ROOM), limits->memory / 8);
}

static void watch_mark(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    struct hc_error err;
    int64_t mark = mark_of(l);
    if (l->dead || s->cgroup->fd < 0 || !mark)
        return;
    if (hc_cgroup_soft_begin(s->cgroup, mark, &l->memory_events, &err) < 0 ||
        hc_loop_watch(l, l->memory_events, HC_ON_SOFT, EPOLLPRI, &err) < 0) {
        (void)snprintf(s->no_soft, sizeof s->no_soft, "%.159s", err.text);
        hc_enforce_soft_end(l);
    }
}

void hc_enforce_soft(struct hc_loop *l)
{
    l->last_mark = l->s->session && !hc_memory_soft(&l->s->policy->limits);
    watch_mark(l);
}

void hc_enforce_warn(struct hc_loop *l, int number, enum hc_warning of)
{
    struct hc_supervisor *s = l->s;
    if (l->dead || s->inbox.state != HC_TALK_RUNNING)
        return;
    if (syscall(SYS_pidfd_send_signal, l->interpreter, number, NULL, 0) == 0)
        s->warned = of;
}

/* Whether the cell's memory is most of all a command's beside the run, which the run cannot give back. */
static bool is_of_command(const struct hc_supervisor *s)
{
    return s->beside && s->beside->larger(s->beside->ctx);
}

/* End the run, or a command beside it that uses more. */
static void end_by_memory(struct hc_supervisor *s)
{
    if (s->hidden || !s->beside || !s->beside->yield(s->beside->ctx))
        hc_loop_end(s, HC_END_MEMORY);
}

void hc_enforce_soft_check(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    if (l->dead || !hc_cgroup_soft_reached(s->cgroup, l->memory_events, mark_of(l)))
        return;
    if (l->last_mark) {
        end_by_memory(s);
        return;
    }
    hc_enforce_soft_end(l); /* above the mark the program may clean up; the kernel kills it at the limit */
    if (!is_of_command(s))
        hc_enforce_warn(l, HC_SIGNAL_MEMORY, HC_WARNED_MEMORY);
    l->last_mark = s->session;
    if (l->last_mark)
        watch_mark(l);
}

#define SLACK (INT64_C(64) << 20) /* bytes by which a cell may exceed its limit for a moment */
/* Bytes that a cell can take in a millisecond, with large pages and several processors. */
#define FASTEST (INT64_C(8) << 20)
/* Growth in bytes between samples above which a cell is sampled more often. */
#define QUICK      (INT64_C(8) << 20)
#define SOONEST_MS 2 /* least ms between samples */

int64_t hc_enforce_next_ms(const struct hc_limits *limits, int64_t used, int64_t before, int64_t most)
{
    int64_t ms = (limits->memory + SLACK - used) / FASTEST;
    if (used - before > QUICK)
        ms /= 2;
    return MIN(MAX(ms, SOONEST_MS), most);
}

static void watch_memory(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    const struct hc_limits *limits = &s->policy->limits;
    int64_t before = s->memory_now, used = hc_loop_sample(s), mark = hc_memory_soft(limits);
    l->watch_ms = hc_enforce_next_ms(limits, used, before, HC_WATCH_MS);
    if (used > limits->memory || s->hidden)
        end_by_memory(s);
    else if (hc_peak_of_samples(s) > limits->memory) /* it was the run, whatever a command beside it has */
        hc_loop_end(s, HC_END_MEMORY);
    if (!mark || used < mark || l->warned_memory || is_of_command(s))
        return;
    l->warned_memory = hc_inbox_has(&s->inbox, HC_FRAME_RUN);
    hc_enforce_warn(l, HC_SIGNAL_MEMORY, HC_WARNED_MEMORY);
}

static void add_sample(const struct hc_supervisor *s, int64_t now_us, int64_t cpu_us)
{
    struct hc_usage_sample now = {
        .at_us = now_us, .memory = s->memory_now, .cpu_us = cpu_us, .pids = s->tasks_now};
    if (s->cgroup->fd >= 0)
        hc_cgroup_now(s->cgroup, &now.memory, &now.pids);
    hc_samples_add(s->samples, now);
}

void hc_enforce_watch(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    const struct hc_limits *limits = &s->policy->limits;
    int64_t now_us = hc_now_us(), cpu_us;
    const bool due = hc_samples_due(s->samples, now_us);
    if (s->cgroup->fd < 0) {
        watch_memory(l);
        cpu_us = s->cpu_user_us + s->cpu_system_us;
    } else if (limits->cpu_ms || due) {
        cpu_us = hc_cgroup_cpu_us(s->cgroup);
    } else {
        return;
    }
    if (s->beside && cpu_us >= 0) {
        int64_t user_us, system_us;
        s->beside->cpu(s->beside->ctx, &user_us, &system_us);
        cpu_us -= user_us + system_us;
    }
    cpu_us = cpu_us < 0 ? cpu_us : MAX(cpu_us - s->cpu_base_us, 0);
    if (due)
        add_sample(s, now_us, cpu_us);
    if (limits->cpu_ms && cpu_us > limits->cpu_ms * 1000)
        hc_loop_end(s, HC_END_CPU);
}
