/* session.h - a cell whose interpreter lives from run to run.
 *
 * Before each run the interpreter makes a copy of itself (shim/session.c), which the launcher keeps stopped.
 * A run that is killed, or ends its process, costs only itself: the copy takes over. Between runs all
 * processes of the cell are stopped. What the launcher says of a run it knows as of any job, from its timers
 * and the kernel; a run's process is watched through a pidfd, and its end is told by the cell's first
 * process. */
#ifndef HC_CELL_SESSION_H
#define HC_CELL_SESSION_H

#include "cell/run.h"

enum hc_state {
    HC_STATE_KEPT,        /* what the run left is there for the next */
    HC_STATE_ROLLED_BACK, /* it is as it was before this run */
    HC_STATE_LOST,        /* the session is over */
};

struct hc_session; /* owns the cell */

#define HC_SESSION_BRANCHES 8 /* at most, at a time */

/* Of a policy, that for sessions, which a zygote for their cells has to be started with. Members are lent. */
struct hc_policy hc_session_policy(const struct hc_policy *policy);

struct hc_session_given {
    const struct hc_job *job; /* inputs, seed, output directory, ...; no code. Lent, as all of this is */
    const struct hc_policy *policy; /* effective */
    const char *default_dir;        /* as of struct hc_run */
    struct hc_share share;          /* as of struct hc_run */
    bool shared;                    /* likewise */
    int cancel_fd;                  /* readable: end the session. -1: none */
    bool cancel_says;               /* as of struct hc_run */
    struct hc_parked
        *parked; /* as of struct hc_run: a cell for sessions (hc_session_policy). NULL: build one */
    int tool_fd; /* as of struct hc_run */
    int wake_fd; /* when a run begins, and while it goes on and this is readable, `woken` is called. -1: never
                  */
    bool (*woken)(void *ctx, struct hc_session *s); /* false: the descriptor has nothing more to say */
    /* What a run prints, while it goes on; not to block. NULL: nobody is interested. */
    void (*printed)(void *ctx, int stream, const char *data, size_t len); /* 0: stdout, 1: stderr */
    /* Figures that a run makes, while it goes on. NULL: as above. */
    void (*figured)(void *ctx, const struct hc_figure *f, int fd);
    void *ctx;
};

/* Build the cell, up to an interpreter that waits for its first run. -1: as hc_run, and nothing is left. */
int hc_session_start(struct hc_session **out, const struct hc_session_given *given, struct hc_error *err);

struct hc_session_result {
    int run; /* its number, from 1 */
    enum hc_state state;
    int back_to;           /* HC_STATE_ROLLED_BACK: the run whose state it is; 0: that of the start */
    struct hc_manifest *m; /* owned; hc_session_result_finish */
};
void hc_session_result_finish(struct hc_session_result *r);

/* Run the code of `job` (lent), with its variables and returns, under `policy`: the session's own, but for
 * limits of time and size. 0: the result says it all. -1: our failure; the session is over. */
int hc_session_run(struct hc_session *s, const struct hc_job *job, const struct hc_policy *policy,
                   struct hc_session_result *r, struct hc_error *err);

/* Copies of the state that wait under names. A name that is taken gets the new state. HC_EXIT_DATA: there are
 * too many, the name is none, or the interpreter made no copy; nothing has changed, but for an interpreter
 * that has ended meanwhile, which the next run tells. HC_EXIT_LIMIT: the state is lost, and the session is
 * over. hc_session_alive tells after -1. */
int hc_session_checkpoint(struct hc_session *s, const char *name, struct hc_error *err);

/* The state becomes that of the checkpoint, which stays. */
int hc_session_rollback(struct hc_session *s, const char *name, struct hc_error *err);

/* The state in as many copies as are asked for: what runs from here on, until the next call, happens in the
 * next of them. After the first, the state that it began from is there again. */
int hc_session_branch(struct hc_session *s, struct hc_error *err);

/* The branch of this number, from 1, is the session; 0: what they began from. The others go. */
int hc_session_keep(struct hc_session *s, size_t branch, struct hc_error *err);
size_t hc_session_branches(const struct hc_session *s); /* that are open */

/* After which run the state is; 0: the start. */
int hc_session_state_of(const struct hc_session *s);

/* From `woken`: KeyboardInterrupt in the run that goes on; what it does about it is its own affair, and
 * limits.timeout holds. */
void hc_session_interrupt(struct hc_session *s);

/* From `woken`: nobody waits for the run that goes on any more; it is killed. */
void hc_session_abandon(struct hc_session *s);

bool hc_session_alive(const struct hc_session *s);
const char *hc_session_id(const struct hc_session *s);

/* What a state is called in answers and manifests. */
const char *hc_session_state_text(const struct hc_session_result *r, char out[64]);

/* Milliseconds until its life is over (limits.session_life); 0: it is. */
int64_t hc_session_time_left(const struct hc_session *s);

enum hc_session_end {
    HC_SESSION_CLOSED,
    HC_SESSION_IDLE,
    HC_SESSION_LIFE,
    HC_SESSION_CPU,
    HC_SESSION_RUNS,
    HC_SESSION_OUTPUT,
    HC_SESSION_LOST,
    HC_SESSION_CANCELLED
};

/* A limit of the whole session leaves no room for another run. */
bool hc_session_used_up(const struct hc_session *s, enum hc_session_end *end);

/* Kill what is left, and account for the session as a whole: manifest.json where results go, and its text in
 * `text`, signed with `key` as by hc_run_write_manifest. To be called once. */
int hc_session_close(struct hc_session *s, enum hc_session_end end, const void *key, size_t key_len,
                     struct hc_buf *text, struct hc_error *err);

/* The exit status that its manifest says, once it is closed. */
int hc_session_exit(const struct hc_session *s);

/* Free it; what is left is killed. NULL is fine. */
void hc_session_end(struct hc_session *s);

#endif
