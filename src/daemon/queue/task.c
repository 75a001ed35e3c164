#include "daemon/queue/task.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "daemon/queue/hold.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static struct hc_task **bucket(struct hc_tasks *t, const char *id)
{
    uint32_t hash = 2166136261U; /* FNV-1a; the daemon makes the ids, so clients cannot make them collide */
    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * 16777619U;
    return &t->buckets[hash % HC_TASK_BUCKETS];
}

/* Ids sort by time. They are random, although nothing depends on their being hard to guess. */
int hc_task_make_id(char id[HC_JOB_ID])
{
    uint64_t random[2];
    char when[32];
    time_t now = time(NULL);
    struct tm tm;
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -1;
    (void)gmtime_r(&now, &tm);
    (void)strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &tm);
    (void)snprintf(id, HC_JOB_ID, "%s-%016llx%04x", when, (unsigned long long)random[0],
                   (unsigned)(random[1] & 0xffff));
    return 0;
}

static void put_into_table(struct hc_tasks *t, struct hc_task *task)
{
    struct hc_task **head = bucket(t, task->queued.id);
    task->next = *head;
    *head = task;
    task->older = t->newest;
    if (t->newest)
        t->newest->newer = task;
    else
        t->oldest = task;
    t->newest = task;
    t->count++;
    task->listed = true;
}

struct hc_task *hc_task_create(struct hc_tasks *t, struct hc_dispatch *dispatch, struct hc_tenant *tenant,
                               const char *id)
{
    struct hc_task *task = calloc(1, sizeof *task);
    if (!task || (!id && hc_task_make_id(task->queued.id) < 0)) {
        free(task);
        return NULL;
    }
    if (id)
        (void)snprintf(task->queued.id, sizeof task->queued.id, "%s", id);
    task->queued.tenant = tenant;
    task->refs = 1;
    task->dispatch = dispatch;
    task->body_fd = task->cancel_fd = task->output[0].fd = task->output[1].fd = -1;
    hc_tool_link_init(&task->tools);
    task->accepted = hc_wall_ms();
    if (t)
        put_into_table(t, task);
    return task;
}

struct hc_task *hc_task_find_any(struct hc_tasks *t, const char *id)
{
    struct hc_task *task = *bucket(t, id);
    while (task && strcmp(task->queued.id, id) != 0)
        task = task->next;
    return task;
}

struct hc_task *hc_task_find(struct hc_tasks *t, const struct hc_tenant *tenant, const char *id)
{
    struct hc_task *task = hc_task_find_any(t, id);
    return task && task->queued.tenant == tenant ? task : NULL;
}

struct hc_task *hc_task_find_key(struct hc_tasks *t, const struct hc_tenant *tenant, const char *key)
{
    struct hc_task *task = t->newest;
    while (task && (task->queued.tenant != tenant || !task->key || strcmp(task->key, key) != 0))
        task = task->older;
    return task;
}

void hc_task_ref(struct hc_task *task)
{
    task->refs++;
}

void hc_task_unref(struct hc_task *task)
{
    if (!task || --task->refs > 0)
        return;
    hc_close_fd(&task->body_fd);
    hc_close_fd(&task->cancel_fd);
    hc_close_fd(&task->output[0].fd);
    hc_close_fd(&task->output[1].fd);
    hc_tool_link_close(&task->tools);
    hc_events_finish(&task->events);
    hc_figures_finish(&task->figures);
    free(task->key);
    free(task->manifest);
    free(task);
}

void hc_task_drop(struct hc_tasks *t, struct hc_task *task)
{
    struct hc_task **at = bucket(t, task->queued.id);
    if (!task->listed)
        return;
    task->listed = false;
    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
    *(task->newer ? &task->newer->older : &t->newest) = task->older;
    *(task->older ? &task->older->newer : &t->oldest) = task->newer;
    t->count--;
    hc_task_unref(task);
}

void hc_task_wait(struct hc_task *task, struct hc_waiter *w)
{
    w->task = task;
    w->previous = NULL;
    w->next = task->waiters;
    if (w->next)
        w->next->previous = w;
    task->waiters = w;
}

void hc_task_unwait(struct hc_waiter *w)
{
    if (!w->task)
        return;
    *(w->previous ? &w->previous->next : &w->task->waiters) = w->next;
    if (w->next)
        w->next->previous = w->previous;
    w->task = NULL;
}

void hc_task_wake(struct hc_task *task)
{
    for (struct hc_waiter *w = task->waiters, *next; w; w = next) {
        next = w->next;
        w->wake(w);
    }
}

void hc_task_print_time(struct hc_buf *out, const char *name, int64_t ms)
{
    char text[40];
    const char *quote = ms ? "\"" : "";
    (void)hc_buf_fmt(out, ", \"%s\": %s%s%s", name, quote, ms ? hc_format_time(ms, true, text) : "null",
                     quote);
}

void hc_task_set_reason(struct hc_task *task, const char *text)
{
    (void)snprintf(task->reason, sizeof task->reason, "%s", text);
    task->reason[hc_utf8_whole(task->reason)] = '\0';
}

void hc_task_tell_hold(struct hc_task *task)
{
    hc_autobuf hold = {0};
    hc_hold_print(task->queued.tenant, &hold);
    if (!hold.failed)
        hc_events_json(&task->events, "held", hold.data, hold.len);
}

/* Appends a text as a further member; an empty text becomes null. */
static void print_text(struct hc_buf *out, const char *name, const char *text)
{
    (void)hc_buf_fmt(out, ", \"%s\": ", name);
    if (*text)
        hc_json_quote(out, text, strlen(text));
    else
        (void)hc_buf_str(out, "null");
}

/* Appends a waiting job's position in the queue; if its tenant is held, also the reason of the hold. */
static void print_wait(const struct hc_task *task, struct hc_buf *out)
{
    const struct hc_tenant *t = task->queued.tenant;
    const bool held = hc_is_held(&t->hold);
    char text[HC_HOLD_TEXT];
    print_text(out, "reason", hc_hold_text(t, text));
    (void)hc_buf_fmt(out, ", \"position\": %lld, \"held\": %s", (long long)hc_queue_position(&task->queued),
                     held ? "true" : "false");
    if (!held)
        return;
    (void)hc_buf_str(out, ", \"hold\": ");
    hc_hold_print(t, out);
}

void hc_task_print_open(const struct hc_task *task, bool with_result, struct hc_buf *out)
{
    (void)hc_buf_fmt(out, "{\"job_id\": \"%s\", \"tenant\": \"%s\", \"state\": \"%s\"", task->queued.id,
                     task->queued.tenant->name, hc_task_state_name(task->state));
    hc_task_print_time(out, "accepted", task->accepted);
    hc_task_print_time(out, "started", task->started);
    hc_task_print_time(out, "finished", task->finished);
    print_text(out, "policy", task->policy);
    print_text(out, "status", task->status);
    if (task->state == HC_TASK_QUEUED)
        print_wait(task, out);
    else
        print_text(out, "reason", task->reason);
    if (hc_task_ended(task))
        (void)hc_buf_fmt(out, ", \"cpu_seconds\": %.6g", (double)task->outcome.cpu_us / 1e6);
    if (with_result && task->state == HC_TASK_DONE) {
        (void)hc_buf_str(out, ", \"manifest\": ");
        (void)hc_buf_add(out, task->manifest, task->manifest_len);
    }
    if (with_result && task->state == HC_TASK_FAILED) {
        (void)hc_buf_str(out, ", \"problem\": ");
        hc_problem_print(&task->problem, task->queued.id, task->manifest, out);
    }
}

void hc_task_print(const struct hc_task *task, bool with_result, struct hc_buf *out)
{
    hc_task_print_open(task, with_result, out);
    (void)hc_buf_str(out, "}\n");
}
