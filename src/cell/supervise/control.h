/* control.h - what the supervisor receives from the cell: the packets of the control channel, and the
 * report of how the interpreter ended. */
#ifndef HC_CELL_SUPERVISE_CONTROL_H
#define HC_CELL_SUPERVISE_CONTROL_H

#include "cell/supervise/loop.h"

/* Handle the packets, or reports, that wait; with l->dead all that are left. At end of file
 * l->control_open or l->status_open becomes false. */
void hc_control_read(struct hc_loop *l);
void hc_control_read_status(struct hc_loop *l);

/* In a session: drop the reports of other processes than the run's. If they filled the channel, the first
 * process would end. */
void hc_control_drop_ends(struct hc_loop *l);

/* Discard all packets that were sent and not read yet. */
void hc_control_drop(struct hc_loop *l);

/* Send the waiting answers of tools, as far as the cell reads them. */
void hc_control_answer(struct hc_loop *l);

#endif
