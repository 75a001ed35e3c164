/* server.h - private to this folder: the server's state, and the functions by which its parts work
 * together. */
#ifndef HC_MCP_SERVER_H
#define HC_MCP_SERVER_H

#include "mcp/child.h"
#include "mcp/store.h"
#include "wire/rpc.h"

#include <sys/types.h>

/* A version of the protocol. */
struct hc_mcp_version {
    const char *date; /* name of the version, a date; static */
    bool annotated;   /* the version has annotations of tools, and texts in messages of progress */
    bool structured;  /* the version has titles, schemas of results, and results as data */
};

/* The messages of progress that the client gets about a call before its answer. */
struct hc_progress {
    char token[HC_RPC_ID_MAX + 1]; /* token of the client for these messages, as JSON; empty: it wants none */
    int64_t begun_ms,
        end_ms; /* start of the call, and of the program's time; end_ms 0: the program has not started */
    int64_t last_ms, next_ms; /* times of the last and the next message; last_ms 0: none was sent */
    struct hc_buf printed;    /* end of the program's output that was not sent yet; owned */
    int64_t left_out;         /* bytes of output before `printed` that will not be sent */
};

/* A program that runs, or waits for its turn. */
struct hc_program {
    char run[HC_STORE_RUN]; /* name of its run; empty: this place is free */
    struct hc_child child;  /* the process `hotcell run` */
    int spec_fd;            /* memfd with its job, owned; -1: the program runs already */
    int out_fd;             /* memfd that gets its manifest, owned */
    int live_fd;     /* memfd that gets its output as it comes, owned; -1: the client wants no progress */
    int64_t live_at; /* bytes of `live_fd` that were read */
    char id[HC_RPC_ID_MAX + 1];  /* JSON-RPC ID of the request that waits for the result */
    bool cancelled;              /* the client has cancelled the request */
    int64_t input_bytes;         /* bytes of its files and inputs, which the store holds until it ends */
    int64_t timeout_ms;          /* time limit of the program, in ms */
    int64_t turn;                /* number of its call: the waiting program with the least one is next */
    struct hc_progress progress; /* messages about its progress */
};

#define HC_MCP_WAITING 32 /* most programs that wait for their turn */
#define HC_MCP_PLACES  (HC_MCP_JOBS + HC_MCP_WAITING)

#define HC_MCP_SESSIONS 4 /* most open sessions */

/* An open session. */
struct hc_session_place {
    char name[HC_STORE_RUN]; /* name of the session, "session-N"; empty: this place is free */
    struct hc_child child;   /* the process `hotcell session` */
    int64_t input_bytes;     /* bytes of its files and inputs, which the store holds until it ends */
    int in_fd, out_fd; /* pipes for requests and answers, owned; in_fd -1: closed; out_fd -1: at its end */
    struct hc_rpc_lines lines; /* answers of the session, split into lines */
    struct hc_buf out;         /* requests that the session has not read yet; owned */
    size_t sent;               /* bytes of `out` that are written */
    /* JSON-RPC ID of the call that waits, for the session to open or for a run; empty: none. */
    char id[HC_RPC_ID_MAX + 1];
    char close_id[HC_RPC_ID_MAX + 1]; /* JSON-RPC ID of the call that closes the session; empty: none */
    bool cancelled; /* the client has cancelled the call `id`, whose run has not ended yet */
    char next_id[HC_RPC_ID_MAX +
                 1];             /* ID of the call that waits for the end of a cancelled one; empty: none */
    struct hc_buf next;          /* request of that call, owned */
    struct hc_progress progress; /* messages about the progress of the call that was not cancelled */
    int64_t timeout_ms;          /* time limit of that call's program; 0: it runs no program */
    char why[200]; /* why the session ends, a phrase; empty: the session has not told a reason */
};

#define HC_MCP_ENDED 16 /* most ended sessions whose reason is remembered */

/* An ended session, and why it ended. */
struct hc_session_ended {
    char name[HC_STORE_RUN]; /* name of the session, "session-N" */
    char why[200];           /* why it ended, a phrase */
};

struct hc_mcp {
    const struct hc_mcp_config *config;        /* configuration of the server; borrowed */
    struct hc_store store;                     /* the files */
    struct hc_rpc_lines lines;                 /* the client's messages */
    struct hc_buf out;                         /* messages that the client has not read yet; owned */
    size_t sent;                               /* bytes of `out` that are written */
    const struct hc_mcp_version *version;      /* version that the client speaks; static; NULL: not known */
    struct hc_program programs[HC_MCP_PLACES]; /* places for programs that run or wait */
    int64_t turns;                             /* number of calls so far that run a program */
    struct hc_session_place sessions[HC_MCP_SESSIONS]; /* places for open sessions */
    struct hc_session_ended ended[HC_MCP_ENDED];       /* the sessions that ended last */
    size_t ended_count; /* number of ended sessions; the next place in `ended` is this modulo HC_MCP_ENDED */
    bool gone;          /* the client has gone */
    int lost; /* errno of an answer that could not be written, unless the client has gone; 0: none */
};

/* A call of a tool. */
struct hc_call {
    const struct hc_rpc *message; /* the request; borrowed */
    const cJSON *arguments; /* an object that was checked against the tool's table; borrowed; NULL: none */
};

/* ---- reply.c: each function queues one message as a line. cJSON arguments are freed. `id`: JSON-RPC ID of
 * the request that is answered ---- */
void hc_mcp_reply(struct hc_mcp *m, const char *id, cJSON *result);
void hc_mcp_error(struct hc_mcp *m, const char *id, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void hc_mcp_notify(struct hc_mcp *m, const char *method, cJSON *params);
/* Answer a tool's call with an error message, which the model reads. */
void hc_mcp_refuse(struct hc_mcp *m, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Answer a tool's call with one sentence. */
void hc_mcp_say(struct hc_mcp *m, const char *id, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Build the content of answers. hc_mcp_add appends to a list, hc_mcp_put adds a member; both take the item,
 * and free it if that fails. The other two make content that is a text; {name: base64}. Owned by the caller;
 * NULL: no memory. */
void hc_mcp_add(cJSON *list, cJSON *item);
void hc_mcp_put(cJSON *object, const char *name, cJSON *value);
cJSON *hc_mcp_text(const char *text);
cJSON *hc_mcp_blob(const char *name, const struct hc_buf *bytes);

/* ---- progress.c ---- */
void hc_progress_begin(struct hc_progress *p, const struct hc_call *call); /* copies the call's token */
void hc_progress_start(struct hc_progress *p, int64_t timeout_ms);         /* the program starts */
/* The program has printed this text. Of much output only the end is kept. */
void hc_progress_print(struct hc_progress *p, const char *text, size_t len);
/* Send a message if one is due. `now`: ms of hc_mono_ms */
void hc_progress_tell(struct hc_mcp *m, struct hc_progress *p, int64_t now);
void hc_progress_end(struct hc_progress *p); /* forget the call */

/* ---- methods.c ---- */
void hc_mcp_handle(struct hc_mcp *m, const struct hc_rpc *message); /* handle a message of the client */
void hc_mcp_notify_resources(struct hc_mcp *m); /* notify the client of a changed list of resources */

/* ---- tools.c: the result of tools/list, owned by the caller; serve a request tools/call ---- */
cJSON *hc_mcp_list_tools(const struct hc_mcp *m);
void hc_mcp_call_tool(struct hc_mcp *m, const struct hc_rpc *message);
/* The text of an argument that is a string; NULL: it is missing. */
const char *hc_mcp_string(const struct hc_call *call, const char *name);

/* ---- files.c: the tools for files, each of which answers its call; and functions for resources ---- */
void hc_tool_list_files(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_read_file(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_write_file(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_remove_file(struct hc_mcp *m, const struct hc_call *call);
/* Decode a file's content in an argument: text, or {"base64": ...}. Returns NULL, or an error message,
 * static. */
const char *hc_mcp_content(const cJSON *node, struct hc_buf *out);
/* The most bytes that one answer has of a file of this MIME type. */
int64_t hc_mcp_most_bytes(const char *mime);
/* Answer with `bytes` of a file, those from `offset` on, or as many as fit: as text, an image, or base64. */
void hc_mcp_answer_file(struct hc_mcp *m, const char *id, const struct hc_stored *file, int64_t offset,
                        struct hc_buf *bytes);

/* ---- session_files.c: the same tools for the files of an open session ---- */
/* Send the call as the request named `request` (hotcell-session(1)) to the session that the call names. */
void hc_session_files_call(struct hc_mcp *m, const struct hc_call *call, const char *request);
/* Answer the call `id` with the answer of the session named `session` to that request. */
void hc_session_files_answer(struct hc_mcp *m, const char *id, const char *session, const cJSON *answer);

/* ---- resources.c: the methods resources/list, resources/templates/list, resources/read ---- */
void hc_mcp_list_resources(struct hc_mcp *m, const struct hc_rpc *message);
void hc_mcp_list_templates(struct hc_mcp *m, const struct hc_rpc *message);
void hc_mcp_read_resource(struct hc_mcp *m, const struct hc_rpc *message);
bool hc_mcp_is_text(const struct hc_buf *b); /* UTF-8 without NUL */
/* Append the URI of the file at this path of the store. */
void hc_mcp_uri(const char *path, struct hc_buf *out);

/* ---- program.c ---- */
void hc_tool_run_python(struct hc_mcp *m, const struct hc_call *call);
/* Store the files of the arguments "files" and "inputs" for a run or a session, and add names of variables
 * with paths to `inputs`. `bytes` gets their size, for the program's or session's input_bytes. */
int hc_programs_store_inputs(struct hc_mcp *m, const struct hc_call *call, const char *run, cJSON *inputs,
                             int64_t *bytes, struct hc_error *err);
/* Cancel the request with this JSON-RPC ID, if there is one. */
void hc_programs_cancel(struct hc_mcp *m, const char *id);
bool hc_programs_has(const struct hc_mcp *m, const char *id); /* whether the request waits for an answer */
void hc_programs_tend(struct hc_mcp *m); /* handle ended programs, progress and kill times */
void hc_programs_end(struct hc_mcp *m);  /* end all programs, and wait */

/* A call's timeout in ms; 0: it is invalid, and the call was answered. */
int64_t hc_programs_timeout(struct hc_mcp *m, const struct hc_call *call);
/* Append ,"name": and the argument's source text, if it is given. */
void hc_programs_copy(const struct hc_call *call, const char *name, struct hc_buf *out);

/* ---- session.c: the tools for sessions, each of which answers its call at once or later ---- */
void hc_tool_session_open(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_run(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_checkpoint(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_rollback(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_interrupt(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_list(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_close(struct hc_mcp *m, const struct hc_call *call);
/* Send a request that runs no program to the session that the call names; the answer comes later. */
void hc_session_send(struct hc_mcp *m, const struct hc_call *call, const char *line);
void hc_session_read(struct hc_mcp *m, struct hc_session_place *s); /* out_fd is readable */
void hc_session_write(struct hc_session_place *s);                  /* in_fd takes more of `out` */
/* The same as hc_programs_has, hc_programs_cancel, hc_programs_tend and hc_programs_end, for sessions. */
bool hc_sessions_have(const struct hc_mcp *m, const char *id);
void hc_sessions_cancel(struct hc_mcp *m, const char *id);
void hc_sessions_tend(struct hc_mcp *m);
void hc_sessions_end(struct hc_mcp *m);

/* ---- result.c ---- */
extern const char hc_run_schema[]; /* JSON Schema of a result's structured content */
/* Turn a manifest into a tool's result, owned by the caller, and add the files that the program has left to
 * `left`. `state`: for a run of a session, the session's state afterwards; else NULL. */
cJSON *hc_run_result(const struct hc_mcp *m, struct hc_stored_run *left, const cJSON *manifest,
                     const char *state);

#endif
