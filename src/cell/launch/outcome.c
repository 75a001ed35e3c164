/* Decide how a job ended, from evidence: the launcher's own timers, the kernel's counters, the wait status
 * that the cell's first process passed on; never from the guest's report. */
#include "cell/launch/launch.h"

#include "base/plain.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cell/launch/layers.h"
#include "cell/supervise/peak.h"
#include "cell/supervise/watch.h"
#include "json/json.h"
#include "manifest/finding.h"
#include "manifest/report.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>

#define CHANGES_TOLD 3 /* most warnings about repairs and refused imports */

void hc_launch_warn(struct hc_manifest *m, const char *fmt, ...)
{
    if (m->warning_count >= sizeof m->warnings / sizeof *m->warnings)
        return;
    va_list ap;
    va_start(ap, fmt);
    char text[2 * sizeof *m->warnings];
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    hc_plain_ascii(m->warnings[m->warning_count++], sizeof *m->warnings, text);
}

void hc_launch_conclude(struct hc_manifest *m, enum hc_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    m->status = status;
    (void)vsnprintf(m->reason, sizeof m->reason, fmt, ap);
    va_end(ap);
    hc_plain_line(m->reason);
}

/* The reason stays in the socket (MSG_PEEK): a session reads it for its run and again for its end. */
const char *hc_launch_why_cancelled(const struct hc_run *run, char text[HC_CANCEL_TEXT + 1])
{
    ssize_t n =
        run->cancel_has_reason ? recv(run->cancel_fd, text, HC_CANCEL_TEXT, MSG_PEEK | MSG_DONTWAIT) : 0;
    if (n <= 0 || !hc_utf8_valid(text, (size_t)n, NULL))
        return "cancelled from outside";
    text[n] = '\0';
    return text;
}

static void conclude_timeout(struct hc_launch *l)
{
    const struct hc_limits *limits = &l->run->policy->limits;
    char timeout[32], grace[32], more[80] = "";
    const char *frozen = l->sup.frozen ? "; its cgroup was frozen by somebody (cgroup.freeze)" : "";
    (void)hc_format_duration(limits->timeout_ms, timeout, sizeof timeout);
    if (limits->grace_ms)
        (void)snprintf(more, sizeof more, ", and did not end within %s after that (limits.grace)",
                       hc_format_duration(limits->grace_ms, grace, sizeof grace));
    hc_launch_conclude(l->m, HC_STATUS_TIMEOUT, "%s %s (limits.timeout)%s%s",
                       l->sup.go_us ? "ran longer than" : "did not get to its program in", timeout, more,
                       frozen);
}

/* True if the launcher ended the job: set the outcome from its reason. */
static bool conclude_ended(struct hc_launch *l)
{
    char why[HC_CANCEL_TEXT + 1];
    const struct hc_limits *limits = &l->run->policy->limits;
    struct hc_manifest *m = l->m;
    char text[32];
    switch (l->sup.end) {
    case HC_END_TIMEOUT:
        conclude_timeout(l);
        return true;
    case HC_END_CPU:
        hc_launch_conclude(m, HC_STATUS_CPU, "used more than %s of CPU time (limits.cpu)",
                           hc_format_duration(limits->cpu_ms, text, sizeof text));
        return true;
    case HC_END_MEMORY:
        if (l->sup.hidden && l->sup.memory_now <= limits->memory) {
            hc_launch_conclude(m, HC_STATUS_MEMORY,
                               "had a process whose memory could not be read (limits.memory)");
            return true;
        }
        hc_launch_conclude(m, HC_STATUS_MEMORY, "used %s %s of memory (limits.memory)",
                           l->cgroup.fd >= 0 ? "nearly all of its" : "more than",
                           hc_format_size(limits->memory, text, sizeof text));
        return true;
    case HC_END_OUTPUT:
        hc_launch_conclude(
            m, HC_STATUS_OUTPUT, "wrote more than %s to %s (output.overflow is \"end\")",
            hc_format_size(m->out.truncated ? limits->stdout_bytes : limits->stderr_bytes, text, sizeof text),
            m->out.truncated ? "standard output (limits.stdout)" : "standard error (limits.stderr)");
        return true;
    case HC_END_CANCELLED:
        hc_launch_conclude(m, HC_STATUS_KILLED, "%s", hc_launch_why_cancelled(l->run, why));
        return true;
    case HC_END_PROTOCOL:
        hc_launch_conclude(m, HC_STATUS_ERROR, "the guest's process broke the protocol: %s", l->sup.protocol);
        return true;
    default:
        return false;
    }
}

/* The parts of the guest's report that influence the outcome. */
struct guest_claims {
    bool complete;     /* the harness ran to its end */
    bool memory_error; /* the program ended by a MemoryError */
};

/* The program was warned that its time was over or its memory nearly used up, and did not end well. After a
 * warning about memory it may have freed memory and failed later for another reason: there the guest's
 * report decides whether it was a MemoryError. */
static bool conclude_warned(struct hc_launch *l, const struct guest_claims *claims)
{
    const struct hc_limits *limits = &l->run->policy->limits;
    const struct hc_supervisor *s = &l->sup;
    char text[32];
    if (!s->warned || !s->exit_known || (s->exit.code == CLD_EXITED && s->exit.status == HC_EXIT_OK))
        return false;
    if (s->warned == HC_WARNED_MEMORY && !claims->memory_error)
        return false;
    l->m->process.known = true;
    l->m->process.signaled = s->exit.code != CLD_EXITED;
    l->m->process.value = s->exit.status;
    if (s->warned == HC_WARNED_MEMORY)
        hc_launch_conclude(
            l->m, HC_STATUS_MEMORY,
            "ran until its memory of %s was nearly used up (limits.memory, limits.memory_soft)",
            hc_format_size(limits->memory, text, sizeof text));
    else
        hc_launch_conclude(l->m, HC_STATUS_TIMEOUT,
                           "ran longer than %s (limits.timeout), and ended after the %s that it got then",
                           hc_format_duration(limits->timeout_ms, text, sizeof text),
                           l->run->job->is_command ? "SIGTERM" : "TimeoutError");
    return true;
}

/* pids.events also counts forks that a limit of a parent cgroup refused. Only if the cell's own limit
 * refused them has pids.peak reached that limit. */
static bool pids_refused(const struct hc_cgroup_usage *used, const struct hc_limits *limits)
{
    return used->pids_refused > 0 && (used->of_cell.pids_peak < 0 || used->of_cell.pids_peak >= limits->pids);
}

/* True if the kernel ended the job, or refused it processes: set the outcome from the kernel's counters. */
static bool conclude_kernel(struct hc_launch *l)
{
    const struct hc_limits *limits = &l->run->policy->limits;
    char text[32];
    if (l->used.oom_kills > 0) {
        hc_launch_conclude(l->m, HC_STATUS_MEMORY,
                           "used more than %s of memory (limits.memory); killed by the kernel",
                           hc_format_size(limits->memory, text, sizeof text));
        return true;
    }
    bool by_signal = l->sup.exit_known && l->sup.exit.code != CLD_EXITED;
    /* The guest can also send itself SIGXCPU: so its CPU time must be used up, too. */
    int64_t cpu_us = l->m->usage.cpu_user_us + l->m->usage.cpu_system_us;
    if (by_signal && l->sup.exit.status == SIGXCPU && limits->cpu_ms && cpu_us >= limits->cpu_ms * 1000) {
        hc_launch_conclude(l->m, HC_STATUS_CPU,
                           "used more than %s of CPU time (limits.cpu); killed by the kernel",
                           hc_format_duration(limits->cpu_ms, text, sizeof text));
        return true;
    }
    bool failed = !l->sup.exit_known || by_signal || l->sup.exit.status != 0;
    bool timed_out =
        l->sup.exit_known && l->sup.warned == HC_WARNED_TIME; /* it went on without more processes */
    if (failed && !timed_out && !l->m->rejection.set &&
        (pids_refused(&l->used, limits) || l->sup.tasks_peak >= limits->pids)) {
        hc_launch_conclude(l->m, HC_STATUS_PIDS,
                           "wanted more than %lld processes and threads (limits.pids), and failed",
                           (long long)limits->pids);
        return true;
    }
    return false;
}

/* Without a cgroup: no sample of the program's memory was above the limit, but the kernel's peak is. A
 * program that was refused had no memory of its own. */
static bool conclude_peak(struct hc_launch *l)
{
    const int64_t limit = l->run->policy->limits.memory, had = hc_peak_of_end(&l->sup);
    char text[32];
    if (l->cgroup.fd >= 0 || !l->sup.go_us || l->m->rejection.set || had <= limit)
        return false;
    l->m->usage.memory_peak = MAX(l->m->usage.memory_peak, had);
    hc_launch_conclude(l->m, HC_STATUS_MEMORY, "used more than %s of memory at its peak (limits.memory)",
                       hc_format_size(limit, text, sizeof text));
    return true;
}

/* List the guard's findings as denials, too; findings about syntax and data name no "what", and are left
 * out. */
static void note_denials(struct hc_manifest *m)
{
    const cJSON *finding;
    cJSON_ArrayForEach(finding, m->rejection.findings)
    {
        const char *what = hc_json_text(finding, "what");
        struct hc_denial d = {.by = HC_REFUSER_AST, .count = 1, .line = (int)hc_json_int(finding, "line", 0)};
#define HC_DENIAL_TEXT(member, ...)                                                                          \
    (void)snprintf(d.member, sizeof d.member, "%s", hc_json_text(finding, #member));
#include "manifest/denial.def"
        if (*what)
            hc_denials_note(&m->denials, &d, hc_frame_sender(HC_FRAME_REJECTED) == HC_FROM_SHIM);
    }
}

static int parse_rejection(struct hc_manifest *m, const struct hc_buf *body, struct hc_error *err)
{
    if (hc_rejected_parse(&m->rejection.findings, &m->rejection.more, body->data, body->len, err) < 0)
        return -1;
    const cJSON *first = m->rejection.findings->child;
    m->rejection.set = true;
    (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "%s", hc_json_text(first, "rule"));
    (void)snprintf(m->rejection.message, sizeof m->rejection.message, "%s", hc_json_text(first, "message"));
    (void)snprintf(m->rejection.hint, sizeof m->rejection.hint, "%s", hc_json_text(first, "hint"));
    m->rejection.line = (int)hc_json_int(first, "line", 0);
    m->rejection.column = (int)hc_json_int(first, "column", 0);
    note_denials(m);
    return 0;
}

/* Reject the program for a reason that the launcher found itself. */
static void reject(struct hc_manifest *m, const char *rule, const char *message, const char *hint)
{
    m->rejection.set = true;
    (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "%s", rule);
    (void)snprintf(m->rejection.message, sizeof m->rejection.message, "%s", message);
    (void)snprintf(m->rejection.hint, sizeof m->rejection.hint, "%s", hint);
}

static int parse_report(struct hc_manifest *m, struct hc_buf *body, struct guest_claims *claims,
                        struct hc_error *err)
{
    struct hc_json j;
    if (hc_guest_report_check(body->data, body->len, NULL, err) < 0 ||
        hc_json_parse(&j, "report", body->data, body->len, err) < 0)
        return -1;
    claims->complete = hc_json_is_true(j.root, "complete");
    const cJSON *error = hc_json_member(j.root, "error");
    const char *type = hc_json_text_or(error, "type", NULL);
    claims->memory_error = type && strcmp(type, "MemoryError") == 0;
    hc_json_finish(&j);
    m->guest = hc_buf_take(body);
    return 0;
}

/* Reject a run of a session that did not begin because its process could not be copied first. */
static void reject_uncopied(struct hc_manifest *m, int64_t pids)
{
    char message[sizeof m->rejection.message];
    static const char what[] = "no copy of the session could be made to fall back to";
    if (pids < HC_SESSION_PIDS)
        (void)snprintf(message, sizeof message, "%s: limits.pids is %lld, and a session needs %d", what,
                       (long long)pids, HC_SESSION_PIDS);
    else
        (void)snprintf(message, sizeof message, "%s (limits.pids, limits.memory)", what);
    reject(m, "checkpoint", message, "Leave room for one more process: limits.pids, limits.memory.");
}

/* Warn of repairs to the program's text and of refused imports: its sender would otherwise have to look for
 * them among the check's findings. */
static void warn_of_changes(struct hc_manifest *m)
{
    const cJSON *finding;
    int count = 0;
    cJSON_ArrayForEach(finding, hc_json_member(m->check, "warnings"))
    {
        const char *rule = hc_json_text(finding, "rule");
        if ((strcmp(rule, "tidy") == 0 || strcmp(rule, "imports") == 0) && count++ < CHANGES_TOLD)
            hc_launch_warn(m, "line %d: %.180s", (int)hc_json_int(finding, "line", 0),
                           hc_json_text(finding, "message"));
    }
    if (count > CHANGES_TOLD)
        hc_launch_warn(m, "%d more findings like these are listed in check", count - CHANGES_TOLD);
}

/* Parse the messages of the guest's process strictly, and store them unchanged in the manifest. */
static int parse_messages(struct hc_launch *l, struct guest_claims *claims, struct hc_error *failed)
{
    struct hc_manifest *m = l->m;
    struct hc_inbox *in = &l->sup.inbox;
    struct hc_error err = {0};
    *claims = (struct guest_claims){0};
    if (l->sup.protocol[0])
        hc_launch_warn(m, "the guest's process broke the protocol: %s", l->sup.protocol);
    if (l->sup.checked.len && hc_checked_parse(&m->check, l->sup.checked.data, l->sup.checked.len, &err) < 0)
        hc_launch_warn(m, "the check of the program said what cannot be used: %.180s", err.text);
    warn_of_changes(m);
    if (hc_inbox_has(in, HC_FRAME_UNKEPT) && hc_talk_untouched(in->first))
        reject_uncopied(m, l->run->policy->limits.pids);
    int rc = hc_inbox_has(in, HC_FRAME_REJECTED) ? parse_rejection(m, &in->body, &err)
             : hc_inbox_has(in, HC_FRAME_REPORT) ? parse_report(m, &in->body, claims, &err)
                                                 : 0;
    if (rc < 0 && err.sys == ENOMEM) { /* hotcell's failure, not the guest's */
        *failed = err;
        return hc_ctx(failed, "read what the guest's process reported");
    }
    if (rc < 0)
        hc_launch_warn(m, "the guest's process sent a report that cannot be used: %.180s", err.text);
    return 0;
}

/* Real-time signals have numbers only. */
static const char *signal_name(int number, char *out, size_t size)
{
    const char *name = sigabbrev_np(number);
    if (name)
        (void)snprintf(out, size, "SIG%s", name);
    else
        (void)snprintf(out, size, "SIG%d", number);
    return out;
}

/* True if the interpreter crashed while it parsed the program, before any of it ran: the program is the
 * cause, and is rejected. */
static bool conclude_parser(struct hc_launch *l)
{
    struct hc_supervisor *s = &l->sup;
    struct hc_manifest *m = l->m;
    bool crashed = s->exit_known && s->exit.code != CLD_EXITED && s->exit.status != SIGKILL;
    if (!crashed || !s->go_us || !hc_talk_untouched(s->inbox.state))
        return false;
    char message[96], name[16];
    (void)snprintf(message, sizeof message, "Python's parser crashed over the program (%s)",
                   signal_name(s->exit.status, name, sizeof name));
    reject(m, "parser", message, "Break long chains of operators and nested brackets into steps.");
    hc_launch_conclude(m, HC_STATUS_REJECTED, "%s", m->rejection.message);
    return true;
}

/* The first process ended without reporting the interpreter's end. Processes inside the cell cannot send
 * it signals, so a signal came from outside or from its own fault. */
static void conclude_unknown_end(struct hc_launch *l)
{
    const struct hc_supervisor *s = &l->sup;
    bool signaled = s->wait_code != CLD_EXITED;
    if (signaled && s->wait_status == SIGKILL)
        hc_launch_conclude(l->m, HC_STATUS_KILLED,
                           "the cell was killed from outside (its first process ended by signal %d)",
                           s->wait_status);
    else
        hc_launch_conclude(l->m, HC_STATUS_ERROR,
                           "the cell's first process ended by %s %d before the interpreter did",
                           signaled ? "signal" : "exit status", s->wait_status);
}

/* The interpreter died by a SIGKILL that neither the launcher nor the cell's cgroup sent. The kernel does
 * not report the sender. The program itself may have sent it, which counts as a failure. */
static void conclude_sigkill(struct hc_launch *l)
{
    const struct hc_supervisor *s = &l->sup;
    if (s->killed_between_runs)
        hc_launch_conclude(l->m, HC_STATUS_KILLED,
                           "the interpreter was killed from outside (SIGKILL), while it waited for this run");
    else if (s->host_oom_kills >= 0 && hc_watch_oom_kills() > s->host_oom_kills)
        hc_launch_conclude(l->m, HC_STATUS_KILLED,
                           "the interpreter was killed (SIGKILL), while the host was out of memory and the "
                           "kernel ended processes");
    else
        hc_launch_conclude(l->m, HC_STATUS_ERROR,
                           "the interpreter was ended by SIGKILL, which hotcell did not send: by the program "
                           "itself, or by somebody on the host");
}

/* The program ended its process with a status other than 0. That of a command may stand for a signal, as in a
 * shell. */
static void conclude_failure(struct hc_launch *l)
{
    const int status = l->sup.exit.status, number = status - HC_COMMAND_SIGNALED;
    char name[16];
    if (l->run->job->is_command && number > 0 && sigabbrev_np(number))
        hc_launch_conclude(l->m, HC_STATUS_ERROR, "the command failed with exit status %d (%s)", status,
                           signal_name(number, name, sizeof name));
    else
        hc_launch_conclude(l->m, HC_STATUS_ERROR, "the %s failed with exit status %d",
                           l->run->job->is_command ? "command" : "program", status);
}

static void conclude_own_end(struct hc_launch *l, bool complete)
{
    struct hc_supervisor *s = &l->sup;
    struct hc_manifest *m = l->m;
    if (!s->exit_known) {
        conclude_unknown_end(l);
        return;
    }
    m->process.known = true;
    m->process.signaled = s->exit.code != CLD_EXITED;
    m->process.value = s->exit.status;
    if (s->ended_before) {
        hc_launch_conclude(m, HC_STATUS_ERROR,
                           "the session's process ended before this run began (%s %d), so nothing ran",
                           m->process.signaled ? "signal" : "exit status", s->exit.status);
        return;
    }
    if (conclude_parser(l))
        return;
    if (s->inbox.state == HC_TALK_CHECKING && !m->process.signaled) {
        hc_launch_conclude(m, HC_STATUS_ERROR, "the check of the program ended early, with exit status %d",
                           s->exit.status);
        return;
    }
    if (hc_inbox_has(&s->inbox, HC_FRAME_UNKEPT) && !m->rejection.set) {
        hc_launch_conclude(m, HC_STATUS_ERROR,
                           "the session's process made no copy of itself to fall back to, so nothing ran");
        return;
    }
    bool only_checked = l->run->job->check_only && hc_inbox_has(&s->inbox, HC_FRAME_CHECKED);
    if (m->process.signaled && s->exit.status == SIGKILL)
        conclude_sigkill(l);
    else if (m->process.signaled)
        hc_launch_conclude(m, HC_STATUS_ERROR, "the interpreter crashed: %s",
                           signal_name(s->exit.status, (char[16]){0}, 16));
    else if (m->rejection.set && s->exit.status == HC_EXIT_REJECTED)
        hc_launch_conclude(m, HC_STATUS_REJECTED, "%.400s", m->rejection.message);
    else if (s->exit.status == 0 && (complete || only_checked))
        hc_launch_conclude(m, HC_STATUS_OK, "%s", "");
    else if (s->exit.status == 0)
        hc_launch_conclude(m, HC_STATUS_ERROR,
                           "the program ended its process early, before its results were reported");
    else
        conclude_failure(l);
}

/* The shim or its interpreter did not start: hotcell's failure. The error quotes the last line that it
 * printed. */
static int fail_launch(struct hc_launch *l, struct hc_error *err)
{
    if (l->sup.end == HC_END_LAUNCH) {
        *err = l->sup.launch;
        return -1;
    }
    if (l->sup.protocol[0])
        return hc_fail(err, 0, "the interpreter did not start: %s", l->sup.protocol);
    const char *text = l->m->err.text.data ? l->m->err.text.data : "";
    size_t len = strcspn(text, "\n"), at = 0;
    while (text[at + len] == '\n' && text[at + len + 1]) { /* go on to the last line that is not empty */
        at += len + 1;
        len = strcspn(text + at, "\n");
    }
    if (l->sup.exit_known &&
        l->sup.exit.status == HC_EXIT_CONFIG) /* the prelude failed, before the program was read */
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "policy '%s': its prelude failed: %.*s",
                          l->run->policy->name, (int)len, text + at);
    if (l->sup.exit_known &&
        l->sup.exit.status == HC_EXIT_UNAVAILABLE) /* the tree's Python lacks what the policy asks for */
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "policy '%s': %.*s", l->run->policy->name, (int)len,
                          text + at);
    return hc_fail(err, 0, "the interpreter did not start: %.*s", len ? (int)len : 16,
                   len ? text + at : "it said nothing");
}

int hc_launch_set_outcome(struct hc_launch *l, struct hc_error *err)
{
    struct hc_supervisor *s = &l->sup;
    struct guest_claims claims;
    hc_layers_job_filter(l->m, s->job_filter_evidence);
    if (parse_messages(l, &claims, err) < 0)
        return -1;
    if (s->end == HC_END_LAUNCH)
        return fail_launch(l, err);
    if (s->go_us && s->listener.fd < 0)
        hc_launch_warn(
            l->m, "refused system calls are not listed under denials: the kernel gives no listener here");
    if (s->no_soft[0]) {
        l->m->enforced_by.memory_soft = "none";
        hc_launch_warn(l->m, "limits.memory_soft is not enforced: %s", s->no_soft);
    }
    if (s->listener.answered > HC_LISTENER_FLOOD)
        hc_launch_warn(l->m, "after %d refused system calls, others were answered slowly", HC_LISTENER_FLOOD);
    if (conclude_ended(l) || conclude_kernel(l) || conclude_warned(l, &claims) || conclude_peak(l))
        return 0;
    if (!s->go_us && !l->m->rejection.set && s->exit_known)
        return fail_launch(l, err);
    bool killed = s->wait_code != CLD_EXITED && s->wait_status == SIGKILL;
    if (!s->go_us && !l->m->rejection.set && !killed)
        return fail_launch(l, err);
    if (!s->exit_known && s->wait_code == CLD_EXITED && s->wait_status == HC_EXIT_INTERNAL)
        return hc_fail(err, 0, "the cell's first process could not say how the interpreter ended");
    conclude_own_end(l, claims.complete);
    return 0;
}
