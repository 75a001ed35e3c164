/* session.h - a cell whose interpreter lives from run to run.
 *
 * Before each run the interpreter makes a copy of itself (shim/session.c), which the launcher keeps
 * stopped. A run that is killed, or ends its process, costs only itself: the copy takes over. Between runs
 * all processes of the cell are stopped. As for any job, the launcher derives a run's status from its own
 * timers and the kernel; it watches a run's process through a pidfd, and the cell's first process reports
 * how that process ended. */
#ifndef HC_CELL_SESSION_H
#define HC_CELL_SESSION_H

#include "cell/run.h"

/* The interpreter's state after a run. */
enum hc_state {
    HC_STATE_KEPT,        /* the next run finds the state that this run left */
    HC_STATE_ROLLED_BACK, /* the state is as it was before this run */
    HC_STATE_LOST,        /* the state is lost, and the session is over */
};

struct hc_session; /* owns the cell */

#define HC_SESSION_BRANCHES 8 /* most open branches of a session */

/* The variant of a policy for sessions: a zygote that makes cells for sessions is started with it. Its
 * members are borrowed from `policy`. */
struct hc_policy hc_session_policy(const struct hc_policy *policy);

struct hc_session_given {
    const struct hc_job *job; /* inputs, seed, output directory and so on, without code. All pointers and
                                 descriptors of this struct are borrowed */
    const struct hc_policy *policy;  /* the effective policy, before hc_session_policy */
    const char *default_dir;         /* as in struct hc_run */
    bool else_temporary;             /* as in struct hc_run */
    struct hc_share share;           /* as in struct hc_run */
    bool shared;                     /* as in struct hc_run */
    const struct hc_volume *volumes; /* as in struct hc_run */
    int cancel_fd;                   /* readable: end the session. -1: none */
    bool cancel_has_reason;          /* as in struct hc_run */
    struct hc_parked *parked;        /* as in struct hc_run: a cell for sessions. NULL: build one */
    int tool_fd;                     /* as in struct hc_run */
    int wake_fd; /* `woken` is called when a run begins, and when this is readable during a run; -1: never */
    bool (*woken)(void *ctx, struct hc_session *s); /* returns false to have wake_fd watched no longer */
    /* Called with the output of the current run; must not block. NULL: not called. */
    void (*printed)(void *ctx, int stream, const char *data, size_t len); /* 0: stdout, 1: stderr */
    /* Called with each figure of the current run; `fd` is borrowed. NULL: not called. */
    void (*figured)(void *ctx, const struct hc_figure *f, int fd);
    /* Called when the program of an interactive run calls input(); `json` is {"prompt": ...}. NULL: no run
     * may be interactive. */
    void (*input_requested)(void *ctx, const char *json, size_t len);
    /* Called with events of commands beside the runs, whole lines of JSON; must not block. With `may_drop` it
     * may return false, and has not taken them. NULL: there can be no commands. */
    bool (*commanded)(void *ctx, const char *lines, size_t len, bool may_drop);
    void *ctx; /* first argument of `woken`, `printed`, `figured`, `input_requested` and `commanded` */
};

/* Build the cell, up to an interpreter that waits for its first run. The caller frees `*out` with
 * hc_session_end. -1: as hc_run. */
int hc_session_start(struct hc_session **out, const struct hc_session_given *given, struct hc_error *err);

struct hc_session_result {
    int run;               /* number of the run, from 1 */
    enum hc_state state;   /* what became of the interpreter's state */
    int back_to;           /* HC_STATE_ROLLED_BACK: number of the run that left the state; 0: the start */
    struct hc_manifest *m; /* manifest of the run; owned, freed by hc_session_result_finish */
};
void hc_session_result_finish(struct hc_session_result *r);

/* Run the code of `job` (borrowed), with its variables and returns, under `policy`: the session's own
 * policy, in which only limits of time and size may differ. 0: `r` holds the result, whatever the guest
 * did. -1: hotcell failed, and the session is over. */
int hc_session_run(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                   struct hc_session_result *r, struct hc_error *err);

/* Keep a copy of the state under a name, in the place of an older copy of that name. HC_EXIT_DATA: there
 * are too many copies, the name is invalid, or the interpreter made no copy; the session is unchanged,
 * unless the interpreter has ended meanwhile, which the next run reports. HC_EXIT_LIMIT: the state is
 * lost, and the session is over. After -1 hc_session_alive says whether the session goes on. */
int hc_session_checkpoint(struct hc_session *s, const char *name, struct hc_error *err);

/* Make the checkpoint's state the current one. The checkpoint stays. */
int hc_session_rollback(struct hc_session *s, const char *name, struct hc_error *err);

/* Open a branch: a new copy of the state from which the first branch began. Runs until the next call
 * happen in this branch. */
int hc_session_branch(struct hc_session *s, struct hc_error *err);

/* Make the branch of this number (from 1) the session's state; 0: the state that the branches began from.
 * The other branches end. */
int hc_session_keep(struct hc_session *s, size_t branch, struct hc_error *err);
size_t hc_session_branches(const struct hc_session *s); /* number of open branches */

/* Contexts: interpreters side by side in one cell, with the same files and names of their own. One of them is
 * active: in it runs happen, and of it checkpoints are made. As hc_session_checkpoint; errno ENOENT: there is
 * no such context. */
#define HC_SESSION_CONTEXTS 8 /* most contexts of a session */

/* Make a context, and make it the active one. `name`: NULL: the session names it; `from`: the checkpoint that
 * it is a copy of, NULL: the interpreter as it was at the start; `workdir`: the directory of the cell that it
 * begins in, NULL: where that copy is. */
int hc_session_new_context(struct hc_session *s, const char *name, const char *from, const char *workdir,
                           struct hc_error *err);
/* Make this context the active one. */
int hc_session_enter_context(struct hc_session *s, const char *name, struct hc_error *err);
/* Begin a context anew, in the interpreter as it was at the start, and make it the active one. */
int hc_session_restart_context(struct hc_session *s, const char *name, struct hc_error *err);
/* End a context; if it was the active one, the first becomes that. */
int hc_session_end_context(struct hc_session *s, const char *name, struct hc_error *err);

const char *hc_session_context(const struct hc_session *s); /* name of the active context */

/* A context, as it is listed; borrowed until the next call that changes contexts. */
struct hc_session_context {
    const char *name, *workdir; /* its name; the directory of the cell that it began in */
};
/* List the contexts, the first of the session first. Returns their number. */
size_t hc_session_contexts(const struct hc_session *s, struct hc_session_context out[HC_SESSION_CONTEXTS]);

/* The run that left the current state; 0: no run has. */
int hc_session_state_of(const struct hc_session *s);

/* To be called from `woken`: raise KeyboardInterrupt in the current run. The run may ignore it;
 * limits.timeout holds. */
void hc_session_interrupt(struct hc_session *s);

/* To be called from `woken`: give the current run, if it is interactive, a piece of its standard input; NULL:
 * its end. More than it may leave unread ends its input, as a program must not get input with a gap. False:
 * the run, or the check of its program, takes none now. */
#define HC_SESSION_INPUT 65536 /* most bytes that a run has not read */
bool hc_session_input(struct hc_session *s, const char *text);

/* To be called from `woken`: kill the current run, for whose result no client waits. */
void hc_session_abandon(struct hc_session *s);

#define HC_SESSION_COMMANDS 16    /* most commands that go on beside the runs */
#define HC_COMMAND_ID       65    /* bytes of a command's id, with the NUL */
#define HC_COMMAND_INPUT    65536 /* most bytes of input of a command that wait in the launcher */

/* Start a command beside the runs; `job` is a command, under `policy`, both borrowed. `id`: its name, copied;
 * NULL: the session names it. The event "started" or "error" follows. HC_EXIT_DATA: it cannot be started. */
int hc_session_start_command(struct hc_session *s, const char *id, const struct hc_job *job,
                             const struct hc_policy *policy, struct hc_error *err);

/* Give a command a piece of its standard input, all of it or nothing; `end`: it is the last. Send it the
 * signal `number`. HC_EXIT_DATA: it does not go on, or its input has ended, or waits to be read. */
int hc_session_command_input(struct hc_session *s, const char *id, const char *data, size_t len, bool end,
                             struct hc_error *err);
int hc_session_command_signal(struct hc_session *s, const char *id, int number, struct hc_error *err);

/* The number of a signal that a command can be sent, by its name without SIG; 0: there is no such one. */
int hc_command_signal_number(const char *name);

#define HC_COMMAND_SIGNAL_NAMES 80 /* bytes that the names of all such signals take */

/* These names, as a message lists them: "INT, TERM or KILL". Returns `out`. */
const char *hc_command_signal_names(char out[HC_COMMAND_SIGNAL_NAMES]);

/* Append the commands that go on, as JSON: [{"command", "pid", "argv", "wall"}]. */
void hc_session_list_commands(const struct hc_session *s, struct hc_buf *out);

/* Between runs: a descriptor that is readable when there is something to handle, and the function that
 * handles it. -1: no command goes on. */
int hc_session_beside_fd(const struct hc_session *s);
int hc_session_beside(struct hc_session *s, struct hc_error *err);

bool hc_session_alive(const struct hc_session *s);     /* can there be another run? */
const char *hc_session_id(const struct hc_session *s); /* job ID of the session; borrowed */

/* The name of the state in answers and manifests, in `out` or static. */
const char *hc_session_state_text(const struct hc_session_result *r, char out[64]);

/* Milliseconds until the session's life is over (limits.session_life); 0: it is over. */
int64_t hc_session_time_left(const struct hc_session *s);

/* Why a session ended. */
enum hc_session_end {
    HC_SESSION_CLOSED,   /* its client ended it, or has gone */
    HC_SESSION_IDLE,     /* limits.session_idle: the next run did not come in time */
    HC_SESSION_LIFE,     /* limits.session_life */
    HC_SESSION_CPU,      /* limits.session_cpu */
    HC_SESSION_RUNS,     /* limits.session_runs */
    HC_SESSION_OUTPUT,   /* all runs together left 16 times limits.output */
    HC_SESSION_LOST,     /* no copy of the interpreter could take over */
    HC_SESSION_CANCELLED /* cancel_fd became readable */
};

/* Whether a limit of the whole session leaves no room for another run; `end` gets the limit. */
bool hc_session_used_up(const struct hc_session *s, enum hc_session_end *end);

/* Kill the session's processes, and write the manifest of the whole session as hc_run_write_manifest does.
 * To be called once. */
int hc_session_close(struct hc_session *s, enum hc_session_end end, const void *key, size_t key_len,
                     struct hc_buf *text, struct hc_error *err);

/* The exit status in the manifest of a closed session. */
int hc_session_exit(const struct hc_session *s);

/* Free the session; its processes are killed. NULL is fine. */
void hc_session_end(struct hc_session *s);

#endif
