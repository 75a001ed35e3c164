/* tool_client.h - calls of tools that the client answers: one line of JSON per call and per answer, over a
 * stream socket. A call is {"id", "result_size", "name", "arguments"}, with its members in this order. An
 * answer is {"id", "value"} or {"id", "error"}; answers come in any order. */
#ifndef HC_CELL_TOOLS_TOOL_CLIENT_H
#define HC_CELL_TOOLS_TOOL_CLIENT_H

#include "policy/tool.h"

struct hc_tool_client {
    int fd;                /* socket to the client, borrowed; -1: there is none, or it has gone */
    struct hc_buf out, in; /* calls to send; the part so far of an answer's line; owned */
    size_t sent;           /* bytes of `out` that were sent */
    size_t max;            /* most bytes of an answer's line */
};

/* One answer; its pointers are valid during the handler's call. */
struct hc_client_answer {
    uint32_t id;       /* number of the call for the client */
    const char *value; /* JSON; NULL: the tool failed */
    size_t len;        /* bytes of `value` */
    const char *error; /* the client's error message, if `value` is NULL */
};

/* Begin with the client's socket `fd`, which is borrowed; `max`: most bytes of an answer's line.
 * HC_EXIT_USAGE if the descriptor is no stream socket. */
int hc_tool_client_init(struct hc_tool_client *c, int fd, size_t max, struct hc_error *err);
void hc_tool_client_finish(struct hc_tool_client *c);

/* Queue a call. `arguments` is JSON without line ends. */
int hc_tool_client_call(struct hc_tool_client *c, uint32_t id, const struct hc_tool *tool,
                        const char *arguments);

/* Send waiting calls as far as the client takes them. Returns true if some are left. */
bool hc_tool_client_send(struct hc_tool_client *c);

typedef void hc_client_handler(void *ctx, const struct hc_client_answer *answer);

/* Read what the client sent, and call `handle` for each answer. -1: the client has gone, or broke the
 * protocol; no more answers will come. */
int hc_tool_client_read(struct hc_tool_client *c, hc_client_handler *handle, void *ctx, struct hc_error *err);

#endif
