/* commands.h - the commands beside the runs of a session, as the front knows them from the messages of the
 * session's process (hotcell-session(1)). */
#ifndef HC_DAEMON_SESSIONS_COMMANDS_H
#define HC_DAEMON_SESSIONS_COMMANDS_H

#include "daemon/sessions/sessions.h"
#include "json/json.h"

#define HC_FRONT_COMMAND_EVENTS                                                                              \
    ((size_t)1 << 20)              /* most bytes of a command's output that are kept as events */
#define HC_FRONT_COMMANDS_ENDED 32 /* most ended commands of a session that are remembered */
#define HC_FRONT_COMMAND_ASKS   8  /* most requests about one command that wait for answers */

struct hc_front_command {
    char id[24];           /* "c1" */
    char *argv;            /* its arguments, as JSON; owned */
    char *exited;          /* its last event, as JSON; owned; NULL: it goes on */
    int64_t pid, started;  /* in the cell; ms since 1970; 0: it has not started yet */
    int64_t deadline;      /* when the front kills it (CLOCK_MONOTONIC, ms); 0: never */
    bool late;             /* the front has killed it then */
    int64_t printed[2];    /* bytes of standard output and standard error that have come of it */
    bool cut[2];           /* no more events of this stream are kept */
    struct hc_task *start; /* the request that starts it; a reference; NULL: it has been answered */
    struct hc_task *asks[HC_FRONT_COMMAND_ASKS]; /* requests in the order in which the process answers them */
    size_t ask_count;                            /* used entries of `asks`; references */
    struct hc_task *task;                        /* has its events, from the first to the last; a reference */
    struct hc_front_command *next;               /* the next one of the session */
};

/* Start a command, whose spec is the text `spec`, an object, with these arguments as JSON; it is killed after
 * `most_ms` milliseconds, 0: not by the front. The task is the caller's reference, and is answered with the
 * command; NULL: it is refused (`why`). */
struct hc_task *hc_front_command_start(struct hc_front_session *s, const char *spec, size_t len,
                                       const cJSON *argv, int64_t most_ms, struct hc_problem *why);

/* The command of this id. NULL: there is none. */
struct hc_front_command *hc_front_command_find(const struct hc_front_session *s, const char *id);

/* Send a request about a command that goes on: {NAME: {"id", members}}. As hc_front_command_start. */
struct hc_task *hc_front_command_ask(struct hc_front_session *s, struct hc_front_command *c, const char *name,
                                     const cJSON *members, struct hc_problem *why);

/* Forget a command that has ended. */
void hc_front_command_forget(struct hc_front_session *s, struct hc_front_command *c);

/* Append {"command_id", "state", ...}; all of them: {"commands": [...]}. */
void hc_front_command_print(const struct hc_front_command *c, struct hc_buf *out);
void hc_front_commands_print(const struct hc_front_session *s, struct hc_buf *out);

/* A message of the session's process about a command. The process has ended, and with it what it had not told
 * the end of: `why`. Commands whose time is over are killed. The session is forgotten. */
void hc_front_commands_take(struct hc_front_session *s, const cJSON *json, const char *line, size_t len);
void hc_front_commands_end(struct hc_front_session *s, const struct hc_problem *why);
void hc_front_commands_sweep(struct hc_front_session *s);
void hc_front_commands_forget(struct hc_front_session *s);

#endif
