/* child.h - run another command of this same binary as a child process. */
#ifndef HC_MCP_CHILD_CHILD_H
#define HC_MCP_CHILD_CHILD_H

#include "base/buf.h"
#include "mcp/child/mcp.h"

#include <stdbool.h>
#include <sys/types.h>

struct hc_child {
    pid_t pid;  /* 0: there is no child */
    int pidfd;  /* pidfd of the child, readable when it has ended; owned */
    int err_fd; /* memfd that gets the child's standard error, owned */
    /* When to kill the child (CLOCK_MONOTONIC, ms: hc_mono_ms); 0: it was not asked to end. */
    int64_t kill_ms;
};

/* Start `command` with the server's options and then those of `more`, which ends with NULL. The child gets
 * fds[0], fds[1] and fds[3] (-1: none) under these numbers; they stay the caller's. Its standard error is
 * c->err_fd, and fds[2] is not used. */
int hc_child_start(struct hc_child *c, const struct hc_mcp_config *config, const char *command,
                   const char *const *more, const int fds[4], struct hc_error *err);

/* Whether the child has ended; then it is reaped. */
bool hc_child_ended(struct hc_child *c);

/* Ask the child to end by SIGTERM. If it takes too long, hc_child_kill_if_late kills it, and its cell dies
 * with it. */
void hc_child_end(struct hc_child *c);
void hc_child_expect(struct hc_child *c); /* the same without the signal, for a child that ends by itself */
void hc_child_kill_if_late(struct hc_child *c, int64_t now); /* `now`: ms of hc_mono_ms */
void hc_child_finish(struct hc_child *c); /* end it, wait, and free; fine without a child */

/* Append the child's error messages as UTF-8, for people. */
void hc_child_messages(const struct hc_child *c, struct hc_buf *out);

#endif
