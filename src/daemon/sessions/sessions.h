/* sessions.h - sessions as the front knows them: each has a process of its own, which holds the cell and
 * takes requests as lines of JSON (hotcell-session(1)), one request at a time.
 *
 * A client's request becomes a task that is in no table; the session's process answers it, or the end of that
 * process does. The front knows the state of a session only from the last message of its process. */
#ifndef HC_DAEMON_SESSIONS_SESSIONS_H
#define HC_DAEMON_SESSIONS_SESSIONS_H

#include "daemon/queue/dispatch.h"

#define HC_FRONT_SESSIONS_MAX_ENDED 256 /* most ended sessions that are remembered, for clients that ask */
/* Most bytes of a manifest that stays in memory after the end; the ledger has all manifests. */
#define HC_FRONT_SESSION_MANIFEST 65536

#define HC_BOUNDED_EVENTS 4 /* kinds of events of which no more than HC_EVENTS_MAX are kept for a request */

enum hc_front_session_state {
    HC_FRONT_SESSION_STARTING, /* the session's process builds the cell */
    HC_FRONT_SESSION_IDLE,     /* the process waits for a request */
    HC_FRONT_SESSION_BUSY,     /* the process answers a request */
    HC_FRONT_SESSION_ENDED     /* the process has ended, or was not started */
};

struct hc_checked;

/* A session. "Its process" is the one that holds its cell. */
struct hc_front_session {
    char id[HC_JOB_ID];                /* the session's ID */
    struct hc_tenant *tenant;          /* tenant of the session; borrowed */
    struct hc_front_sessions *all;     /* the list that the session is in; borrowed */
    enum hc_front_session_state state; /* state of the session */
    bool closing;                      /* the session's process has been told to end */
    bool streams; /* the session's process has been told to send the output of runs as events */
    int64_t
        left_out[HC_BOUNDED_EVENTS]; /* events of the current request that its task does not get, by kind */
    struct hc_watch channel;         /* channel to its process; reports the end of the process; owned */
    struct hc_watch stream; /* socket to its process for lines of JSON; closed if it sends too much; owned */
    struct hc_tool_link tools; /* link for calls of tools to its process */
    int cancel_fd;    /* end of a socket pair, owned: closing it ends the session, whose process has the other
                         end */
    int body_fd;      /* the request that began the session, owned, until its process has it; -1: not here */
    size_t body_len;  /* bytes of this request */
    bool has_tools;   /* the session's client answers calls of tools */
    struct hc_buf in; /* bytes of a line from the process that is not whole yet; owned */
    size_t scanned;   /* bytes at the beginning of `in` that hold no newline */
    struct hc_buf out;                 /* lines for the process that it has not taken yet; owned */
    size_t sent;                       /* bytes of `out` that the process has taken */
    bool interrupt_waits;              /* `out` has a request to interrupt the run */
    int64_t held;                      /* bytes of the body and of `out` that count as request memory */
    struct hc_task *task;              /* the request that is being answered; a reference; NULL: none */
    struct hc_task *end;               /* the request to end the session; a reference; NULL: none */
    struct hc_front_command *commands; /* commands beside its runs, the oldest first; owned (commands.h) */
    int64_t command_numbers;           /* number of commands so far, which names them */
    struct hc_buf list;                /* the results of branches so far, separated by commas; owned */
    int64_t memory;                    /* bytes that its cell may use; counted in tenant->running_memory */
    int64_t created, used, finished;   /* start, last request, end (ms since 1970); 0: not yet */
    int64_t metered;        /* time up to which the tenant was charged for memory (CLOCK_MONOTONIC, ms) */
    int64_t runs, branches; /* number of runs so far; number of open branches */
    int64_t cpu_us, kib_s;  /* what its runs have used so far, as in struct hc_usage */
    int64_t memory_peak;    /* largest peak of memory of its runs, in bytes */
    int64_t changes;        /* requests and ends of commands so far that may have changed its files */
    int64_t life_ends;      /* time at which its process ends it (ms since 1970) */
    int64_t expires;        /* time at which the front ends it, before that; 0: it does not */
    bool paused;            /* its client has paused it: it takes no requests */
    cJSON *contexts;        /* its contexts, the first of the session first (contexts.h); owned */
    char run_context[72];   /* context of the request that is being answered; "": it is no run */
    char *labels;           /* labels of its request, JSON; owned; NULL: none */
    char after[64];         /* which run left the session's state, as manifests say it: "that of run 3" */
    char *last;             /* the last result, as JSON; after the end the manifest; owned; NULL: none */
    size_t last_len;        /* bytes of `last` */
    char *manifest;         /* the manifest of the whole session, which its process sends at its end; owned */
    char reason[16];        /* why the session has ended, one word */
    const char *ended_by;   /* what told it to end: "tenant", "administrator", "daemon"; NULL: nothing did */
    char policy[HC_TENANT_NAME];          /* name of the policy that its request named */
    char manifest_reason[HC_TASK_REASON]; /* reason of the manifest, or given with the order to end; "": none
                                           */
    char manifest_status[24];             /* status of the manifest; "": there is no manifest */
    int64_t file_bytes;                   /* bytes of the files that the manifest lists */
    int64_t left_bytes;        /* bytes of results that each run reported; charged until the manifest comes */
    int64_t kept_bytes;        /* bytes among these of saved programs and their records */
    struct hc_problem problem; /* HC_FRONT_SESSION_ENDED: the answer to every further request */
    struct hc_front_session *next, *previous; /* neighbours in the list all->newest */
};

struct hc_front_sessions {
    struct hc_dispatch *dispatch;    /* borrowed */
    int manager_fd;                  /* the channel to the manager, which starts the processes; borrowed */
    struct hc_front_session *newest; /* list of all sessions, the newest first; owned */
    size_t open, ended;              /* numbers of open and of ended sessions in the list */
};

/* Begin a session; the caller has checked the body, whose labels it takes over. The task, whose reference is
 * the caller's, ends when the session waits for its first run, or has failed. NULL: a quota refuses the
 * session (`why`). */
struct hc_task *hc_front_session_start(struct hc_front_sessions *all, struct hc_tenant *t,
                                       const struct hc_buf *body, struct hc_checked *checked,
                                       struct hc_problem *why);

/* The session of this id, if it is this tenant's. NULL: there is none. */
struct hc_front_session *hc_front_session_find(const struct hc_front_sessions *all, const struct hc_tenant *t,
                                               const char *id);
struct hc_front_session *hc_front_session_find_any(const struct hc_front_sessions *all,
                                                   const char *id); /* of any tenant */

/* Send a request to the session's process: one line of JSON without its line break; `name` is the request's
 * name in it. The reference to the task is the caller's; NULL: the session is busy or has ended (`why`).
 * `stream`: the client reads the request's events, with the output. */
struct hc_task *hc_front_session_ask(struct hc_front_session *s, const char *name,
                                     const struct hc_buf *request, bool stream, struct hc_problem *why);

/* Interrupt the current run; without a run nothing happens. */
void hc_front_session_interrupt(struct hc_front_session *s);

/* Give the current run a piece of its input, as one line of JSON. -1 (`why`): there is no run, or its process
 * has not taken what it was given before. */
int hc_front_session_input(struct hc_front_session *s, const struct hc_buf *line, struct hc_problem *why);

/* The front ends the session in so many milliseconds, unless its process ends it before. */
void hc_front_session_expire_in(struct hc_front_session *s, int64_t ms);

/* End the sessions, and commands beside their runs, whose time is over. */
void hc_front_sessions_sweep(struct hc_front_sessions *all);

/* The tenant ends the session now, even during a run. The task, whose reference is the caller's, is answered
 * when the session has ended; NULL: out of memory. */
struct hc_task *hc_front_session_end(struct hc_front_session *s);
/* The same without a task. `who`: static, see `ended_by`. `why`: see hc_dispatch_cancel, or NULL. */
void hc_front_session_cancel(struct hc_front_session *s, const char *who, const char *why);

/* Remove an ended session from memory. */
void hc_front_session_forget(struct hc_front_session *s);

/* The manager has started the process of the session with this id. The session then owns the channel. */
void hc_front_session_process(struct hc_front_sessions *all, const char *id, int channel);

/* The daemon ends: idle sessions end at once, the others when their run is over, or, with `late`, at once
 * too. */
void hc_front_sessions_drain(struct hc_front_sessions *all, bool late);

/* Append [session, ...] with the sessions for which `fits` returns true, the newest first; `which` is for
 * `fits`. */
void hc_front_sessions_print(const struct hc_front_sessions *all,
                             bool fits(const struct hc_front_session *s, const void *which),
                             const void *which, struct hc_buf *out);

/* Append {"session_id", "state", ...}. `result`: the last result, or the manifest after the end; NULL: none.
 */
void hc_front_session_print(const struct hc_front_session *s, const char *result, struct hc_buf *out);

#endif
