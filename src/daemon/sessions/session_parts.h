/* session_parts.h - private to sessions.c and session_answers.c: reading what a session's process sends. */
#ifndef HC_DAEMON_SESSIONS_SESSION_PARTS_H
#define HC_DAEMON_SESSIONS_SESSION_PARTS_H

#include "daemon/sessions/sessions.h"

/* Answer the session's open request, if there is one, with one line of JSON, or with `problem`. */
void hc_front_session_answer(struct hc_front_session *s, const char *text, size_t len,
                             const struct hc_problem *problem);

/* Send one line to the session's process, to which a newline is added. */
void hc_front_session_send(struct hc_front_session *s, const char *line, size_t len);

/* Make a task of the session, in no table. The caller and `*place` each hold a reference. Answer a task with
 * `text`, one line of JSON, or with `problem`, and drop its reference. */
struct hc_task *hc_front_session_task(struct hc_front_session *s, struct hc_task **place);
void hc_front_task_answer(struct hc_task *task, const char *text, size_t len,
                          const struct hc_problem *problem);

/* Charge the session's tenant for its memory since the last call. */
void hc_front_session_meter(struct hc_front_session *s);

/* Read from the session's process and handle what it sends (session_answers.c). False: there is no more to
 * read, for now or for ever. */
bool hc_front_session_read(struct hc_front_session *s);

#endif
