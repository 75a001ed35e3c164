/* toolbox.h - private to the tools of a running job and their parts: tools.c (beginning, end, and which calls
 * are let through), tool_run.c (commands and the client at work), tool_answer.c (how calls end). */
#ifndef HC_CELL_TOOLS_TOOLBOX_H
#define HC_CELL_TOOLS_TOOLBOX_H

#include "cell/tools.h"
#include "cell/tools/tool_client.h"
#include "cell/tools/tool_command.h"

#include <limits.h>

#define OPEN_CALLS    256        /* not answered yet */
#define CLIENT_SOURCE UINT32_MAX /* epoll: instead of a slot's number */
#define TIMER_SOURCE  (UINT32_MAX - 1)
#define HELD_BYTES    ((size_t)64 << 20) /* of arguments and answers on their way: beyond, nothing is begun */
#define NOT_LISTED    SIZE_MAX

enum phase { FREE, QUEUED, RUNS, WITH_CLIENT, DYING };

/* One call on its way. */
struct slot {
    enum phase phase;
    uint32_t id;        /* as the cell calls it */
    uint32_t client_id; /* as the client does: never the same again */
    const struct hc_tool *tool;
    size_t entry;            /* in the log */
    int64_t begun_us;        /* when it came */
    int64_t end_us;          /* its deadline, once it runs */
    struct hc_buf arguments; /* as the tool gets them */
    struct hc_command command;
};

/* What a tool has been used for. */
struct usage {
    char path[PATH_MAX]; /* of its command; empty: the client answers */
    int64_t calls;
    int64_t tokens; /* thousandths of calls that may come at once */
    int64_t at_us;  /* when that was so */
};

struct answer {
    struct answer *next;
    size_t len, sent;
    char text[];
};

struct hc_toolbox {
    const struct hc_tools *tools;
    struct hc_tool_log *log;
    struct hc_denials *denials;
    struct usage *usage; /* as many as there are tools */
    struct hc_tool_client client;
    uint32_t client_id; /* the last one */
    bool client_waits;  /* epoll tells when it takes more */
    int64_t ahead;
    int epoll, timer;
    uint32_t last_id;
    size_t held;
    bool stopped;
    struct answer *first, **last;
    struct slot slots[OPEN_CALLS];
};

/* ---- tool_answer.c ---- */

/* The call has ended so: noted, answered, and its slot given back as soon as nothing runs for it. */
void hc_tool_fail_call(struct hc_toolbox *tb, struct slot *s, enum hc_tool_status status,
                       const char *message);

/* With what a client sent. */
void hc_tool_answer_call(struct hc_toolbox *tb, struct slot *s, const char *json, size_t len);

/* With what its command left: it has ended, and nobody of it is left; or it has written too much already. */
void hc_tool_answer_command(struct hc_toolbox *tb, struct slot *s);

/* Without an answer. */
void hc_tool_end_call(struct hc_toolbox *tb, struct slot *s);

/* The slot is free again. */
void hc_tool_release(struct hc_toolbox *tb, struct slot *s);

/* Send the cell the answers that wait, as far as it takes them. True: some are left. */
bool hc_tool_send_answers(struct hc_toolbox *tb, int control_fd);
void hc_tool_drop_answers(struct hc_toolbox *tb);

/* Have the epoll set watch it no longer; fd -1 is fine. */
void hc_tool_unwatch(const struct hc_toolbox *tb, int fd);

/* ---- tool_run.c ---- */

int hc_tool_watch(const struct hc_toolbox *tb, int fd, uint32_t events, uint32_t source);
size_t hc_tool_count(const struct hc_toolbox *tb, enum phase phase);

/* Start what waits, in the order in which it came, as far as there is room. */
void hc_tool_start_queued(struct hc_toolbox *tb);

#endif
