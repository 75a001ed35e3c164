/* What happens to a job, as it happens: NDJSON, for as long as the job takes. */
#include "daemon/http/handlers.h"

#include <microhttpd.h>
#include <string.h>
#include <sys/param.h>

#define BLOCK 32768

/* Called until it says that this is the end. With nothing to say, the connection sleeps until the task has
 * news. `at` is how much of the lines this client has got. */
static ssize_t read_events(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    const struct hc_task *task = x->task;
    const struct hc_buf *lines = &task->events.lines;
    if (lines->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (hc_task_ended(task)) /* all of it waits for this client now */
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

/* Of a job that has ended, nobody having listened, what is left to say is its end. */
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
        hc_task_wait(x->task, &x->waiter); /* the lines are kept for as long as somebody waits */
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, x, NULL);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/x-ndjson");
    return hc_reply(x, 200, r);
}
