/* maxima.h - comparing what a request asks for with what its tenant may have. The worker that runs the job
 * compares again, as policies may have changed since. */
#ifndef HC_DAEMON_QUEUE_MAXIMA_H
#define HC_DAEMON_QUEUE_MAXIMA_H

#include "base/buf.h"
#include "daemon/process/problem.h"
#include "daemon/tenants/tenant.h"

struct hc_dispatch;
struct hc_task;

/* What the front has to know of a request that it accepts. */
struct hc_checked {
    int64_t memory;              /* limits.memory of its job, in bytes */
    bool has_tools;              /* the request has tools whose calls the client answers */
    char policy[HC_TENANT_NAME]; /* name of the policy that the request asks for */
    int64_t life_ms;             /* limits.session_life, in ms */
    char *labels;                /* of a session: its labels, JSON; owned; NULL: none */
};

/* Check the body of a request for a job, or (`session`) for a session, and whether this tenant may have it.
 * The front parses the body only to refuse errors early, with line and column; the worker parses it again.
 * -1: the request is refused; `why` says why. */
int hc_check_request(struct hc_dispatch *d, const struct hc_buf *body, const struct hc_tenant *t,
                     bool session, struct hc_checked *out, struct hc_problem *why);

/* Check an accepted job again before it begins, as its tenant may be allowed less by now. If the
 * configuration has not changed since the last check, nothing is checked. -1: the job is refused; `why` says
 * why. */
int hc_check_again(struct hc_task *task, struct hc_problem *why);

/* Make the problem document for a policy that could not be loaded (`err`). If there is no such policy, name
 * those that the tenant may use, and not where the operator keeps them. */
void hc_set_no_policy(struct hc_problem *why, enum hc_problem_kind kind, const struct hc_tenant *t,
                      const char *name, const struct hc_error *err);

/* Make the problem document for a refusal by a quota, for now or for good. */
void hc_set_refusal(struct hc_problem *why, const struct hc_refusal *refusal);

#endif
