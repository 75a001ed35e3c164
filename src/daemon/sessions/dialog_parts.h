/* dialog_parts.h - private to dialogs.c and dialog_answers.c: what a session's process says. */
#ifndef HC_DAEMON_SESSIONS_DIALOG_PARTS_H
#define HC_DAEMON_SESSIONS_DIALOG_PARTS_H

#include "daemon/sessions/dialogs.h"

/* The request, if there is one, has its answer: one line of JSON, or `problem`. */
void hc_dialog_answer(struct hc_dialog *d, const char *text, size_t len, const struct hc_problem *problem);

/* Charge its tenant for the memory that it has had since the last time. */
void hc_dialog_meter(struct hc_dialog *d);

/* Take what there is to read. False: nothing more, for now or for ever. (dialog_answers.c) */
bool hc_dialog_read(struct hc_dialog *d);

#endif
