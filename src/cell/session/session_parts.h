/* session_parts.h - private to session.c and its parts session_loop.c, session_run.c: a session's state, its
 * processes, and its loop. */
#ifndef HC_CELL_SESSION_SESSION_PARTS_H
#define HC_CELL_SESSION_SESSION_PARTS_H

#include "cell/launch/launch.h"
#include "cell/seccomp/fork_permit.h"
#include "cell/session.h"
#include "cell/supervise/loop.h"

/* A process of the cell that is the interpreter, or a copy of it. */
struct hc_process {
    pid_t pid, cell_pid; /* here and inside; 0: none */
    int pidfd;           /* owned */
    bool serving;        /* it waits for an order, not for its turn: it does not have to take over */
    bool touched;        /* a program has been given to it or to what it is a copy of: it is the guest's */
    struct hc_exit_report end; /* how it ended while a copy of it was made; code 0: it did not */
};

#define HC_COPY_MS        10000 /* for a copy to be made, or to take over */
#define HC_SESSION_COPIES 8     /* that are kept on request: checkpoints by name, and branches */

/* One that waits to be chosen, and after which run its state is. */
struct hc_saved_code {
    char name[72]; /* of a checkpoint; empty: none, or a branch */
    struct hc_process process;
    int state_of;
};

struct hc_session {
    struct hc_session_given given;
    struct hc_policy policy; /* the session's, lent members; what the cell is built by */
    struct hc_job job;       /* likewise */
    struct hc_run run;
    struct hc_manifest *m; /* of the cell */
    struct hc_launch launch;
    struct hc_loop loop;
    struct hc_timers timers;
    struct hc_fork_permit fork_permit;
    struct hc_process active, copy;
    struct hc_process aside;   /* the active one, while another is so in its place to check a program */
    struct hc_process checker; /* a copy from before the first run, which checks the programs of later ones */
    struct hc_saved_code
        before; /* the last run: until the next has its own copy, which its process may refuse it */
    struct hc_saved_code points[HC_SESSION_COPIES];
    struct hc_saved_code branches[HC_SESSION_BRANCHES + 1]; /* the first is what they began from */
    size_t branch_count;                                    /* 0: none are open */
    int runs, state_of; /* how many there were; after which of them the state is */
    bool in_run, interrupted;
    bool died, over;
    int64_t memory_peak; /* without a cgroup: of all runs so far */
    int64_t ahead, first_ns, since_ns, oom_kills, pids_refused;
    int64_t cpu_user_us, cpu_system_us;         /* when this run began */
    int64_t checked_user_us, checked_system_us; /* what the check of this run's program took */
    int64_t cpu_us, left_bytes;                 /* CPU time (us) and bytes left by the runs that have ended */
};

void hc_process_finish(struct hc_process *p);
void hc_process_signal(const struct hc_process *p, int number);
void hc_process_kill(struct hc_process *p);
bool hc_process_ended(const struct hc_process *p);

/* Is it the one that the kernel shall end when it has to end one, or worth as much as the launcher? Only root
 * can say so. */
void hc_process_offer(const struct hc_process *p, bool first);

#define HC_STOP_MS 2000 /* for all threads of a process to stop, or to end */

/* Stop it, and wait until each of its threads has been seen to be stopped: of several processes that could
 * read from the channel, one alone does. False: some thread was not within HC_STOP_MS, and the process has
 * been killed; it is still the caller's to finish. Of no process, and of one that has ended: true. */
bool hc_process_stop(const struct hc_process *p);

/* A process of this cell, by the pid that a packet came from; `out` is owned by the caller. (session_loop.c)
 */
int hc_session_open_process(const struct hc_session *s, pid_t pid, struct hc_process *out,
                            struct hc_error *err);

#define HC_SESSION_PROCESSES (HC_SESSION_COPIES + HC_SESSION_BRANCHES + 6)

/* The session's own processes: the active one, and those that wait. Returns how many. */
size_t hc_session_processes(const struct hc_session *s, pid_t out[HC_SESSION_PROCESSES]);

/* Is it one of these? */
bool hc_session_knows(const struct hc_session *s, pid_t pid);

/* Whose end is the run's from now on: s->active. */
void hc_session_activate(struct hc_session *s);

/* Handle what happens until that is so, or the cell is dead; with so much time, after which whatever runs is
 * killed.
 */
typedef bool hc_session_reached(const struct hc_session *s);
int hc_session_handle(struct hc_session *s, hc_session_reached *enough, struct hc_error *err);
int hc_session_handle_within(struct hc_session *s, int64_t ms, hc_session_reached *enough,
                             struct hc_error *err);

/* Ask the session's owner, once. */
void hc_session_wake(struct hc_session *s);

/* Output, into the manifest that the supervisor has now. */
int hc_session_open_flows(struct hc_session *s, struct hc_error *err);
void hc_session_close_flows(struct hc_session *s);

/* The tools of a session, for one run after the other: nothing of a call is left when its run is over.
 * (session_tools.c) */
int hc_session_make_tools(struct hc_session *s, struct hc_error *err);
void hc_session_begin_tools(struct hc_session *s, struct hc_manifest *m);
void hc_session_end_tools(struct hc_session *s);

/* Kill what is below the cell's first process and no process of the session. */
void hc_session_sweep(struct hc_session *s);

/* A copy is not needed any more: it becomes the checker if the session needs one and it can be one. */
void hc_process_retire(struct hc_session *s, struct hc_process *p);

/* Nothing of the run before; what comes now goes into `m`. (session_run.c) */
void hc_session_reset(struct hc_session *s, struct hc_manifest *m, const struct hc_policy *policy);

/* What s->active may say from now on: what it has said so far, and how it ended, is forgotten. */
void hc_session_listen(struct hc_session *s, enum hc_talk state, unsigned asked);

/* Hand `job` over and make a copy, s->copy, before any of it runs. 0 without one: the interpreter has ended,
 * or refused. */
int hc_session_make_copy(struct hc_session *s, const struct hc_job *job, struct hc_error *err);
int hc_session_let_begin(struct hc_session *s, struct hc_error *err);

/* s->copy becomes s->active, which is gone or kept elsewhere. False: it cannot. */
bool hc_session_take_over(struct hc_session *s);

/* What s->active was to do is done: it is stopped. One that has ended instead, or does not stop, has ended
 * when this returns, and the supervisor knows how. (session_run.c) */
int hc_session_rest(struct hc_session *s, struct hc_error *err);

/* CPU time so far: of the cell where a cgroup counts, else of s->active. */
void hc_session_cpu(struct hc_session *s, int64_t *user_us, int64_t *system_us);

/* Is the run, or the check of its program, over: said, or by its process's end? */
bool hc_session_run_ended(const struct hc_session *s);

/* What a process that has ended still had to say. */
void hc_session_hear_out(struct hc_session *s);

/* Let s->active have the program that was handed over, until the run or the check of it is over. */
int hc_session_supervise(struct hc_session *s, struct hc_error *err);

/* Before `job` runs in a process that is the guest's: have its program checked by one that is not, and say
 * in *passed whether it may run. 0: the rest is in the supervisor, as after a run; s->active is what it was.
 * 1: there is nobody left who could check it. -1: our failure. (session_check.c) */
int hc_session_check(struct hc_session *s, const struct hc_job *job, bool *passed, struct hc_error *err);

/* Checkpoints and branches go. (session_points.c) */
void hc_session_drop_points(struct hc_session *s);

/* All of one run; r->m is there. */
int hc_session_run_once(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                        struct hc_session_result *r, struct hc_error *err);

#endif
