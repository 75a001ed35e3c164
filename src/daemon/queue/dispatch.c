#include "daemon/queue/dispatch.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "daemon/queue/maxima.h"
#include "daemon/queue/volumes.h"
#include "manifest/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAX_MANIFEST ((size_t)1 << 28) /* most bytes of a manifest */
#define READ_CHUNK   65536             /* most bytes of output that are read at once */
#define PAUSE_RETRY  30 /* seconds that clients of a paused daemon are told to wait: its end is not known */

/* ---- the end ---- */

/* Figures are announced one by one, before the manifest that lists them. */
static void announce_figures(struct hc_task *task)
{
    cJSON *manifest = cJSON_ParseWithLength(task->manifest, task->manifest_len);
    const cJSON *figure;
    cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(manifest, "figures"))
    {
        char *text = cJSON_PrintUnformatted(figure);
        if (text)
            hc_events_json(&task->events, "figure", text, strlen(text));
        cJSON_free(text);
    }
    cJSON_Delete(manifest);
}

static void announce_end(struct hc_task *task)
{
    hc_events_end(&task->events);
    if (task->outcome.figures)
        announce_figures(task);
    if (task->state == HC_TASK_DONE) {
        hc_events_json(&task->events, "manifest", task->manifest, task->manifest_len);
    } else {
        hc_autobuf text = {0};
        hc_problem_print(&task->problem, task->queued.id, task->manifest, &text);
        if (text.len)
            hc_events_json(&task->events, "problem", text.data, text.len);
    }
    hc_events_state(&task->events, hc_task_state_name(task->state));
}

static void close_output(struct hc_dispatch *d, struct hc_task *task)
{
    for (int i = 0; i < 2; i++) {
        hc_reactor_remove(d->epoll, &task->output[i]);
        hc_close_fd(&task->output[i].fd);
    }
    hc_tool_link_close(&task->tools);
    hc_close_fd(&task->cancel_fd);
}

static void close_channels(struct hc_dispatch *d, struct hc_task *task)
{
    close_output(d, task);
    if (task->body_fd >= 0)
        hc_request_memory_let_go(&d->request_memory, task->queued.tenant, (int64_t)task->body_len);
    hc_close_fd(&task->body_fd);
}

/* Sets the status and the reason of an ended job, which lists show. */
static void set_status(struct hc_task *task)
{
    const bool done = task->state == HC_TASK_DONE;
    const char *status = HC_STATUS_NAME_FAILED;
    if (done)
        status = hc_status_name((enum hc_status)task->outcome.status);
    else if (task->problem.kind == HC_PROBLEM_LOST)
        status = HC_STATUS_NAME_UNKNOWN;
    else if (task->problem.kind == HC_PROBLEM_CANCELLED)
        status = HC_STATUS_NAME_CANCELLED;
    (void)snprintf(task->status, sizeof task->status, "%s", status);
    hc_task_set_reason(task, done ? task->outcome.reason : task->problem.detail);
}

static void finish_job(struct hc_dispatch *d, struct hc_task *task, enum hc_task_state state)
{
    bool ran = task->state == HC_TASK_RUNNING;
    task->state = state;
    set_status(task);
    task->finished = hc_wall_ms();
    const struct hc_outcome *o = &task->outcome;
    struct hc_usage used = {.cpu_us = o->cpu_us > 0 ? o->cpu_us : 0, .bytes = o->bytes};
    if (ran) {
        int64_t now = hc_mono_ms(), took = now - task->started_mono;
        used.kib_s = hc_kib_seconds(o->memory_peak > 0 ? o->memory_peak : 0, took);
        hc_queue_done(d->queue, &task->queued, took, &used, now);
        hc_histogram_add(&d->counters.queue, (task->started - task->accepted) * 1000);
        hc_histogram_add(&d->counters.total, (task->finished - task->accepted) * 1000);
    }
    close_channels(d, task);
    hc_figures_finish(&task->figures);
    announce_end(task);
    /* A job that could not be written into the ledger stays in memory. */
    bool kept = hc_store_end(d, task, &used) == 0;
    hc_task_ref(task); /* a waiter that is woken may drop the last reference */
    hc_task_wake(task);
    if (!task->waiters)
        hc_events_finish(&task->events);
    if (kept)
        hc_task_drop(&d->tasks, task);
    hc_task_unref(task);
}

static void fail_job(struct hc_dispatch *d, struct hc_task *task, enum hc_problem_kind kind, const char *text)
{
    hc_problem_set(&task->problem, kind, "%s", text);
    if (kind == HC_PROBLEM_LOST)
        task->problem.retry = HC_RETRY_UNKNOWN;
    finish_job(d, task, HC_TASK_FAILED);
}

/* ---- output ---- */

/* Reads the output that is there. False: no more will come. */
static bool read_output(struct hc_task *task, int i)
{
    char chunk[READ_CHUNK];
    ssize_t n = read(task->output[i].fd, chunk, sizeof chunk);
    if (n > 0)
        hc_events_output(&task->events, (enum hc_event_stream)i, chunk, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static void output_ready(struct hc_task *task, int i)
{
    if (!read_output(task, i)) {
        hc_reactor_remove(task->dispatch->epoll, &task->output[i]);
        hc_close_fd(&task->output[i].fd);
    }
    hc_task_wake(task);
}

static void stdout_ready(struct hc_watch *w, uint32_t events)
{
    (void)events;
    output_ready(hc_owner(w, struct hc_task, output[0]), 0);
}

static void stderr_ready(struct hc_watch *w, uint32_t events)
{
    (void)events;
    output_ready(hc_owner(w, struct hc_task, output[1]), 1);
}

/* ---- workers ---- */

/* Reads the manifest as NUL-terminated text. */
static int take_manifest(struct hc_task *task, int fd, struct hc_error *err)
{
    hc_autobuf text = {0};
    if (lseek(fd, 0, SEEK_SET) < 0)
        return hc_fail(err, errno, "read the manifest");
    if (hc_read_all(fd, &text, MAX_MANIFEST, err) < 0)
        return hc_ctx(err, "read the manifest");
    task->manifest_len = text.len;
    task->manifest = hc_buf_take(&text);
    return task->manifest ? 0 : hc_fail(err, ENOMEM, "read the manifest");
}

/* Ends a job whose launcher has failed: there is a manifest, but no result. */
static void fail_launch(struct hc_dispatch *d, struct hc_task *task)
{
    cJSON *manifest = cJSON_ParseWithLength(task->manifest, task->manifest_len);
    const cJSON *reason = cJSON_GetObjectItemCaseSensitive(manifest, "reason");
    enum hc_problem_kind kind = hc_problem_of_exit(task->outcome.exit_code);
    hc_problem_set(&task->problem, kind == HC_PROBLEM_INTERNAL ? HC_PROBLEM_LAUNCH : kind, "%s",
                   cJSON_IsString(reason) ? reason->valuestring : "the launch failed");
    task->problem.retry = task->outcome.run_us < 0 ? HC_RETRY_NOT_STARTED : HC_RETRY_FINISHED;
    cJSON_Delete(manifest);
    d->counters.failed++;
    finish_job(d, task, HC_TASK_FAILED);
}

static void job_done(struct hc_dispatch *d, struct hc_task *task, const struct hc_message *m, int manifest)
{
    struct hc_error err;
    for (int i = 0; i < 2; i++)
        while (task->output[i].fd >= 0 && read_output(task, i))
            ;
    task->outcome = m->outcome;
    if (take_manifest(task, manifest, &err) < 0) {
        fail_job(d, task, HC_PROBLEM_LOST, err.text);
        return;
    }
    hc_counters_add_job(&d->counters, &m->outcome);
    if (m->outcome.status == HC_STATUS_LAUNCH_FAILED)
        fail_launch(d, task);
    else
        finish_job(d, task, HC_TASK_DONE);
}

static void worker_lost(struct hc_dispatch_worker *w, const char *why)
{
    struct hc_dispatch *d = w->dispatch;
    struct hc_task *task = w->task;
    hc_reactor_remove(d->epoll, &w->channel);
    hc_close_fd(&w->channel.fd);
    w->task = NULL;
    hc_volume_removal_ended(w, NULL);
    d->counters.workers_lost++;
    hc_counters_add_dead_worker(&d->counters, &w->warm);
    if (!task)
        return;
    hc_warn("job %s: %s", task->queued.id, why);
    d->counters.lost++;
    (void)hc_dispatch_remove_results(d, task->queued.id); /* there is no manifest that lists them */
    fail_job(d, task, HC_PROBLEM_LOST, why);
}

static void figure_made(struct hc_task *task, const struct hc_figure *figure, const int *fd)
{
    if (!hc_figure_is_path(figure->path))
        return;
    hc_figures_keep(&task->figures, figure->path, fd ? *fd : -1);
    hc_events_figure(&task->events, figure);
    hc_task_wake(task);
}

static void serve_worker(struct hc_dispatch_worker *w, const struct hc_message *m, int *fds, size_t count)
{
    struct hc_task *task = w->task;
    if (m->kind == HC_SAY_IDLE && count == 0) {
        w->resting = false;
        w->warm = m->warm;
        return;
    }
    if (m->kind == HC_SAY_VOLUME_GONE && count == 0) {
        hc_volume_removal_ended(w, m);
        return;
    }
    if (!task || strcmp(task->queued.id, m->job_id) != 0) {
        worker_lost(w, "its worker broke the protocol");
        return;
    }
    if (m->kind == HC_SAY_FIGURE && count <= 1) {
        figure_made(task, &m->figure, count ? fds : NULL);
        return;
    }
    w->task = NULL;
    w->resting = true;
    if (m->kind == HC_SAY_DONE && count == 1) {
        job_done(w->dispatch, task, m, fds[0]);
    } else if (m->kind == HC_SAY_FAILED) {
        w->dispatch->counters.failed++;
        fail_job(w->dispatch, task, hc_problem_of_error(&m->error), m->error.text);
    } else {
        w->task = task;
        worker_lost(w, "its worker broke the protocol");
    }
}

static void worker_ready(struct hc_watch *watch, uint32_t events)
{
    struct hc_dispatch_worker *w = hc_owner(watch, struct hc_dispatch_worker, channel);
    static struct hc_message m;
    struct hc_error err;
    int fds[HC_RUN_FDS];
    size_t count;
    (void)events;
    int rc = hc_channel_receive(watch->fd, &m, fds, &count, &err);
    if (rc < 0 && err.sys == EAGAIN)
        return;
    if (rc <= 0)
        worker_lost(w, rc == 0 ? "the worker that ran it has died" : err.text);
    else
        serve_worker(w, &m, fds, count);
    while (rc > 0 && count)
        hc_close_fd(&fds[--count]);
    hc_dispatch_start_jobs(w->dispatch);
}

int hc_dispatch_add_worker(struct hc_dispatch *d, int channel, pid_t pid, struct hc_error *err)
{
    size_t i = 0;
    while (i < d->worker_count && d->workers[i].channel.fd >= 0)
        i++;
    if (i == d->worker_count) {
        struct hc_dispatch_worker *grown = NULL;
        if (d->worker_count == 0)
            grown = calloc(HC_MAX_WORKERS,
                           sizeof *grown); /* never moved, as epoll has pointers to its elements */
        if (grown)
            d->workers = grown;
        if (!d->workers || d->worker_count == HC_MAX_WORKERS)
            return hc_fail(err, ENOMEM, "add a worker");
        d->worker_count++;
    }
    d->workers[i] =
        (struct hc_dispatch_worker){.channel = {channel, worker_ready}, .dispatch = d, .pid = pid};
    if (fcntl(channel, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "add a worker");
    if (hc_reactor_add(d->epoll, &d->workers[i].channel, EPOLLIN, err) < 0)
        return -1;
    hc_dispatch_remove_waiting(d);
    return 0;
}

/* ---- the beginning ---- */

static int open_pipe(int *ours, int *theirs, struct hc_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    *ours = ends[0];
    *theirs = ends[1];
    return 0;
}

static int watch_output(struct hc_dispatch *d, struct hc_task *task, int i, int fd, struct hc_error *err)
{
    task->output[i] = (struct hc_watch){fd, i == 0 ? stdout_ready : stderr_ready};
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "pipe");
    return hc_reactor_add(d->epoll, &task->output[i], EPOLLIN, err);
}

static void tools_ready(struct hc_watch *w, uint32_t events)
{
    struct hc_task *task = hc_owner(w, struct hc_task, tools.watch);
    (void)events;
    hc_tool_link_work(&task->tools, &task->events);
    hc_task_wake(task);
}

static int hand_over(struct hc_dispatch *d, struct hc_dispatch_worker *w, struct hc_task *task,
                     struct hc_error *err)
{
    int out = -1, errors = -1, cancel_read = -1;
    hc_autofd out_end = -1, err_end = -1, cancel_end = -1, tools_end = -1;
    if (open_pipe(&out, &out_end, err) < 0 || watch_output(d, task, 0, out, err) < 0 ||
        open_pipe(&errors, &err_end, err) < 0 || watch_output(d, task, 1, errors, err) < 0 ||
        hc_cancel_pair(&task->cancel_fd, &cancel_read, err) < 0)
        return -1;
    cancel_end = cancel_read;
    if (task->has_tools && (tools_end = hc_tool_link_open(&task->tools, d->epoll, tools_ready, err)) < 0)
        return -1;
    hc_tool_link_count(&task->tools, &d->request_memory, task->queued.tenant);
    static struct hc_message m;
    m = (struct hc_message){.kind = HC_SAY_RUN};
    (void)snprintf(m.job_id, sizeof m.job_id, "%s", task->queued.id);
    (void)snprintf(m.tenant, sizeof m.tenant, "%s", task->queued.tenant->name);
    m.weight = task->queued.tenant->quota.weight;
    m.max = task->queued.tenant->quota.max;
    m.volumes = task->queued.tenant->quota.volumes;
    (void)snprintf(m.policy, sizeof m.policy, "%s", hc_tenant_policy(task->queued.tenant));
    const int fds[HC_RUN_FDS] = {
        [HC_RUN_BODY] = task->body_fd, [HC_RUN_STDOUT] = out_end,  [HC_RUN_STDERR] = err_end,
        [HC_RUN_CANCEL] = cancel_end,  [HC_RUN_TOOLS] = tools_end,
    };
    return hc_channel_send(w->channel.fd, &m, fds, task->has_tools ? HC_RUN_FDS : HC_RUN_TOOLS, err);
}

/* Puts a job back into the queue whose worker died before it could be told of the job. */
static void take_job_back(struct hc_dispatch *d, struct hc_task *task, const struct hc_error *why)
{
    struct hc_error err;
    close_output(d, task);
    if ((why->sys == EPIPE || why->sys == ECONNRESET) && hc_store_put_back(d, task, &err) == 0) {
        task->state = HC_TASK_QUEUED;
        task->started = 0;
        hc_queue_put_back(d->queue, &task->queued);
        return;
    }
    d->counters.failed++;
    fail_job(d, task, HC_PROBLEM_BUSY, why->text);
}

/* Ends an accepted job that its tenant is not allowed any more. */
static void refuse_accepted_job(struct hc_dispatch *d, struct hc_task *task, const struct hc_problem *why)
{
    hc_queue_put_back(d->queue, &task->queued);
    hc_queue_cancel(d->queue, &task->queued);
    d->counters.failed++;
    task->problem = *why;
    finish_job(d, task, HC_TASK_FAILED);
}

static void start_job(struct hc_dispatch *d, struct hc_dispatch_worker *w, struct hc_task *task)
{
    struct hc_problem why;
    if (hc_check_again(task, &why) < 0) {
        refuse_accepted_job(d, task, &why);
        return;
    }
    struct hc_error err;
    task->state = HC_TASK_RUNNING;
    task->started = hc_wall_ms();
    task->started_mono = hc_mono_ms();
    if (hc_store_start(d, task, &err) < 0) { /* a job that is not recorded as started might be run twice */
        d->counters.failed++;
        fail_job(d, task, HC_PROBLEM_INTERNAL, err.text);
        return;
    }
    if (hand_over(d, w, task, &err) < 0) {
        take_job_back(d, task, &err);
        worker_lost(w, "it takes no job"); /* otherwise it would be chosen again at once */
        return;
    }
    hc_events_state(&task->events, "running");
    w->task = task;
    hc_task_wake(task);
}

static struct hc_dispatch_worker *idle_worker(struct hc_dispatch *d)
{
    struct hc_dispatch_worker *resting = NULL;
    for (size_t i = 0; i < d->worker_count; i++) {
        struct hc_dispatch_worker *w = &d->workers[i];
        if (w->channel.fd < 0 || w->task || w->removal)
            continue;
        if (!w->resting)
            return w;
        resting = w;
    }
    return resting;
}

void hc_dispatch_start_jobs(struct hc_dispatch *d)
{
    struct hc_dispatch_worker *w;
    struct hc_queued *next;
    int64_t now = hc_mono_ms();
    d->held_until = 0;
    if (d->draining && (d->replaced || now > d->drain_until))
        return;
    hc_queue_share(d->queue, hc_tenants_are_many(d->tenants, d->open));
    while ((w = idle_worker(d)) && (next = hc_queue_pop(d->queue, now)))
        start_job(d, w, hc_owner(next, struct hc_task, queued));
    if (w && hc_queue_held(d->queue, now) >= 0)
        d->held_until = now + hc_queue_held(d->queue, now);
}

/* Writes the job to the disk if it is detached. False: it is not to run: its key stands for a known job, or
 * `why` says why. */
static bool promise_job(struct hc_dispatch *d, struct hc_task *task, char known[65], struct hc_problem *why)
{
    struct hc_error err;
    bool same = false;
    if (!task->detached)
        return true;
    int rc = hc_store_promise(d, task, known, &same, &err);
    task->promised = rc == 0;
    if (rc < 0)
        hc_problem_set(why, HC_PROBLEM_BUSY, "the job cannot be promised: %s", err.text);
    else if (rc > 0 && !same)
        hc_problem_set(why, HC_PROBLEM_CONFLICT,
                       "this Idempotency-Key was sent with another body, for job %s", known);
    if (rc != 0)
        hc_queue_cancel(d->queue, &task->queued);
    return rc == 0;
}

bool hc_dispatch_submit(struct hc_dispatch *d, struct hc_task *task, char known[65], struct hc_problem *why)
{
    struct hc_refusal refusal = {0};
    *known = '\0';
    if (!hc_queue_push(d->queue, &task->queued, hc_mono_ms(), &refusal)) {
        hc_set_refusal(why, &refusal);
        d->counters.refused++;
        hc_task_drop(&d->tasks, task);
        return false;
    }
    if (!promise_job(d, task, known, why)) {
        hc_task_drop(&d->tasks, task);
        return false;
    }
    hc_request_memory_hold(&d->request_memory, task->queued.tenant, (int64_t)task->body_len);
    hc_events_state(&task->events, "queued");
    if (hc_is_held(&task->queued.tenant->hold))
        hc_task_tell_hold(task);
    hc_dispatch_start_jobs(d);
    return true;
}

void hc_dispatch_cancel(struct hc_dispatch *d, struct hc_task *task, const char *why)
{
    if (task->state == HC_TASK_RUNNING) {
        hc_cancel_close(&task->cancel_fd, why);
    } else if (task->state == HC_TASK_QUEUED) {
        hc_queue_cancel(d->queue, &task->queued);
        d->counters.cancelled++;
        fail_job(d, task, HC_PROBLEM_CANCELLED, why ? why : "the job was cancelled while it waited");
    }
}

bool hc_dispatch_takes_jobs(const struct hc_dispatch *d, struct hc_problem *why)
{
    if (!d->draining && !d->paused)
        return true;
    hc_problem_set(
        why, HC_PROBLEM_BUSY, "%s",
        d->draining ? "the daemon is about to end"
                    : "an administrator has drained this daemon: it takes no new jobs until it is resumed");
    why->retry_after = d->draining ? 1 : PAUSE_RETRY;
    return false;
}

void hc_dispatch_forget(struct hc_dispatch *d, struct hc_task *task)
{
    (void)hc_dispatch_remove_results(d, task->queued.id);
    hc_store_forget(d, task);
    task->queued.tenant->stored_bytes -= task->outcome.bytes;
    hc_task_drop(&d->tasks, task);
}
