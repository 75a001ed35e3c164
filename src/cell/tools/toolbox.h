/* toolbox.h - private to the tools of a running job and their parts: tools.c (creation, end, and checking
 * of calls), tool_run.c (running calls), tool_answer.c (ends of calls and answers). */
#ifndef HC_CELL_TOOLS_TOOLBOX_H
#define HC_CELL_TOOLS_TOOLBOX_H

#include "cell/tools.h"
#include "cell/tools/tool_client.h"
#include "cell/tools/tool_command.h"

#include <limits.h>

#define OPEN_CALLS    256        /* most calls that are not answered yet */
#define CLIENT_SOURCE UINT32_MAX /* epoll data for the client's socket, instead of a slot's number */
#define TIMER_SOURCE  (UINT32_MAX - 1)
#define HELD_BYTES                                                                                           \
    ((size_t)64 << 20) /* most bytes of waiting arguments and answers; above, no call is started */
#define NOT_LISTED SIZE_MAX

enum phase { FREE, QUEUED, RUNS, WITH_CLIENT, DYING };

/* One call that is not answered yet. */
struct slot {
    enum phase phase;
    uint32_t id;        /* the call's number in the cell */
    uint32_t client_id; /* the call's number for the client; never used twice */
    const struct hc_tool *tool;
    size_t entry;            /* index in the log, or NOT_LISTED */
    int64_t begun_us;        /* when the call came */
    int64_t end_us;          /* its deadline, once it runs */
    struct hc_buf arguments; /* JSON, as the tool gets them */
    struct hc_command command;
};

/* A tool's use by this job. */
struct usage {
    char path[PATH_MAX]; /* of the tool's command; empty: the client answers its calls */
    int64_t calls;       /* so far */
    int64_t tokens;      /* thousandths of calls that may come at once, as of at_us */
    int64_t at_us;
};

/* An answer that waits for the cell to read it. */
struct answer {
    struct answer *next;
    size_t len, sent;
    char text[];
};

struct hc_toolbox {
    const struct hc_tools *tools;
    struct hc_tool_log *log;
    struct hc_denials *denials;
    struct usage *usage; /* one for each tool, owned */
    struct hc_tool_client client;
    uint32_t client_id; /* the last client_id used */
    bool client_waits;  /* epoll watches for the client to take more calls */
    int64_t ahead;
    int epoll, timer;
    uint32_t last_id;
    size_t held;
    bool stopped;
    struct answer *first, **last;
    struct slot slots[OPEN_CALLS];
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
void hc_tool_drop_answers(struct hc_toolbox *tb);

/* Have the epoll set watch it no longer; fd -1 is fine. */
void hc_tool_unwatch(const struct hc_toolbox *tb, int fd);

/* ---- tool_run.c ---- */

int hc_tool_watch(const struct hc_toolbox *tb, int fd, uint32_t events, uint32_t source);
size_t hc_tool_count(const struct hc_toolbox *tb, enum phase phase);

/* Start waiting calls in the order in which they came, up to the limits. */
void hc_tool_start_queued(struct hc_toolbox *tb);

#endif
