/* Finding jobs: one job of a tenant by its id; lists of one tenant's jobs, or of all jobs for an
 * administrator. */
#include "daemon/http/handlers.h"

#include "base/units.h"
#include "json/names.h"

#include <string.h>
#include <time.h>

#define MAX_LIST 1000 /* most jobs in one list */

/* A client cannot tell another tenant's job from one that does not exist. */
bool hc_find_job(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_task *task = hc_task_find(&x->dispatch->tasks, t, x->id);
    if (task)
        hc_task_ref(task);
    x->task = task ? task : hc_store_find(x->dispatch, t, x->id);
    return x->task != NULL;
}

/* ---- lists ---- */

static int read_since(const char *text, int64_t *since)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (!end || *end)
        return -1;
    *since = (int64_t)timegm(&tm) * 1000;
    return 0;
}

/* Can the text be a name? Other texts are refused: the client would take the empty list for an answer. */
static bool is_name(const char *text)
{
    return !text || hc_is_id(text, HC_TENANT_NAME - 1);
}

int hc_read_filter(const struct hc_exchange *x, struct hc_ledger_filter *out, struct hc_problem *why)
{
    const char *state = hc_exchange_query(x, "state"), *since = hc_exchange_query(x, "since"),
               *number = hc_exchange_query(x, "number");
    char known[HC_TASK_STATUS_LIST];
    *out = (struct hc_ledger_filter){.tenant = hc_exchange_query(x, "tenant"),
                                     .state = state ? hc_task_state_from(state) : -1,
                                     .status = hc_exchange_query(x, "status"),
                                     .policy = hc_exchange_query(x, "policy"),
                                     .most = MAX_LIST};
    if (state && out->state < 0)
        hc_problem_set(why, HC_PROBLEM_REQUEST, "state: expected " HC_TASK_STATE_NAMES);
    else if (out->status && !hc_task_is_status(out->status))
        hc_problem_set(why, HC_PROBLEM_REQUEST, "status: expected %s", hc_task_status_list(known));
    else if (since && read_since(since, &out->since) < 0)
        hc_problem_set(why, HC_PROBLEM_REQUEST, "since: expected a time such as 2026-11-20T08:00:00Z");
    else if (number && (hc_parse_int(number, &out->most) < 0 || out->most < 1 || out->most > MAX_LIST))
        hc_problem_set(why, HC_PROBLEM_REQUEST, "number: expected 1 to %d", MAX_LIST);
    else if (!is_name(out->tenant) || !is_name(out->policy))
        hc_problem_set(why, HC_PROBLEM_REQUEST, "expected a name: letters, digits, '.', '_' or '-'");
    else
        return 0;
    return -1;
}

static bool fits_filter(const struct hc_ledger_filter *w, const struct hc_task *task)
{
    return (!w->tenant || strcmp(w->tenant, task->queued.tenant->name) == 0) &&
           (w->state < 0 || w->state == (int)task->state) &&
           (!w->status || strcmp(w->status, task->status) == 0) &&
           (!w->policy || strcmp(w->policy, task->policy) == 0) && task->accepted >= w->since;
}

void hc_print_jobs(struct hc_dispatch *d, const struct hc_ledger_filter *which, struct hc_buf *out)
{
    int count = 0;
    (void)hc_buf_str(out, "[");
    for (const struct hc_task *task = d->tasks.newest; task && count < which->most; task = task->older) {
        if (!fits_filter(which, task))
            continue;
        if (count++)
            (void)hc_buf_str(out, ", ");
        hc_task_print(task, false, out);
    }
    if (count < which->most)
        hc_store_list(d, which, count, out);
    (void)hc_buf_str(out, "]");
}
