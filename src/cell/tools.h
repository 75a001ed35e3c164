/* tools.h - the tools of a running job: each call is checked, run by a command of the host or by the client,
 * answered, and accounted for.
 *
 * All of it goes on beside the supervisor's loop and never holds it up: one descriptor tells when there is
 * something to do. What comes from the cell is anybody's; name, size, rate, budget, schema and paths are
 * looked at before anything runs. */
#ifndef HC_CELL_TOOLS_H
#define HC_CELL_TOOLS_H

#include "job/tool_call.h"
#include "manifest/denial.h"

struct hc_toolbox;

/* All is borrowed. `client_fd`: a stream socket over which calls without a command are answered; -1: none.
 * `ahead`: see base/clock.h. HC_EXIT_CONFIG if a tool has nobody to answer it, or no such command exists. */
int hc_toolbox_new(struct hc_toolbox **out, const struct hc_tools *tools, int client_fd, int64_t ahead,
                   struct hc_tool_log *log, struct hc_denials *denials, struct hc_error *err);

/* Readable: hc_toolbox_work. */
int hc_toolbox_fd(const struct hc_toolbox *tb);
void hc_toolbox_work(struct hc_toolbox *tb);

/* A call has come: the payload of HC_FRAME_TOOL_CALL. -1: it breaks the protocol. */
int hc_toolbox_call(struct hc_toolbox *tb, const char *text, size_t len, struct hc_error *err);

/* Send what there is of answers. Returns true if some are left because the cell does not read. */
bool hc_toolbox_send(struct hc_toolbox *tb, int control_fd);

/* Nobody waits for answers any more: what runs is killed. */
void hc_toolbox_stop(struct hc_toolbox *tb);

/* The same, and wait until it is gone. */
void hc_toolbox_rest(struct hc_toolbox *tb);

/* After a rest: for the next run of a session, whose calls are counted anew and noted there. */
void hc_toolbox_renew(struct hc_toolbox *tb, struct hc_tool_log *log, struct hc_denials *denials);

/* Rest for good. NULL is fine. */
void hc_toolbox_free(struct hc_toolbox *tb);

#endif
