/* tool_client.h - calls of tools that the client answers: a line of JSON for each, both ways, over a stream
 * socket. Out: {"id", "result_size", "name", "arguments"}, which begins so. In: {"id", "value"} or {"id",
 * "error"}, in any order. */
#ifndef HC_CELL_TOOLS_TOOL_CLIENT_H
#define HC_CELL_TOOLS_TOOL_CLIENT_H

#include "policy/tool.h"

struct hc_tool_client {
    int fd; /* borrowed; -1: there is none, or it has gone */
    struct hc_buf out, in;
    size_t sent;
    size_t max; /* bytes of a line that comes in */
};

/* One answer; all of it points into the client's own memory until the next. */
struct hc_client_answer {
    uint32_t id;
    const char *value; /* JSON; NULL: it failed */
    size_t len;
    const char *error; /* what it says of its failure */
};

/* HC_EXIT_USAGE if the descriptor is no stream socket. */
int hc_tool_client_init(struct hc_tool_client *c, int fd, size_t max, struct hc_error *err);
void hc_tool_client_finish(struct hc_tool_client *c);

/* Queue a call. `arguments` is JSON without line ends. */
int hc_tool_client_call(struct hc_tool_client *c, uint32_t id, const struct hc_tool *tool,
                        const char *arguments);

/* Send what it takes. Returns true if some is left. */
bool hc_tool_client_send(struct hc_tool_client *c);

typedef void hc_client_handler(void *ctx, const struct hc_client_answer *answer);

/* Read what is there and hand over each answer. -1: it has gone, or does not keep to the protocol (err): no
 * answer will come any more. */
int hc_tool_client_read(struct hc_tool_client *c, hc_client_handler *handle, void *ctx, struct hc_error *err);

#endif
