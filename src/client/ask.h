/* ask.h - one question to a daemon, for commands that are about jobs and not one: a request, and its answer
 * as JSON. */
#ifndef HC_CLIENT_ASK_H
#define HC_CLIENT_ASK_H

#include "client/http.h"
#include "json/json.h"

/* Where the daemon is: `named` as $HOTCELL_SOCKET would say it, or NULL: hc_place_find. */
int hc_ask_find(struct hc_place *p, const char *named, struct hc_error *err);

/* Is this caller, at that place, root over a Unix socket: the daemon's administrator, and perhaps no tenant?
 */
bool hc_ask_is_root(const struct hc_place *p);

/* `body` is JSON, NULL: none. 0: `out` is the answer, for the caller to finish, of which nothing is there if
 * it has no body. -1: a problem, or no answer: HC_EXIT_UNAVAILABLE with err->sys set if there is no daemon.
 */
int hc_ask(const struct hc_place *p, const char *method, const char *path, const char *body,
           struct hc_json *out, struct hc_error *err);

/* Text for a terminal: what controls it, or turns its lines round, becomes '?'. */
void hc_ask_plain(char *text);

#endif
