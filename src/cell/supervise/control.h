/* control.h - what the supervisor hears from inside: the control channel's packets, and how the interpreter
 * ended. */
#ifndef HC_CELL_SUPERVISE_CONTROL_H
#define HC_CELL_SUPERVISE_CONTROL_H

#include "cell/supervise/loop.h"

/* Take what is there; once the cell is dead, all that will ever be. Closing shows in control_open,
 * status_open. */
void hc_control_read(struct hc_loop *l);
void hc_control_read_status(struct hc_loop *l);

/* Drop what has been sent and not read, whoever sent it. */
void hc_control_drop(struct hc_loop *l);

/* Send the answers of tools, as far as the cell reads them. */
void hc_control_answer(struct hc_loop *l);

#endif
