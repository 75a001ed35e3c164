/* mcp.h - a server of the Model Context Protocol on standard input and output: cells for assistants.
 *
 * One process, one loop, nothing that blocks: what the client sends, what it can take, signals, and the ends
 * of the programs that run, each of which is a `hotcell run` of its own that is given its job and gives back
 * its manifest through memory files. The client is not trusted with the host: it names no path of it, and
 * widens no limit. */
#ifndef HC_MCP_MCP_H
#define HC_MCP_MCP_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define HC_MCP_JOBS 64 /* most programs at once */

struct hc_mcp_config {
    const char *output_dir;     /* NULL: a temporary one */
    int jobs;                   /* programs at once */
    int64_t store_bytes;        /* of results that are kept */
    int64_t timeout_ms;         /* the policy's: no program gets more */
    const char *card;           /* what the writer of a program should know */
    const char *const *options; /* of each `hotcell run` */
    size_t option_count;
    int cancel_fd; /* readable with a signal that ends the server */
};

/* Until the client has gone, or a signal comes. What ran has been ended then, and a temporary directory is
 * gone. */
int hc_mcp_serve(const struct hc_mcp_config *config, struct hc_error *err);

#endif
