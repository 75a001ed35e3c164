/* server.h - a server of the Model Context Protocol, whoever carries its messages and runs its programs: its
 * state, the functions by which its parts work together, and what it asks of its host (struct hc_mcp_host).
 *
 * `hotcell mcp` (mcp/child) is a host on standard input and output: each program is a child process. hotcelld
 * (daemon/mcp) is one over HTTP: each program is a job in the queue. */
#ifndef HC_MCP_SERVER_H
#define HC_MCP_SERVER_H

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
    char id[HC_RPC_ID_MAX + 1];    /* JSON-RPC ID of the call */
    char token[HC_RPC_ID_MAX + 1]; /* token of the client for these messages, as JSON; empty: it wants none */
    int64_t begun_ms,
        end_ms; /* start of the call, and of the program's time; end_ms 0: the program has not started */
    int64_t last_ms, next_ms; /* times of the last and the next message; last_ms 0: none was sent */
    struct hc_buf printed;    /* end of the program's output that was not sent yet; owned */
    int64_t left_out;         /* bytes of output before `printed` that will not be sent */
};

/* A program that runs, or waits for its turn. */
struct hc_program {
    char run[HC_STORE_RUN];      /* name of its run; empty: this place is free */
    struct hc_buf spec;          /* its job, owned; empty: the program was given to the host already */
    char id[HC_RPC_ID_MAX + 1];  /* JSON-RPC ID of the request that waits for the result */
    bool cancelled;              /* the client has cancelled the request */
    int64_t input_bytes;         /* bytes of its files and inputs, which the store holds until it ends */
    int64_t timeout_ms;          /* time limit of the program, in ms */
    int64_t turn;                /* number of its call: the waiting program with the least one is next */
    struct hc_progress progress; /* messages about its progress */
};

#define HC_MCP_JOBS    64 /* most programs at one time */
#define HC_MCP_WAITING 32 /* most programs that wait for their turn */
#define HC_MCP_PLACES  (HC_MCP_JOBS + HC_MCP_WAITING)

#define HC_MCP_SESSIONS 4 /* most open sessions */

/* An open session. */
struct hc_session_place {
    char name[HC_STORE_RUN]; /* name of the session, "session-N"; empty: this place is free */
    int64_t input_bytes;     /* bytes of its files and inputs, which the store holds until it ends */
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
    const struct hc_mcp_host *host;       /* who runs its programs and carries its messages; static */
    int jobs;                             /* most programs that the host has at one time */
    int64_t timeout_ms;                   /* most time of a program, in ms */
    bool commands;                        /* the policy lets programs of the tree be executed */
    const char *card;                     /* text for the writer of a program (cell/card.h); borrowed */
    const cJSON *session_card;            /* what a client should know of a session, an object; borrowed */
    struct hc_store *store;               /* the files; borrowed */
    const struct hc_mcp_version *version; /* version that the client speaks; static; NULL: not known */
    struct hc_program programs[HC_MCP_PLACES];         /* places for programs that run or wait */
    int64_t turns;                                     /* number of calls so far that run a program */
    struct hc_session_place sessions[HC_MCP_SESSIONS]; /* places for open sessions */
    struct hc_session_ended ended[HC_MCP_ENDED];       /* the sessions that ended last */
    size_t ended_count; /* number of ended sessions; the next place in `ended` is this modulo HC_MCP_ENDED */
};

/* What the server asks of its host. The functions with `err` return -1 or NULL if they fail. */
struct hc_mcp_host {
    /* Carry a message to the client: the answer to the request `id`; or (`answer` false) a notification about
     * that request, with `id` NULL about no request. -1: no memory. */
    int (*send)(struct hc_mcp *m, const char *id, bool answer, const char *text, size_t len);
    /* The request `id` was cancelled, and gets no answer any more. */
    void (*drop)(struct hc_mcp *m, const char *id);
    /* Has the client not read earlier messages about the request `id`? It then gets no news of it. */
    bool (*is_full)(const struct hc_mcp *m, const char *id);

    /* Make an input of the run or session `run` of these bytes, or of a file of the store. Returns how the
     * run's spec names it. `forget` is called when the run has ended and needs its inputs no more. */
    cJSON *(*give)(struct hc_mcp *m, const char *run, const char *name, const struct hc_buf *bytes,
                   struct hc_error *err);
    cJSON *(*give_stored)(struct hc_mcp *m, const char *run, const char *name, const struct hc_stored *file,
                          struct hc_error *err);
    void (*forget)(struct hc_mcp *m, const char *run);

    /* Begin a program, p->spec. Look after a program: its output goes to hc_progress_print, and its end to
     * hc_program_ended; true: it has ended. Stop it, which then ends soon. Free what the host has of it. */
    int (*start)(struct hc_mcp *m, struct hc_program *p, struct hc_error *err);
    bool (*look)(struct hc_mcp *m, struct hc_program *p);
    void (*stop)(struct hc_mcp *m, struct hc_program *p);
    void (*clear)(struct hc_mcp *m, struct hc_program *p);

    /* The same for sessions: begin one with these inputs, by name; look after it, whose messages go to
     * hc_session_take, and its end to hc_session_gone. Send a request, one line of JSON
     * (hotcell-session(1)); interrupt its run; end it: in order, or (`now`) even while it runs. */
    int (*open)(struct hc_mcp *m, struct hc_session_place *s, const cJSON *inputs, struct hc_error *err);
    bool (*look_session)(struct hc_mcp *m, struct hc_session_place *s);
    void (*ask)(struct hc_mcp *m, struct hc_session_place *s, const char *line);
    void (*interrupt)(struct hc_mcp *m, struct hc_session_place *s);
    void (*close)(struct hc_mcp *m, struct hc_session_place *s, bool now);
    void (*clear_session)(struct hc_mcp *m, struct hc_session_place *s);
};

/* Most bytes of one long text, or of one list, in the structured part of an answer. Clients show a model the
 * text of an answer, its structured part, or both: long output is whole in the text alone, so that no model
 * gets it twice. */
#define HC_MCP_DATA ((size_t)8 << 10)

/* A call of a tool. */
struct hc_call {
    const struct hc_rpc *message; /* the request; borrowed */
    const cJSON *arguments; /* an object that was checked against the tool's table; borrowed; NULL: none */
};

/* ---- reply.c: each function sends one message. cJSON arguments are freed. `id`: JSON-RPC ID of
 * the request that is answered ---- */
void hc_mcp_reply(struct hc_mcp *m, const char *id, cJSON *result);
void hc_mcp_error(struct hc_mcp *m, const char *id, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Notify the client; `id`: the request that the notification is about; NULL: none. */
void hc_mcp_notify(struct hc_mcp *m, const char *id, const char *method, cJSON *params);
/* Answer a tool's call with an error message, which the model reads. */
void hc_mcp_refuse(struct hc_mcp *m, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Answer a tool's call with one sentence, and with the same as data for programs, which fits the tool's
 * schema and is freed; NULL: none. */
void hc_mcp_say(struct hc_mcp *m, const char *id, cJSON *data, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with a longer text. */
void hc_mcp_answer(struct hc_mcp *m, const char *id, const char *text, cJSON *data);

/* Build the content of answers. hc_mcp_add appends to a list, hc_mcp_put adds a member; both take the item,
 * and free it if that fails. The other two make content that is a text; {name: base64}. Owned by the caller;
 * NULL: no memory. */
void hc_mcp_add(cJSON *list, cJSON *item);
void hc_mcp_put(cJSON *object, const char *name, cJSON *value);
cJSON *hc_mcp_text(const char *text);
cJSON *hc_mcp_blob(const char *name, const struct hc_buf *bytes);
/* Append an item to a list of an answer's data, or free it if it takes more than `room` bytes. Returns the
 * room that is left; 0: the list is full. */
size_t hc_mcp_list_item(cJSON *list, cJSON *item, size_t room);
/* A file as data: {"path", "mime", "bytes"}; owned by the caller; NULL: no memory. */
cJSON *hc_mcp_file_data(const char *path, const char *mime, int64_t bytes);
/* {name: text}, the beginning of an answer's data; owned by the caller; NULL: no memory. */
cJSON *hc_mcp_data(const char *name, const char *text);

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
bool hc_mcp_knows(const char *date); /* is this a version of the protocol that the server speaks? */
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
void hc_tool_run_command(struct hc_mcp *m, const struct hc_call *call);
/* Store the files of the arguments "files" and "inputs" for a run or a session, and add names of variables
 * with paths to `inputs`. `bytes` gets their size, for the program's or session's input_bytes. */
int hc_programs_store_inputs(struct hc_mcp *m, const struct hc_call *call, const char *run, cJSON *inputs,
                             int64_t *bytes, struct hc_error *err);
/* Cancel the request with this JSON-RPC ID, if there is one. */
void hc_programs_cancel(struct hc_mcp *m, const char *id);
bool hc_programs_has(const struct hc_mcp *m, const char *id); /* whether the request waits for an answer */
void hc_programs_tend(struct hc_mcp *m);           /* handle ended programs, progress, and whose turn it is */
void hc_programs_end(struct hc_mcp *m);            /* stop all programs, and clear their places */
bool hc_program_waits(const struct hc_program *p); /* does it wait for its turn? */
/* The program has ended, with this manifest; NULL: it did not run, for the reason `why`. Its place is free
 * then. */
void hc_program_ended(struct hc_mcp *m, struct hc_program *p, const char *manifest, size_t len,
                      const char *why);

/* A call's timeout in ms; 0: it is invalid, and the call was answered. */
int64_t hc_programs_timeout(struct hc_mcp *m, const struct hc_call *call);
/* Append ,"name": and the argument's source text, if it is given. */
void hc_programs_copy(const struct hc_call *call, const char *name, struct hc_buf *out);

/* ---- session.c: the tools for sessions, each of which answers its call at once or later ---- */
void hc_tool_session_open(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_run(struct hc_mcp *m, const struct hc_call *call); /* also of a command */
void hc_tool_session_checkpoint(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_rollback(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_interrupt(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_list(struct hc_mcp *m, const struct hc_call *call);
void hc_tool_session_close(struct hc_mcp *m, const struct hc_call *call);
/* Send a request that runs no program to the session that the call names; the answer comes later. */
void hc_session_send(struct hc_mcp *m, const struct hc_call *call, const char *line);
/* Take a message of the session, one line of JSON. */
void hc_session_take(struct hc_mcp *m, struct hc_session_place *s, const char *text, size_t len);
/* The session has ended; `why`: what it said last, for people. Its place is free then. */
void hc_session_gone(struct hc_mcp *m, struct hc_session_place *s, const char *why);
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
