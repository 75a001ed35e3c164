/* stdio.h - private to this folder: a server on standard input and output, whose programs and sessions are
 * its child processes. */
#ifndef HC_MCP_CHILD_STDIO_H
#define HC_MCP_CHILD_STDIO_H

#include "base/owner.h"
#include "mcp/child/child.h"
#include "mcp/child/directory.h"
#include "mcp/server.h"

/* The child process of a program. */
struct hc_child_program {
    struct hc_child child; /* the process `hotcell run` */
    int out_fd;            /* memfd that gets its manifest, owned */
    int live_fd;     /* memfd that gets its output as it comes, owned; -1: the client wants no progress */
    int64_t live_at; /* bytes of `live_fd` that were read */
};

/* The child process of a session. */
struct hc_child_session {
    struct hc_child child; /* the process `hotcell session` */
    int in_fd, out_fd; /* pipes for requests and answers, owned; in_fd -1: closed; out_fd -1: at its end */
    struct hc_rpc_lines lines; /* answers of the session, split into lines */
    struct hc_buf out;         /* requests that the session has not read yet; owned */
    size_t sent;               /* bytes of `out` that are written */
};

struct hc_stdio {
    struct hc_mcp m;                                   /* the server */
    const struct hc_mcp_config *config;                /* its configuration; borrowed */
    struct hc_directory directory;                     /* its files */
    struct hc_rpc_lines lines;                         /* the client's messages */
    struct hc_buf out;                                 /* messages that the client has not read yet; owned */
    size_t sent;                                       /* bytes of `out` that are written */
    struct hc_child_program programs[HC_MCP_PLACES];   /* one for each of m.programs */
    struct hc_child_session sessions[HC_MCP_SESSIONS]; /* one for each of m.sessions */
    bool gone;                                         /* the client has gone */
    int lost; /* errno of an answer that could not be written, unless the client has gone; 0: none */
};

static inline struct hc_stdio *hc_stdio_of(struct hc_mcp *m)
{
    return hc_owner(m, struct hc_stdio, m);
}

/* Make all places free. */
void hc_child_places_init(struct hc_stdio *s);

/* ---- child_program.c: see struct hc_mcp_host ---- */
int hc_child_start_program(struct hc_mcp *m, struct hc_program *p, struct hc_error *err);
bool hc_child_look(struct hc_mcp *m, struct hc_program *p);
void hc_child_stop(struct hc_mcp *m, struct hc_program *p);
void hc_child_clear(struct hc_mcp *m, struct hc_program *p);

/* ---- child_session.c: see struct hc_mcp_host ---- */
int hc_child_open(struct hc_mcp *m, struct hc_session_place *s, const cJSON *inputs, struct hc_error *err);
bool hc_child_look_session(struct hc_mcp *m, struct hc_session_place *s);
void hc_child_ask(struct hc_mcp *m, struct hc_session_place *s, const char *line);
void hc_child_interrupt(struct hc_mcp *m, struct hc_session_place *s);
void hc_child_close(struct hc_mcp *m, struct hc_session_place *s, bool now);
void hc_child_clear_session(struct hc_mcp *m, struct hc_session_place *s);
void hc_child_read(struct hc_mcp *m, size_t place); /* the session's out_fd is readable */
void hc_child_write(struct hc_child_session *c);    /* in_fd takes more of `out` */

#endif
