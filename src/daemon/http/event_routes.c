/* The events of a job while they happen, as NDJSON, until the job has ended. */
#include "daemon/http/handlers.h"

#include <microhttpd.h>
#include <string.h>
#include <sys/param.h>

#define BLOCK 32768 /* most bytes that libmicrohttpd asks for at once */

/* libmicrohttpd calls this for more bytes until it returns the end of the stream. If there are none yet, the
 * connection is suspended until the task has news. `at`: bytes that this client has got so far. */
static ssize_t read_events(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    const struct hc_task *task = x->task;
    const struct hc_buf *lines = &task->events.lines;
    if (lines->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (hc_task_ended(task)) /* all lines that are left wait for this client */
        hc_exchange_hold_anyway(x, lines->len + task->manifest_len);
    if (at < lines->len) {
        size_t n = MIN(max, lines->len - (size_t)at);
        memcpy(out, lines->data + at, n);
        return (ssize_t)n;
    }
    if (hc_task_ended(task))
        return MHD_CONTENT_READER_END_OF_STREAM;
    (void)hc_exchange_suspend(x);
    return 0;
}

/* Makes the last event again for a job that has ended while no client was reading its events. */
static void restore_end(struct hc_task *task)
{
    if (task->events.lines.len)
        return;
    if (task->state == HC_TASK_DONE) {
        hc_events_json(&task->events, "manifest", task->manifest, task->manifest_len);
    } else {
        hc_autobuf text = {0};
        hc_problem_print(&task->problem, task->queued.id, task->manifest, &text);
        hc_events_json(&task->events, "problem", text.data, text.len);
    }
    hc_events_state(&task->events, hc_task_state_name(task->state));
}

int hc_stream_events(struct hc_exchange *x)
{
    if (hc_task_ended(x->task))
        restore_end(x->task);
    if (!x->waiter.task)
        hc_task_wait(x->task, &x->waiter); /* a task keeps its lines as long as an exchange waits for it */
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, x, NULL);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/x-ndjson");
    return hc_reply(x, 200, r);
}
