/* The routes of administrators: look at all tenants' jobs, end them, hold a tenant, drain the daemon. http.c
 * has checked that the caller is an administrator; x->admin is his name. Each order is one line in the log:
 * administrator, action, job or tenant, reason. */
#include "daemon/http/handlers.h"
#include "daemon/queue/hold.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "json/json.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ASKED ((size_t)4 << 20) /* most bytes of a job's request that are read to show it */

/* ---- reasons ---- */

/* Is the reason fit for a log and for terminals: one line of visible characters without control characters?
 */
static bool is_plain(const char *text)
{
    const size_t len = strlen(text);
    if (len > HC_ORDER_REASON)
        return false;
    for (size_t at = 0; at < len;) {
        const unsigned char *p = (const unsigned char *)text + at;
        int n = hc_utf8_sequence(p, len - at);
        if (n < 0 || hc_is_unseen(hc_utf8_decode(p, n)))
            return false;
        at += (size_t)n;
    }
    return true;
}

static int take_reason(const struct hc_json *j, char out[HC_ORDER_REASON + 1], struct hc_problem *why)
{
    const cJSON *node = cJSON_IsObject(j->root) ? j->root->child : NULL;
    bool empty = cJSON_IsObject(j->root) && !node;
    bool fits = node && !node->next && strcmp(node->string, "reason") == 0 && cJSON_IsString(node) &&
                is_plain(node->valuestring);
    if (fits)
        (void)snprintf(out, HC_ORDER_REASON + 1, "%s", node->valuestring);
    if (fits || empty)
        return 0;
    hc_problem_set(why, HC_PROBLEM_REQUEST,
                   "expected nothing, or {\"reason\": TEXT} with one line of at most %d bytes, in which all "
                   "characters can be seen",
                   HC_ORDER_REASON);
    return -1;
}

/* Reads the reason from the body, which is empty, {} or {"reason": "..."}. */
static int read_reason(const struct hc_exchange *x, char out[HC_ORDER_REASON + 1], struct hc_problem *why)
{
    struct hc_json j;
    struct hc_error err;
    *out = '\0';
    if (!x->body.len)
        return 0;
    if (hc_json_parse(&j, "request", x->body.data, x->body.len, &err) < 0) {
        hc_problem_set(why, HC_PROBLEM_REQUEST, "%s", err.text);
        return -1;
    }
    int rc = take_reason(&j, out, why);
    hc_json_finish(&j);
    return rc;
}

/* "admin root: cancels job ...: reason" */
static void log_order(const struct hc_exchange *x, const char *what, const char *whom, const char *reason)
{
    hc_info("admin %s: %s%s%s%s%s", x->admin, what, *whom ? " " : "", whom, *reason ? ": " : "", reason);
}

/* The tenant of a user without a configured tenant, by the name "uid-N". NULL: N is no uid or is not written
 * in the usual way, or the user with that uid is a configured tenant under another name. */
static struct hc_tenant *find_user(struct hc_tenants *all, const char *name)
{
    char *end;
    const unsigned long long uid = strtoull(name + strcspn(name, "0123456789"), &end, 10);
    if (*end || uid >= (uid_t)-1) /* for the kernel (uid_t)-1 means "no user" */
        return NULL;
    struct hc_tenant *t = hc_tenant_of_uid(all, (uid_t)uid);
    return t && strcmp(t->name, name) == 0 ? t : NULL;
}

/* The tenant of this name: one that is known, or a user of this host who has sent no job yet. */
static struct hc_tenant *find_tenant(const struct hc_exchange *x, const char *name)
{
    struct hc_tenant *t;
    for (size_t i = 0; (t = hc_tenant_at(x->dispatch->tenants, i)); i++)
        if (strcmp(t->name, name) == 0)
            return t;
    return x->dispatch->config.local == HC_LOCAL_OWN && hc_is_uid_tenant(name)
               ? find_user(x->dispatch->tenants, name)
               : NULL;
}

/* ---- jobs ---- */

/* Does an open session, listed as a running job, fit the filter? */
static bool is_wanted(const struct hc_front_session *s, const void *which)
{
    const struct hc_ledger_filter *w = which;
    return s->state != HC_FRONT_SESSION_ENDED && (w->state < 0 || w->state == HC_TASK_RUNNING) &&
           !w->status && (!w->tenant || strcmp(w->tenant, s->tenant->name) == 0) &&
           (!w->policy || strcmp(w->policy, s->policy) == 0) && s->created >= w->since;
}

int hc_admin_list_jobs(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    struct hc_ledger_filter which;
    struct hc_problem why;
    (void)t;
    if (hc_read_filter(x, &which, &why) < 0)
        return hc_reply_problem(x, &why, NULL);
    if (which.tenant && !find_tenant(x, which.tenant))
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such tenant");
    (void)hc_buf_str(&out, "{\"jobs\": ");
    hc_print_jobs(x->dispatch, &which, &out);
    (void)hc_buf_str(&out, ", \"sessions\": ");
    hc_front_sessions_print(x->http->sessions, is_wanted, &which, &out);
    (void)hc_buf_str(&out, "}\n");
    return hc_reply_json(x, 200, &out);
}

/* Sets x->task to the job with the id x->id, of any tenant. False: there is none. */
static bool find_job(struct hc_exchange *x)
{
    struct hc_task *task = hc_task_find_any(&x->dispatch->tasks, x->id);
    if (task)
        hc_task_ref(task);
    x->task = task ? task : hc_store_find_any(x->dispatch, x->id);
    return x->task != NULL;
}

static int no_such_job(struct hc_exchange *x)
{
    return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such job or session");
}

static void print_member(struct hc_buf *out, const struct hc_json *j, const char *name)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(j->root, name);
    size_t len = 0;
    const char *source = node ? hc_json_source(j, node, &len) : NULL;
    (void)hc_buf_fmt(out, "\"%s\": ", name);
    (void)hc_buf_add(out, source ? source : "null", source ? len : 4);
}

/* Prints what the job's sender asked for, as long as the request is kept; the manifest of an ended job has
 * it, too. */
static void print_asked(const struct hc_task *task, struct hc_buf *out)
{
    hc_autobuf body = {0};
    struct hc_json j;
    struct hc_error ignored;
    if (task->body_fd < 0 || task->body_len > MAX_ASKED || lseek(task->body_fd, 0, SEEK_SET) < 0 ||
        hc_read_all(task->body_fd, &body, MAX_ASKED, &ignored) < 0 || !body.len ||
        hc_json_parse(&j, "request", body.data, body.len, &ignored) < 0)
        return;
    (void)hc_buf_str(out, ", \"asked\": {");
    print_member(out, &j, "policy");
    (void)hc_buf_str(out, ", ");
    print_member(out, &j, "limits");
    (void)hc_buf_str(out, ", ");
    print_member(out, &j, "labels");
    (void)hc_buf_str(out, "}");
    hc_json_finish(&j);
}

/* Prints the process that builds and holds the job's cell. */
static void print_worker(const struct hc_exchange *x, struct hc_buf *out)
{
    const struct hc_dispatch *d = x->dispatch;
    for (size_t i = 0; i < d->worker_count; i++)
        if (d->workers[i].task == x->task)
            (void)hc_buf_fmt(out, ", \"worker_pid\": %lld", (long long)d->workers[i].pid);
}

static int reply_job(struct hc_exchange *x, int status, bool whole)
{
    hc_autobuf out = {0};
    hc_task_print_open(x->task, whole, &out);
    if (whole) {
        print_worker(x, &out);
        print_asked(x->task, &out);
    }
    (void)hc_buf_str(&out, "}\n");
    return hc_reply_json(x, status, &out);
}

int hc_admin_get_job(struct hc_exchange *x, struct hc_tenant *t)
{
    const struct hc_front_session *s = hc_front_session_find_any(x->http->sessions, x->id);
    (void)t;
    if (s && s->state != HC_FRONT_SESSION_ENDED)
        return hc_reply_session(x, s, 200);
    return find_job(x) ? reply_job(x, 200, true) : no_such_job(x);
}

/* Cancels a job or a session. The reason appears in its manifest, or in its problem if it has not run. */
static int cancel_job_or_session(struct hc_exchange *x, struct hc_front_session *s, const char *reason)
{
    char why[HC_ORDER_REASON + 64], whom[HC_JOB_ID + HC_TENANT_NAME + 16];
    const struct hc_tenant *of = s ? s->tenant : x->task->queued.tenant;
    (void)snprintf(why, sizeof why, "cancelled by the administrator%s%s", *reason ? ": " : "", reason);
    (void)snprintf(whom, sizeof whom, "%s of %s", x->id, of->name);
    log_order(x, s ? "cancels session" : "cancels job", whom, reason);
    if (s) {
        hc_front_session_cancel(s, "administrator", why);
        s = hc_front_session_find_any(x->http->sessions,
                                      x->id); /* a session that had not begun is forgotten at once */
        return s ? hc_reply_session(x, s, 202) : no_such_job(x);
    }
    hc_dispatch_cancel(x->dispatch, x->task, why);
    return reply_job(x, 202, false);
}

int hc_admin_cancel_job(struct hc_exchange *x, struct hc_tenant *t)
{
    char reason[HC_ORDER_REASON + 1];
    struct hc_problem why;
    struct hc_front_session *s = hc_front_session_find_any(x->http->sessions, x->id);
    (void)t;
    if (read_reason(x, reason, &why) < 0)
        return hc_reply_problem(x, &why, NULL);
    if (s && s->state != HC_FRONT_SESSION_ENDED)
        return cancel_job_or_session(x, s, reason);
    if (!find_job(x))
        return no_such_job(x);
    return hc_task_ended(x->task) ? reply_job(x, 200, false) : cancel_job_or_session(x, NULL, reason);
}

/* ---- tenants ---- */

static void print_tenant(const struct hc_exchange *x, const struct hc_tenant *t, struct hc_buf *out)
{
    const struct hc_dispatch *d = x->dispatch;
    (void)hc_buf_fmt(out,
                     "{\"tenant\": \"%s\", \"held\": %s, \"admin\": %s, \"removed\": %s, \"running\": %lld, "
                     "\"running_most\": %lld, \"queued\": %lld, \"queued_most\": %lld, \"sessions\": %lld, "
                     "\"sessions_most\": %lld, \"stored_bytes\": %lld, \"hold\": ",
                     t->name, hc_is_held(&t->hold) ? "true" : "false", t->admin ? "true" : "false",
                     t->removed ? "true" : "false", (long long)t->running,
                     (long long)hc_queue_most_running(d->queue, t), (long long)t->queued,
                     (long long)t->quota.queued, (long long)t->sessions, (long long)t->quota.sessions,
                     (long long)t->stored_bytes);
    hc_hold_print(t, out);
    (void)hc_buf_str(out, "}\n");
}

int hc_admin_list_tenants(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    (void)t;
    (void)hc_buf_str(&out, "{\"tenants\": [");
    for (size_t i = 0; (t = hc_tenant_at(x->dispatch->tenants, i)); i++) {
        if (i)
            (void)hc_buf_str(&out, ", ");
        print_tenant(x, t, &out);
    }
    (void)hc_buf_str(&out, "]}\n");
    return hc_reply_json(x, 200, &out);
}

/* Tells the clients of the tenant's waiting jobs that the tenant is held, or not any more. */
static void tell_hold(struct hc_dispatch *d, const struct hc_tenant *t)
{
    for (struct hc_task *task = d->tasks.newest; task; task = task->older) {
        if (task->queued.tenant != t || task->state != HC_TASK_QUEUED)
            continue;
        hc_task_tell_hold(task);
        hc_task_wake(task);
    }
}

int hc_admin_hold(struct hc_exchange *x, struct hc_tenant *t)
{
    const bool held = !x->route->undo;
    char reason[HC_ORDER_REASON + 1];
    struct hc_problem why;
    hc_autobuf out = {0};
    if (read_reason(x, reason, &why) < 0)
        return hc_reply_problem(x, &why, NULL);
    t = find_tenant(x, x->id);
    if (!t)
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such tenant");
    hc_hold_set(t, held ? x->admin : NULL, reason, hc_wall_ms());
    tell_hold(x->dispatch, t);
    log_order(x, held ? "holds tenant" : "releases tenant", t->name, reason);
    hc_dispatch_start_jobs(x->dispatch);
    print_tenant(x, t, &out);
    return hc_reply_json(x, 200, &out);
}

/* ---- the daemon ---- */

int hc_admin_drain(struct hc_exchange *x, struct hc_tenant *t)
{
    const bool paused = !x->route->undo;
    char reason[HC_ORDER_REASON + 1];
    struct hc_problem why;
    hc_autobuf out = {0};
    struct hc_dispatch *d = x->dispatch;
    (void)t;
    if (read_reason(x, reason, &why) < 0)
        return hc_reply_problem(x, &why, NULL);
    d->paused = paused;
    log_order(x, paused ? "drains the daemon" : "resumes the daemon", "", reason);
    (void)hc_buf_fmt(&out, "{\"draining\": %s, \"running\": %lld, \"queued\": %lld, \"sessions\": %zu}\n",
                     d->paused || d->draining ? "true" : "false", (long long)hc_queue_running(d->queue),
                     (long long)hc_queue_waiting(d->queue), x->http->sessions->open);
    return hc_reply_json(x, 200, &out);
}
