/* maxima.h - what a request asks for, held against what its sender may have. Whoever runs the job does so
 * again, as policies may have changed since. */
#ifndef HC_DAEMON_QUEUE_MAXIMA_H
#define HC_DAEMON_QUEUE_MAXIMA_H

#include "base/buf.h"
#include "daemon/process/problem.h"
#include "daemon/tenants/tenant.h"

struct hc_dispatch;
struct hc_task;

/* What the front has to know of a request that it takes. */
struct hc_checked {
    int64_t memory; /* bytes that its job may use */
    bool has_tools; /* that the client answers */
    char policy[HC_TENANT_NAME];
};

/* Is the body of a request a job, or what a session begins with, that this tenant may have? Parsed only to be
 * refused early, with line and column: whoever runs it does so again. -1: `why`. */
int hc_check_request(struct hc_dispatch *d, const struct hc_buf *body, const struct hc_tenant *t,
                     bool session, struct hc_checked *out, struct hc_problem *why);

/* The same of a job that was accepted before and is about to begin: what its tenant may have is perhaps less
 * by now. Nothing is looked at if the configuration is the one that it was accepted under. -1: `why`. */
int hc_check_again(struct hc_task *task, struct hc_problem *why);

/* What a quota refuses: for now, or for good. */
void hc_set_refusal(struct hc_problem *why, const struct hc_refusal *refusal);

#endif
