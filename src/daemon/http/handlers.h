/* handlers.h - one function per route, see routes.c. */
#ifndef HC_DAEMON_HTTP_HANDLERS_H
#define HC_DAEMON_HTTP_HANDLERS_H

#include "daemon/http/http.h"
#include "daemon/http/metrics.h"
#include "daemon/queue/maxima.h"

hc_handler hc_post_job, hc_list_jobs, hc_get_job, hc_delete_job, hc_cancel_job;
hc_handler hc_get_events, hc_get_file, hc_answer_job_tool;
hc_handler hc_post_session, hc_list_sessions, hc_get_session, hc_delete_session;
hc_handler hc_post_request, hc_interrupt_session;
hc_handler hc_get_session_file, hc_answer_session_tool;
hc_handler hc_list_policies, hc_get_policy, hc_get_card;
hc_handler hc_get_openapi, hc_get_health, hc_get_metrics;
hc_handler hc_admin_list_jobs, hc_admin_get_job, hc_admin_cancel_job, hc_admin_list_tenants, hc_admin_hold,
    hc_admin_drain;

/* x->task becomes the tenant's job of x->id; false: there is none. Another tenant's is answered as one that
 * does not exist. */
bool hc_find_job(struct hc_exchange *x, struct hc_tenant *t);

/* Which jobs a list is asked for (lists.c): the request's parameters, lent. -1: `why`. */
int hc_read_filter(const struct hc_exchange *x, struct hc_ledger_filter *out, struct hc_problem *why);
/* [job, ...], the newest first, without results. */
void hc_print_jobs(struct hc_dispatch *d, const struct hc_ledger_filter *which, struct hc_buf *out);

/* A session, with the result of its last run, or its manifest if it has ended. */
int hc_reply_session(struct hc_exchange *x, const struct hc_front_session *s, int status);

/* Stream the exchange's task as events, from its beginning to its end. */
int hc_stream_events(struct hc_exchange *x);

/* A file below the directory of results of this id. */
int hc_reply_file(struct hc_exchange *x);

#endif
