/* contexts.h - the contexts of a session as the front knows them: the list that came with the last answer of
 * the session's process about contexts. */
#ifndef HC_DAEMON_SESSIONS_CONTEXTS_H
#define HC_DAEMON_SESSIONS_CONTEXTS_H

#include "daemon/sessions/sessions.h"

/* The session waits for its first run, and has one context. */
void hc_front_contexts_begin(struct hc_front_session *s);

/* Take over the list of an answer of the process, if it has one. */
void hc_front_contexts_take(struct hc_front_session *s, const cJSON *answer);

/* The context of this name, {"name", "workdir"}; borrowed. NULL: there is none. */
const cJSON *hc_front_context_find(const struct hc_front_session *s, const char *name);

/* The session was asked for a run in this context; NULL: the first. */
void hc_front_context_runs(struct hc_front_session *s, const char *name);

/* If a run goes on in this context, interrupt it: it ends with the context, or is undone by its restart.
 * False: there is no such run. */
bool hc_front_context_stop(struct hc_front_session *s, const char *name);

#endif
