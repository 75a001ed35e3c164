/* tools.h - the tools of a running job: each call is checked, run by a command of the host or by the
 * client, answered, and accounted for.
 *
 * The calls never block the supervisor's loop: one descriptor (hc_toolbox_fd) says when there is work. A
 * call from the cell is untrusted: its name, size, rate, budget, schema and paths are checked before a
 * command runs. */
#ifndef HC_CELL_TOOLS_H
#define HC_CELL_TOOLS_H

#include "job/tool_call.h"
#include "manifest/denial.h"

struct hc_toolbox;

/* Everything passed is borrowed. `client_fd`: stream socket to the client that answers calls of tools
 * without a command; -1: none. `ahead`: see base/clock.h. HC_EXIT_CONFIG if a tool has neither a command
 * nor a client, or its command does not exist. */
int hc_toolbox_new(struct hc_toolbox **out, const struct hc_tools *tools, int client_fd, int64_t ahead,
                   struct hc_tool_log *log, struct hc_denials *denials, struct hc_error *err);

/* When this descriptor, owned by the toolbox, is readable, call hc_toolbox_work. */
int hc_toolbox_fd(const struct hc_toolbox *tb);
void hc_toolbox_work(struct hc_toolbox *tb);

/* Take a call from the cell: the payload of HC_FRAME_TOOL_CALL. -1: the call breaks the protocol. */
int hc_toolbox_call(struct hc_toolbox *tb, const char *text, size_t len, struct hc_error *err);

/* Send the waiting answers to the cell. Returns true if some are left because the cell does not read them. */
bool hc_toolbox_send(struct hc_toolbox *tb, int control_fd);

/* Kill the commands of running calls: the cell no longer waits for answers. */
void hc_toolbox_stop(struct hc_toolbox *tb);

/* Kill the commands of running calls, and wait until they have ended. */
void hc_toolbox_stop_and_wait(struct hc_toolbox *tb);

/* After hc_toolbox_stop_and_wait: prepare for the next run of a session. Its calls are counted from zero, and
 * logged in `log` and `denials`. */
void hc_toolbox_renew(struct hc_toolbox *tb, struct hc_tool_log *log, struct hc_denials *denials);

/* hc_toolbox_stop_and_wait, then free. NULL is fine. */
void hc_toolbox_free(struct hc_toolbox *tb);

#endif
