/* handlers.h - the functions that answer the routes of routes.c, and what several of them share. */
#ifndef HC_DAEMON_HTTP_HANDLERS_H
#define HC_DAEMON_HTTP_HANDLERS_H

#include "daemon/http/http.h"
#include "daemon/http/metrics.h"
#include "daemon/queue/maxima.h"

#include <sys/stat.h>

/* The handlers, each named after the method and the object of its route. */
hc_handler hc_post_job, hc_list_jobs, hc_get_job, hc_delete_job, hc_cancel_job;
hc_handler hc_post_run_code, hc_post_run_jupyter;
hc_handler hc_get_events, hc_get_file, hc_answer_job_tool;
hc_handler hc_post_session, hc_list_sessions, hc_get_session, hc_delete_session;
hc_handler hc_post_request, hc_interrupt_session;
hc_handler hc_post_session_input, hc_get_session_file, hc_answer_session_tool;
hc_handler hc_post_command, hc_list_commands, hc_get_command, hc_delete_command;
hc_handler hc_get_command_events, hc_post_command_input, hc_post_command_signal;
hc_handler hc_list_contexts, hc_post_context, hc_change_context;
hc_handler hc_list_volumes, hc_delete_volume;
hc_handler hc_post_upload, hc_list_uploads, hc_get_upload, hc_delete_upload, hc_finish_upload, hc_post_part;
hc_handler hc_list_policies, hc_get_policy, hc_get_card;
hc_handler hc_post_mcp, hc_get_mcp, hc_delete_mcp;
hc_handler hc_get_openapi, hc_get_health, hc_get_metrics;
hc_handler hc_admin_list_jobs, hc_admin_get_job, hc_admin_cancel_job, hc_admin_list_tenants, hc_admin_hold,
    hc_admin_drain;

/* Set x->task to the tenant's job with the id x->id. False: there is none, or it is another tenant's; clients
 * cannot tell these two cases apart. */
bool hc_find_job(struct hc_exchange *x, struct hc_tenant *t);

/* Accept the job in x->body, which its client waits for: x->task is set, or `why` says why it is not. */
void hc_take_job(struct hc_exchange *x, struct hc_tenant *t, struct hc_problem *why);

/* Open a regular file below the directory of results of the job `id`, whatever `path` says. -1: there is
 * none. */
int hc_open_result(struct hc_dispatch *d, const char *id, const char *path, struct stat *st);

/* Read the request's parameters for a list of jobs (lists.c); the texts in `out` are borrowed from the
 * request. -1: a parameter is wrong; `why` says which. */
int hc_read_filter(const struct hc_exchange *x, struct hc_ledger_filter *out, struct hc_problem *why);
/* Append the JSON list [job, ...] of the jobs that fit `which`, the newest first, without results. */
void hc_print_jobs(struct hc_dispatch *d, const struct hc_ledger_filter *which, struct hc_buf *out);

/* Answer with HTTP status `status`, the session and the result of its last run, or its manifest if it has
 * ended. Returns what the handler has to return, as hc_stream_events and hc_reply_file do. */
int hc_reply_session(struct hc_exchange *x, const struct hc_front_session *s, int status);

/* Answer that the tenant has no such session. Send {"NAME": body} to the session's process, which checks it
 * and reports errors; the body cannot name a file of this host. 0: x->task is the request; else what the
 * handler has to return. */
int hc_reply_no_session(struct hc_exchange *x);
int hc_ask_session(struct hc_exchange *x, struct hc_tenant *t, const char *name, const char *json,
                   size_t len);

/* The form of events that the header Accept asks for: no events; lines of JSON; Server-Sent Events. */
enum hc_event_form { HC_EVENTS_NOT, HC_EVENTS_LINES, HC_EVENTS_SSE };
enum hc_event_form hc_wanted_events(const struct hc_exchange *x);

/* Stream the exchange's task as events, from its beginning, or behind the header Last-Event-ID, to its end.
 */
int hc_stream_events(struct hc_exchange *x);

/* Take the body of a request for hc_post_part as it comes (upload_routes.c): begin it (-1: it is refused,
 * `why` says why); add bytes, or set x->refused if they are refused; end it, whether it is whole or not. */
int hc_part_begin(struct hc_exchange *x, struct hc_tenant *t, struct hc_problem *why);
void hc_part_add(struct hc_exchange *x, const char *data, size_t len);
void hc_part_end(struct hc_exchange *x);

/* End the session of an exchange's notebook, whose client is gone; free the notebook, and end its session if
 * that goes on (fusion_routes.c). */
void hc_notebook_cancel(struct hc_exchange *x);
void hc_notebook_end(struct hc_exchange *x);

/* Answer with the file x->rest below the directory of results of x->id. */
int hc_reply_file(struct hc_exchange *x);

#endif
