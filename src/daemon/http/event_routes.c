/* The events of a job while they happen, until the job has ended: as NDJSON, or as Server-Sent Events, whose
 * IDs are offsets in the job's lines, so that a client can go on behind the last one that it has. */
#include "daemon/http/handlers.h"

#include "base/clock.h"
#include "base/units.h"
#include "daemon/http/request.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#define BLOCK  32768 /* most bytes that libmicrohttpd asks for at once */
#define LAST   "end" /* the ID of a job's last event */
#define SSE    "text/event-stream"
#define NDJSON "application/x-ndjson"
#define KEEPALIVE_MS                                                                                         \
    15000 /* milliseconds of silence after which a comment is sent, as proxies close silent streams */
#define KEEPALIVE ":\n\n" /* a comment, which keeps an idle connection open */
#define GAP_EVENT "data: {\"event\": \"gap\"}\n\n"

/* libmicrohttpd calls this for more bytes until it returns the end of the stream. If there are none yet, the
 * connection is suspended until the task has news. `at`: bytes that this client has got so far. */
static ssize_t read_events(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    const struct hc_task *task = x->task;
    const struct hc_buf *lines = &task->events.lines;
    if (lines->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (hc_task_ended(task)) /* the lines are kept in memory for this client alone */
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

/* ---- Server-Sent Events ---- */

/* Copies the part of `text` that the client lacks of a message of which it has `*have` bytes; `*at` is where
 * `text` begins in the message. Returns the number of bytes. */
static size_t copy_part(const char *text, size_t len, size_t *at, size_t *have, char *out, size_t max)
{
    size_t skip = *have - *at, n = skip < len ? MIN(max, len - skip) : 0;
    memcpy(out, text + (n ? skip : 0), n);
    *have += n;
    *at += len;
    return n;
}

/* Writes the message of the line at s->line, or of its rest, and goes on to the next line at its end. */
static size_t put_message(struct hc_exchange *x, const struct hc_buf *lines, char *out, size_t max)
{
    struct hc_event_reader *s = &x->events;
    const char *line = lines->data + s->line;
    const size_t len = (size_t)((const char *)memchr(line, '\n', lines->len - s->line) - line);
    const size_t next = s->line + len + 1;
    const bool last = next == lines->len && hc_task_ended(x->task);
    char head[48] = "data: ";
    size_t at = 0, n = 0;
    const bool numbered = !x->task->of_session || x->task->of_command;
    if (numbered && last)
        (void)snprintf(head, sizeof head, "id: " LAST "\ndata: ");
    else if (numbered)
        (void)snprintf(head, sizeof head, "id: %zu\ndata: ", next);
    n += copy_part(head, strlen(head), &at, &s->sent, out, max);
    if (s->sent >= at)
        n += copy_part(line, len, &at, &s->sent, out + n, max - n);
    if (s->sent >= at)
        n += copy_part("\n\n", 2, &at, &s->sent, out + n, max - n);
    if (s->sent == strlen(head) + len + 2) {
        s->line = next;
        s->sent = 0;
    }
    return n;
}

static ssize_t read_messages(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    struct hc_event_reader *s = &x->events;
    const struct hc_buf *lines = &x->task->events.lines;
    (void)at;
    if (lines->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (hc_task_ended(x->task))
        hc_exchange_hold_anyway(x, lines->len + x->task->manifest_len);
    const bool keepalive_due = s->keepalive_due, gap_unsent = s->gap_unsent;
    s->keepalive_due = s->gap_unsent = false;
    s->since = hc_mono_ms();
    if (gap_unsent || (keepalive_due && !s->sent && s->line == lines->len)) {
        const size_t len = gap_unsent ? sizeof GAP_EVENT - 1 : sizeof KEEPALIVE - 1;
        memcpy(out, gap_unsent ? GAP_EVENT : KEEPALIVE,
               len); /* the text is shorter than libmicrohttpd's blocks */
        return (ssize_t)len;
    }
    if (s->line < lines->len)
        return (ssize_t)put_message(x, lines, out, max);
    if (hc_task_ended(x->task))
        return MHD_CONTENT_READER_END_OF_STREAM;
    (void)hc_exchange_suspend(x);
    return 0;
}

void hc_events_beat(struct hc_exchange *x, int64_t now)
{
    if (!x->events.sse || !x->suspended || now - x->events.since < KEEPALIVE_MS)
        return;
    x->events.keepalive_due = true;
    x->waiter.wake(&x->waiter);
}

/* Goes on after the last event that the client has. If the lines up to it are no longer kept, the client
 * first gets an event that reports the gap. */
static void resume_after(struct hc_exchange *x, const char *id)
{
    struct hc_event_reader *s = &x->events;
    const struct hc_buf *lines = &x->task->events.lines;
    int64_t offset;
    if (hc_parse_int(id, &offset) == 0 && offset >= 0 && (uint64_t)offset <= lines->len &&
        !x->task->events.restored && (offset == 0 || lines->data[offset - 1] == '\n'))
        s->line = (size_t)offset;
    else
        s->gap_unsent = true;
}

/* ---- the answer ---- */

enum hc_event_form hc_wanted_events(const struct hc_exchange *x)
{
    const char *accept = hc_exchange_header(x, MHD_HTTP_HEADER_ACCEPT);
    return hc_has_word(accept, SSE)      ? HC_EVENTS_SSE
           : hc_has_word(accept, NDJSON) ? HC_EVENTS_LINES
                                         : HC_EVENTS_NOT;
}

/* Makes the last event again for a job that has ended while no client was reading its events. */
static void restore_end(struct hc_task *task)
{
    if (task->events.lines.len)
        return;
    task->events.restored = true;
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
    const char *id = x->route->method[0] == 'G' ? hc_exchange_header(x, "Last-Event-ID") : NULL;
    hc_autobuf nothing = {0};
    x->events.sse = hc_wanted_events(x) == HC_EVENTS_SSE;
    if (x->events.sse && id && strcmp(id, LAST) == 0)
        return hc_reply_json(x, 204, &nothing); /* after a 204 a client does not connect again */
    if (hc_task_ended(x->task) && !x->task->of_command)
        restore_end(x->task);
    if (!x->waiter.task)
        hc_task_wait(x->task, &x->waiter); /* a task keeps its lines as long as an exchange waits for it */
    if (x->events.sse && id)
        resume_after(x, id);
    struct MHD_Response *r = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK, x->events.sse ? read_messages : read_events, x, NULL);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, x->events.sse ? SSE : NDJSON);
    return hc_reply(x, 200, r);
}
