#include "daemon/queue/store.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "daemon/queue/dispatch.h"
#include "manifest/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_MS 60000 /* milliseconds between two searches for jobs that are too old */

/* ---- to the ledger ---- */

int hc_store_promise(struct hc_dispatch *d, const struct hc_task *task, char known[65], bool *same,
                     struct hc_error *err)
{
    enum hc_accepted what = HC_ACCEPTED;
    hc_autobuf spec = {0};
    if (lseek(task->body_fd, 0, SEEK_SET) < 0)
        return hc_fail(err, errno, "keep the request");
    if (hc_read_all(task->body_fd, &spec, task->body_len, err) < 0)
        return hc_ctx(err, "keep the request");
    const struct hc_ledger_job job = {
        .id = task->queued.id,
        .tenant = task->queued.tenant->name,
        .key = task->key,
        .body_sha256 = task->key ? task->body_sha256 : NULL,
        .spec = spec.data ? spec.data : "",
        .spec_len = spec.len,
        .accepted = task->accepted,
        .policy = task->policy,
    };
    if (hc_ledger_accept(d->ledger, &job, &what, known, err) < 0)
        return -1;
    *same = what == HC_ACCEPTED_SAME;
    return what == HC_ACCEPTED ? 0 : 1;
}

int hc_store_start(struct hc_dispatch *d, const struct hc_task *task, struct hc_error *err)
{
    return task->promised ? hc_ledger_start(d->ledger, task->queued.id, task->started, err) : 0;
}

int hc_store_put_back(struct hc_dispatch *d, const struct hc_task *task, struct hc_error *err)
{
    return task->promised ? hc_ledger_unstart(d->ledger, task->queued.id, err) : 0;
}

static enum hc_job_state ledger_state(const struct hc_task *task)
{
    if (task->state == HC_TASK_FAILED && task->problem.kind == HC_PROBLEM_LOST)
        return HC_JOB_UNKNOWN;
    if (task->state == HC_TASK_FAILED && task->problem.kind == HC_PROBLEM_CANCELLED)
        return HC_JOB_CANCELLED;
    return HC_JOB_DONE;
}

int hc_store_end(struct hc_dispatch *d, const struct hc_task *task, const struct hc_usage *used)
{
    struct hc_error err;
    hc_autobuf problem = {0};
    bool done = task->state == HC_TASK_DONE;
    if (!done)
        hc_problem_print(&task->problem, NULL, task->manifest, &problem);
    const struct hc_ledger_job job = {
        .id = task->queued.id,
        .tenant = task->queued.tenant->name,
        .state = ledger_state(task),
        .status = task->status,
        .policy = task->policy,
        .reason = task->reason,
        .manifest = done ? task->manifest : problem.data,
        .manifest_len = done ? task->manifest_len : problem.len,
        .attempts = task->started != 0,
        .accepted = task->accepted,
        .started = task->started,
        .finished = task->finished,
        .used = *used,
    };
    int rc = task->promised ? hc_ledger_finish(d->ledger, &job, &err) : hc_ledger_note(d->ledger, &job, &err);
    if (rc < 0)
        hc_warn("job %s: %s", task->queued.id, err.text);
    return rc;
}

void hc_store_forget(struct hc_dispatch *d, const struct hc_task *task)
{
    struct hc_error err;
    bool found;
    if (hc_ledger_forget(d->ledger, task->queued.tenant->name, task->queued.id, &found, &err) < 0)
        hc_warn("job %s: %s", task->queued.id, err.text);
}

/* ---- from the ledger ---- */

static int copy_text(char **out, size_t *len, const char *text, size_t text_len)
{
    *out = malloc(text_len + 1);
    if (!*out)
        return -1;
    memcpy(*out, text, text_len);
    (*out)[text_len] = '\0';
    *len = text_len;
    return 0;
}

/* Restores the problem of an ended job: the one that was written down, or the unknown outcome. */
static void restore_problem(struct hc_task *task, const struct hc_ledger_job *row)
{
    if (row->manifest &&
        hc_problem_parse(&task->problem, row->manifest, row->manifest_len, &task->manifest) == 0) {
        task->manifest_len = task->manifest ? strlen(task->manifest) : 0;
        return;
    }
    bool lost = row->state == HC_JOB_UNKNOWN;
    hc_problem_set(&task->problem, lost ? HC_PROBLEM_LOST : HC_PROBLEM_CANCELLED, "%s",
                   lost ? "the daemon ended while the job ran" : "the job was cancelled while it waited");
    task->problem.retry = lost ? HC_RETRY_UNKNOWN : HC_RETRY_NOT_STARTED;
}

/* Fills a task with an ended job from the ledger. */
static int fill_task(struct hc_task *task, const struct hc_ledger_job *row)
{
    bool failed = hc_ledger_shown(row) == HC_TASK_FAILED;
    task->state = failed ? HC_TASK_FAILED : HC_TASK_DONE;
    task->accepted = row->accepted;
    task->started = row->started;
    task->finished = row->finished;
    task->outcome.bytes = row->used.bytes;
    task->outcome.cpu_us = row->used.cpu_us;
    (void)snprintf(task->policy, sizeof task->policy, "%s", row->policy ? row->policy : "");
    (void)snprintf(task->status, sizeof task->status, "%s",
                   row->status ? row->status : HC_STATUS_NAME_UNKNOWN);
    hc_task_set_reason(task, row->reason ? row->reason : "");
    if (failed)
        restore_problem(task, row);
    else if (row->manifest)
        return copy_text(&task->manifest, &task->manifest_len, row->manifest, row->manifest_len);
    return 0;
}

/* The ended job of this id. `name`: of the tenant; NULL: of any tenant. */
static struct hc_task *find_ended(struct hc_dispatch *d, const char *name, const char *id)
{
    struct hc_ledger_job row;
    struct hc_error err;
    bool found = false;
    if (!*id || hc_ledger_get(d->ledger, name, id, &row, &found, &err) < 0 || !found ||
        row.state < HC_JOB_DONE)
        return NULL;
    struct hc_tenant *tenant = hc_tenant_by_name(d->tenants, row.tenant);
    struct hc_task *task = tenant ? hc_task_create(NULL, d, tenant, id) : NULL;
    if (!task || fill_task(task, &row) == 0)
        return task;
    hc_task_unref(task);
    return NULL;
}

struct hc_task *hc_store_find(struct hc_dispatch *d, struct hc_tenant *tenant, const char *id)
{
    return find_ended(d, tenant->name, id);
}

struct hc_task *hc_store_find_any(struct hc_dispatch *d, const char *id)
{
    return find_ended(d, NULL, id);
}

/* A list of jobs that is being printed. */
struct listing {
    struct hc_dispatch *dispatch; /* borrowed */
    struct hc_buf *out;           /* gets the list; borrowed */
    int count, most;              /* number of jobs printed so far; most jobs */
};

static int list_row(void *ctx, const struct hc_ledger_job *row)
{
    struct listing *l = ctx;
    if (row->state < HC_JOB_DONE)
        return 0; /* the job is in the table, from which it was listed before */
    struct hc_tenant *tenant = hc_tenant_by_name(l->dispatch->tenants, row->tenant);
    struct hc_task *task = tenant ? hc_task_create(NULL, l->dispatch, tenant, row->id) : NULL;
    if (!task)
        return 1;
    if (fill_task(task, row) == 0) {
        if (l->count++)
            (void)hc_buf_str(l->out, ", ");
        hc_task_print(task, false, l->out);
    }
    hc_task_unref(task);
    return l->count >= l->most;
}

void hc_store_list(struct hc_dispatch *d, const struct hc_ledger_filter *which, int count, struct hc_buf *out)
{
    struct listing l = {d, out, count, (int)which->most};
    struct hc_ledger_filter filter = *which;
    struct hc_error err;
    filter.most *= 2; /* rows of jobs that are in the table, too, are skipped */
    if (hc_ledger_list(d->ledger, &filter, list_row, &l, &err) < 0)
        hc_warn("%s", err.text);
}

/* ---- retention ---- */

static int forget_files(void *ctx, const struct hc_ledger_job *row)
{
    struct hc_dispatch *d = ctx;
    struct hc_tenant *tenant = hc_tenant_by_name(d->tenants, row->tenant);
    if (hc_dispatch_remove_results(d, row->id) < 0)
        return 1; /* the next sweep tries again */
    if (tenant)
        tenant->stored_bytes -= row->used.bytes;
    return 0;
}

bool hc_store_due(const struct hc_dispatch *d)
{
    return hc_ledger_noted(d->ledger) && !d->ledger_fails && !hc_queue_running(d->queue) &&
           !hc_queue_waiting(d->queue);
}

void hc_store_write(struct hc_dispatch *d)
{
    struct hc_error err;
    d->ledger_fails = hc_ledger_flush(d->ledger, &err) < 0;
    if (d->ledger_fails)
        hc_warn("%s", err.text);
}

void hc_store_tick(struct hc_dispatch *d, int64_t now)
{
    struct hc_error err;
    const struct hc_config *c = &d->config;
    hc_store_write(d);
    if (now < d->next_sweep)
        return;
    int rc =
        hc_ledger_sweep(d->ledger, hc_wall_ms() - c->retention_ms, c->retention_bytes, forget_files, d, &err);
    d->next_sweep =
        rc > 0 ? now : now + SWEEP_MS; /* rc > 0: the next tick removes more; clients come first */
    if (rc < 0)
        hc_warn("%s", err.text);
}

/* ---- the beginning ---- */

/* Puts a job that an earlier daemon has promised back into the queue. */
static int restore_job(void *ctx, const struct hc_ledger_job *row)
{
    struct hc_dispatch *d = ctx;
    struct hc_error err;
    struct hc_tenant *tenant = hc_tenant_by_name(d->tenants, row->tenant);
    struct hc_task *task = tenant ? hc_task_create(&d->tasks, d, tenant, row->id) : NULL;
    if (!task)
        return -1;
    task->detached = task->promised = true;
    task->accepted = row->accepted;
    task->key = row->key ? strdup(row->key) : NULL;
    (void)snprintf(task->policy, sizeof task->policy, "%s", row->policy ? row->policy : "");
    (void)snprintf(task->body_sha256, sizeof task->body_sha256, "%s",
                   row->body_sha256 ? row->body_sha256 : "");
    task->body_len = row->spec_len;
    task->body_fd = hc_sealed_memfd("hotcell-request", row->spec, row->spec_len, &err);
    if (task->body_fd < 0) {
        hc_warn("job %s: %s", task->queued.id, err.text);
        hc_task_drop(&d->tasks, task);
        return -1;
    }
    hc_request_memory_hold(&d->request_memory, tenant, (int64_t)task->body_len);
    hc_events_state(&task->events, "queued");
    hc_queue_restore(d->queue, &task->queued, hc_mono_ms());
    d->restored++;
    return 0;
}

static int count_lost(void *ctx, const struct hc_ledger_job *row)
{
    struct hc_dispatch *d = ctx;
    d->counters.lost++;
    hc_warn("job %s: the daemon ended while it ran: its outcome is unknown", row->id);
    return 0;
}

/* Charges a tenant for one of the last hours, as if all of it had been used at the hour's end, or now. */
static int charge_use(void *ctx, const struct hc_ledger_use *use)
{
    struct hc_dispatch *d = ctx;
    struct hc_tenant *tenant = hc_tenant_by_name(d->tenants, use->tenant);
    const struct hc_usage used = {.cpu_us = use->used.cpu_us, .kib_s = use->used.kib_s};
    int64_t ago = hc_wall_ms() - (use->hour + 3600000);
    if (tenant)
        hc_tenant_charge(tenant, &used, hc_mono_ms() - (ago > 0 ? ago : 0));
    return 0;
}

static int know_tenant(void *ctx, const struct hc_ledger_use *use)
{
    return hc_tenant_by_name(((struct hc_dispatch *)ctx)->tenants, use->tenant) ? 0 : 1;
}

static int count_use(struct hc_dispatch *d, struct hc_error *err)
{
    struct hc_tenant *t;
    int64_t longest = d->config.quota.window_ms;
    for (size_t i = 0; i < d->config.tenant_count; i++)
        if (d->config.tenants[i].quota.window_ms > longest)
            longest = d->config.tenants[i].quota.window_ms;
    if (hc_ledger_usage(d->ledger, NULL, 0, know_tenant, d, err) < 0 ||
        hc_ledger_usage(d->ledger, NULL, hc_wall_ms() - longest - 3600000, charge_use, d, err) < 0)
        return -1;
    for (size_t i = 0; (t = hc_tenant_at(d->tenants, i)); i++)
        if (hc_ledger_stored(d->ledger, t->name, &t->stored_bytes, err) < 0)
            return -1;
    return 0;
}

/* Removes results that no job in the ledger has: of jobs whose clients were waiting when an earlier daemon
 * was killed, which the ledger does not have, and of jobs with an unknown outcome, which have no manifest. */
static int remove_orphans(struct hc_dispatch *d, struct hc_error *err)
{
    int fd = fcntl(d->results_fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return hc_fail(err, errno, "list results");
    int rc = 0;
    for (const struct dirent *e; rc == 0 && (e = readdir(dir));) {
        struct hc_ledger_job row;
        bool found;
        if (e->d_name[0] == '.')
            continue;
        rc = hc_ledger_get(d->ledger, NULL, e->d_name, &row, &found, err);
        if (rc == 0 && (!found || row.state == HC_JOB_UNKNOWN))
            (void)hc_dispatch_remove_results(d, e->d_name);
    }
    (void)closedir(dir);
    return rc;
}

int hc_store_open(struct hc_dispatch *d, struct hc_error *err)
{
    if (hc_ledger_open(&d->ledger, HC_LEDGER_FILE, HC_LEDGER_WRITE, err) < 0 ||
        hc_ledger_recover(d->ledger, hc_wall_ms(), restore_job, count_lost, d, err) < 0 ||
        count_use(d, err) < 0 || remove_orphans(d, err) < 0)
        return -1;
    if (d->restored)
        hc_info("%lld jobs that were accepted before wait again", (long long)d->restored);
    return 0;
}

void hc_store_close(struct hc_dispatch *d)
{
    hc_ledger_close(d->ledger);
}
