/* server.h - private to this folder: the server's state, and how it answers. */
#ifndef HC_MCP_SERVER_H
#define HC_MCP_SERVER_H

#include "mcp/child.h"
#include "mcp/store.h"
#include "wire/rpc.h"

#include <sys/types.h>

/* A program that runs. */
struct hc_program {
    char run[HC_STORE_RUN]; /* empty: this place is free */
    struct hc_child child;
    int out_fd;                    /* memory file: its manifest */
    char id[HC_RPC_ID_MAX + 1];    /* of the request that waits */
    char token[HC_RPC_ID_MAX + 1]; /* for progress; empty: not asked for */
    bool cancelled;                /* nobody waits any more */
    int64_t started_ms, timeout_ms;
    int64_t tell_ms; /* when to tell of progress */
};

#define HC_MCP_SESSIONS 4 /* at once */

/* A session that is open. */
struct hc_session_place {
    char name[HC_STORE_RUN]; /* empty: this place is free */
    struct hc_child child;
    int in_fd, out_fd;                /* pipes: its requests, its answers; the latter -1: it has said all */
    struct hc_rpc_lines lines;        /* of its answers */
    struct hc_buf out;                /* requests that it has not taken yet */
    size_t sent;                      /* of these */
    char id[HC_RPC_ID_MAX + 1];       /* of the call that waits: for it to open, or for a run; empty: none */
    char close_id[HC_RPC_ID_MAX + 1]; /* of the call that closes it */
    bool cancelled;                   /* that call: nobody waits, what runs in it has not ended yet */
    char why[200];                    /* it has said that it ends, and this; empty: it has not */
};

#define HC_MCP_ENDED 16 /* sessions of which it is remembered why they ended */

struct hc_session_ended {
    char name[HC_STORE_RUN];
    char why[200];
};

struct hc_mcp {
    const struct hc_mcp_config *config;
    struct hc_store store;
    struct hc_rpc_lines lines;
    struct hc_buf out;   /* what the client has not taken yet */
    size_t sent;         /* of it */
    const char *version; /* of the protocol, static; NULL: not initialized */
    struct hc_program programs[HC_MCP_JOBS];
    struct hc_session_place sessions[HC_MCP_SESSIONS];
    struct hc_session_ended ended[HC_MCP_ENDED];
    size_t ended_count; /* so far: the place of the next is this, modulo their number */
    bool gone;          /* the client */
    int lost;           /* errno with which an answer could not be written to a client that is there; 0 */
};

/* A request for a tool. */
struct hc_call {
    const struct hc_rpc *message;
    const cJSON *arguments; /* an object that fits the tool's table; NULL: none */
};

/* ---- reply.c: one line each. What is given as cJSON is taken. ---- */
void hc_mcp_reply(struct hc_mcp *m, const char *id, cJSON *result);
void hc_mcp_error(struct hc_mcp *m, const char *id, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void hc_mcp_notify(struct hc_mcp *m, const char *method, cJSON *params);
/* A tool's answer that says why there is no better one: the model reads it. */
void hc_mcp_refuse(struct hc_mcp *m, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The answer of a tool that has only this to say. */
void hc_mcp_say(struct hc_mcp *m, const char *id, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Content: lists, and what goes into them. */
void hc_mcp_add(cJSON *list, cJSON *item);
void hc_mcp_put(cJSON *object, const char *name, cJSON *value);
cJSON *hc_mcp_text(const char *text);
cJSON *hc_mcp_blob(const char *name, const struct hc_buf *bytes); /* {name: base64} */

/* ---- methods.c ---- */
void hc_mcp_handle(struct hc_mcp *m, const struct hc_rpc *message);
void hc_mcp_changed(struct hc_mcp *m); /* the list of resources */

/* ---- tools.c ---- */
cJSON *hc_mcp_list_tools(const struct hc_mcp *m);
void hc_mcp_call_tool(struct hc_mcp *m, const struct hc_rpc *message);
const char *hc_mcp_string(const struct hc_call *call, const char *name); /* an argument; NULL: not given */

/* ---- files.c: tools and resources ---- */
void hc_tool_list_files(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_read_file(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_write_file(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_remove_file(struct hc_mcp *m, const struct hc_call *call);
/* A file's content as an argument: text, or {"base64": ...}. NULL, or what is wrong with it. */
const char *hc_mcp_content(const cJSON *node, struct hc_buf *out);

/* ---- resources.c ---- */
void hc_mcp_list_resources(struct hc_mcp *m, const struct hc_rpc *message);
void hc_mcp_list_templates(struct hc_mcp *m, const struct hc_rpc *message);
void hc_mcp_read_resource(struct hc_mcp *m, const struct hc_rpc *message);
bool hc_mcp_is_text(const struct hc_buf *b); /* UTF-8 without NUL */
void hc_mcp_uri(const char *path, struct hc_buf *out);

/* ---- program.c ---- */
void hc_tool_run_python(struct hc_mcp *m, const struct hc_call *call);
/* The arguments files and inputs, for a run or a session: names of variables and paths. */
int hc_programs_give(struct hc_mcp *m, const struct hc_call *call, const char *run, cJSON *inputs,
                     struct hc_error *err);
void hc_programs_cancel(struct hc_mcp *m, const char *id);    /* the request of that id; unknown ones too */
bool hc_programs_has(const struct hc_mcp *m, const char *id); /* a request that is not answered yet */
void hc_programs_tend(struct hc_mcp *m);                      /* those that ended; progress; patience */
void hc_programs_end(struct hc_mcp *m);                       /* all of them, now */

/* A call's timeout in ms; 0: the model has been told what is wrong with it. */
int64_t hc_programs_timeout(struct hc_mcp *m, const struct hc_call *call);
/* Append ,"name": and an argument as it was written, if it is given. */
void hc_programs_copy(const struct hc_call *call, const char *name, struct hc_buf *out);

/* ---- session.c ---- */
void hc_tool_session_open(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_run(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_checkpoint(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_rollback(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_interrupt(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_list(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_close(struct hc_mcp *m, const struct hc_call *call);
void hc_session_read(struct hc_mcp *m, struct hc_session_place *s); /* its descriptor is ready */
void hc_session_write(struct hc_session_place *s);
bool hc_sessions_have(const struct hc_mcp *m, const char *id);
void hc_sessions_cancel(struct hc_mcp *m, const char *id);
void hc_sessions_tend(struct hc_mcp *m);
void hc_sessions_end(struct hc_mcp *m);

/* ---- result.c ---- */
extern const char hc_run_schema[]; /* JSON Schema of the structured part */
/* What a manifest says, as a tool's result; what the program left is listed in `left`. For a run of a session
 * with the state that it is in afterwards. */
cJSON *hc_run_result(const struct hc_mcp *m, struct hc_stored_run *left, const cJSON *manifest,
                     const char *state);

#endif
