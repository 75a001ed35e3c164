/* toolbox.h - private to the tools of a running job and their parts: tools.c (creation, end, and checking
 * of calls), tool_run.c (running calls), tool_answer.c (ends of calls and answers). */
#ifndef HC_CELL_TOOLS_TOOLBOX_H
#define HC_CELL_TOOLS_TOOLBOX_H

#include "cell/tools.h"
#include "cell/tools/tool_client.h"
#include "cell/tools/tool_command.h"

#include <limits.h>

#define OPEN_CALLS    256              /* most calls that are not answered yet */
#define CLIENT_SOURCE UINT32_MAX       /* epoll data for the client's socket, instead of a slot's number */
#define TIMER_SOURCE  (UINT32_MAX - 1) /* epoll data for the timer of deadlines */
/* Most bytes of waiting arguments and answers; above, no call is started. */
#define HELD_BYTES ((size_t)64 << 20)
#define NOT_LISTED SIZE_MAX /* slot.entry of a call that the log has no room for */

/* The state of a slot. */
enum phase {
    FREE,            /* it holds no call */
    QUEUED,          /* the call waits for its start */
    COMMAND_RUNNING, /* the tool's command runs */
    WITH_CLIENT,     /* the client was asked, and has not answered */
    COMMAND_DYING    /* the call has ended; the tool's command was killed, and has not ended */
};

/* One call that is not answered yet. */
struct slot {
    enum phase phase;           /* state of the slot */
    uint32_t id;                /* number of the call in the cell, as its frame has it */
    uint32_t client_id;         /* number of the call for the client; never used twice */
    const struct hc_tool *tool; /* the tool that is called, of hc_toolbox.tools */
    size_t entry;               /* index of the call in the log, or NOT_LISTED */
    int64_t begun_us;           /* time at which the call came (CLOCK_MONOTONIC, us) */
    int64_t end_us;          /* its deadline (CLOCK_MONOTONIC, us), set while the phase is COMMAND_RUNNING or
                                WITH_CLIENT */
    struct hc_buf arguments; /* JSON, as the tool gets them; owned */
    struct hc_tool_command command; /* while the phase is COMMAND_RUNNING or COMMAND_DYING; owned */
};

/* A tool's use by this job. */
struct usage {
    char path[PATH_MAX]; /* path of the tool's command; empty: the client answers its calls */
    int64_t calls;       /* calls of the tool so far, in a session in this run */
    int64_t tokens;      /* thousandths of calls that may come at once, as of at_us; unused without a rate */
    int64_t at_us;       /* time of the last refill of `tokens` (CLOCK_MONOTONIC, us) */
};

/* An answer that waits for the cell to read it. */
struct answer {
    struct answer *next; /* in the order of sending; NULL: the last */
    size_t len, sent;    /* bytes of `text`; of these, bytes sent so far */
    char text[];         /* payload of HC_FRAME_TOOL_RESULT, JSON */
};

struct hc_toolbox {
    const struct hc_tools *tools; /* the job's tools; borrowed */
    struct hc_tool_log *log;      /* log of the job, or of the session's run; borrowed */
    struct hc_denials *denials;   /* gets refused calls; borrowed */
    struct usage *usage;          /* by index in `tools`; owned */
    struct hc_tool_client client; /* the client that answers calls of tools without a command */
    uint32_t client_id;           /* the last client_id used */
    bool client_waits;            /* epoll reports when the client's socket takes more calls */
    int64_t clock_ahead_ns;       /* hc_clock_ahead() at the job's start, in ns: for times in the log */
    int epoll, timer;             /* epoll descriptor; timer that fires at the next deadline; owned */
    uint32_t last_id;             /* highest id of a call from the cell so far */
    size_t held;                  /* bytes of the arguments in `slots` and of the answers that wait */
    bool stopped; /* the cell waits for no more answers: calls are neither started nor answered */
    struct answer *first, **last;  /* answers that wait, owned; where the next one is linked */
    struct slot slots[OPEN_CALLS]; /* calls that are not answered yet, in no order */
};

/* ---- tool_answer.c ---- */

/* End a call by a failure: log it, answer it, and free its slot as soon as its command is dead. */
void hc_tool_fail_call(struct hc_toolbox *tb, struct slot *s, enum hc_tool_status status,
                       const char *message);

/* End a call with the JSON value that the client or a command sent. */
void hc_tool_answer_call(struct hc_toolbox *tb, struct slot *s, const char *json, size_t len);

/* End a call by its command's output: the command has ended with all its processes, or has written too
 * much. */
void hc_tool_answer_command(struct hc_toolbox *tb, struct slot *s);

/* End a call without an answer. */
void hc_tool_end_call(struct hc_toolbox *tb, struct slot *s);

/* Free the call's slot. */
void hc_tool_release(struct hc_toolbox *tb, struct slot *s);

/* Send the cell the answers that wait, as far as it takes them. True: some are left. */
bool hc_tool_send_answers(struct hc_toolbox *tb, int control_fd);
void hc_tool_drop_answers(struct hc_toolbox *tb); /* frees these answers without sending them */

/* Have the epoll set watch `fd` no longer; -1 is fine. */
void hc_tool_unwatch(const struct hc_toolbox *tb, int fd);

/* ---- tool_run.c ---- */

/* Have the epoll set watch `fd` for `events` (EPOLL*); `source`: a slot's number, CLIENT_SOURCE or
 * TIMER_SOURCE. -1 with errno. */
int hc_tool_watch(const struct hc_toolbox *tb, int fd, uint32_t events, uint32_t source);

/* The number of slots in this phase. */
size_t hc_tool_count(const struct hc_toolbox *tb, enum phase phase);

/* Start waiting calls in the order in which they came, up to the limits. */
void hc_tool_start_queued(struct hc_toolbox *tb);

#endif
