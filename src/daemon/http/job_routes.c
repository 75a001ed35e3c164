/* Jobs over HTTP: clients send them, look at them and cancel them. */
#include "daemon/http/handlers.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/utf8.h"
#include "daemon/http/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KEY 255 /* most bytes of an idempotency key */
#define COPIES  2   /* copies of a manifest in memory while it is sent: one in the task, one in the answer */

/* ---- what the client wants ---- */

/* How a client wants a job to be run. */
struct wish {
    bool async, stream; /* answer once the job is accepted; answer with its events */
    const char *key;    /* idempotency key; NULL: none */
};

static int read_wish(const struct hc_exchange *x, struct wish *w, struct hc_problem *why)
{
    *w = (struct wish){
        .async = hc_has_word(hc_exchange_header(x, "Prefer"), "respond-async"),
        .stream = hc_wanted_events(x) != HC_EVENTS_NOT,
        .key = hc_exchange_header(x, "Idempotency-Key"),
    };
    if (w->key && (!*w->key || strlen(w->key) > MAX_KEY || !hc_utf8_valid(w->key, strlen(w->key), NULL))) {
        hc_problem_set(why, HC_PROBLEM_REQUEST, "Idempotency-Key: expected 1 to %d bytes of text", MAX_KEY);
        return -1;
    }
    return 0;
}

/* ---- a new job ---- */

/* If the tenant has used the key before, sets x->task to the key's job, or `why` to the conflict. False: the
 * key is new. */
static bool find_known(struct hc_exchange *x, const struct hc_tenant *t, const struct wish *w,
                       const char *sha256, struct hc_problem *why)
{
    struct hc_task *known = w->key ? hc_task_find_key(&x->dispatch->tasks, t, w->key) : NULL;
    if (!known)
        return false;
    if (strcmp(known->body_sha256, sha256) != 0) {
        hc_problem_set(why, HC_PROBLEM_CONFLICT,
                       "this Idempotency-Key was sent with another body, for job %s", known->queued.id);
        return true;
    }
    hc_task_ref(known);
    x->task = known;
    return true;
}

static struct hc_task *make_task(struct hc_exchange *x, struct hc_tenant *t, const struct wish *w,
                                 const char *sha256)
{
    struct hc_error err;
    struct hc_task *task = hc_task_create(&x->dispatch->tasks, x->dispatch, t, NULL);
    if (!task)
        return NULL;
    task->detached = w->async || w->key;
    task->key = w->key ? strdup(w->key) : NULL;
    (void)snprintf(task->body_sha256, sizeof task->body_sha256, "%s", sha256);
    task->body_len = x->body.len;
    task->body_fd = hc_sealed_memfd("hotcell-request", x->body.data, x->body.len, &err);
    if (task->body_fd < 0 || (w->key && !task->key)) {
        hc_warn("accept a job: %s", task->body_fd < 0 ? err.text : "out of memory");
        hc_task_drop(&x->dispatch->tasks, task);
        return NULL;
    }
    hc_buf_finish(&x->body);
    return task;
}

/* Accepts the job: x->task is set, or `why` says why it is not. */
static void accept_job(struct hc_exchange *x, struct hc_tenant *t, const struct wish *w,
                       struct hc_problem *why)
{
    struct hc_checked checked = {0};
    char sha256[HC_SHA256_HEX];
    if (hc_check_request(x->dispatch, &x->body, t, false, &checked, why) < 0)
        return;
    hc_sha256_hex(x->body.data, x->body.len, sha256);
    if (find_known(x, t, w, sha256, why))
        return;
    struct hc_task *task = make_task(x, t, w, sha256);
    if (!task) {
        hc_problem_set(why, HC_PROBLEM_BUSY, "out of memory or descriptors");
        why->retry_after = 1;
        return;
    }
    task->allowed_under = x->dispatch->configuration;
    task->queued.memory = checked.memory;
    task->has_tools = checked.has_tools;
    (void)snprintf(task->policy, sizeof task->policy, "%s", checked.policy);
    hc_task_ref(task);
    char known[HC_JOB_ID];
    if (hc_dispatch_submit(x->dispatch, task, known, why)) {
        x->task = task;
        return;
    }
    hc_task_unref(task);
    if (*known && why->kind == HC_PROBLEM_NONE && !(x->task = hc_store_find(x->dispatch, t, known)))
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "job %s cannot be read", known);
}

static int reply_result(struct hc_exchange *x)
{
    const struct hc_task *task = x->task;
    hc_autobuf out = {0};
    hc_exchange_hold_anyway(x, COPIES * task->manifest_len);
    if (task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &task->problem, task);
    (void)hc_buf_add(&out, task->manifest, task->manifest_len);
    return hc_reply_json(x, 200, &out);
}

static int reply_task(struct hc_exchange *x, int status, bool with_result)
{
    hc_autobuf out = {0};
    hc_task_print(x->task, with_result, &out);
    return hc_reply_json(x, status, &out);
}

static int take_job(struct hc_exchange *x, struct hc_tenant *t, const struct wish *w)
{
    struct hc_problem why = {0};
    if (!hc_dispatch_takes_jobs(x->dispatch, &why))
        return hc_reply_problem(x, &why, NULL);
    accept_job(x, t, w, &why);
    return x->task ? 0 : hc_reply_problem(x, &why, NULL);
}

void hc_take_job(struct hc_exchange *x, struct hc_tenant *t, struct hc_problem *why)
{
    const struct wish waits = {0};
    *why = (struct hc_problem){0};
    if (hc_dispatch_takes_jobs(x->dispatch, why))
        accept_job(x, t, &waits, why);
}

int hc_post_job(struct hc_exchange *x, struct hc_tenant *t)
{
    struct wish w;
    struct hc_problem why;
    if (read_wish(x, &w, &why) < 0)
        return hc_reply_problem(x, &why, NULL);
    if (!x->task) {
        int rc = take_job(x, t, &w);
        if (!x->task)
            return rc;
    }
    if (w.async)
        return reply_task(x, 202, false);
    if (w.stream)
        return hc_stream_events(x);
    return hc_task_ended(x->task) ? reply_result(x) : hc_exchange_suspend(x);
}

/* ---- known jobs ---- */

/* Finds the tenant's session with the id x->id. An ended session is found as a job instead. */
static struct hc_front_session *find_open_session(const struct hc_exchange *x, const struct hc_tenant *t)
{
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    return s && s->state != HC_FRONT_SESSION_ENDED ? s : NULL;
}

static int no_such_job(struct hc_exchange *x, const struct hc_tenant *t)
{
    if (find_open_session(x, t))
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND,
                             "there is no such job: it is a session that is open, at /v1/sessions/%s", x->id);
    return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such job");
}

int hc_get_job(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why;
    if (!hc_find_job(x, t))
        return no_such_job(x, t);
    if (!hc_exchange_hold(x, COPIES * x->task->manifest_len, &why))
        return hc_reply_problem(x, &why, NULL);
    return reply_task(x, 200, true);
}

int hc_get_events(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why;
    if (!hc_find_job(x, t))
        return no_such_job(x, t);
    if (!hc_exchange_hold(x, COPIES * x->task->manifest_len, &why))
        return hc_reply_problem(x, &why, NULL);
    return hc_stream_events(x);
}

/* Cancels a session; one that had not begun is forgotten at once. */
static int cancel_session(struct hc_exchange *x, struct hc_tenant *t, struct hc_front_session *s)
{
    hc_front_session_cancel(s, "tenant", "cancelled by its tenant");
    s = hc_front_session_find(x->http->sessions, t, x->id);
    return s ? hc_reply_session(x, s, 202) : no_such_job(x, t);
}

int hc_cancel_job(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_front_session *s = find_open_session(x, t);
    if (s)
        return cancel_session(x, t, s);
    if (!hc_find_job(x, t))
        return no_such_job(x, t);
    if (hc_task_ended(x->task))
        return reply_task(x, 200, false);
    hc_dispatch_cancel(x->dispatch, x->task, NULL);
    return reply_task(x, 202, false);
}

int hc_delete_job(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf nothing = {0};
    if (!hc_find_job(x, t))
        return no_such_job(x, t);
    if (!hc_task_ended(x->task)) {
        hc_dispatch_cancel(x->dispatch, x->task, NULL);
        return reply_task(x, 202, false);
    }
    hc_dispatch_forget(x->dispatch, x->task);
    return hc_reply_json(x, 204, &nothing);
}

int hc_list_jobs(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    struct hc_ledger_filter which;
    struct hc_problem why;
    if (hc_read_filter(x, &which, &why) < 0)
        return hc_reply_problem(x, &why, NULL);
    which.tenant = t->name; /* whatever the request names: tenants do not see each other's jobs */
    (void)hc_buf_str(&out, "{\"jobs\": ");
    hc_print_jobs(x->dispatch, &which, &out);
    (void)hc_buf_str(&out, "}\n");
    return hc_reply_json(x, 200, &out);
}
