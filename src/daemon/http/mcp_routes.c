/* The Model Context Protocol over HTTP ("Streamable HTTP"): messages come by POST, answers go out as JSON or
 * as Server-Sent Events. What the messages do is decided in daemon/mcp. */
#include "daemon/http/handlers.h"

#include "base/clock.h"
#include "daemon/http/request.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define SSE       "text/event-stream"
#define BLOCK     16384
#define KEEPALIVE ":\n\n"
#define SESSION   "Mcp-Session-Id"

/* ---- what is refused before a message is looked at ---- */

/* The host in an origin, "https://HOST:PORT"; NULL: the origin has no such form. */
static const char *host_of(const char *origin, size_t *len)
{
    const char *host = strstr(origin, "://");
    if (!host)
        return NULL;
    host += 3;
    *len = *host == '[' ? strcspn(host, "]") + (strchr(host, ']') != NULL) : strcspn(host, ":/");
    return host[*len] == '\0' || host[*len] == ':' ? host : NULL;
}

/* A page of another web site must not speak with the daemon through its reader's browser, whose name for the
 * daemon's address may have been made to resolve to it. */
static bool is_origin_allowed(const struct hc_exchange *x, const char *origin)
{
    static const char *const here[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t len = 0;
    const char *host = host_of(origin, &len);
    for (size_t i = 0; host && i < sizeof here / sizeof *here; i++)
        if (strlen(here[i]) == len && strncasecmp(here[i], host, len) == 0)
            return true;
    len = strlen(origin);
    for (const char *at = x->dispatch->config.mcp_origins; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (n == len && strncasecmp(at, origin, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* 0: the request is sound; else `answer` has the value that the handler has to return. */
static int check_head(struct hc_exchange *x, int *answer)
{
    const char *origin = hc_exchange_header(x, "Origin");
    const char *version = hc_exchange_header(x, "MCP-Protocol-Version");
    if (!x->dispatch->config.mcp_sessions)
        *answer = hc_reply_fail(x, HC_PROBLEM_NOT_FOUND,
                                "this daemon does not speak MCP: mcp.sessions of its hotcelld.conf is 0");
    else if (origin && !is_origin_allowed(x, origin))
        *answer = hc_reply_fail(x, HC_PROBLEM_FORBIDDEN,
                                "pages of '%.200s' may not speak with this daemon (mcp.origins of its "
                                "hotcelld.conf)",
                                origin);
    else if (version && !hc_mcp_knows(version))
        *answer =
            hc_reply_fail(x, HC_PROBLEM_REQUEST, "MCP-Protocol-Version: '%.40s' is not spoken here", version);
    else
        return 0;
    return -1;
}

/* The peer that the request names; NULL: `answer`. */
static struct hc_mcp_peer *find_peer(struct hc_exchange *x, const struct hc_tenant *t, int *answer)
{
    const char *id = hc_exchange_header(x, SESSION);
    struct hc_mcp_peer *p = id ? hc_mcp_peer_find(x->http->peers, t, id) : NULL;
    if (p)
        p->used = hc_mono_ms();
    else if (id)
        *answer = hc_reply_fail(x, HC_PROBLEM_NOT_FOUND,
                                "there is no such session of MCP: it was ended, not used for mcp.idle, or "
                                "the daemon has begun anew; send initialize without " SESSION);
    else
        *answer = hc_reply_fail(x, HC_PROBLEM_REQUEST,
                                "expected the header " SESSION ", which the answer to initialize had");
    return p;
}

/* ---- streams ---- */

static void end_reading(struct hc_exchange *x)
{
    if (x->stream)
        hc_mcp_stream_detach(x->stream);
    x->stream = NULL;
}

static void read_from(struct hc_exchange *x, struct hc_mcp_stream *s, int64_t after, bool again)
{
    x->end_reading = end_reading;
    hc_mcp_stream_attach(s, &x->waiter, &x->stream, after, again);
}

static ssize_t read_stream(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    const bool keepalive_due = x->events.keepalive_due;
    (void)at;
    x->events.keepalive_due = false;
    x->events.since = hc_mono_ms();
    ssize_t n = x->stream ? hc_mcp_stream_read(x->stream, out, max) : -1;
    if (n < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n > 0)
        return n;
    if (keepalive_due) {
        memcpy(out, KEEPALIVE, sizeof KEEPALIVE - 1);
        return sizeof KEEPALIVE - 1;
    }
    hc_exchange_pause(x);
    return 0;
}

static int reply_stream(struct hc_exchange *x)
{
    x->events.sse = true;
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, x, NULL);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, SSE);
    return hc_reply(x, 200, r);
}

/* Answer with the request's answer alone. */
static int reply_answer(struct hc_exchange *x)
{
    hc_autobuf out = {0};
    const struct hc_mcp_event *e = x->stream ? hc_mcp_stream_answer(x->stream) : NULL;
    if (!e && x->stream && x->stream->peer && !x->stream->answered) {
        hc_exchange_pause(x);
        return MHD_YES;
    }
    if (!e)
        return hc_reply_fail(
            x, HC_PROBLEM_GONE,
            "the request was cancelled, or its session of MCP ended, before the answer was there");
    hc_exchange_hold_anyway(x, e->len);
    (void)hc_buf_add(&out, e->text, e->len);
    return hc_reply_json(x, 200, &out);
}

/* ---- POST ---- */

static int reply_rpc_error(struct hc_exchange *x, const char *id, int code, const char *text)
{
    hc_autobuf out = {0};
    (void)hc_buf_fmt(&out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":", id, code);
    hc_json_quote(&out, text, strlen(text));
    (void)hc_buf_str(&out, "}}\n");
    return hc_reply_json(x, 400, &out);
}

/* The peer of the message: a new one for initialize. */
static struct hc_mcp_peer *peer_of(struct hc_exchange *x, struct hc_tenant *t, const struct hc_rpc *message,
                                   int *answer)
{
    struct hc_problem why = {0};
    if (message->kind != HC_RPC_REQUEST || strcmp(message->method, "initialize") != 0 ||
        hc_exchange_header(x, SESSION))
        return find_peer(x, t, answer);
    struct hc_mcp_peer *p = hc_mcp_peer_begin(x->http->peers, t, hc_exchange_query(x, "policy"), &why);
    if (p)
        (void)snprintf(x->peer_id, sizeof x->peer_id, "%s", p->id);
    else
        *answer = hc_reply_problem(x, &why, NULL);
    return p;
}

/* A client that takes both forms gets events if the answer is not there yet. */
static int answer_request(struct hc_exchange *x, struct hc_mcp_peer *p, const struct hc_rpc *message)
{
    const char *accept = hc_exchange_header(x, MHD_HTTP_HEADER_ACCEPT);
    const bool takes_events = hc_has_word(accept, SSE);
    struct hc_mcp_stream *s = hc_mcp_stream_begin(p, message->id, takes_events);
    if (!s)
        return MHD_NO;
    read_from(x, s, 0, false);
    hc_mcp_handle(&p->m, message);
    if (*x->peer_id && !p->m.version) { /* initialize was refused */
        const int rc = reply_answer(x);
        hc_mcp_peer_end(p);
        return rc;
    }
    if (takes_events && (!s->answered || !hc_has_word(accept, "application/json")))
        return reply_stream(x);
    s->news = s->news && !s->answered; /* an answer as JSON cannot be asked for again */
    return reply_answer(x);
}

static int handle_message(struct hc_exchange *x, struct hc_tenant *t, const struct hc_rpc *message)
{
    hc_autobuf nothing = {0};
    int answer = MHD_NO;
    struct hc_mcp_peer *p = peer_of(x, t, message, &answer);
    if (!p)
        return answer;
    if (message->kind == HC_RPC_REQUEST)
        return answer_request(x, p, message);
    hc_mcp_handle(&p->m, message);
    return hc_reply_json(x, 202, &nothing);
}

int hc_post_mcp(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_rpc message;
    struct hc_error err = {0};
    int code, rc = MHD_NO;
    if (x->end_reading) /* called again: there is news */
        return reply_answer(x);
    if (check_head(x, &rc) < 0)
        return rc;
    if (hc_rpc_parse(&message, x->body.data ? x->body.data : "", x->body.len, &code, &err) < 0)
        rc = reply_rpc_error(x, message.id, code, err.text);
    else
        rc = handle_message(x, t, &message);
    hc_rpc_finish(&message);
    return rc;
}

/* ---- GET, DELETE ---- */

int hc_get_mcp(struct hc_exchange *x, struct hc_tenant *t)
{
    const char *last = hc_exchange_header(x, "Last-Event-ID");
    int answer = MHD_NO;
    int64_t after = 0;
    struct hc_mcp_peer *p = check_head(x, &answer) < 0 ? NULL : find_peer(x, t, &answer);
    if (!p)
        return answer;
    if (!hc_has_word(hc_exchange_header(x, MHD_HTTP_HEADER_ACCEPT), SSE))
        return hc_reply_fail(x, HC_PROBLEM_METHOD, "GET gives events: expected the header Accept: " SSE);
    struct hc_mcp_stream *s = hc_mcp_stream_of_event(p, last ? last : "0-0", &after);
    if (!s)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST,
                             "Last-Event-ID: '%.60s' is no event of this session that is still kept", last);
    read_from(x, s, last ? after : s->made, last != NULL);
    return reply_stream(x);
}

int hc_delete_mcp(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf nothing = {0};
    int answer = MHD_NO;
    struct hc_mcp_peer *p = check_head(x, &answer) < 0 ? NULL : find_peer(x, t, &answer);
    if (!p)
        return answer;
    hc_mcp_peer_end(p);
    return hc_reply_json(x, 204, &nothing);
}
