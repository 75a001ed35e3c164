#include "cell/supervise.h"

#include "base/fd.h"
#include "cell/kernel.h"
#include "cell/relay.h"
#include "cell/watch.h"
#include "cell/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#define WATCH_MS     20    /* between samples where no cgroup holds the limits */
#define ACCOUNT_MS   100   /* between looks at CPU time where a cgroup counts it */
#define CELL_FILTERS 3     /* the first, the reporting one, the job's: cell/filter.h */
#define FRAMES_MAX   10000 /* packets from one cell; the guest's process can send what it likes */

#define ANSWERS 64 /* refused calls that are answered in one round of the loop */
/* After HC_LISTENER_FLOOD of them: */
#define PACE_MS      100
#define PACE_ANSWERS 16

enum source {
    ON_PIDFD,
    ON_STDOUT,
    ON_STDERR,
    ON_CONTROL,
    ON_STATUS,
    ON_WALL,
    ON_GRACE,
    ON_SOFT,
    ON_WATCH,
    ON_CANCEL,
    ON_REFUSED,
    ON_PACE,
    ON_PASS_OUT,
    ON_PASS_ERR
};

/* A relay and what epoll has been told about it. */
struct stream {
    struct hc_relay relay;
    enum source on, on_pass;
    int read_fd, write_fd; /* as watched now; -1: not watched */
};

struct loop {
    struct hc_supervisor *s;
    int epoll;
    struct stream out, err;
    bool control_open, status_open, dead;
    int interpreter; /* pidfd of the process that said READY; -1: not yet */
    int soft;        /* memory.events, while memory.high is set; else -1 */
    bool told;       /* of its memory, once */
    int pace;        /* timer; -1: refused calls are answered as they come */
    int frames;
};

int64_t hc_now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int watch_fd(struct loop *l, int fd, enum source on, uint32_t events, struct hc_error *err)
{
    struct epoll_event ev = {.events = events, .data.u32 = on};
    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? hc_fail(err, errno, "epoll_ctl") : 0;
}

static void unwatch_fd(struct loop *l, int fd)
{
    (void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void send_kill(struct hc_supervisor *s)
{
    if (s->cgroup->fd >= 0)
        hc_cgroup_kill(s->cgroup);
    (void)syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
}

/* Where no cgroup counts. */
static int64_t look(struct hc_supervisor *s)
{
    struct hc_sample now;
    hc_watch_sample(s->pid, &now);
    bool capped = s->policy->output_mode == HC_OUTPUT_CAPPED;
    now.memory += (capped ? hc_watch_fs_bytes(s->output_fd) : 0) + hc_watch_fs_bytes(s->tmp_fd);
    s->memory_peak = MAX(s->memory_peak, now.memory);
    s->tasks_peak = MAX(s->tasks_peak, now.tasks);
    s->cpu_user_us = MAX(s->cpu_user_us, now.cpu_user_us);
    s->cpu_system_us = MAX(s->cpu_system_us, now.cpu_system_us);
    return now.memory;
}

static void end_job(struct hc_supervisor *s, enum hc_end end)
{
    if (s->end == HC_END_NONE) {
        s->end = end;
        if (s->cgroup->fd < 0 && !s->reaped)
            (void)look(
                s); /* nobody inside waits for those that are killed now: their CPU time would be lost */
    }
    send_kill(s);
}

/* The launcher cannot go on with this job, and says so instead of guessing how it ended. */
static void fail(struct hc_supervisor *s, int sys, const char *what)
{
    if (s->end == HC_END_NONE)
        (void)hc_fail(&s->launch, sys, "%s", what);
    end_job(s, HC_END_LAUNCH);
}

/* ---- output ---- */

/* Watch a descriptor, or no longer, as `wanted` says. False if it cannot be polled. */
static bool sync_watch(struct loop *l, int *watched, int fd, bool wanted, enum source on, uint32_t events)
{
    struct hc_error ignored;
    if (!wanted && *watched >= 0) {
        unwatch_fd(l, *watched);
        *watched = -1;
    }
    if (wanted && *watched < 0) {
        if (watch_fd(l, fd, on, events, &ignored) < 0)
            return false;
        *watched = fd;
    }
    return true;
}

static void sync_stream(struct loop *l, struct stream *st)
{
    struct hc_relay *r = &st->relay;
    if (!sync_watch(l, &st->write_fd, r->pass_fd, hc_relay_wants_write(r), st->on_pass, EPOLLOUT))
        hc_relay_drop(r);
    if (!sync_watch(l, &st->read_fd, r->fd, hc_relay_wants_read(r), st->on, EPOLLIN))
        fail(l->s, errno, "watch the program's output");
    if (r->read_errno)
        fail(l->s, r->read_errno, "read the program's output");
    if (r->stream->truncated && l->s->policy->overflow == HC_OVERFLOW_END)
        end_job(l->s, HC_END_OUTPUT);
}

static void read_stream(struct loop *l, struct stream *st)
{
    hc_relay_read(&st->relay);
    sync_stream(l, st);
}

static void write_stream(struct loop *l, struct stream *st)
{
    hc_relay_write(&st->relay);
    if (st->relay.orphaned)
        hc_relay_read(&st->relay);
    sync_stream(l, st);
}

static struct stream make_stream(int fd, int pass_fd, int64_t max, struct hc_stream *kept, enum source on,
                                 enum source on_pass)
{
    return (struct stream){.relay = {.fd = fd, .pass_fd = pass_fd, .max = max, .stream = kept},
                           .on = on,
                           .on_pass = on_pass,
                           .read_fd = -1,
                           .write_fd = -1};
}

static int prepare_shown(struct loop *l, struct hc_error *err)
{
    const struct hc_supervisor *s = l->s;
    struct hc_relay *out = &l->out.relay, *errors = &l->err.relay;
    if (hc_shown_new(&out->shown, s->policy, s->redactor, out->max, out->stream, err) < 0)
        return -1;
    return hc_shown_new(&errors->shown, s->policy, s->redactor, errors->max, errors->stream, err);
}

static void finish_stream(struct stream *st)
{
    hc_shown_free(st->relay.shown);
    hc_relay_finish(&st->relay);
}

/* ---- the soft mark on memory ---- */

static void end_soft(struct loop *l)
{
    if (l->soft < 0)
        return;
    unwatch_fd(l, l->soft);
    hc_close_fd(&l->soft);
    hc_cgroup_soft_lift(l->s->cgroup);
}

/* From here on it is the program's memory: an interpreter that starts near the mark must not be slowed down.
 */
static void begin_soft(struct loop *l)
{
    struct hc_supervisor *s = l->s;
    struct hc_error err;
    int64_t mark = hc_memory_soft(&s->policy->limits);
    if (l->dead || s->cgroup->fd < 0 || !mark)
        return;
    if (hc_cgroup_soft_begin(s->cgroup, mark, &l->soft, &err) < 0 ||
        watch_fd(l, l->soft, ON_SOFT, EPOLLPRI, &err) < 0) {
        (void)snprintf(s->no_soft, sizeof s->no_soft, "%.159s", err.text);
        end_soft(l);
    }
}

/* ---- control ---- */

static uint64_t status_field(const char *text, const char *key, int base)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, base) : ~0ULL;
}

/* The interpreter says that it is ready; what it is now, /proc says from outside, before it may read the
 * code. */
static int check_interpreter(struct hc_supervisor *s, pid_t pid, struct hc_error *err)
{
    static char text[HC_STATUS_MAX];
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0)
        return hc_fail(err, errno, "read %s", path);
    char ids[96];
    (void)snprintf(ids, sizeof ids, "\nUid:\t%u\t%u\t%u\t%u\n", s->ids->uid, s->ids->uid, s->ids->uid,
                   s->ids->uid);
    if (!strstr(text, ids))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the interpreter does not run as uid %u", s->ids->uid);
    uint64_t caps = status_field(text, "\nCapEff:", 16) | status_field(text, "\nCapPrm:", 16) |
                    status_field(text, "\nCapInh:", 16) | status_field(text, "\nCapBnd:", 16) |
                    status_field(text, "\nCapAmb:", 16);
    uint64_t mode = status_field(text, "\nSeccomp:", 10);
    uint64_t filters = status_field(text, "\nSeccomp_filters:", 10);
    uint64_t nnp = status_field(text, "\nNoNewPrivs:", 10);
    if ((caps != 0 && !hc_weak(HC_WEAK_CAPABILITIES)) || (nnp != 1 && !hc_weak(HC_WEAK_NO_NEW_PRIVS)))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the interpreter has capabilities or may gain some");
    if (hc_weak(HC_WEAK_SECCOMP))
        return 0;
    if (mode != 2 || filters != (uint64_t)s->filters + CELL_FILTERS)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "the job's seccomp filters are not on (mode %llu, %llu filters)",
                          (unsigned long long)mode, (unsigned long long)filters);
    (void)snprintf(
        s->job_filter_evidence, sizeof s->job_filter_evidence,
        "/proc/%d/status before the code was read: Seccomp 2, Seccomp_filters %llu, CapEff 0, NoNewPrivs 1",
        pid, (unsigned long long)filters);
    return 0;
}

static void answer_ready(struct loop *l, pid_t pid)
{
    struct hc_supervisor *s = l->s;
    s->ready_us = hc_now_us();
    /* Opened before the check, so that it is of the process that is checked. */
    l->interpreter = (int)syscall(SYS_pidfd_open, pid, 0);
    if (check_interpreter(s, pid, &s->launch) < 0) {
        (void)hc_ctx(&s->launch, "check the cell");
        end_job(s, HC_END_LAUNCH);
        return;
    }
    struct hc_frame_head go = {.type = HC_FRAME_GO, .flags = HC_FRAME_LAST};
    /* EPIPE: it has died meanwhile, which is told elsewhere. */
    if (send(s->control_fd, &go, sizeof go, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE) {
        fail(s, errno, "let the interpreter begin");
        return;
    }
    s->go_us = hc_now_us();
    hc_relay_release(&l->err.relay);
    sync_stream(l, &l->err);
}

/* What comes along with a packet: its sender, as the kernel says, and the first descriptor, which the caller
 * owns from here on. For more than one there is no room. */
static void read_ancillary(struct msghdr *mh, pid_t *sender, int *passed)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred cred;
            memcpy(&cred, CMSG_DATA(c), sizeof cred);
            *sender = cred.pid;
        } else if (c->cmsg_type == SCM_RIGHTS) {
            for (size_t at = 0; at + sizeof(int) <= c->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
                hc_close_fd(passed);
                memcpy(passed, CMSG_DATA(c) + at, sizeof *passed);
            }
        }
    }
}

/* -1 with errno, 0 at the end. */
static ssize_t receive(int fd, void *data, size_t size, pid_t *sender, int *passed)
{
    struct iovec iov = {.iov_base = data, .iov_len = size};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr mh = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    ssize_t n = recvmsg(fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *sender = 0;
    if (n < 0)
        return n;
    read_ancillary(&mh, sender, passed);
    return mh.msg_flags & MSG_TRUNC ? (ssize_t)size + 1 : n;
}

static void close_control(struct loop *l)
{
    unwatch_fd(l, l->s->control_fd);
    l->control_open = false;
}

/* The guest's process says that something was refused. */
static int take_denial(struct hc_supervisor *s, struct hc_error *err)
{
    struct hc_denial d;
    if (hc_denial_parse(&d, s->inbox.body.data, s->inbox.body.len, err) < 0)
        return -1;
    hc_denials_note(s->denials, &d, false);
    return 0;
}

/* Without one, what the reporting filter refuses is refused all the same. */
static int take_listener(struct loop *l, int fd, struct hc_error *err)
{
    if (fd < 0)
        return l->s->lessons ? hc_fail(err, 0, "the kernel gives no listener, so that nothing can be learnt")
                             : 0;
    return hc_listener_open(&l->s->listener, fd, err) < 0
               ? -1
               : watch_fd(l, l->s->listener.fd, ON_REFUSED, EPOLLIN, err);
}

/* One packet, as far as the order of frames goes, and what it says. Returns its type or -1. */
static int take_packet(struct loop *l, const void *packet, size_t len, int *passed, struct hc_error *err)
{
    if (++l->frames > FRAMES_MAX)
        return hc_fail(err, 0, "more than %d packets", FRAMES_MAX);
    int type = hc_inbox_feed(&l->s->inbox, packet, len, err);
    int rc = 0;
    if (type == HC_FRAME_FILTERED)
        rc = take_listener(l, hc_take(passed), err);
    else if (type == HC_FRAME_DENIAL)
        rc = take_denial(l->s, err);
    return rc < 0 ? -1 : type;
}

static void read_control(struct loop *l)
{
    struct hc_supervisor *s = l->s;
    static char packet[sizeof(struct hc_frame_head) + HC_FRAME_CHUNK + 1];
    for (int rounds = 0; (rounds < 64 || l->dead) && l->control_open; rounds++) {
        pid_t sender;
        hc_autofd passed = -1; /* closed, unless it is the one that is expected */
        ssize_t n = TEMP_FAILURE_RETRY(receive(s->control_fd, packet, sizeof packet, &sender, &passed));
        if (n < 0 && errno == EAGAIN && !l->dead)
            return;
        if (n < 0 && errno != EAGAIN && errno != ECONNRESET)
            fail(s, errno, "hear from the interpreter");
        /* Both the end and an empty packet read as nothing; only the latter has a sender. */
        if (n < 0 || (n == 0 && !sender)) {
            close_control(l);
            return;
        }
        struct hc_error err = {0};
        int type = take_packet(l, packet, (size_t)n, &passed, &err);
        if (type < 0) {
            /* Not the job's end: a guest that spoils its own report has spoilt its own report. */
            (void)snprintf(s->protocol, sizeof s->protocol, "%.200s", err.text);
            (void)shutdown(s->control_fd,
                           SHUT_RDWR); /* whoever goes on sending gets EPIPE instead of waiting */
            close_control(l);
        } else if (type == HC_FRAME_READY) {
            answer_ready(l, sender);
        } else if (type == HC_FRAME_RUN) {
            begin_soft(l);
        } else if (type == HC_FRAME_CHECKED) {
            (void)hc_buf_add(&s->checked, s->inbox.body.data, s->inbox.body.len);
        }
    }
}

/* What waitid could have said. */
static bool is_end(const struct hc_exit_report *r)
{
    if (r->code == CLD_EXITED)
        return r->status >= 0 && r->status <= 255;
    return (r->code == CLD_KILLED || r->code == CLD_DUMPED) && r->status > 0 && r->status < NSIG;
}

static void read_status(struct loop *l)
{
    struct hc_supervisor *s = l->s;
    struct hc_exit_report report;
    ssize_t n = TEMP_FAILURE_RETRY(recv(s->status_fd, &report, sizeof report, MSG_DONTWAIT));
    if (n < 0 && errno == EAGAIN && !l->dead)
        return;
    if (n < 0 && errno != EAGAIN && errno != ECONNRESET)
        fail(s, errno, "hear how the interpreter ended");
    if (n == (ssize_t)sizeof report && !s->exit_known && is_end(&report)) {
        s->exit = report;
        s->exit_known = true;
        return;
    }
    unwatch_fd(l, s->status_fd);
    l->status_open = false;
}

/* ---- limits ---- */

/* The time or the memory is nearly used up. A program that has not begun, or is being accounted for, is left
 * alone. */
static void warn_program(struct loop *l, int number, enum hc_warning of)
{
    struct hc_supervisor *s = l->s;
    if (l->dead || !s->inbox.running || s->inbox.reported)
        return;
    if (syscall(SYS_pidfd_send_signal, l->interpreter, number, NULL, 0) == 0)
        s->warned = of;
}

static void check_soft(struct loop *l)
{
    struct hc_supervisor *s = l->s;
    if (l->dead || !hc_cgroup_soft_reached(s->cgroup, l->soft, hc_memory_soft(&s->policy->limits)))
        return;
    end_soft(l); /* it gets room to end in; beyond, limits.memory kills */
    warn_program(l, HC_SIGNAL_MEMORY, HC_WARNED_MEMORY);
}

static void watch_memory(struct loop *l)
{
    struct hc_supervisor *s = l->s;
    const struct hc_limits *limits = &s->policy->limits;
    int64_t used = look(s), mark = hc_memory_soft(limits);
    if (used > limits->memory)
        end_job(s, HC_END_MEMORY);
    if (!mark || used < mark || l->told)
        return;
    l->told = s->inbox.running;
    warn_program(l, HC_SIGNAL_MEMORY, HC_WARNED_MEMORY);
}

static void watch(struct loop *l)
{
    struct hc_supervisor *s = l->s;
    const struct hc_limits *limits = &s->policy->limits;
    int64_t cpu_us;
    if (s->cgroup->fd >= 0) {
        cpu_us = hc_cgroup_cpu_us(s->cgroup);
    } else {
        watch_memory(l);
        cpu_us = s->cpu_user_us + s->cpu_system_us;
    }
    if (limits->cpu_ms && cpu_us > limits->cpu_ms * 1000)
        end_job(s, HC_END_CPU);
}

/* Milliseconds before limits.timeout at which the program is warned; 0: never. */
static int64_t grace(const struct hc_limits *limits)
{
    return MIN(limits->grace_ms, limits->timeout_ms / 4);
}

static int make_timer(int64_t first_ms, int64_t every_ms, struct hc_error *err)
{
    hc_autofd fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct itimerspec spec = {
        .it_value = {.tv_sec = first_ms / 1000, .tv_nsec = first_ms % 1000 * 1000000},
        .it_interval = {.tv_sec = every_ms / 1000, .tv_nsec = every_ms % 1000 * 1000000},
    };
    if (fd < 0 || timerfd_settime(fd, 0, &spec, NULL) < 0)
        return hc_fail(err, errno, "make a timer");
    return hc_take(&fd);
}

static void drain_timer(int fd)
{
    uint64_t ticks;
    (void)!read(fd, &ticks, sizeof ticks);
}

/* ---- refused calls ---- */

/* A loop of refused calls must not become work without end for the launcher. The listener is not closed for
 * it: the process could then make another for itself, and let itself do what it likes. */
static void slow_down(struct loop *l)
{
    struct hc_error ignored;
    hc_autofd timer = make_timer(PACE_MS, PACE_MS, &ignored);
    if (timer < 0 || watch_fd(l, timer, ON_PACE, EPOLLIN, &ignored) < 0)
        return;
    l->pace = hc_take(&timer);
    unwatch_fd(l, l->s->listener.fd);
}

static void refuse(struct hc_supervisor *s, int most)
{
    /* What the interpreter was refused before it read the program is not the program's doing. */
    hc_listener_answer(&s->listener, most, s->go_us ? s->denials : NULL, s->lessons);
}

static void answer_refused(struct loop *l, uint32_t events)
{
    refuse(l->s, ANSWERS);
    if (!(events & EPOLLIN)) /* nobody is left whom it could ask about */
        unwatch_fd(l, l->s->listener.fd);
    else if (l->s->listener.answered > HC_LISTENER_FLOOD && !l->s->lessons)
        slow_down(l);
}

/* ---- end ---- */

static void reap(struct hc_supervisor *s)
{
    siginfo_t info = {0};
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
        send_kill(s);
    reap(s);
    struct hc_error ignored;
    if (s->cgroup->fd >= 0) {
        hc_cgroup_kill(s->cgroup);
        (void)hc_cgroup_wait_empty(s->cgroup, &ignored);
    }
}

/* The interpreter did not start, and the launcher will say so in the last words that it had: passed on, they
 * would stand there twice. What a prelude printed helps whoever wrote it. */
static bool told_as_failure(const struct hc_supervisor *s)
{
    bool by_prelude = s->exit_known && s->exit.status == HC_EXIT_CONFIG;
    return !s->go_us && !by_prelude && (s->end == HC_END_NONE || s->end == HC_END_LAUNCH);
}

/* Nobody is left who could write: what is still in the channels is all that there will be, whether their ends
 * of file come or not. */
static void drain(struct loop *l)
{
    while (l->status_open)
        read_status(l);
    read_control(l);
    if (told_as_failure(l->s))
        hc_relay_drop(&l->err.relay);
    hc_relay_release(&l->err.relay);
    l->out.relay.orphaned = l->err.relay.orphaned = true;
    read_stream(l, &l->out);
    read_stream(l, &l->err);
}

/* Descriptors; -1: not needed. */
struct timers {
    int wall, grace, ticker;
};

static void handle(struct loop *l, const struct epoll_event *event, const struct timers *timers)
{
    struct hc_supervisor *s = l->s;
    switch ((enum source)event->data.u32) {
    case ON_STDOUT:
        read_stream(l, &l->out);
        break;
    case ON_STDERR:
        read_stream(l, &l->err);
        break;
    case ON_PASS_OUT:
        write_stream(l, &l->out);
        break;
    case ON_PASS_ERR:
        write_stream(l, &l->err);
        break;
    case ON_CONTROL:
        read_control(l);
        break;
    case ON_STATUS:
        read_status(l);
        break;
    case ON_WALL:
        drain_timer(timers->wall);
        s->frozen = !l->dead && s->cgroup->fd >= 0 && hc_cgroup_frozen(s->cgroup);
        if (!l->dead) /* else only a slow reader of its output is waited for, which is not the job's time */
            end_job(s, HC_END_TIMEOUT);
        break;
    case ON_GRACE:
        drain_timer(timers->grace);
        warn_program(l, HC_SIGNAL_DEADLINE, HC_WARNED_TIME);
        break;
    case ON_SOFT:
        check_soft(l);
        break;
    case ON_WATCH:
        drain_timer(timers->ticker);
        if (!l->dead)
            watch(l);
        break;
    case ON_CANCEL:
        unwatch_fd(l, s->cancel_fd);
        if (!l->dead)
            end_job(s, HC_END_CANCELLED);
        /* Whoever cancels does not wait for a reader that does not read. */
        hc_relay_drop(&l->out.relay);
        hc_relay_drop(&l->err.relay);
        sync_stream(l, &l->out);
        sync_stream(l, &l->err);
        break;
    case ON_REFUSED:
        answer_refused(l, event->events);
        break;
    case ON_PACE:
        drain_timer(l->pace);
        refuse(s, PACE_ANSWERS);
        break;
    case ON_PIDFD:
        unwatch_fd(l, s->pidfd);
        l->dead = true;
        end_soft(l);
        s->end_us = hc_now_us();
        /* The first process of a pid namespace takes all others with it before it can be waited for. */
        hc_supervise_kill(s);
        drain(l);
        break;
    }
}

static bool finished(const struct loop *l)
{
    bool flushed = l->out.read_fd < 0 && l->err.read_fd < 0 && l->out.write_fd < 0 && l->err.write_fd < 0;
    return l->dead && flushed && !l->control_open && !l->status_open;
}

static int run_loop(struct loop *l, const struct timers *timers, struct hc_error *err)
{
    struct hc_supervisor *s = l->s;
    if (watch_fd(l, s->pidfd, ON_PIDFD, EPOLLIN, err) < 0 ||
        watch_fd(l, s->control_fd, ON_CONTROL, EPOLLIN, err) < 0 ||
        watch_fd(l, s->status_fd, ON_STATUS, EPOLLIN, err) < 0 ||
        watch_fd(l, timers->wall, ON_WALL, EPOLLIN, err) < 0 ||
        (timers->grace >= 0 && watch_fd(l, timers->grace, ON_GRACE, EPOLLIN, err) < 0) ||
        (timers->ticker >= 0 && watch_fd(l, timers->ticker, ON_WATCH, EPOLLIN, err) < 0) ||
        (s->cancel_fd >= 0 && watch_fd(l, s->cancel_fd, ON_CANCEL, EPOLLIN, err) < 0))
        return -1;
    sync_stream(l, &l->out);
    sync_stream(l, &l->err);
    while (!finished(l)) {
        struct epoll_event events[16];
        int n = epoll_wait(l->epoll, events, 16, -1);
        if (n < 0 && errno != EINTR)
            return hc_fail(err, errno, "epoll_wait");
        for (int i = 0; i < n; i++)
            handle(l, &events[i], timers);
    }
    return 0;
}

static int make_timers(const struct hc_supervisor *s, struct timers *out, struct hc_error *err)
{
    const struct hc_limits *limits = &s->policy->limits;
    bool by_watch = s->cgroup->fd < 0;
    int64_t before = grace(limits), every = by_watch ? WATCH_MS : ACCOUNT_MS;
    if ((out->wall = make_timer(limits->timeout_ms, 0, err)) < 0 ||
        (before && (out->grace = make_timer(limits->timeout_ms - before, 0, err)) < 0) ||
        ((by_watch || limits->cpu_ms) && (out->ticker = make_timer(every, every, err)) < 0))
        return -1;
    return 0;
}

static int supervise(struct loop *l, const struct timers *timers, struct hc_error *err)
{
    struct hc_supervisor *s = l->s;
    const struct hc_limits *limits = &s->policy->limits;
    l->interpreter = l->pace = l->soft = -1;
    l->control_open = l->status_open = true;
    l->out = make_stream(s->stdout_fd, s->pass_stdout, limits->stdout_bytes, s->out, ON_STDOUT, ON_PASS_OUT);
    l->err = make_stream(s->stderr_fd, s->pass_stderr, limits->stderr_bytes, s->err, ON_STDERR, ON_PASS_ERR);
    l->err.relay.held = true;
    int rc = prepare_shown(l, err) < 0 ? -1 : run_loop(l, timers, err);
    finish_stream(&l->out);
    finish_stream(&l->err);
    hc_close_fd(&l->interpreter);
    hc_close_fd(&l->pace);
    hc_close_fd(&l->soft);
    return rc;
}

int hc_supervise(struct hc_supervisor *s, struct hc_error *err)
{
    struct timers timers = {-1, -1, -1};
    struct loop l = {.s = s, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    int rc = l.epoll < 0 ? hc_fail(err, errno, "epoll_create1") : make_timers(s, &timers, err);
    if (rc == 0)
        rc = supervise(&l, &timers, err);
    int *const fds[] = {&l.epoll, &timers.wall, &timers.grace, &timers.ticker};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        hc_close_fd(fds[i]);
    hc_supervise_kill(s);
    return rc;
}
