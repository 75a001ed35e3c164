/* child.h - another command of this same binary, as our child. */
#ifndef HC_MCP_CHILD_H
#define HC_MCP_CHILD_H

#include "base/buf.h"
#include "mcp/mcp.h"

#include <stdbool.h>
#include <sys/types.h>

struct hc_child {
    pid_t pid; /* 0: none */
    int pidfd;
    int err_fd;      /* memory file: what it says on standard error */
    int64_t kill_ms; /* when patience ends; 0: it was not asked to end */
};

/* `command` with the server's options and then `more`, which ends with NULL; its standard input and output
 * are these. */
int hc_child_start(struct hc_child *c, const struct hc_mcp_config *config, const char *command,
                   const char *const *more, int in_fd, int out_fd, struct hc_error *err);

/* Has it ended? It is reaped then. */
bool hc_child_ended(struct hc_child *c);

/* Ask it to end; one that has not for too long is killed, and what it runs goes with it. */
void hc_child_end(struct hc_child *c);
void hc_child_expect(struct hc_child *c); /* .. it knows already */
void hc_child_hurry(struct hc_child *c, int64_t now);
void hc_child_finish(struct hc_child *c); /* waits; none is fine */

/* What it said, for people: the last words of it, as UTF-8. */
void hc_child_words(const struct hc_child *c, struct hc_buf *out);

#endif
