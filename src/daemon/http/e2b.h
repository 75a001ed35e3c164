/* e2b.h - what the files of E2B's dialect share: the sandbox of a request, its answers, and asking a sandbox,
 * which is a session of the tenant. */
#ifndef HC_DAEMON_HTTP_E2B_H
#define HC_DAEMON_HTTP_E2B_H

#include "base/hash.h"
#include "daemon/http/http.h"
#include "daemon/queue/maxima.h"

#define HC_E2B_START "e2b-start" /* the checkpoint of a sandbox from before its first run */

/* The tenant of the sandbox that the request is to, by its token; x->sandbox is set. NULL: `why`. */
struct hc_tenant *hc_e2b_tenant(struct hc_exchange *x, struct hc_problem *why);

/* The token of a sandbox, which its ID and a key of this daemon make: nothing has to be kept for it. */
void hc_e2b_token(const struct hc_http *h, const char *id, char out[HC_SHA256_HEX]);

/* Answer with an error of Connect, in the form of the route. */
int hc_e2b_reply_code(struct hc_exchange *x, int status, const char *code, const char *message);

/* Answer with a problem in the form of the route's dialect. */
int hc_e2b_reply_problem(struct hc_exchange *x, const struct hc_problem *p);

/* Answer why a request could not be translated (wire/e2b.h). */
int hc_e2b_reply_untranslated(struct hc_exchange *x, const struct hc_error *err);

/* Answer that this part of E2B's API is not there. */
int hc_e2b_reply_missing(struct hc_exchange *x, const char *what);

/* Send a request to the sandbox, one line of JSON, or wait for the request that it answers. True: x->task is
 * the request. False: `*rc` is what the handler has to return; it is called again if it has to wait. */
bool hc_e2b_ask(struct hc_exchange *x, struct hc_front_session *s, const char *name,
                const struct hc_buf *line, bool stream, int *rc);

/* Wait for the request that the session answers, if there is one: the handler is called again. False: there
 * is none. */
bool hc_e2b_waits(struct hc_exchange *x, const struct hc_front_session *s);

/* The sandbox that the request is to, x->sandbox; NULL: it takes no requests (any more), which is answered,
 * and `*rc` is what the handler has to return. */
struct hc_front_session *hc_e2b_sandbox(struct hc_exchange *x, const struct hc_tenant *t, int *rc);

/* The body, never NULL. */
static inline const char *hc_e2b_body(const struct hc_exchange *x)
{
    return x->body.data ? x->body.data : "";
}

/* ---- handlers ---- */

hc_handler hc_e2b_post_sandbox, hc_e2b_list, hc_e2b_get, hc_e2b_delete, hc_e2b_set_timeout, hc_e2b_pause,
    hc_e2b_connect, hc_e2b_missing; /* e2b_routes.c */
hc_handler hc_e2b_post_execute, hc_e2b_list_contexts, hc_e2b_post_context, hc_e2b_delete_context,
    hc_e2b_restart_context, hc_e2b_health; /* e2b_run.c */

#endif
