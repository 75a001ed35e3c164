/* The processes of commands beside the runs: which they are, signals, and limits that no kernel enforces. */
#include "cell/session/command_parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/status.h"
#include "base/units.h"
#include "cell/supervise/enforce.h"
#include "cell/supervise/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MAX_DEPTH   256     /* most processes between one of a command and its first */
#define REST_MS     100     /* most ms between samples while no run goes on */
#define KILL_ROUNDS 16      /* listings until no process of a command is left below its first */
#define MOST_OPEN   128     /* most processes of a command that are signalled at a time */
#define REPORT_US   5000000 /* us that pid 1 has to report the end of a process */

/* ---- which processes are whose ---- */

static pid_t parent_of(pid_t pid)
{
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    const char *text = hc_status_read(AT_FDCWD, path);
    return text ? (pid_t)hc_status_field(text, "PPid", 10, 0) : 0;
}

/* Whether the process is `root`, or descends from it; `top` is the cell's first process. */
static bool is_below(pid_t pid, pid_t root, pid_t top)
{
    for (int depth = 0; pid > 1 && pid != top && depth < MAX_DEPTH; depth++) {
        if (pid == root)
            return true;
        pid = parent_of(pid);
    }
    return false;
}

/* Is it the process itself? One that has ended leaves its number to others. */
static bool is_process(const struct hc_process *p, pid_t pid)
{
    return p->pid && p->pid == pid && !hc_process_ended(p);
}

static bool is_root(const struct hc_commands *c, pid_t pid)
{
    if (is_process(&c->starter, pid))
        return true;
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++)
        if (c->list[i] && is_process(&c->list[i]->process, pid))
            return true;
    return false;
}

static bool is_spared(const struct hc_session *s, pid_t pid)
{
    for (int depth = 0; pid > 1 && pid != s->launch.sup.pid && depth < MAX_DEPTH; depth++) {
        if (is_root(s->commands, pid))
            return true;
        pid = parent_of(pid);
    }
    return false;
}

/* A process that the starter has just made has told of itself before it lost its parent, so that its packet
 * is there to be read if it is listed as one of unknown origin. */
bool hc_commands_spare(struct hc_session *s, pid_t pid)
{
    if (!s->commands)
        return false;
    if (is_spared(s, pid))
        return true;
    hc_commands_hear(s);
    return is_spared(s, pid);
}

/* ---- signals ---- */

/* The process group of a process; field 5 of its stat, behind its name. */
static pid_t group_of(pid_t pid)
{
    char path[48], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0)
        return 0;
    char *at = strrchr(text, ')');
    if (!at || strlen(at) < sizeof ") S")
        return 0;
    (void)strtol(at + sizeof ") S" - 1, &at, 10); /* its parent */
    return (pid_t)strtol(at, NULL, 10);
}

/* Open the processes of the command but its first, MOST_OPEN at most; `group` 0: all, else those of this
 * process group. Returns how many there are; the caller owns their pidfds. */
static size_t open_below(const struct hc_command *p, pid_t group, struct hc_process out[MOST_OPEN])
{
    static pid_t listed[HC_WATCH_PROCESSES];
    const pid_t top = p->s->launch.sup.pid, root = p->process.pid;
    size_t opened = 0, count = hc_watch_below(root, listed, HC_WATCH_PROCESSES);
    for (size_t i = 0; i < count && opened < MOST_OPEN; i++) {
        struct hc_process of = {.pid = listed[i], .pidfd = (int)syscall(SYS_pidfd_open, listed[i], 0)};
        /* Looked at after the pidfd was opened, so that both are about the same process. */
        if (of.pidfd >= 0 && !hc_process_ended(&of) && is_below(listed[i], root, top) &&
            (!group || group_of(listed[i]) == group))
            out[opened++] = of;
        else
            hc_process_finish(&of);
    }
    return opened;
}

static void signal_opened(struct hc_process *list, size_t count, int number)
{
    for (size_t i = 0; i < count; i++) {
        hc_process_signal(&list[i], number);
        hc_process_finish(&list[i]);
    }
}

void hc_command_signal(const struct hc_command *p, int number)
{
    if (!p->process.pid || hc_process_ended(&p->process))
        return;
    struct hc_process members[MOST_OPEN]; /* opened before the first, which leads the group, may end */
    const size_t count = open_below(p, p->process.pid, members);
    hc_process_signal(&p->process, number);
    signal_opened(members, count, number);
}

/* The first process is stopped, and killed last: what its children leave behind comes below pid 1, where the
 * next sweep of the session finds it. */
void hc_command_kill(struct hc_command *p)
{
    if (!p->process.pid)
        return;
    hc_process_signal(&p->process, SIGSTOP);
    for (int round = 0; round < KILL_ROUNDS; round++) {
        struct hc_process left[MOST_OPEN];
        const size_t count = open_below(p, 0, left);
        if (!count)
            break;
        signal_opened(left, count, SIGKILL);
    }
    hc_process_signal(&p->process, SIGKILL);
}

void hc_command_end(struct hc_command *p, enum hc_status status, const char *fmt, ...)
{
    va_list args;
    if (p->status == HC_STATUS_OK) {
        p->status = status;
        va_start(args, fmt);
        (void)vsnprintf(p->reason, sizeof p->reason, fmt, args);
        va_end(args);
    }
    hc_command_sample(p);
    hc_command_kill(p);
}

void hc_commands_kill(struct hc_session *s, const char *why)
{
    for (size_t i = 0; s->commands && i < HC_SESSION_COMMANDS; i++)
        if (s->commands->list[i])
            hc_command_end(s->commands->list[i], HC_STATUS_KILLED, "%s", why);
}

static const struct {
    const char *name;
    int number;
} signals[] = {{"INT", SIGINT},   {"TERM", SIGTERM}, {"KILL", SIGKILL}, {"HUP", SIGHUP},  {"QUIT", SIGQUIT},
               {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"STOP", SIGSTOP}, {"CONT", SIGCONT}};

int hc_command_signal_number(const char *name)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(signals[i].name, name) == 0)
            return signals[i].number;
    return 0;
}

const char *hc_command_signal_names(char out[HC_COMMAND_SIGNAL_NAMES])
{
    const size_t count = sizeof signals / sizeof *signals;
    size_t at = 0;
    for (size_t i = 0; i < count && at < HC_COMMAND_SIGNAL_NAMES; i++)
        at += (size_t)snprintf(out + at, HC_COMMAND_SIGNAL_NAMES - at, "%s%s",
                               i == 0          ? ""
                               : i + 1 < count ? ", "
                                               : " or ",
                               signals[i].name);
    return out;
}

int hc_session_command_signal(struct hc_session *s, const char *id, int number, struct hc_error *err)
{
    struct hc_command *p = hc_command_find(s, id, err);
    if (!p)
        return -1;
    if (number == SIGKILL)
        hc_command_end(p, HC_STATUS_KILLED, "was killed by its client");
    else
        hc_command_signal(p, number);
    return 0;
}

/* ---- CPU time and memory ---- */

void hc_command_sample(struct hc_command *p)
{
    struct hc_sample now;
    if (!p->process.pid || hc_process_ended(&p->process))
        return;
    hc_watch_sample(p->process.pid, NULL, &now);
    p->user_us = MAX(p->user_us, now.cpu_user_us);
    p->system_us = MAX(p->system_us, now.cpu_system_us);
}

void hc_commands_cpu(const struct hc_session *s, int64_t *user_us, int64_t *system_us)
{
    const struct hc_commands *c = s->commands;
    *user_us = c ? c->ended_user_us : 0;
    *system_us = c ? c->ended_system_us : 0;
    for (size_t i = 0; c && i < HC_SESSION_COMMANDS; i++) {
        if (!c->list[i])
            continue;
        hc_command_sample(c->list[i]);
        *user_us += c->list[i]->user_us;
        *system_us += c->list[i]->system_us;
    }
}

static int64_t memory_of(const struct hc_process *p)
{
    struct hc_sample now = {0};
    if (p->pid && !hc_process_ended(p))
        hc_watch_sample(p->pid, NULL, &now);
    return now.memory;
}

/* The command with the most memory, if that is more than the run's; NULL: there is none. One that is about to
 * end for its memory counts before all others. */
static struct hc_command *find_largest(const struct hc_session *s)
{
    struct hc_command *most = NULL;
    int64_t above = s->in_run ? memory_of(&s->active) : -1;
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++) {
        struct hc_command *p = s->commands->list[i];
        if (!p || !p->process.pid)
            continue;
        if (p->status == HC_STATUS_MEMORY)
            return p;
        const int64_t memory = memory_of(&p->process);
        most = memory > above ? p : most;
        above = MAX(memory, above);
    }
    return most;
}

bool hc_commands_larger(void *session)
{
    return find_largest(session);
}

bool hc_commands_yield(void *session)
{
    const struct hc_session *s = session;
    struct hc_command *most = find_largest(s);
    char text[32];
    if (most && most->status != HC_STATUS_MEMORY)
        hc_command_end(most, HC_STATUS_MEMORY,
                       "had the most memory when the cell used more than %s (limits.memory)",
                       hc_format_size(s->policy.limits.memory, text, sizeof text));
    return most;
}

/* ---- limits ---- */

static void check_command(struct hc_command *p, int64_t now_us)
{
    char text[32];
    const int64_t timeout_us = p->timeout_ms * 1000;
    if (p->cpu_ms && p->user_us + p->system_us > p->cpu_ms * 1000)
        hc_command_end(p, HC_STATUS_CPU, "used more CPU time than %s (limits.cpu)",
                       hc_format_duration(p->cpu_ms, text, sizeof text));
    if (timeout_us && !p->kill_us && p->status == HC_STATUS_OK && now_us > p->began_us + timeout_us) {
        p->kill_us = now_us + p->policy.limits.grace_ms * 1000;
        p->status = HC_STATUS_TIMEOUT;
        (void)snprintf(p->reason, sizeof p->reason, "ran longer than %s (limits.timeout)",
                       hc_format_duration(p->timeout_ms, text, sizeof text));
        hc_command_signal(p, SIGTERM);
    }
    if (p->kill_us && now_us >= p->kill_us)
        hc_command_kill(p);
}

/* Pid 1 reports each end, unless a program keeps the one process from ending whose child it still is. */
static void check_report(struct hc_command *p, int64_t now_us)
{
    if (p->exited || !hc_process_ended(&p->process))
        return;
    if (!p->gone_us)
        p->gone_us = now_us;
    if (now_us < p->gone_us + REPORT_US)
        return;
    p->exited = true;
    p->end = (struct hc_exit_report){.code = CLD_KILLED, .status = SIGKILL};
}

static void check_start(struct hc_command *p, int64_t now_us)
{
    if (now_us < p->asked_us + INT64_C(1000) * HC_COMMAND_START_MS)
        return;
    p->s->commands->late = true;
    p->failed = true;
}

/* Between runs nothing else watches the cell's memory where no cgroup limits it. */
static int64_t watch_memory(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    const struct hc_limits *limits = &s->policy.limits;
    if (sup->cgroup->fd >= 0 || s->loop.dead)
        return REST_MS;
    const int64_t before = s->commands->memory, used = hc_loop_sample(sup);
    s->commands->memory = used;
    if (sup->hidden)
        hc_commands_kill(s, "had memory that could not be counted");
    else if (used > limits->memory)
        (void)hc_commands_yield(s);
    sup->hidden = false;
    return hc_enforce_next_ms(limits, used, before, REST_MS);
}

/* Between runs only commands use CPU time, and what they have left behind, which counts for the session, too.
 */
static void count_rest(struct hc_session *s, int64_t of_commands_us)
{
    const struct hc_supervisor *sup = &s->launch.sup;
    int64_t now_us =
        sup->cgroup->fd >= 0 ? hc_cgroup_cpu_us(sup->cgroup) : sup->cpu_user_us + sup->cpu_system_us;
    now_us -= of_commands_us;
    if (s->rest_cpu_us && now_us > s->rest_cpu_us)
        s->cpu_us += now_us - s->rest_cpu_us;
    s->rest_cpu_us = MAX(now_us, s->rest_cpu_us);
}

void hc_commands_tick(struct hc_session *s)
{
    struct hc_commands *c = s->commands;
    const int64_t now_us = hc_now_us();
    int64_t user_us, system_us, next_ms = HC_WATCH_MS;
    hc_commands_cpu(s, &user_us, &system_us);
    for (size_t i = 0; i < HC_SESSION_COMMANDS; i++) {
        struct hc_command *p = c->list[i];
        if (p && !p->process.pid)
            check_start(p, now_us);
        else if (p) {
            check_command(p, now_us);
            check_report(p, now_us);
        }
    }
    if (s->in_run)
        s->rest_cpu_us = 0;
    else {
        next_ms = watch_memory(s);
        count_rest(s, user_us + system_us);
    }
    (void)hc_loop_set_timer(c->ticker, next_ms, next_ms);
}
