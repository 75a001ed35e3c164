#include "cell/supervise/loop.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/clock.h"
#include "cell/supervise/peak.h"
#include "cell/supervise/watch.h"
#include "inside/weak.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/timerfd.h>
#include <time.h>

int hc_loop_watch(struct hc_loop *l, int fd, enum hc_occasion on, uint32_t events, struct hc_error *err)
{
    struct epoll_event ev = {.events = events, .data.u32 = on};
    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? hc_fail(err, errno, "epoll_ctl") : 0;
}

void hc_loop_rewatch(struct hc_loop *l, int fd, enum hc_occasion on, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.u32 = on};
    (void)epoll_ctl(l->epoll, EPOLL_CTL_MOD, fd, &ev);
}

void hc_loop_unwatch(struct hc_loop *l, int fd)
{
    (void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
}

int hc_loop_set_timer(int fd, int64_t first_ms, int64_t every_ms)
{
    struct itimerspec spec = {
        .it_value = {.tv_sec = first_ms / 1000, .tv_nsec = first_ms % 1000 * 1000000},
        .it_interval = {.tv_sec = every_ms / 1000, .tv_nsec = every_ms % 1000 * 1000000},
    };
    return timerfd_settime(fd, 0, &spec, NULL);
}

int hc_loop_timer(int64_t first_ms, int64_t every_ms, struct hc_error *err)
{
    hc_autofd fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0 || hc_loop_set_timer(fd, first_ms, every_ms) < 0)
        return hc_fail(err, errno, "make a timer");
    return hc_take(&fd);
}

void hc_loop_drain_timer(int fd)
{
    uint64_t ticks;
    (void)!read(fd, &ticks, sizeof ticks);
}

void hc_loop_kill(struct hc_supervisor *s)
{
    if (s->run_pid) {
        (void)syscall(SYS_pidfd_send_signal, s->run_pidfd, SIGKILL, NULL, 0);
        return;
    }
    if (s->cgroup->fd >= 0)
        hc_cgroup_kill(s->cgroup);
    (void)syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
}

#define COPIES_EVERY_US 100000 /* least us between measurements of the copies */
#define COPIES_SHARE    20     /* measuring the copies takes at most 1/COPIES_SHARE of the time */

/* Bytes that the waiting copies do not share with the run. The sum over all processes counts shared pages
 * several times; only if that sum is above the limit, or a command may have left processes that no copy is,
 * are the pages counted exactly. If that fails, the sum counts. */
static int64_t memory_of_copies(struct hc_supervisor *s, int64_t run, int64_t all)
{
    int64_t begun = hc_now_us();
    const bool over = all > s->policy->limits.memory;
    if (!over && s->policy->processes != HC_PROCESSES_FORK)
        return 0;
    if (begun < s->copies_due_us && (!over || s->copies_over))
        return s->copies_memory;
    s->copies_over = over;
    int64_t below = hc_watch_memory_below(s->pid);
    s->copies_memory = MAX((below < 0 ? all : below) - run, 0);
    int64_t took = hc_now_us() - begun;
    s->copies_due_us = begun + MAX(COPIES_EVERY_US, took * COPIES_SHARE);
    return s->copies_memory;
}

static bool has_ended(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) != 0;
}

/* With hidepid (proc(5)) /proc hides other users' processes: a living process that seems to have no task is
 * hidden. */
static void sample(pid_t pid, int pidfd, struct hc_held *held, struct hc_sample *out)
{
    hc_watch_sample(pid, held, out);
    bool ended = (out->hidden || out->tasks == 0) && has_ended(pidfd);
    out->hidden = (out->hidden || out->tasks == 0) && !ended;
}

static void sample_all(struct hc_supervisor *s, bool look, struct hc_sample *out)
{
    bool due = look && hc_held_due(&s->held);
    if (due)
        hc_held_begin(&s->held, s->policy->limits.memory);
    sample(s->pid, s->pidfd, due ? &s->held : NULL, out);
    if (due)
        hc_held_end(&s->held);
}

static bool is_capped(const struct hc_supervisor *s)
{
    return s->policy->output_mode == HC_OUTPUT_CAPPED;
}

/* Add the memory that the kernel holds for the cell. */
static void add_kernel(struct hc_supervisor *s, struct hc_sample *out)
{
    int64_t sockets = hc_held_sockets(&s->held, s->pid, s->policy->network == HC_NETWORK_LOOPBACK);
    int64_t names = hc_watch_fs_files(s->tmp_fd) + (is_capped(s) ? hc_watch_fs_files(s->output_fd) : 0) +
                    (s->space_fd >= 0 ? hc_watch_fs_files(s->space_fd) : 0);
    out->hidden |= sockets < 0;
    out->memory += MAX(sockets, 0) + s->held.bytes + hc_held_threads(out->tasks) + hc_held_names(names);
}

static int64_t sample_cell(struct hc_supervisor *s, bool look)
{
    struct hc_sample now;
    sample_all(s, look, &now);
    if (s->run_pid) {
        struct hc_sample all = now;
        sample(s->run_pid, s->run_pidfd, NULL, &now);
        now.memory += memory_of_copies(s, now.memory, all.memory);
        now.tasks = all.tasks;
        if (s->policy->processes == HC_PROCESSES_FORK) { /* a process that lost its parent is below no run */
            now.cpu_user_us = all.cpu_user_us;
            now.cpu_system_us = all.cpu_system_us;
        }
        now.hidden |= all.hidden;
    }
    add_kernel(s, &now);
    if (s->adopted && has_ended(s->pidfd)) /* the pid may belong to another process by now */
        now = (struct hc_sample){0};
    if (hc_weak(HC_WEAK_WATCH))
        now.hidden = false, now.memory = 0;
    s->hidden |= now.hidden;
    now.memory += (is_capped(s) ? hc_watch_fs_bytes(s->output_fd) : 0) + hc_watch_fs_bytes(s->tmp_fd) +
                  (s->space_fd >= 0 ? hc_watch_fs_bytes(s->space_fd) : 0);
    s->memory_now = now.memory;
    s->tasks_now = now.tasks;
    s->process_peak = MAX(s->process_peak, now.peak);
    if (now.file_pages > s->file_pages)
        s->file_pages = -1; /* it maps a file more often than was thought: the peak proves nothing */
    s->memory_peak = MAX(MAX(s->memory_peak, now.memory), hc_peak_of_samples(s));
    s->tasks_peak = MAX(s->tasks_peak, now.tasks);
    s->cpu_user_us = MAX(s->cpu_user_us, now.cpu_user_us);
    s->cpu_system_us = MAX(s->cpu_system_us, now.cpu_system_us);
    return now.memory;
}

int64_t hc_loop_sample(struct hc_supervisor *s)
{
    return sample_cell(s, true);
}

void hc_loop_account(struct hc_supervisor *s)
{
    (void)sample_cell(s, false);
}

void hc_loop_cpu(struct hc_supervisor *s)
{
    struct hc_sample now;
    if (!s->run_pid || s->policy->processes == HC_PROCESSES_FORK) {
        hc_loop_account(s);
        return;
    }
    sample(s->run_pid, s->run_pidfd, NULL, &now);
    s->process_peak = MAX(s->process_peak, now.peak);
    s->cpu_user_us = MAX(s->cpu_user_us, now.cpu_user_us);
    s->cpu_system_us = MAX(s->cpu_system_us, now.cpu_system_us);
}

void hc_loop_end(struct hc_supervisor *s, enum hc_end end)
{
    if (s->end == HC_END_NONE) {
        s->end = end;
        /* Killed processes are not waited for inside the cell, so their CPU time would be lost: sample it
         * now. */
        if (s->cgroup->fd < 0 && !s->reaped)
            (void)hc_loop_sample(s);
    }
    hc_loop_kill(s);
}

void hc_loop_fail(struct hc_supervisor *s, int sys, const char *what)
{
    if (s->end == HC_END_NONE)
        (void)hc_fail(&s->launch, sys, "%s", what);
    hc_loop_end(s, HC_END_LAUNCH);
}
