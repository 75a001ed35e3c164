/* tool_link.h - a program's tool calls on their way to the client that answers them, and the answers on their
 * way back: one line of JSON each, over a socket to the process that runs the program
 * (cell/tools/tool_client.h). */
#ifndef HC_DAEMON_QUEUE_TOOL_LINK_H
#define HC_DAEMON_QUEUE_TOOL_LINK_H

#include "daemon/process/reactor.h"
#include "daemon/tenants/request_memory.h"
#include "wire/events.h"

#define HC_TOOL_CALLS 256 /* calls that may wait for their answers at the same time */

struct hc_open_call {
    uint32_t id;   /* number of the call */
    uint32_t most; /* most bytes of its result */
};

struct hc_tool_link {
    struct hc_watch watch; /* watch of the socket, owned; fd -1: there is none, or it is closed */
    int epoll;             /* epoll descriptor of the front; borrowed */
    struct hc_buf in;      /* bytes of a call that is not whole yet; owned */
    struct hc_buf out;     /* answers that the socket has not taken yet; owned */
    size_t sent;           /* bytes of `out` that the socket has taken */
    bool waits;            /* epoll will report when the socket takes more */
    struct hc_request_memory *request_memory; /* counts `held`; borrowed; NULL: it is not counted */
    struct hc_tenant *tenant;                 /* tenant whose request memory has `held`; borrowed */
    int64_t held;                             /* bytes of `out` that count as request memory */
    struct hc_open_call open[HC_TOOL_CALLS];  /* calls that wait for their answers */
    size_t count;                             /* used entries of `open` */
};

/* Make an empty link, without a socket. */
void hc_tool_link_init(struct hc_tool_link *l);

/* Open a socket pair and return its other end, or -1. `ready` has to call hc_tool_link_work. */
int hc_tool_link_open(struct hc_tool_link *l, int epoll, void (*ready)(struct hc_watch *w, uint32_t events),
                      struct hc_error *err);

/* From now on answers that the other side has not read count as the tenant's request memory. */
void hc_tool_link_count(struct hc_tool_link *l, struct hc_request_memory *request_memory,
                        struct hc_tenant *tenant);
void hc_tool_link_close(struct hc_tool_link *l);

/* Send waiting answers and read calls, which become events: {"event": "tool_call", "id", "result_size",
 * "name", "arguments"}. */
void hc_tool_link_work(struct hc_tool_link *l, struct hc_events *e);

/* Send a client's answer, {"value": JSON} or {"error": TEXT}, to the call with the number `call`. 0; 1: no
 * such call waits; 2: too much is waiting for the other side to read it; 3: the value is longer than the
 * tool's results may be, and the call has failed by that; -1: the text is no answer (HC_EXIT_DATA). */
int hc_tool_link_answer(struct hc_tool_link *l, const char *call, const char *text, size_t len,
                        struct hc_error *err);

/* Make the line that goes over the socket from a client's answer. It is never much longer than the result may
 * be, which is the most that the other end accepts. 3 and -1 as above. Does no input or output. */
int hc_tool_answer_line(struct hc_buf *out, const struct hc_open_call *call, const char *text, size_t len,
                        struct hc_error *err);

#endif
