/* supervise.h - one epoll loop over a running cell: its output, its control channel, its limits, its end. */
#ifndef HC_CELL_SUPERVISE_SUPERVISE_H
#define HC_CELL_SUPERVISE_SUPERVISE_H

#include "cell/cgroup.h"
#include "cell/seccomp/listener.h"
#include "cell/supervise/figures.h"
#include "cell/supervise/held.h"
#include "cell/supervise/input_copies.h"
#include "cell/tools.h"
#include "manifest/manifest.h"
#include "wire/frame.h"
#include "wire/handover.h"

#include <sys/resource.h>

#define HC_SAMPLE_US 100000 /* us between the first samples of a job's usage */

/* Most processes of a session's cell that are noted in `others`. */
#define HC_OTHERS 256

/* Why the launcher ended the cell; HC_END_NONE: it ended by itself. */
enum hc_end {
    HC_END_NONE,      /* it ended by itself, or goes on */
    HC_END_TIMEOUT,   /* limits.timeout */
    HC_END_CPU,       /* limits.cpu */
    HC_END_MEMORY,    /* limits.memory */
    HC_END_OUTPUT,    /* limits.stdout or limits.stderr, with output.overflow "end" */
    HC_END_CANCELLED, /* cancel_fd became readable, or a session's owner abandoned the run */
    HC_END_PROTOCOL,  /* its process broke the protocol */
    HC_END_LAUNCH     /* the launcher failed */
};

/* The last warning that the program got, as an exception. */
enum hc_warning { HC_WARNED_NOT, HC_WARNED_TIME, HC_WARNED_MEMORY }; /* none; TimeoutError; MemoryError */

/* What goes on in a session's cell beside its runs: the commands (cell/session/commands.h). */
struct hc_beside {
    void *ctx; /* first argument of the functions; borrowed */
    int epoll; /* readable: `work` has something to do; borrowed */
    void (*work)(void *ctx);
    void (*ended)(void *ctx, const struct hc_exit_report *end); /* pid 1 has reported the end of a process */
    /* The cell's memory is used up: ends a command that has more of it than the run. False: there is none. */
    bool (*yield)(void *ctx);
    bool (*larger)(void *ctx);                                    /* a command has more memory than the run */
    void (*cpu)(void *ctx, int64_t *user_us, int64_t *system_us); /* CPU time of all commands so far, in us */
};

struct hc_supervisor {
    /* Given. Descriptors are borrowed. */
    const struct hc_policy *policy;     /* the effective policy, in a session that of the run; borrowed */
    const struct hc_redactor *redactor; /* redacts output; borrowed; NULL: output is shown as it comes */
    uid_t uid;                          /* the host uid of the cell's processes */
    struct hc_cgroup *cgroup;           /* the cell's cgroup; borrowed; its fd -1: there is none */
    pid_t pid;                 /* first process of the cell, our unreaped child unless it is adopted */
    int pidfd;                 /* pidfd of the process `pid`; borrowed */
    bool adopted;              /* the first process is a zygote's child, which is reaped there */
    int stdout_fd, stderr_fd;  /* read ends, non-blocking */
    int control_fd, status_fd; /* the launcher's ends: frames; reports of pid 1 */
    int output_fd, tmp_fd;     /* roots of the cell's /output and /tmp */
    int space_fd;              /* directory with the copies of directories; -1: there are none */
    const struct hc_input_copies *copies; /* files that were in /output before the program */
    int pass_stdout, pass_stderr;         /* where output is passed on as it comes; -1: nowhere */
    int cancel_fd;                        /* readable: end the job; -1: none */
    struct hc_toolbox *tools;             /* NULL: the program has none */
    /* Called when the program of an interactive run calls input(), with the prompt as JSON {"prompt": ...};
     * NULL: the run is not interactive. */
    void (*input_requested)(void *ctx, const char *json, size_t len);
    void *input_ctx;                   /* first argument of input_requested; borrowed */
    struct hc_figure_sink figure_sink; /* gets the program's figures */
    /* Most bytes of pages of files that a process of the cell may have; -1: unknown, or a cgroup counts
     * memory. */
    int64_t file_pages;
    int filters; /* number of seccomp filters on the process that made the cell */
    /* In a session (session.c), the process of the current run: its end ends the run, not the cell.
     * Packets of other processes that hold the channel are ignored. */
    bool session;
    pid_t run_pid, run_cell_pid; /* pid of that process on the host; inside the cell; 0: none yet */
    int run_pidfd;               /* pidfd of the process run_pid; borrowed */
    pid_t others[HC_OTHERS]; /* pids on the host of the cell's processes when run_pid was last told to make a
                                copy */
    size_t other_count;      /* used entries of `others` */
    int64_t cpu_base_us;     /* CPU time of the cell before this run, in us */
    const struct hc_beside *beside; /* the commands beside the runs; borrowed; NULL: there can be none */
    int starter_fd;                 /* the socket that goes to the interpreter with GO; -1: none */

    /* Filled. */
    enum hc_end end;             /* why the launcher ended the cell, or the run */
    struct hc_error launch;      /* HC_END_LAUNCH: the launcher's failure */
    struct hc_stream *out, *err; /* streams of the manifest, as are the next two; borrowed */
    struct hc_denials *denials;  /* gets refused calls and the guard's claims */
    struct hc_samples *samples;  /* gets samples of the cell's usage */
    struct hc_learned *learned; /* gets the calls for "policy learn"; borrowed; NULL: they are not recorded */
    struct hc_listener listener; /* finished by the owner of this struct */
    struct hc_inbox inbox;       /* body: the rejection or the report */
    struct hc_buf checked;       /* body of HC_FRAME_CHECKED; empty: it did not come */
    char protocol[256];          /* how the guest's process broke the protocol; empty if it did not */
    pid_t kept_sender,
        resumed_sender; /* last sender of HC_FRAME_KEPT; of HC_FRAME_RESUMED; pids on the host, 0: none */
    int64_t interpreter_peak; /* peak memory of the interpreter, in bytes, when it had reported; 0: unknown */
    bool exit_known;          /* `exit` is filled */
    struct hc_exit_report exit; /* how the interpreter ended */
    bool ended_before;          /* a session's process ended before this run began */
    bool killed_between_runs;   /* a session's process was killed while it was stopped between runs */
    int64_t host_oom_kills;     /* without a cgroup: hc_watch_oom_kills at the start; -1: unknown */
    bool over;   /* an adopted cell's program has ended, while the cell still dies (early_exit.h) */
    bool reaped; /* the first process was waited for: `wait_code` and so on are filled */
    int wait_code, wait_status; /* end of the first process, as waitid reports it */
    struct rusage rusage; /* CPU time and memory of the processes waited for inside the cell, without those
                             that were killed */
    /* Without a cgroup, from samples, the last of which is taken before a kill: peak of memory in bytes; peak
     * number of processes and threads; CPU times in microseconds. */
    int64_t memory_peak, tasks_peak, cpu_user_us, cpu_system_us;
    /* Without a cgroup, peaks of the memory of one process in bytes, pages of files included: in samples of
     * this run; in a session, of the run's process before the run, and of all ended processes but the run's.
     */
    int64_t process_peak, peak_before, ended_peak;
    /* A session without a cgroup: bytes that the waiting copies do not share with the run; earliest time to
     * measure them again (CLOCK_MONOTONIC, us). */
    bool copies_over; /* the sum was above the limit when copies_memory was measured */
    int64_t copies_memory, copies_due_us;
    /* Without a cgroup, at the last sample: memory in bytes; number of processes and threads. */
    int64_t memory_now, tasks_now;
    struct hc_held held;           /* without a cgroup: estimate of kernel memory */
    bool hidden;                   /* without a cgroup: the memory of some process could not be read */
    char job_filter_evidence[160]; /* how the job's filter was checked, for the manifest; empty: not yet */
    enum hc_warning warned;        /* the last warning that was sent */
    int64_t figures_announced;     /* announcements of figures that were passed on */
    struct hc_figure_list drawn;   /* figures that were announced; finished by the owner of this struct */
    char no_soft[160];             /* why limits.memory_soft was not watched; empty if it was */
    bool frozen;                   /* the cell's cgroup was frozen when its time was over */
    pid_t ready_pid;               /* sender of HC_FRAME_READY, as the host numbers it */
    /* Times of HC_FRAME_READY, of HC_FRAME_GO, of the cell's end (CLOCK_MONOTONIC, us); 0: not reached. */
    int64_t ready_us, go_us, end_us;
};

/* Supervise until the cell is dead and reaped and its output read, or until an early exit (s->over). -1:
 * the supervisor itself failed; the cell is dead all the same. */
int hc_supervise(struct hc_supervisor *s, struct hc_error *err);

/* Kill all processes of the cell and wait for their end. */
void hc_supervise_kill(struct hc_supervisor *s);

#endif
