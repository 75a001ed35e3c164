/* commands.h - private to cell/session: the commands that go on beside a session's runs.
 *
 * The cell's starter makes them (wire/starter.h), and pid 1, whose children they are, tells how they end. The
 * launcher has the other ends of their pipes in an epoll of its own, which is in the session's loop, so that
 * commands are served during runs and between them. What they print is bounded by the client's reading and by
 * their limits; no byte of them is more than output. */
#ifndef HC_CELL_SESSION_COMMANDS_H
#define HC_CELL_SESSION_COMMANDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hc_session;
struct hc_commands;

/* If the policy has commands and the owner takes their events: make the socket for the starter, and have the
 * supervisor send its other end with GO. To be called before the interpreter has started. */
int hc_commands_open(struct hc_session *s, struct hc_error *err);
bool hc_commands_ready(const struct hc_session *s); /* there is a starter, or there can be no commands */
void hc_commands_given(struct hc_session *s);       /* the interpreter has the socket: close our copy */

/* Note that a run begins; say whether a command went on beside it at any time. */
void hc_commands_begin_run(struct hc_session *s);
bool hc_commands_were_beside(const struct hc_session *s);

/* Handle commands that have ended. To be called after each turn of the session's loop. */
void hc_commands_tend(struct hc_session *s);

/* Whether the process is the starter or a command, or below one of these. */
bool hc_commands_spare(struct hc_session *s, pid_t pid);

/* CPU time of all commands so far, in us. */
void hc_commands_cpu(const struct hc_session *s, int64_t *user_us, int64_t *system_us);

/* Kill all commands, with this reason (static). */
void hc_commands_kill(struct hc_session *s, const char *why);

/* The cell is dead: tell of the ends of all commands. */
void hc_commands_close(struct hc_session *s, const char *why);
void hc_commands_finish(struct hc_session *s); /* free s->commands */

#endif
