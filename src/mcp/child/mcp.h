/* mcp.h - a server of the Model Context Protocol on standard input and output: it runs programs in cells
 * for assistants.
 *
 * One process with one loop, which never blocks, waits for the client's messages, for room to write
 * answers, for signals and for the ends of programs. Each program is a `hotcell run` of its own, which
 * gets its job and returns its manifest through memfds. The client is not trusted with the host: it cannot
 * name a path of the host, nor raise a limit. */
#ifndef HC_MCP_CHILD_MCP_H
#define HC_MCP_CHILD_MCP_H

#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hc_mcp_config {
    const char *output_dir;    /* path of the parent of the server's directory; NULL: that is temporary */
    int jobs;                  /* most programs that run at one time */
    int64_t store_bytes;       /* most bytes of results that are kept */
    int64_t timeout_ms;        /* limits.timeout of the policy, in ms: the most that a program gets */
    bool commands;             /* the policy lets programs of the tree be executed */
    const char *card;          /* text for the writer of a program (cell/card.h); all pointers are borrowed */
    const cJSON *session_card; /* what a client should know of a session, an object */
    const char *const *options; /* arguments for each `hotcell run` and `hotcell session` */
    size_t option_count;        /* number of `options` */
    int cancel_fd;              /* readable when a signal ends the server; borrowed */
};

/* Serve until the client has gone, or a signal comes. All programs have ended then, and a temporary
 * directory is removed. */
int hc_mcp_serve(const struct hc_mcp_config *config, struct hc_error *err);

#endif
