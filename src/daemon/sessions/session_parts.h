/* session_parts.h - private to sessions.c and session_answers.c: what a session's process says. */
#ifndef HC_DAEMON_SESSIONS_SESSION_PARTS_H
#define HC_DAEMON_SESSIONS_SESSION_PARTS_H

#include "daemon/sessions/sessions.h"

/* The request, if there is one, has its answer: one line of JSON, or `problem`. */
void hc_front_session_answer(struct hc_front_session *s, const char *text, size_t len,
                             const struct hc_problem *problem);

/* Charge its tenant for the memory that it has had since the last time. */
void hc_front_session_meter(struct hc_front_session *s);

/* Take what there is to read. False: nothing more, for now or for ever. (session_answers.c) */
bool hc_front_session_read(struct hc_front_session *s);

#endif
