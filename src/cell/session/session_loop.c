#include "cell/session/session_parts.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/clock.h"
#include "base/status.h"
#include "cell/supervise/control.h"
#include "cell/supervise/output_pipe.h"
#include "cell/supervise/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <time.h>

#define SWEEP_MS 3000 /* longest time for killing the processes that a run has left */
#define SWEEP_CLEAN                                                                                          \
    2 /* listings with no such process that show that none is left: one may miss one whose parent ends */
/* Time between two looks at a process that is to stop: on a busy host it stops once a processor is free. */
#define FIRST_LOOK_NS   50000
#define LONGEST_LOOK_NS 1000000
#define SWEEP_BATCH     64 /* most processes that are killed after one listing */

/* ---- processes of the session ---- */

void hc_process_finish(struct hc_process *p)
{
    hc_close_fd(&p->pidfd);
    *p = (struct hc_process){.pidfd = -1};
}

void hc_process_signal(const struct hc_process *p, int number)
{
    if (p->pid)
        (void)syscall(SYS_pidfd_send_signal, p->pidfd, number, NULL, 0);
}

/* Whether a thread is stopped. A thread whose state cannot be read may run, unless it has ended meanwhile.
 * The first thread stays listed after its end as long as there are others; any other ended thread is about
 * to leave the list. */
static bool is_thread_still(int tasks, const char *id, bool first)
{
    char name[NAME_MAX + sizeof "/status"];
    (void)snprintf(name, sizeof name, "%s/status", id);
    const char *text = hc_status_read(tasks, name);
    if (!text)
        return errno == ENOENT || errno == ESRCH;
    const char *state = strstr(text, "\nState:\t");
    return state && !strchr(first ? "RSD" : "RSDZX", state[8]);
}

enum stillness {
    STILL,       /* its only thread is stopped, and so makes no other */
    RUNS,        /* its only thread is not stopped */
    MANY_THREADS /* each has to be looked at; or the process cannot be read */
};

/* Tell by one reading, which is enough for a process with one thread: most have one. */
static enum stillness look_at(const struct hc_process *p)
{
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%d/status", p->pid);
    const char *text = hc_status_read(AT_FDCWD, path);
    const char *state = text ? strstr(text, "\nState:\t") : NULL;
    if (!state || hc_status_field(text, "Threads", 10, 0) != 1)
        return MANY_THREADS;
    return strchr("RSD", state[8]) ? RUNS : STILL;
}

/* Whether all threads of a process are stopped. The first thread may have ended, and then does not show
 * the others' state. */
static bool is_still(const struct hc_process *p)
{
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%d/task", p->pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return hc_process_ended(p);
    bool still = true;
    for (struct dirent *e; still && (e = readdir(tasks));)
        still = e->d_name[0] == '.' ||
                is_thread_still(dirfd(tasks), e->d_name, strtol(e->d_name, NULL, 10) == p->pid);
    (void)closedir(tasks);
    return still;
}

/* Kill a process and wait for its end: later steps rely on no other process running. A killed process that
 * has not ended after HC_STOP_MS executes no more code of its own. */
static void end_and_wait(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    (void)poll(&ended, 1, HC_STOP_MS);
}

bool hc_process_stop(const struct hc_process *p)
{
    const int64_t until_us = hc_now_us() + INT64_C(1000) * HC_STOP_MS;
    struct timespec moment = {.tv_nsec = FIRST_LOOK_NS};
    hc_process_signal(p, SIGSTOP);
    /* Check several threads twice: one that is read late may have ended the process and be gone, while one
     * that was read earlier was still shown as stopped. */
    for (int seen = 0; p->pid && seen < 2;) {
        enum stillness look = look_at(p);
        seen = look == STILL ? 2 : look == MANY_THREADS && is_still(p) ? seen + 1 : 0;
        if (seen)
            continue;
        if (hc_now_us() >= until_us) {
            end_and_wait(p->pidfd);
            return false;
        }
        (void)nanosleep(&moment, NULL);
        moment.tv_nsec = MIN(2 * moment.tv_nsec, LONGEST_LOOK_NS);
    }
    return true;
}

void hc_process_kill(struct hc_process *p)
{
    hc_process_signal(p, SIGKILL);
    hc_process_finish(p);
}

/* An ended process counts among the cell's until its parent, the cell's first process, has heard of it. */
void hc_process_end(struct hc_process *p)
{
    const int64_t until_us = hc_now_us() + INT64_C(1000) * HC_STOP_MS;
    const struct timespec moment = {.tv_nsec = FIRST_LOOK_NS};
    if (p->pid)
        end_and_wait(p->pidfd);
    while (p->pid && syscall(SYS_pidfd_send_signal, p->pidfd, 0, NULL, 0) == 0 && hc_now_us() < until_us)
        (void)nanosleep(&moment, NULL);
    hc_process_finish(p);
}

void hc_process_retire(struct hc_session *s, struct hc_process *p)
{
    if (!p->pid || p->touched || s->checker.pid) {
        hc_process_kill(p);
        return;
    }
    s->checker = *p;
    *p = (struct hc_process){.pidfd = -1};
}

bool hc_process_ended(const struct hc_process *p)
{
    struct pollfd ended = {.fd = p->pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) == 1;
}

/* The launcher's OOM score, which a service manager may have set; cells inherit it. No process of a session
 * gets a better one. */
static const char own_score[] = "/proc/self/oom_score_adj";

void hc_process_set_oom_score(const struct hc_process *p, bool first)
{
    char path[48], score[16] = "1000";
    if (!first && hc_read_attr(AT_FDCWD, own_score, score, sizeof score) < 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/%d/oom_score_adj", p->pid);
    hc_autofd fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && !hc_process_ended(p)) /* alive after the open: not the file of a later process */
        (void)!write(fd, score, strlen(score));
}

/* The process belongs to this cell if its parent is the cell's first process, which is not yet reaped. The
 * pidfd is opened before the parent is read, so both are about the same process. */
int hc_session_open_process(const struct hc_session *s, pid_t pid, struct hc_process *out,
                            struct hc_error *err)
{
    char path[48];
    *out = (struct hc_process){.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
    if (out->pidfd < 0) {
        *out = (struct hc_process){.pidfd = -1};
        return hc_fail(err, errno, "open the session's process");
    }
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    const char *text = hc_status_read(AT_FDCWD, path);
    bool ours = text && hc_status_field(text, "PPid", 10, 0) == (uint64_t)s->launch.sup.pid;
    long inside = ours ? hc_status_inner_id(text, "NStgid") : -1;
    if (inside <= 0) {
        hc_process_finish(out);
        return hc_fail(err, 0, "what calls itself the session's process is none of the cell's");
    }
    out->cell_pid = (pid_t)inside;
    return 0;
}

void hc_session_activate(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    sup->run_pid = s->active.pid;
    sup->run_cell_pid = s->active.cell_pid;
    sup->run_pidfd = s->active.pidfd;
    hc_close_fd(&s->loop.interpreter);
    s->loop.interpreter = s->active.pidfd < 0 ? -1 : fcntl(s->active.pidfd, F_DUPFD_CLOEXEC, 0);
}

static void add_process(const struct hc_process *p, const struct hc_process **out, size_t *count)
{
    if (p->pid)
        out[(*count)++] = p;
}

static size_t own_processes(const struct hc_session *s, const struct hc_process *out[HC_SESSION_PROCESSES])
{
    size_t count = 0;
    add_process(&s->active, out, &count);
    add_process(&s->waiting_active, out, &count);
    add_process(&s->copy, out, &count);
    add_process(&s->checker, out, &count);
    add_process(&s->reader, out, &count);
    add_process(&s->before.process, out, &count);
    for (size_t i = 0; i < HC_SESSION_COPIES; i++)
        add_process(&s->checkpoints[i].process, out, &count);
    for (size_t i = 0; i < s->branch_count; i++)
        add_process(&s->branches[i].process, out, &count);
    return count;
}

size_t hc_session_processes(const struct hc_session *s, pid_t out[HC_SESSION_PROCESSES])
{
    const struct hc_process *own[HC_SESSION_PROCESSES];
    size_t count = own_processes(s, own);
    for (size_t i = 0; i < count; i++)
        out[i] = own[i]->pid;
    return count;
}

bool hc_session_knows(const struct hc_session *s, pid_t pid)
{
    pid_t own[HC_SESSION_PROCESSES];
    size_t count = hc_session_processes(s, own);
    for (size_t i = 0; i < count; i++)
        if (own[i] == pid)
            return true;
    return false;
}

/* ---- what a run has left ---- */

/* Is it one of the session's processes that live, or of its commands? The pid of one that has ended may be
 * another's by now. */
static bool is_own(struct hc_session *s, pid_t pid)
{
    const struct hc_process *own[HC_SESSION_PROCESSES];
    size_t count = own_processes(s, own);
    for (size_t i = 0; i < count; i++)
        if (own[i]->pid == pid)
            return !hc_process_ended(own[i]);
    return hc_commands_spare(s, pid);
}

/* Open the processes of a listing that are not the session's own, SWEEP_BATCH at most. `*strange`: there was
 * one, which may have ended meanwhile, after it made another. */
static size_t open_strangers(struct hc_session *s, const pid_t *listed, size_t count,
                             struct hc_process out[SWEEP_BATCH], bool *strange)
{
    size_t opened = 0;
    for (size_t i = 0; i < count && opened < SWEEP_BATCH; i++) {
        if (is_own(s, listed[i]))
            continue;
        struct hc_process p = {.pid = listed[i], .pidfd = (int)syscall(SYS_pidfd_open, listed[i], 0)};
        if (p.pidfd >= 0 && hc_process_ended(&p)) { /* its parent, which is stopped, has not heard of it */
            hc_process_finish(&p);
            continue;
        }
        *strange = true;
        if (p.pidfd >= 0)
            out[opened++] = p;
    }
    return opened;
}

/* List the cell's processes, and kill those that are not the session's own. A pid that is in the list again
 * after its pidfd was opened belongs to the cell. Returns whether there was one. */
static bool kill_listed(struct hc_session *s)
{
    static pid_t listed[HC_WATCH_PROCESSES];
    struct hc_process found[SWEEP_BATCH];
    bool strange = false;
    const pid_t first = s->launch.sup.pid;
    size_t opened =
        open_strangers(s, listed, hc_watch_below(first, listed, HC_WATCH_PROCESSES), found, &strange);
    size_t count = opened ? hc_watch_below(first, listed, HC_WATCH_PROCESSES) : 0;
    for (size_t i = 0; i < opened; i++)
        for (size_t k = 0; k < count; k++)
            if (listed[k] == found[i].pid)
                hc_process_signal(&found[i], SIGKILL);
    for (size_t i = 0; i < opened; i++) {
        struct pollfd ended = {.fd = found[i].pidfd, .events = POLLIN};
        (void)poll(&ended, 1, SWEEP_MS / SWEEP_BATCH);
        hc_process_finish(&found[i]);
    }
    return strange;
}

static bool never(const struct hc_session *s)
{
    (void)s;
    return false;
}

static void kill_cell(struct hc_session *s)
{
    struct hc_error ignored;
    s->launch.sup.run_pid = 0; /* so that hc_loop_kill kills the cell */
    hc_loop_kill(&s->launch.sup);
    (void)hc_session_handle(s, never, &ignored);
}

void hc_session_stop_waiting(const struct hc_session *s)
{
    const struct hc_process *own[HC_SESSION_PROCESSES];
    size_t count = own_processes(s, own);
    for (size_t i = 0; i < count; i++)
        (void)hc_process_stop(own[i]);
}

/* Whether no unknown process was seen in SWEEP_CLEAN listings in a row, within SWEEP_MS. The end of a child
 * can have the kernel wake the stopped process that made it (by SIGCONT to a process group that is orphaned),
 * which then could make another child after the last listing: so the session's processes are stopped again
 * between the listings. */
static bool sweep(struct hc_session *s)
{
    const bool forks = s->policy.processes == HC_PROCESSES_FORK;
    const int64_t until_us = hc_now_us() + INT64_C(1000) * SWEEP_MS;
    int clean = 0;
    while (!s->loop.dead && clean < SWEEP_CLEAN && hc_now_us() < until_us) {
        if (forks)
            hc_session_stop_waiting(s);
        clean = kill_listed(s) ? 0 : clean + 1;
        hc_control_drop_ends(&s->loop);
    }
    return clean == SWEEP_CLEAN;
}

bool hc_session_kill_unknown(struct hc_session *s)
{
    const struct hc_process first = {.pid = s->launch.sup.pid, .pidfd = s->launch.sup.pidfd};
    bool clean = sweep(s);
    if (!clean && s->commands && !s->loop.dead) {
        /* Processes of commands that end while they are looked at cannot be told from others. */
        hc_commands_kill(s, "was killed, as its processes could not be told from those that a run had left");
        clean = sweep(s);
    }
    if (s->loop.dead)
        return true;
    if (!clean || hc_process_ended(&first)) {
        kill_cell(s);
        return false;
    }
    if (s->policy.processes == HC_PROCESSES_FORK)
        hc_session_stop_waiting(s);
    return true;
}

/* ---- the loop ---- */

void hc_session_wake(struct hc_session *s)
{
    if (s->given.woken(s->given.ctx, s))
        return;
    if (s->in_run)
        hc_loop_unwatch(&s->loop, s->given.wake_fd);
    s->given.wake_fd = -1;
}

/* Send the interrupt once the program runs: no earlier code would handle it. */
static void pass_interrupt(struct hc_session *s)
{
    if (!s->interrupted || s->launch.sup.inbox.state != HC_TALK_RUNNING)
        return;
    hc_process_signal(&s->active, HC_SIGNAL_INTERRUPT);
    s->interrupted = false;
}

int hc_session_handle(struct hc_session *s, hc_session_reached *enough, struct hc_error *err)
{
    struct hc_loop *l = &s->loop;
    while (!l->dead && !enough(s)) {
        if (hc_loop_turn(l, &s->timers, err) < 0)
            return -1;
        if (l->woken)
            hc_session_wake(s);
        l->woken = false;
        pass_interrupt(s);
        hc_commands_tend(s);
    }
    return 0;
}

int hc_session_handle_within(struct hc_session *s, int64_t ms, hc_session_reached *enough,
                             struct hc_error *err)
{
    s->timers = (struct hc_timers){.wall = hc_loop_timer(ms, 0, err), .grace = -1, .ticker = -1};
    if (s->timers.wall < 0 || hc_loop_watch(&s->loop, s->timers.wall, HC_ON_WALL, EPOLLIN, err) < 0)
        return -1;
    int rc = hc_session_handle(s, enough, err);
    hc_timers_finish(&s->timers);
    return rc;
}

static int open_pipe(struct hc_session *s, struct hc_output_pipe *f, int fd, int64_t max,
                     struct hc_stream *kept, enum hc_occasion on, enum hc_occasion on_pass,
                     struct hc_error *err)
{
    *f = hc_output_pipe_new(fd, -1, max, kept, on, on_pass);
    if (s->launch.m != s->m) /* during a run, which has its own manifest */
        f->relay.sink = (struct hc_sink){s->given.printed, s->given.ctx, on == HC_ON_STDERR};
    if (hc_output_filter_new(&f->relay.filter, s->launch.sup.policy, s->launch.sup.redactor, max,
                             f->relay.stream, err) < 0)
        return -1;
    hc_output_pipe_sync(&s->loop, f);
    return 0;
}

int hc_session_open_pipes(struct hc_session *s, struct hc_error *err)
{
    struct hc_supervisor *sup = &s->launch.sup;
    const struct hc_limits *limits = &sup->policy->limits;
    return open_pipe(s, &s->loop.out, sup->stdout_fd, limits->stdout_bytes, sup->out, HC_ON_STDOUT,
                     HC_ON_PASS_OUT, err) < 0
               ? -1
               : open_pipe(s, &s->loop.err, sup->stderr_fd, limits->stderr_bytes, sup->err, HC_ON_STDERR,
                           HC_ON_PASS_ERR, err);
}

/* Read the rest of the pipe: its writers are dead or stopped, or have reported after writing. */
static void close_pipe(struct hc_session *s, struct hc_output_pipe *f)
{
    if (f->read_fd >= 0) {
        f->relay.orphaned = true;
        hc_output_pipe_read(&s->loop, f);
    }
    if (f->read_fd >= 0)
        hc_loop_unwatch(&s->loop, f->read_fd);
    hc_output_pipe_finish(f);
    f->read_fd = f->write_fd = -1;
}

void hc_session_close_pipes(struct hc_session *s)
{
    close_pipe(s, &s->loop.out);
    close_pipe(s, &s->loop.err);
}
