/* Messages of progress about a call: that its program waits or runs, and what it has printed meanwhile. */
#include "mcp/server.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* ms from the call to the first message, and between messages with output */
#define SOON_MS     1000
#define REGULAR_MS  5000           /* ms between messages without output */
#define MAX_PRINTED ((size_t)2048) /* most bytes of output in a message */

void hc_progress_begin(struct hc_progress *p, const struct hc_call *call)
{
    const cJSON *meta = hc_json_member(call->message->params, "_meta");
    hc_progress_end(p);
    (void)snprintf(p->id, sizeof p->id, "%s", call->message->id);
    p->begun_ms = hc_mono_ms();
    p->next_ms = p->begun_ms + SOON_MS;
    if (!hc_rpc_id(&call->message->json, hc_json_member(meta, "progressToken"), p->token))
        p->token[0] = '\0';
}

void hc_progress_end(struct hc_progress *p)
{
    hc_buf_finish(&p->printed);
    *p = (struct hc_progress){0};
}

void hc_progress_start(struct hc_progress *p, int64_t timeout_ms)
{
    p->end_ms = hc_mono_ms() + timeout_ms;
}

/* Keep the last MAX_PRINTED bytes. */
static void shorten(struct hc_progress *p)
{
    struct hc_buf *b = &p->printed;
    if (b->len <= MAX_PRINTED)
        return;
    size_t from = hc_utf8_boundary(b->data, b->len, b->len - MAX_PRINTED);
    p->left_out += (int64_t)from;
    memmove(b->data, b->data + from, b->len - from);
    b->len -= from;
    b->data[b->len] = '\0';
}

void hc_progress_print(struct hc_progress *p, const char *text, size_t len)
{
    if (!p->token[0])
        return;
    const size_t most = 2 * MAX_PRINTED; /* enough to find the start of a character in */
    if (len > most) {
        p->left_out += (int64_t)(p->printed.len + len - most);
        hc_buf_clear(&p->printed);
        text += len - most;
        len = most;
    }
    (void)hc_buf_add(&p->printed, text, len);
    shorten(p);
    if (p->next_ms > p->last_ms + SOON_MS && p->last_ms)
        p->next_ms = p->last_ms + SOON_MS;
}

/* Move what was printed to `out`, but for a character that is not complete yet. */
static void take_printed(struct hc_progress *p, struct hc_buf *out)
{
    struct hc_buf *b = &p->printed;
    size_t rest = hc_utf8_unfinished(b->data, b->len);
    if (p->left_out)
        (void)hc_buf_fmt(out, "[%lld bytes are left out here]\n", (long long)p->left_out);
    (void)hc_utf8_scrub(out, b->data, b->len - rest);
    memmove(b->data, b->data + b->len - rest, rest);
    b->len = rest;
    p->left_out = 0;
}

void hc_progress_tell(struct hc_mcp *m, struct hc_progress *p, int64_t now)
{
    /* a client that does not read its messages gets no more */
    if (!p->token[0] || now < p->next_ms || m->host->is_full(m, p->id))
        return;
    hc_autobuf text = {0};
    if (p->printed.len)
        take_printed(p, &text);
    if (!text.len)
        (void)hc_buf_str(&text, p->end_ms ? "the program runs; counted in seconds"
                                          : "the program waits for its turn");
    p->last_ms = now;
    p->next_ms = now + REGULAR_MS;
    cJSON *params = cJSON_CreateObject();
    (void)cJSON_AddRawToObject(params, "progressToken", p->token);
    hc_mcp_put(params, "progress", cJSON_CreateNumber((double)(now - p->begun_ms) / 1000));
    if (p->end_ms)
        hc_mcp_put(params, "total", cJSON_CreateNumber((double)(p->end_ms - p->begun_ms) / 1000));
    if (m->version->annotated && !text.failed)
        hc_mcp_put(params, "message", cJSON_CreateString(text.data));
    hc_mcp_notify(m, p->id, "notifications/progress", params);
}
