/* session_parts.h - private to session.c and its parts session_loop.c, session_run.c: a session's state, its
 * processes, and its loop. */
#ifndef HC_CELL_SESSION_SESSION_PARTS_H
#define HC_CELL_SESSION_SESSION_PARTS_H

#include "cell/launch/launch.h"
#include "cell/seccomp/fork_permit.h"
#include "cell/session.h"
#include "cell/session/commands.h"
#include "cell/session/session_incoming.h"
#include "cell/supervise/loop.h"

/* A process of the cell that is the interpreter, or a copy of it. */
struct hc_process {
    pid_t pid, cell_pid; /* on the host and inside the cell; 0: there is no process */
    int pidfd;           /* pidfd of the process; owned; -1: there is no process */
    bool serving;        /* the process waits for a request already, so it need not be told to take over */
    bool touched; /* it, or the process that it is a copy of, was given a program: it may be under the guest's
                     control */
    struct hc_exit_report end; /* how it ended while a copy of it was made; code 0: it lives */
};

#define HC_COPY_MS        10000 /* longest time to make a copy, or for a copy to take over */
#define HC_SESSION_COPIES 8     /* most checkpoints of a session, and contexts at rest, together */

/* A stopped copy of the interpreter, and the run that left its state. */
struct hc_saved_copy {
    char name[72];             /* name of a checkpoint or of a context; empty for other copies */
    bool is_context;           /* it is the interpreter of a context at rest, and no copy */
    struct hc_process process; /* the copy; owned */
    int run_number;            /* number of the run that left its state; 0: the start */
};

/* An interpreter of the session's, which is active, or at rest in `checkpoints`, or has ended there. */
struct hc_context {
    char name[72];
    char *workdir; /* the directory in which it begins anew; owned; NULL: the session's */
};

struct hc_session {
    struct hc_session_given given; /* as hc_session_start got it; wake_fd -1 once it is watched no longer */
    struct hc_policy policy;       /* the session's policy, by which the cell is built; members borrowed */
    struct hc_job job;             /* the session's job, by which the cell is built; members borrowed */
    struct hc_run run;             /* how the cell is built; borrows from `given`, `policy` and `job` */
    struct hc_manifest *m;         /* manifest of the whole session, owned */
    struct hc_launch launch;       /* the cell */
    struct hc_loop loop;           /* the supervisor's loop, which outlives the runs */
    struct hc_timers timers;       /* timers of the current run */
    struct hc_fork_permit fork_permit; /* decides whether `active` may fork */
    struct hc_process active, copy; /* the process that runs programs; the copy of it made before this run */
    struct hc_process waiting_active; /* the active process, while the checker is active in its place */
    /* A copy from before the first run, which checks the programs of later ones; one that has done so, and
     * checks such programs again as need no new copy. */
    struct hc_process checker, reader;
    bool crowded; /* there was no room for the reader beside a copy, so none stays any more */
    /* The copy from before the last run, kept until the next run has its own copy. */
    struct hc_saved_copy before;
    /* Checkpoints, and contexts at rest; an entry without a process is free. */
    struct hc_saved_copy checkpoints[HC_SESSION_COPIES];
    struct hc_context contexts[HC_SESSION_CONTEXTS]; /* the contexts, the first of the session's first */
    size_t context_count;                            /* used entries of `contexts` */
    int context_numbers; /* number of contexts so far that the session has named */
    char context[72];    /* name of the context whose interpreter is `active` */
    /* [0] is the state that the branches began from; the last branch is `active`, and not in the list. */
    struct hc_saved_copy branches[HC_SESSION_BRANCHES + 1];
    size_t branch_count; /* used entries of `branches`, and so the number of open branches; 0: none is open */
    /* Number of runs so far; number of the run that left the current state, 0: the start. */
    int runs, run_number;
    /* A run goes on; its process is to get a KeyboardInterrupt once its program runs. */
    bool in_run, interrupted;
    struct hc_commands *commands;      /* the commands beside the runs; owned; NULL: there can be none */
    struct hc_incoming_files incoming; /* files that its client is about to put in */
    int input_fd;        /* writing end of an interactive run's standard input; owned; -1: none */
    bool died, over;     /* the run's process has ended; the session is over */
    int64_t memory_peak; /* without a cgroup: the peak of all runs so far, in bytes */
    /* hc_clock_ahead at the start; CLOCK_REALTIME times in ns, from which on changed files are the session's,
     * and this run's; the cgroup's counts (struct hc_cgroup_usage) when the last run ended. */
    int64_t clock_ahead_ns, session_began_ns, run_began_ns, oom_kills, pids_refused;
    int64_t cpu_user_us, cpu_system_us;         /* CPU time of the cell when this run began (us) */
    bool accounted;                             /* the run's use was sampled at its end */
    int64_t checked_user_us, checked_system_us; /* CPU time of the check of this run's program (us) */
    int64_t
        rest_cpu_us; /* CPU time of the cell without commands at the last look between runs (us); 0: none */
    int64_t cpu_us, left_bytes; /* CPU time (us) and bytes left by the runs that have ended */
};

void hc_process_finish(struct hc_process *p);                   /* closes the pidfd; the process lives on */
void hc_process_signal(const struct hc_process *p, int number); /* sends the signal `number` */
void hc_process_kill(struct hc_process *p);                     /* does not wait for its end; finishes `p` */
void hc_process_end(struct hc_process *p);         /* the same, and waits until it counts no more */
bool hc_process_ended(const struct hc_process *p); /* has the process ended? */

/* Set the process's OOM score: `first` makes the kernel kill it first when memory runs out, else it gets
 * the launcher's score. Only root can lower a score. */
void hc_process_set_oom_score(const struct hc_process *p, bool first);

#define HC_STOP_MS 2000 /* longest time for all threads of a process to stop, or to end */

/* Stop a process, and wait until each of its threads was seen stopped, so that only one process at a time
 * reads from the channel. False: some thread did not stop within HC_STOP_MS, and the process was killed;
 * the caller still finishes it. True if `p` is empty or has ended. */
bool hc_process_stop(const struct hc_process *p);

/* Open the process of this cell that sent a packet; `out` is owned by the caller. -1 if it is no process
 * of this cell. (session_loop.c) */
int hc_session_open_process(const struct hc_session *s, pid_t pid, struct hc_process *out,
                            struct hc_error *err);

/* Most processes that hc_session_processes lists. */
#define HC_SESSION_PROCESSES (HC_SESSION_COPIES + HC_SESSION_BRANCHES + 7)

/* List the session's own processes: the active one, and the waiting copies. Returns their number. */
size_t hc_session_processes(const struct hc_session *s, pid_t out[HC_SESSION_PROCESSES]);

/* Whether `pid` is one of the session's own processes. */
bool hc_session_knows(const struct hc_session *s, pid_t pid);

/* Make s->active the process whose end ends the run. */
void hc_session_activate(struct hc_session *s);

/* Handle events until `enough` returns true or the cell is dead. hc_session_handle_within also kills the
 * running process after `ms` milliseconds. */
typedef bool hc_session_reached(const struct hc_session *s);
int hc_session_handle(struct hc_session *s, hc_session_reached *enough, struct hc_error *err);
int hc_session_handle_within(struct hc_session *s, int64_t ms, hc_session_reached *enough,
                             struct hc_error *err);

/* Call the owner's `woken` once; if it returns false, stop watching wake_fd. */
void hc_session_wake(struct hc_session *s);

/* Open and close the output pipes; output goes into the supervisor's current manifest. */
int hc_session_open_pipes(struct hc_session *s, struct hc_error *err);
void hc_session_close_pipes(struct hc_session *s);

/* The tools of a session. Each run begins and ends its own use of them: no call outlives its run.
 * (session_tools.c) */
int hc_session_make_tools(struct hc_session *s, struct hc_error *err);
void hc_session_begin_tools(struct hc_session *s, struct hc_manifest *m);
void hc_session_end_tools(struct hc_session *s);

/* Kill all processes below the cell's first process that are neither the session's own, which wait then, nor
 * those of commands beside the runs: those that a command of a run left running, or a program that misused
 * the two forks of a copy. False: some could not be caught, as each makes another before it is killed, so the
 * whole cell was killed. (session_loop.c) */
bool hc_session_kill_unknown(struct hc_session *s);

/* Stop the session's own processes, one of which a process of a run or a command may have continued. */
void hc_session_stop_waiting(const struct hc_session *s);

/* Give up a copy: it becomes the checker if the session has none and the copy is untouched; else it is
 * killed. */
void hc_process_retire(struct hc_session *s, struct hc_process *p);

/* Forget the previous run; results from here on go into `m`. (session_run.c) */
void hc_session_reset(struct hc_session *s, struct hc_manifest *m, const struct hc_policy *policy);

/* Set which packets s->active may send from here on: those of `state`, and the bits HC_ASKED_... in `asked`
 * (wire/frame.h). Its earlier packets and its end are forgotten. */
void hc_session_listen(struct hc_session *s, enum hc_talk_state state, unsigned asked);

/* Send `job` to s->active and have it make a copy, s->copy, before the program runs. Returns 0 also if the
 * interpreter has ended or refused; then s->copy is empty. */
int hc_session_make_copy(struct hc_session *s, const struct hc_job *job, struct hc_error *err);
/* Send `job` to s->active, which makes no copy before it begins. */
int hc_session_order(struct hc_session *s, const struct hc_job *job, struct hc_error *err);
/* Let s->active begin with the program. */
int hc_session_let_begin(struct hc_session *s, struct hc_error *err);

/* Make s->copy the active process. The caller has saved or killed the old one. False: the copy cannot take
 * over. */
bool hc_session_take_over(struct hc_session *s);

/* Stop s->active after its work. If it does not stop, it is killed. If it has ended, s->launch.sup.exit
 * says how. (session_run.c) */
int hc_session_stop_active(struct hc_session *s, struct hc_error *err);

/* What else than CPU time is sampled without a cgroup: nothing; or memory and tasks, for the peaks of a run
 * that ended before the watch saw it. */
enum hc_cpu_sample { HC_CPU_ALONE, HC_CPU_AND_PEAKS };

/* CPU time so far in microseconds: the cell's without that of commands beside the runs. */
void hc_session_cpu(struct hc_session *s, enum hc_cpu_sample sample, int64_t *user_us, int64_t *system_us);

/* Whether the run, or the check of its program, is over: it was reported, or its process has ended. */
bool hc_session_run_ended(const struct hc_session *s);

/* Handle the packets that an ended process has left in the channel. */
void hc_session_read_last_packets(struct hc_session *s);

/* Let s->active run, or check, the program that was sent, and supervise it to the end. */
int hc_session_supervise(struct hc_session *s, struct hc_error *err);

/* Before `job` runs in a process that may be under the guest's control: have its program checked by a process
 * that is not. *passed gets whether the program may run. 0: the check's result is in the supervisor, as after
 * a run; s->active is unchanged. 1: no process is left that could check it. -1: hotcell failed.
 * (session_check.c) */
int hc_session_check(struct hc_session *s, const struct hc_job *job, bool *passed, struct hc_error *err);

/* End the reader, for which there is no room, and have none from now on. Returns whether there was one. */
bool hc_session_end_reader(struct hc_session *s);

/* The checkpoint of this name, or the resting interpreter of the context of this name; NULL: there is none.
 * A free place among them; NULL: all are taken. (session_points.c, as the next six) */
struct hc_saved_copy *hc_session_saved(struct hc_session *s, const char *name, bool context);
struct hc_saved_copy *hc_session_free_place(struct hc_session *s);

/* Fail because branches are open. */
int hc_session_unbranched(const struct hc_session *s, struct hc_error *err);

/* Make a copy of the current state outside a run. `workdir`: s->active goes on in this directory of the cell,
 * unless it cannot enter it (hc_session_strayed); NULL: where it is. */
int hc_session_copy(struct hc_session *s, char *workdir, struct hc_process *out, struct hc_error *err);
bool hc_session_strayed(const struct hc_session *s);

/* Make `from` the active process, and put a copy of it in its place. The caller has saved or killed the
 * active one. `workdir`: as of hc_session_copy. */
int hc_session_resume(struct hc_session *s, struct hc_saved_copy *from, char *workdir, struct hc_error *err);

/* Fail because the state is lost. The guest or a process of the host has caused that, not hotcell. */
int hc_session_lose(struct hc_session *s, struct hc_error *err);

/* Kill all checkpoints and branches. (session_points.c) */
void hc_session_drop_points(struct hc_session *s);

/* Note the context that the session begins with; forget all, at its end. (session_contexts.c) */
int hc_session_first_context(struct hc_session *s, struct hc_error *err);
void hc_session_forget_contexts(struct hc_session *s);

/* Open the pipe for the standard input of `job`, and fill it, or, if the run is interactive, keep its other
 * end. hc_session_end_input: the run is over. (session_input.c) */
int hc_session_begin_input(struct hc_session *s, const struct hc_job *job, struct hc_error *err);
void hc_session_end_input(struct hc_session *s);

/* Do one run completely; the caller has allocated r->m. */
int hc_session_run_once(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                        struct hc_session_result *r, struct hc_error *err);

#endif
