/* server.h - private to this folder: the server's state, and how it answers. */
#ifndef HC_MCP_SERVER_H
#define HC_MCP_SERVER_H

#include "mcp/mcp.h"
#include "mcp/store.h"
#include "spec/rpc.h"

#include <sys/types.h>

/* A program that runs. */
struct hc_program {
    int run;   /* number; 0: this place is free */
    pid_t pid; /* its `hotcell run`, our child */
    int pidfd;
    int out_fd, err_fd;            /* memory files: its manifest, or why there is none */
    char id[HC_RPC_ID_MAX + 1];    /* of the request that waits */
    char token[HC_RPC_ID_MAX + 1]; /* for progress; empty: not asked for */
    bool cancelled;                /* nobody waits any more */
    int64_t started_ms;
    int64_t tell_ms; /* when to tell of progress */
    int64_t kill_ms; /* when patience ends; 0: not asked to end */
    int64_t timeout_ms;
};

struct hc_mcp {
    const struct hc_mcp_config *config;
    struct hc_store store;
    struct hc_rpc_lines lines;
    struct hc_buf out;   /* what the client has not taken yet */
    size_t sent;         /* of it */
    const char *version; /* of the protocol, static; NULL: not initialized */
    struct hc_program programs[HC_MCP_JOBS];
    bool gone; /* the client */
};

/* A request for a tool. */
struct hc_call {
    const struct hc_rpc *message;
    const cJSON *arguments; /* an object that fits the tool's table; NULL: none */
};

int64_t hc_mcp_now_ms(void);

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
void hc_mcp_uri(const char *path, struct hc_buf *out);

/* ---- program.c ---- */
void hc_tool_run_python(struct hc_mcp *m, const struct hc_call *call);
void hc_programs_cancel(struct hc_mcp *m, const char *id);    /* the request of that id; unknown ones too */
bool hc_programs_has(const struct hc_mcp *m, const char *id); /* a request that is not answered yet */
void hc_programs_tend(struct hc_mcp *m);                      /* those that ended; progress; patience */
void hc_programs_end(struct hc_mcp *m);                       /* all of them, now */

/* ---- result.c ---- */
extern const char hc_run_schema[]; /* JSON Schema of the structured part */
/* What a program's manifest says, as a tool's result; its files are listed in `run`. NULL: no memory, or no
 * manifest. */
cJSON *hc_run_result(const struct hc_mcp *m, struct hc_stored_run *run, const char *manifest, size_t len);

#endif
