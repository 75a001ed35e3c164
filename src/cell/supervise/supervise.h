/* supervise.h - one epoll loop over a running cell: its output, its control channel, its limits, its end. */
#ifndef HC_CELL_SUPERVISE_SUPERVISE_H
#define HC_CELL_SUPERVISE_SUPERVISE_H

#include "cell/cgroup.h"
#include "cell/seccomp/listener.h"
#include "cell/supervise/figures.h"
#include "cell/supervise/held.h"
#include "cell/tools.h"
#include "manifest/manifest.h"
#include "wire/frame.h"
#include "wire/handover.h"

#include <sys/resource.h>

#define HC_SAMPLE_US 100000 /* between samples of what a job uses, at first */

#define HC_OTHERS 256 /* processes of a session's cell; it has a few more than it keeps copies */

/* Why the launcher ended the cell; HC_END_NONE: it ended by itself. */
enum hc_end {
    HC_END_NONE,
    HC_END_TIMEOUT,
    HC_END_CPU,
    HC_END_MEMORY,
    HC_END_OUTPUT,
    HC_END_CANCELLED,
    HC_END_INTERRUPTED,
    HC_END_PROTOCOL,
    HC_END_LAUNCH
};

/* Of what the program was warned last, by an exception. */
enum hc_warning { HC_WARNED_NOT, HC_WARNED_TIME, HC_WARNED_MEMORY };

struct hc_supervisor {
    /* Given. Descriptors are borrowed. */
    const struct hc_policy *policy;
    const struct hc_redactor *redactor; /* NULL: output is shown as it comes */
    uid_t uid;                          /* the host uid of the cell's processes */
    struct hc_cgroup *cgroup;           /* fd -1: none */
    pid_t pid; /* first process of the cell, our unreaped child unless it is adopted */
    int pidfd;
    bool adopted;             /* a zygote's child, which is reaped there */
    int stdout_fd, stderr_fd; /* read ends, non-blocking */
    int control_fd, status_fd;
    int output_fd, tmp_fd;        /* roots of the cell's /output and /tmp */
    int pass_stdout, pass_stderr; /* where output is passed on to as it comes; -1: nowhere */
    int cancel_fd;                /* readable: end the job; -1: none */
    struct hc_toolbox *tools;     /* NULL: the program has none */
    struct hc_figure_sink figure_sink;
    int filters; /* seccomp filters that whoever made the cell was under */
    /* In a session (session.c), the process that runs: its end is the run's, not the cell's, and others that
     * have the channel in their hands are not heard. */
    bool session;
    pid_t run_pid, run_cell_pid; /* here, and inside; 0: none yet */
    int run_pidfd;
    pid_t
        others[HC_OTHERS]; /* of a session: the cell's processes when run_pid was last told to make a copy */
    size_t other_count;
    int64_t cpu_base_us; /* what was used before this run */

    /* Found out. */
    enum hc_end end;
    struct hc_error launch; /* HC_END_LAUNCH: what the launcher failed at */
    struct hc_stream *out, *err;
    struct hc_denials *denials;
    struct hc_samples *samples;
    struct hc_learned *lessons;  /* NULL: this is no "policy learn" */
    struct hc_listener listener; /* finished by whoever owns the supervisor */
    struct hc_inbox inbox;       /* body: the rejection or the report */
    struct hc_buf checked;       /* what HC_FRAME_CHECKED said; empty: nothing */
    char protocol[256];          /* how the guest's process broke the protocol; empty if it did not */
    pid_t copied, resumed;       /* who said so last (HC_FRAME_KEPT, HC_FRAME_RESUMED); 0: nobody */
    int64_t largest;             /* memory of the interpreter when it had reported; 0: not known */
    bool exit_known;
    struct hc_exit_report exit;
    bool ended_before;      /* a session's process: before this run began */
    bool killed_at_rest;    /* a session's process: while it was stopped, between runs */
    int64_t host_oom_kills; /* without a cgroup: hc_watch_oom_kills when it began; -1: not known */
    bool
        over; /* its program has ended, for good, and the cell, which is adopted, still dies (early_exit.h) */
    bool reaped;
    int wait_code, wait_status; /* of the first process, as waitid tells */
    struct rusage rusage; /* of the processes that were waited for inside; not of those that were killed */
    int64_t memory_peak, tasks_peak, cpu_user_us,
        cpu_system_us;              /* without a cgroup: sampled, the last before a kill */
    int64_t copies_memory, look_us; /* of a session, without a cgroup: what the run does not share of its
                                       copies; not to be found out again before */
    int64_t memory_now, tasks_now;  /* without a cgroup: as they were when it was last looked at */
    struct hc_held held;            /* without a cgroup */
    bool hidden;                    /* without a cgroup: there was a process that could not be looked at */
    char job_filter_evidence[160];
    enum hc_warning warned;
    int64_t figures_heard;           /* that were looked at */
    char no_soft[160];               /* why limits.memory_soft was not watched; empty if it was */
    bool frozen;                     /* when its time was over, its cgroup was */
    pid_t ready_pid;                 /* who said HC_FRAME_READY */
    int64_t ready_us, go_us, end_us; /* CLOCK_MONOTONIC; 0: not reached */
};

/* Run until the cell is dead, reaped, and its output read; or `over`, with its output read. -1: the
 * supervisor itself failed; the cell is dead all the same. */
int hc_supervise(struct hc_supervisor *s, struct hc_error *err);

/* Kill whatever is left of the cell and wait for it. */
void hc_supervise_kill(struct hc_supervisor *s);

#endif
