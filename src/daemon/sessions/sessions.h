/* sessions.h - sessions as the front knows them: each has a process of its own, which holds the cell and is
 * spoken to in lines of JSON (hotcell-session(1)), one request at a time.
 *
 * What a client asks for becomes a task that is in no table: it is answered by the process, or by the end of
 * it. What a session's state is, or that it is gone, is what its process has said last. */
#ifndef HC_DAEMON_SESSIONS_SESSIONS_H
#define HC_DAEMON_SESSIONS_SESSIONS_H

#include "daemon/queue/dispatch.h"

#define HC_FRONT_SESSIONS_MAX_ENDED 256 /* sessions that have ended: of these it can be told how */
#define HC_FRONT_SESSION_MANIFEST                                                                            \
    65536 /* bytes of its manifest that are remembered: the ledger has longer ones, too */

enum hc_front_session_state {
    HC_FRONT_SESSION_STARTING,
    HC_FRONT_SESSION_IDLE,
    HC_FRONT_SESSION_BUSY,
    HC_FRONT_SESSION_ENDED
};

struct hc_checked;

struct hc_front_session {
    char id[HC_JOB_ID];
    struct hc_tenant *tenant;
    struct hc_front_sessions *all; /* the list that it is in */
    enum hc_front_session_state state;
    bool closing;            /* it has been told to end */
    bool deaf;               /* it has said more than is kept, and is about to end */
    bool streams;            /* it has been told to tell what runs print */
    struct hc_watch channel; /* to its process, as a worker has one: tells its end */
    struct hc_watch stream;  /* to its process: lines of JSON, both ways */
    struct hc_tool_link tools;
    int cancel_fd; /* our end of a pair, its process has the other: closing it ends the session */
    int body_fd;   /* the request that began it, until its process has it */
    size_t body_len;
    bool has_tools;                  /* its client answers calls of tools */
    struct hc_buf in;                /* bytes of a line from the process that is not whole yet */
    size_t scanned;                  /* bytes of `in` that have no newline */
    struct hc_buf out;               /* lines for the process that it has not taken yet */
    size_t sent;                     /* bytes of `out` that it has taken */
    bool interrupt_waits;            /* `out` has a request to interrupt */
    int64_t held;                    /* bytes of body and `out` that count as request memory */
    struct hc_task *task;            /* the request that is being answered; a reference */
    struct hc_task *end;             /* the request to end; likewise */
    struct hc_buf list;              /* the results of branches so far, separated by commas */
    int64_t memory;                  /* bytes that its cell may use: counted for its tenant */
    int64_t created, used, finished; /* ms since 1970 */
    int64_t metered;                 /* CLOCK_MONOTONIC, ms: up to when its memory is charged */
    int64_t runs, branches;          /* how many runs there were; how many branches are open */
    int64_t cpu_us, kib_s;           /* used so far, as in struct hc_usage */
    int64_t memory_peak;             /* bytes: the largest of its runs */
    char after[64];                  /* after which run the state is, as the process says it */
    char *last;                      /* the last result, JSON; NULL: none */
    size_t last_len;
    char *manifest;       /* of the session as a whole, which its process has told; in the end it is `last` */
    char reason[16];      /* why it has ended */
    const char *ended_by; /* who has told it to end: "tenant", "administrator", "daemon"; NULL: nobody */
    char policy[HC_TENANT_NAME];          /* that was asked for */
    char manifest_reason[HC_TASK_REASON]; /* as below, or what it was told to end with; "": none */
    char manifest_status[24];  /* of the session as a whole, of which `last` is the manifest then; "": none */
    int64_t file_bytes;        /* that it has left in the end, which its process has told */
    int64_t left_bytes;        /* by its runs, each by itself: charged, until the end tells what is there */
    int64_t kept_bytes;        /* of those, programs and their records */
    struct hc_problem problem; /* ENDED: what is answered from then on */
    struct hc_front_session *next, *previous;
};

struct hc_front_sessions {
    struct hc_dispatch *dispatch; /* lent */
    int manager_fd;               /* the channel to the manager, which starts the processes; lent */
    struct hc_front_session *newest;
    size_t open, ended; /* sessions in the list */
};

/* Begin a session; the body has been checked. The task is the caller's reference: it ends when the session
 * waits for its first run, or has failed. NULL, with `why`: a quota refuses it. */
struct hc_task *hc_front_session_start(struct hc_front_sessions *all, struct hc_tenant *t,
                                       const struct hc_buf *body, const struct hc_checked *checked,
                                       struct hc_problem *why);

/* The session of this id, if it is this tenant's. NULL: there is none. */
struct hc_front_session *hc_front_session_find(const struct hc_front_sessions *all, const struct hc_tenant *t,
                                               const char *id);
struct hc_front_session *hc_front_session_find_any(const struct hc_front_sessions *all,
                                                   const char *id); /* whosever it is */

/* Ask for something: one line of JSON without its end, `name` what it is called there. The task is the
 * caller's reference; NULL, with `why`: not now, or not any more. `stream`: its events are asked for, output
 * among them. */
struct hc_task *hc_front_session_ask(struct hc_front_session *s, const char *name,
                                     const struct hc_buf *request, bool stream, struct hc_problem *why);

/* Of the run that goes on. Nothing if there is none. */
void hc_front_session_interrupt(struct hc_front_session *s);

/* Its tenant ends it now, whatever it does. The task, the caller's reference, is answered when that is so;
 * NULL without memory. */
struct hc_task *hc_front_session_end(struct hc_front_session *s);
/* The same without waiting for it. `who`: static, see `ended_by`. `why`: see hc_dispatch_cancel, or NULL. */
void hc_front_session_cancel(struct hc_front_session *s, const char *who, const char *why);

/* It has ended, and is not remembered any more. */
void hc_front_session_forget(struct hc_front_session *s);

/* The manager has started a process for it. Takes the channel over. */
void hc_front_session_process(struct hc_front_sessions *all, const char *id, int channel);

/* The daemon ends: those that wait do so at once, the others when their run is over, or (`late`) now too. */
void hc_front_sessions_drain(struct hc_front_sessions *all, bool late);

/* [session, ...] of those that `fits` says, the newest first. */
void hc_front_sessions_print(const struct hc_front_sessions *all,
                             bool fits(const struct hc_front_session *s, const void *which),
                             const void *which, struct hc_buf *out);

/* {"session_id", "state", ...} `result`: its last one, or the manifest in the end; NULL: without. */
void hc_front_session_print(const struct hc_front_session *s, const char *result, struct hc_buf *out);

#endif
