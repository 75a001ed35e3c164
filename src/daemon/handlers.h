/* handlers.h - one function per route, see routes.c. */
#ifndef HC_DAEMON_HANDLERS_H
#define HC_DAEMON_HANDLERS_H

#include "daemon/front.h"

hc_handler hc_post_job, hc_list_jobs, hc_get_job, hc_delete_job, hc_cancel_job;
hc_handler hc_get_events, hc_get_file;
hc_handler hc_get_openapi, hc_get_health, hc_get_metrics;

/* Stream the exchange's task as events, from its beginning to its end. */
int hc_stream_events(struct hc_exchange *x);

#endif
