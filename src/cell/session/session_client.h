/* session_client.h - private to session_talk.c and command_talk.c: the client of a session, and its requests
 * about commands. */
#ifndef HC_CELL_SESSION_SESSION_CLIENT_H
#define HC_CELL_SESSION_SESSION_CLIENT_H

#include "cell/session/session_out.h"
#include "cell/session_talk.h"

/* The client of a session. */
struct hc_session_client {
    const struct hc_session_talk *t; /* borrowed */
    struct hc_session *session;      /* owned */
    struct hc_buf in;                /* bytes that were read, but not served yet; owned */
    size_t scanned;                  /* bytes at the beginning of `in` that hold no newline */
    bool ended, failed;              /* the client sent end of file; hotcell failed */
    int line;                        /* number of the last request's line, from 1 */
    int wake;                        /* epoll over in_fd and out.fd; owned */
    struct hc_outlet out;            /* answers and output for the client */
    bool in_run;                     /* a request is served while a run goes on */
    char command[HC_COMMAND_ID];     /* the command that the request is about; "": none */
    bool no_context;                 /* the request is refused as it names a context that is not there */
};

/* An answer, {"event": NAME}; and write one, which is freed. */
cJSON *hc_client_event(const char *name);
void hc_client_answer(struct hc_session_client *c, cJSON *answer_taken);

/* {"event": "done", "request": NAME, "state": ...}. */
cJSON *hc_client_done(const struct hc_session_client *c, const char *request);

/* Make the context of this name, NULL: the first, the active one; while branches are open, it has to be that
 * already. These and the requests below return 0; 1: it was refused; -1: the session is over, or hotcell
 * failed. (context_talk.c) */
int hc_client_enter(struct hc_session_client *c, const char *name, struct hc_error *err);

/* Read the value of a request that is a name, or {"name", "context"}: the name, in the context that it is
 * about, which becomes the active one. NULL: `*rc` is what the request has to return. */
const char *hc_client_name_in_context(struct hc_session_client *c, const cJSON *node, int *rc,
                                      struct hc_error *err);

/* ---- context_talk.c: requests ---- */
int hc_client_new_context(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                          struct hc_error *err);
int hc_client_change_context(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                             struct hc_error *err); /* restart_context, end_context */
int hc_client_contexts(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err);

/* Read the spec of a run or a command: `job`, which the caller finishes in any case, and the policy with its
 * limits, whose other members are borrowed. 1: it was refused; -1: hotcell failed. */
int hc_client_read_run(struct hc_session_client *c, const struct hc_json *j, const cJSON *spec,
                       struct hc_job *job, struct hc_policy *policy, struct hc_error *err);

/* ---- command_talk.c: requests, which return what those of session_talk.c return ---- */
bool hc_client_is_start(const cJSON *first); /* the members of a request are those of a start */
bool hc_client_is_about_commands(const char *line);
int hc_client_start(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                    struct hc_error *err);
int hc_client_command_input(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                            struct hc_error *err);
int hc_client_command_signal(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                             struct hc_error *err);
int hc_client_commands(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err);

#endif
