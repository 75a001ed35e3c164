/* Which status and which reason come from which evidence: no cell runs here, each row gives what the launcher
 * would have seen. */
#include "cell/launch/launch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TIMEOUT_MS 1500
#define CPU_MS     2000
#define MEMORY     ((int64_t)64 << 20)
#define PIDS       8
#define FILE_PAGES ((int64_t)32 << 20)
#define REPORT     "{\"exit\": 0, \"complete\": true}"
#define OUT_OF_MEM                                                                                           \
    "{\"exit\": 1, \"complete\": true, \"error\": {\"type\": \"MemoryError\", \"message\": \"\", "           \
    "\"traceback\": \"\", \"line\": null, \"column\": null, \"end_column\": null, \"hint\": null}}"
#define REJECTION                                                                                            \
    "{\"findings\": [{\"rule\": \"syntax\", \"message\": \"bad line\", \"what\": null, \"hint\": null, "     \
    "\"line\": 1, \"column\": null, \"end_column\": null}], \"more\": 0}"

enum end_of_interpreter { EXITED, SIGNALED, UNKNOWN };

/* What the launcher saw. A row without more is a job whose interpreter was started and exited with status 0.
 */
struct evidence {
    const char *what;
    enum hc_status status;
    const char *reason; /* part of it */

    enum hc_end end; /* why the launcher ended the job */
    enum end_of_interpreter interpreter;
    int value;             /* exit status or signal of the interpreter */
    const char *report;    /* what the interpreter reported */
    const char *rejection; /* or why it refused the program */
    enum hc_warning warned;
    int64_t oom_kills, pids_refused, pids_peak; /* of the cell's cgroup */
    int64_t tasks_peak, cpu_us, memory_now;     /* sampled */
    int64_t peak, ended_peak; /* of the largest process, as pid 1 reports; of others in a session, before */
    int64_t grace_ms;
    bool no_file_pages; /* it is not known how many pages of files a process may have */
    bool hidden, frozen, err_full, at_rest, before, check_only, reading, starting;
    int wait_code, wait_status; /* of the cell's first process */
};

static const struct evidence ROWS[] = {
    {"a program that came to its end", HC_STATUS_OK, "", .report = REPORT},
    {"a process that ended early, without results", HC_STATUS_ERROR, "before its results were reported",
     .report = NULL},
    {"a program that failed", HC_STATUS_ERROR, "exit status 3", .value = 3, .report = REPORT},
    {"a program that was refused", HC_STATUS_REJECTED, "bad line", .value = HC_EXIT_REJECTED,
     .rejection = REJECTION},
    {"a report that claims success beside exit status 1", HC_STATUS_ERROR, "exit status 1", .value = 1,
     .report = REPORT},
    {"a crash", HC_STATUS_ERROR, "crashed: SIGSEGV", .interpreter = SIGNALED, .value = SIGSEGV},
    {"a crash while the program was read", HC_STATUS_REJECTED, "parser crashed", .interpreter = SIGNALED,
     .value = SIGSEGV, .reading = true},
    {"a SIGKILL that hotcell did not send", HC_STATUS_ERROR, "hotcell did not send", .interpreter = SIGNALED,
     .value = SIGKILL},
    {"a SIGKILL between the runs of a session", HC_STATUS_KILLED, "while it waited", .interpreter = SIGNALED,
     .value = SIGKILL, .at_rest = true},
    {"a session's process that ended before the run", HC_STATUS_ERROR, "before this run began", .value = 1,
     .before = true},

    {"a job that ran too long", HC_STATUS_TIMEOUT, "ran longer than 1500ms (limits.timeout)",
     .end = HC_END_TIMEOUT, .interpreter = UNKNOWN},
    {"a job that did not end in its grace", HC_STATUS_TIMEOUT,
     "ran longer than 1500ms (limits.timeout), and did not end within 1s after that (limits.grace)",
     .end = HC_END_TIMEOUT, .interpreter = UNKNOWN, .grace_ms = 1000},
    {"a job whose interpreter took too long to start", HC_STATUS_TIMEOUT,
     "did not get to its program in 1500ms (limits.timeout)", .end = HC_END_TIMEOUT, .interpreter = UNKNOWN,
     .starting = true},
    {"a job that somebody froze", HC_STATUS_TIMEOUT, "cgroup.freeze", .end = HC_END_TIMEOUT, .frozen = true},
    {"a job whose processor time is used up", HC_STATUS_CPU, "used more than 2s of CPU time",
     .end = HC_END_CPU},
    {"a job with too much memory", HC_STATUS_MEMORY, "used more than 64M of memory", .end = HC_END_MEMORY,
     .memory_now = 2 * MEMORY, .hidden = true},
    {"a job whose memory cannot be read", HC_STATUS_MEMORY, "could not be read", .end = HC_END_MEMORY,
     .memory_now = 1, .hidden = true},
    {"a job that prints too much", HC_STATUS_OUTPUT, "standard output", .end = HC_END_OUTPUT},
    {"a job that prints too much on stderr", HC_STATUS_OUTPUT, "standard error", .end = HC_END_OUTPUT,
     .err_full = true},
    {"a job that was cancelled", HC_STATUS_KILLED, "cancelled from outside", .end = HC_END_CANCELLED},
    {"a process that breaks the protocol", HC_STATUS_ERROR, "broke the protocol", .end = HC_END_PROTOCOL},

    {"a memory kill by the kernel, whatever was reported", HC_STATUS_MEMORY, "killed by the kernel",
     .oom_kills = 1, .report = REPORT},
    {"a processor time kill by the kernel", HC_STATUS_CPU, "killed by the kernel", .interpreter = SIGNALED,
     .value = SIGXCPU, .cpu_us = CPU_MS * 1000},
    {"a program that sends itself SIGXCPU", HC_STATUS_ERROR, "crashed: SIGXCPU", .interpreter = SIGNALED,
     .value = SIGXCPU, .cpu_us = CPU_MS * 1000 - 1},
    {"a program that failed for want of processes", HC_STATUS_PIDS, "8 processes and threads", .value = 1,
     .pids_refused = 1, .pids_peak = PIDS},
    {"a program that was refused a process, and ended well", HC_STATUS_OK, "", .report = REPORT,
     .pids_refused = 1, .pids_peak = PIDS},
    {"a process refused by a limit above the cell's", HC_STATUS_ERROR, "exit status 1", .value = 1,
     .pids_refused = 1, .pids_peak = PIDS - 1},
    {"processes counted where there is no cgroup", HC_STATUS_PIDS, "8 processes and threads", .value = 1,
     .tasks_peak = PIDS},

    {"a program that was warned of its time, and failed", HC_STATUS_TIMEOUT,
     "ran longer than 1500ms (limits.timeout), and ended after the TimeoutError", .warned = HC_WARNED_TIME,
     .value = 1},
    {"a program that was refused processes, went on, and was warned of its time", HC_STATUS_TIMEOUT,
     "ended after the TimeoutError", .warned = HC_WARNED_TIME, .value = 1, .tasks_peak = PIDS},
    {"a program that was warned of its time, and ended well", HC_STATUS_OK, "", .warned = HC_WARNED_TIME,
     .report = REPORT},
    {"a program that was warned of its memory, and failed of it", HC_STATUS_MEMORY, "nearly used up",
     .warned = HC_WARNED_MEMORY, .value = 1, .report = OUT_OF_MEM},
    {"a program that was warned of its memory, and failed of something else", HC_STATUS_ERROR,
     "exit status 1", .warned = HC_WARNED_MEMORY, .value = 1, .report = REPORT},

    {"a peak that no sample showed", HC_STATUS_MEMORY, "more than 64M of memory at its peak",
     .report = REPORT, .peak = MEMORY + FILE_PAGES + 1},
    {"a failure after such a peak", HC_STATUS_MEMORY, "at its peak", .value = 3, .report = REPORT,
     .peak = MEMORY + FILE_PAGES + 1},
    {"a crash after such a peak", HC_STATUS_MEMORY, "at its peak", .interpreter = SIGNALED, .value = SIGSEGV,
     .peak = MEMORY + FILE_PAGES + 1},
    {"a peak that may be of files", HC_STATUS_OK, "", .report = REPORT, .peak = MEMORY + FILE_PAGES},
    {"a peak with an unknown number of pages of files", HC_STATUS_OK, "", .report = REPORT,
     .peak = 9 * MEMORY, .no_file_pages = true},
    {"a peak of a process that ended earlier in a session", HC_STATUS_OK, "", .report = REPORT,
     .peak = 9 * MEMORY, .ended_peak = 9 * MEMORY},
    {"a session's process that ended before the run, with such a peak", HC_STATUS_ERROR,
     "before this run began", .value = 1, .before = true, .peak = 9 * MEMORY},
    {"a program that was refused after such a peak", HC_STATUS_REJECTED, "bad line",
     .value = HC_EXIT_REJECTED, .rejection = REJECTION, .peak = 9 * MEMORY},
    {"a program that was warned of its time, and failed after such a peak", HC_STATUS_TIMEOUT,
     "limits.timeout", .warned = HC_WARNED_TIME, .value = 1, .peak = 9 * MEMORY},

    {"a cell that was killed from outside", HC_STATUS_KILLED, "killed from outside", .interpreter = UNKNOWN,
     .wait_code = CLD_KILLED, .wait_status = SIGKILL},
    {"a first process that crashed", HC_STATUS_ERROR, "ended by signal 11", .interpreter = UNKNOWN,
     .wait_code = CLD_KILLED, .wait_status = SIGSEGV},
};

static int see(const struct evidence *e, struct hc_manifest *m, struct hc_error *err)
{
    struct hc_policy policy = {.name = "p",
                               .limits = {.timeout_ms = TIMEOUT_MS,
                                          .grace_ms = e->grace_ms,
                                          .cpu_ms = CPU_MS,
                                          .memory = MEMORY,
                                          .pids = PIDS,
                                          .stdout_bytes = 1000,
                                          .stderr_bytes = 1000}};
    struct hc_job job = {.check_only = e->check_only};
    struct hc_run run = {.policy = &policy, .job = &job, .cancel_fd = -1};
    static struct hc_launch l;
    const char *said = e->report ? e->report : e->rejection;
    l = (struct hc_launch){.run = &run, .m = m, .cgroup.fd = -1};
    l.used = (struct hc_cgroup_usage){
        .oom_kills = e->oom_kills, .pids_refused = e->pids_refused, .of_cell.pids_peak = e->pids_peak};
    m->out.truncated = !e->err_full;
    m->usage.cpu_user_us = e->cpu_us;
    struct hc_supervisor *s = &l.sup;
    s->end = e->end;
    s->go_us = !e->starting;
    s->listener.fd = 0;
    s->host_oom_kills = -1;
    s->exit_known = e->interpreter != UNKNOWN;
    s->exit.code = e->interpreter == SIGNALED ? CLD_KILLED : CLD_EXITED;
    s->exit.status = e->value;
    s->wait_code = e->wait_code ? e->wait_code : CLD_EXITED;
    s->wait_status = e->wait_status;
    s->warned = e->warned;
    s->tasks_peak = e->tasks_peak;
    s->memory_now = e->memory_now;
    s->exit.interpreter_peak = e->peak;
    s->ended_peak = e->ended_peak;
    s->file_pages = e->no_file_pages ? -1 : FILE_PAGES;
    s->hidden = e->hidden;
    s->frozen = e->frozen;
    s->killed_between_runs = e->at_rest;
    s->ended_before = e->before;
    s->inbox.state = e->reading ? HC_TALK_READY : HC_TALK_OVER;
    if (said) {
        s->inbox.seen = 1u << (e->report ? HC_FRAME_REPORT : HC_FRAME_REJECTED);
        assert_int_equal(hc_buf_add(&s->inbox.body, said, strlen(said)), 0);
    }
    int rc = hc_launch_set_outcome(&l, err);
    hc_buf_finish(&s->inbox.body);
    return rc;
}

static void the_evidence_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct evidence *e = &ROWS[i];
        static struct hc_manifest m;
        struct hc_error err = {0};
        m = (struct hc_manifest){0};
        int rc = see(e, &m, &err);
        bool right =
            rc == 0 && m.status == e->status && strstr(m.reason, e->reason) && (*e->reason || !*m.reason);
        if (!right)
            fail_msg("%s: %s", e->what, rc < 0 ? err.text : m.reason);
        hc_manifest_finish(&m);
    }
}

/* What is hotcell's own failure is no outcome of the job. */
static void our_own_failures_are_errors(void **state)
{
    static const struct evidence first = {.what = "a first process that could not tell",
                                          .interpreter = UNKNOWN,
                                          .wait_code = CLD_EXITED,
                                          .wait_status = HC_EXIT_INTERNAL},
                                 launch = {.what = "a launcher that failed", .end = HC_END_LAUNCH};
    static struct hc_manifest m;
    struct hc_error err = {0};
    (void)state;
    assert_int_equal(see(&first, &m, &err), -1);
    assert_non_null(strstr(err.text, "could not say how the interpreter ended"));
    assert_int_equal(see(&launch, &m, &err), -1);
    hc_manifest_finish(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_evidence_decides),
        cmocka_unit_test(our_own_failures_are_errors),
    };
    return cmocka_run_group_tests_name("outcome", tests, NULL, NULL);
}
