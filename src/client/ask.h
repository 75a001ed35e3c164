/* ask.h - one request to a daemon and its answer as JSON, for commands that list or manage jobs. */
#ifndef HC_CLIENT_ASK_H
#define HC_CLIENT_ASK_H

#include "client/http.h"
#include "json/json.h"

/* Fills `p` with the daemon's address: `named`, written as in $HOTCELL_SOCKET; if it is NULL, what
 * hc_daemon_address_find finds. */
int hc_ask_find(struct hc_daemon_address *p, const char *named, struct hc_error *err);

/* Does the daemon at `p` take this process for its administrator? It does so for root over a Unix socket,
 * who need not be a tenant. */
bool hc_ask_is_root(const struct hc_daemon_address *p);

/* Sends one request. `body` is JSON text, or NULL for a request without a body.
 * 0: `out` is the answer; the caller finishes it; its root is NULL if the answer has no body.
 * -1: the daemon answered with a problem, or did not answer (HC_EXIT_UNAVAILABLE with err->sys set: there is
 * no daemon). */
int hc_ask(const struct hc_daemon_address *p, const char *method, const char *path, const char *body,
           struct hc_json *out, struct hc_error *err);

#endif
