/* Streams of messages to a client, which it reads as Server-Sent Events, and can go on to read after its
 * connection has broken. */
#include "daemon/mcp/peers.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MAX_ANSWERED 16 /* most answered streams of a peer that are kept, for a client that reconnects */
#define MAX_NEWS     64 /* most events of a stream, beside its answer, that are kept */
#define RETRY_MS     1000

/* ---- what is kept ---- */

static void drop_first(struct hc_mcp_stream *s)
{
    struct hc_mcp_event *e = s->first;
    s->first = e->next;
    if (!s->first)
        s->last = &s->first;
    if (s->peer)
        s->peer->bytes -= (int64_t)e->len;
    free(e);
}

static void free_stream(struct hc_mcp_stream *s)
{
    while (s->first)
        drop_first(s);
    free(s);
}

void hc_mcp_stream_forget(struct hc_mcp_stream *s)
{
    for (struct hc_mcp_stream **at = s->peer ? &s->peer->streams : NULL; at && *at; at = &(*at)->older)
        if (*at == s) {
            *at = s->older;
            break;
        }
    free_stream(s);
}

/* The oldest stream that was answered and that nobody reads; NULL: there is none. */
static struct hc_mcp_stream *oldest_answered(const struct hc_mcp_peer *p, int *count)
{
    struct hc_mcp_stream *oldest = NULL;
    *count = 0;
    for (struct hc_mcp_stream *s = p->streams; s; s = s->older)
        if (s->answered && !s->reader) {
            oldest = s;
            ++*count;
        }
    return oldest;
}

/* Make room for an event of `len` bytes. False: there is none. */
static bool make_room(struct hc_mcp_peer *p, size_t len)
{
    struct hc_mcp_stream *s;
    int count;
    while ((s = oldest_answered(p, &count)) &&
           (count > MAX_ANSWERED || p->bytes + (int64_t)len > p->all->dispatch->config.mcp_bytes))
        hc_mcp_stream_forget(s);
    return p->bytes + (int64_t)len <= p->all->dispatch->config.mcp_bytes;
}

static int add_event(struct hc_mcp_stream *s, const char *text, size_t len)
{
    struct hc_mcp_event *e = malloc(sizeof *e + len);
    if (!e)
        return -1;
    *e = (struct hc_mcp_event){.number = ++s->made, .len = len};
    memcpy(e->text, text, len);
    *s->last = e;
    s->last = &e->next;
    s->peer->bytes += (int64_t)len;
    if (s->made - s->first->number > MAX_NEWS && s->first != e && !(s->reader && s->sent))
        drop_first(s);
    return 0;
}

/* ---- the server's messages ---- */

struct hc_mcp_stream *hc_mcp_stream_begin(struct hc_mcp_peer *p, const char *id, bool news)
{
    struct hc_mcp_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->peer = p;
    s->number = p->streams ? ++p->streams_made : 0;
    s->news = news;
    s->last = &s->first;
    (void)snprintf(s->id, sizeof s->id, "%s", id);
    s->older = p->streams;
    p->streams = s;
    return s;
}

static struct hc_mcp_stream *stream_of(const struct hc_mcp_peer *p, const char *id)
{
    struct hc_mcp_stream *s = p->streams;
    while (s && (id ? s->answered || !s->number || strcmp(s->id, id) != 0 : s->number != 0))
        s = s->older;
    return s;
}

/* An answer that is too large becomes a short one that says so. */
static size_t too_large(const struct hc_mcp_stream *s, size_t len, char *out, size_t max)
{
    int n = snprintf(
        out, max,
        "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"the answer has %zu bytes, and "
        "with what was not read yet that is more than the %lld of mcp.bytes: read earlier "
        "answers, or ask for less\"}}",
        s->id, HC_RPC_INTERNAL, len, (long long)s->peer->all->dispatch->config.mcp_bytes);
    return n < 0 ? 0 : (size_t)n;
}

int hc_mcp_stream_send(struct hc_mcp *m, const char *id, bool answer, const char *text, size_t len)
{
    struct hc_mcp_peer *p = hc_mcp_peer_of(m);
    struct hc_mcp_stream *s = stream_of(p, id);
    char instead[HC_RPC_ID_MAX + 400];
    if (!s || (!answer && !s->news))
        return 0; /* the request has ended, or its client has gone: no message of it is sent */
    const bool fits = make_room(p, len);
    if (!fits && !answer)
        return 0;
    if (!fits) {
        len = too_large(s, len, instead, sizeof instead);
        text = instead;
    }
    if (add_event(s, text, len) < 0)
        return -1;
    s->answered = answer;
    if (s->reader)
        s->reader->wake(s->reader);
    return 0;
}

void hc_mcp_stream_drop(struct hc_mcp *m, const char *id)
{
    struct hc_mcp_stream *s = stream_of(hc_mcp_peer_of(m), id);
    if (!s)
        return;
    s->answered = true;
    if (s->reader)
        s->reader->wake(s->reader);
    else
        hc_mcp_stream_forget(s);
}

bool hc_mcp_stream_is_full(const struct hc_mcp *m, const char *id)
{
    const struct hc_mcp_peer *p = hc_owner(m, const struct hc_mcp_peer, m);
    const struct hc_mcp_stream *s = stream_of(p, id);
    return !s || !s->news || s->made - s->next >= 8 || p->bytes > p->all->dispatch->config.mcp_bytes / 2;
}

void hc_mcp_streams_finish(struct hc_mcp_peer *p)
{
    for (struct hc_mcp_stream *s = p->streams, *older; s; s = older) {
        older = s->older;
        if (!s->reader) {
            free_stream(s);
            continue;
        }
        s->peer = NULL; /* its reader frees it */
        s->closed = true;
        s->reader->wake(s->reader);
    }
    p->streams = NULL;
}

/* ---- readers ---- */

struct hc_mcp_stream *hc_mcp_stream_of_event(struct hc_mcp_peer *p, const char *event_id, int64_t *after)
{
    int64_t number, event;
    char first[41];
    const char *dash = strchr(event_id, '-');
    if (!dash || dash == event_id || strlen(event_id) >= sizeof first)
        return NULL;
    (void)snprintf(first, sizeof first, "%.*s", (int)(dash - event_id), event_id);
    if (hc_parse_int(first, &number) < 0 || hc_parse_int(dash + 1, &event) < 0)
        return NULL;
    struct hc_mcp_stream *s = p->streams;
    while (s && s->number != number)
        s = s->older;
    if (!s || event < 0 || event > s->made || !s->news)
        return NULL;
    *after = event;
    return s;
}

void hc_mcp_stream_attach(struct hc_mcp_stream *s, struct hc_waiter *reader, struct hc_mcp_stream **held,
                          int64_t after, bool again)
{
    if (s->reader) {
        *s->held = NULL;
        s->reader->wake(s->reader);
    }
    s->reader = reader;
    s->held = held;
    *held = s;
    s->next = after + 1;
    s->sent = 0;
    s->greeted = again;
}

void hc_mcp_stream_detach(struct hc_mcp_stream *s)
{
    s->reader = NULL;
    s->sent = 0;
    if (!s->peer)
        free_stream(s);
    else if (!s->news && s->answered)
        hc_mcp_stream_forget(s); /* without events, nobody can ask for the answer again */
}

/* The event that begins a stream lets a client reconnect before the first message. Clients of earlier
 * versions take an empty event for a message. */
static ssize_t greet(struct hc_mcp_stream *s, char *out, size_t max)
{
    s->greeted = true;
    if (!s->peer->m.version || strcmp(s->peer->m.version->date, "2025-11-25") < 0)
        return 0;
    return snprintf(out, max, "id: %lld-%lld\nretry: %d\ndata: \n\n", (long long)s->number,
                    (long long)s->next - 1, RETRY_MS);
}

static struct hc_mcp_event *next_event(const struct hc_mcp_stream *s)
{
    struct hc_mcp_event *e = s->first;
    while (e && e->number < s->next)
        e = e->next;
    return e;
}

/* Copies the rest of the event's text, or as much as fits, with its ends. */
static ssize_t put_event(struct hc_mcp_stream *s, const struct hc_mcp_event *e, char *out, size_t max)
{
    size_t n = 0;
    if (!s->sent)
        n = (size_t)snprintf(out, max, "id: %lld-%lld\nevent: message\ndata: ", (long long)s->number,
                             (long long)e->number);
    if (n + 2 > max)
        return 0; /* there is no room for a part of it */
    const size_t part = MIN(e->len - s->sent, max - n - 2);
    memcpy(out + n, e->text + s->sent, part);
    s->sent += part;
    n += part;
    if (s->sent < e->len)
        return (ssize_t)n;
    out[n] = out[n + 1] = '\n';
    s->next = e->number + 1;
    s->sent = 0;
    return (ssize_t)n + 2;
}

ssize_t hc_mcp_stream_read(struct hc_mcp_stream *s, char *out, size_t max)
{
    if (s->closed)
        return -1;
    if (!s->greeted) {
        ssize_t n = greet(s, out, max);
        if (n)
            return n;
    }
    const struct hc_mcp_event *e = next_event(s);
    if (e)
        return put_event(s, e, out, max);
    return s->answered ? -1 : 0;
}

const struct hc_mcp_event *hc_mcp_stream_answer(const struct hc_mcp_stream *s)
{
    const struct hc_mcp_event *e = s->first;
    while (e && e->next)
        e = e->next;
    return s->answered ? e : NULL;
}
