#include "cell/supervise/early_exit.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/status.h"
#include "cell/supervise/control.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

/* Indexes of fields in /proc/PID/stat (proc_pid_stat(5)), and two bits of the flags (include/linux/sched.h).
 * The exit code, the last field, reads as zero without the right to trace the process. */
enum { FLAGS = 9, UTIME = 14, STIME = 15, FIELDS };
#define PF_EXITING  0x4   /* the process is ending; as the next, of the kernel's linux/sched.h */
#define PF_SIGNALED 0x400 /* a signal or another thread has ended all threads */

static int read_stat(pid_t pid, long long out[FIELDS])
{
    char path[32], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0)
        return -1;
    char *p = strrchr(text, ')'); /* the process's name may hold any characters */
    if (!p || !p[1] || !p[2])
        return -1;
    p += 3; /* skip the state, a letter */
    for (int i = 4; i < FIELDS; i++) {
        char *end;
        out[i] = strtoll(p, &end, 10);
        if (end == p)
            return -1;
        p = end;
    }
    return 0;
}

/* Whether ready_pid is still the process that sent HC_FRAME_READY. */
static bool is_same(const struct hc_loop *l)
{
    return syscall(SYS_pidfd_send_signal, l->interpreter, 0, NULL, 0) == 0;
}

/* Whether an early exit is possible. Not for programs with several processes, as the end of the first process
 * does not show what the others used; nor for sessions and jobs with tools, whose channel stays in use. */
static bool is_simple(const struct hc_supervisor *s)
{
    return s->adopted && !s->session && !s->tools && !s->learned &&
           s->policy->processes == HC_PROCESSES_NONE && s->policy->output_mode == HC_OUTPUT_CAPPED;
}

/* Whether the program reports a good end; every other end is read from the kernel. A false report gains
 * the program nothing: a program that can write it could also exit with 0. */
static bool reports_success(const struct hc_supervisor *s)
{
    struct hc_json j;
    struct hc_error ignored;
    if (hc_json_parse(&j, "report", s->inbox.body.data, s->inbox.body.len, &ignored) < 0)
        return false;
    const cJSON *exit = cJSON_GetObjectItemCaseSensitive(j.root, "exit");
    bool well = hc_json_is_true(j.root, "complete") && cJSON_IsNumber(exit) && exit->valueint == 0;
    hc_json_finish(&j);
    return well;
}

void hc_early_exit_reported(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    char path[32];
    if (!s->adopted || s->session)
        return;
    (void)snprintf(path, sizeof path, "/proc/%d/status", s->ready_pid);
    const char *text = is_simple(s) && reports_success(s) ? hc_status_read(AT_FDCWD, path) : NULL;
    if (text && is_same(l))
        s->interpreter_peak = (int64_t)hc_status_field(text, "VmHWM", 10, 0) * 1024;
    /* Let the process exit by an end of file: it needs no room in the socket, and no other process can
     * read it away. */
    (void)shutdown(s->control_fd, SHUT_WR);
}

/* The CPU time that wait4 will report, without what the process still uses to exit: the sum is exact to
 * the microsecond, user and system time are split by ticks. */
static int count_time(const long long f[FIELDS], pid_t pid, struct hc_exit_report *out)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        return -1;
    const long long ticks = f[UTIME] + f[STIME];
    const int64_t all = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    out->cpu_system_us = ticks ? all * f[STIME] / ticks : 0;
    out->cpu_user_us = all - out->cpu_system_us;
    return 0;
}

/* Whether /output is as it was when the program began, and nothing else can have changed: files are collected
 * from dead cells only. */
static bool wrote_nothing(const struct hc_supervisor *s)
{
    return s->space_fd < 0 && hc_input_copies_alone(s->copies, s->output_fd);
}

bool hc_early_exit(struct hc_loop *l)
{
    struct hc_supervisor *s = l->s;
    long long f[FIELDS];
    struct hc_exit_report exit = {.code = CLD_EXITED, .status = 0, .interpreter_peak = s->interpreter_peak};
    if (!is_simple(s) || l->dead)
        return false;
    hc_control_read(l); /* the program's last packets may wait unread */
    if (s->inbox.broken || !s->interpreter_peak || s->end != HC_END_NONE || s->exit_known ||
        !wrote_nothing(s))
        return false;
    if (read_stat(s->ready_pid, f) < 0 || (f[FLAGS] & (PF_EXITING | PF_SIGNALED)) != PF_EXITING ||
        count_time(f, s->ready_pid, &exit) < 0 || !is_same(l))
        return false;
    const int64_t most_us = s->policy->limits.cpu_ms * 1000;
    if (most_us && exit.cpu_user_us + exit.cpu_system_us >= most_us)
        return false;
    s->exit = exit;
    s->exit_known = true;
    return true;
}
