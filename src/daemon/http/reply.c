/* Answers. A function that queues an answer sets x->answered; the answer keeps no reference to the exchange.
 */
#include "daemon/http/http.h"

#include "daemon/http/e2b.h"

#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int hc_reply(struct hc_exchange *x, int status, struct MHD_Response *response)
{
    if (!response)
        return MHD_NO; /* out of memory: libmicrohttpd closes the connection */
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (x->task) {
        char place[HC_JOB_ID + 20];
        (void)snprintf(place, sizeof place, "/v1/%s/%s", x->task->of_session ? "sessions" : "jobs",
                       x->task->queued.id);
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, place);
    }
    if (*x->peer_id)
        (void)MHD_add_response_header(response, "Mcp-Session-Id", x->peer_id);
    if (x->dispatch->draining || x->closing)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    x->answered = true;
    x->dispatch->counters.answers[status / 100 % 6]++;
    int rc = (int)MHD_queue_response(x->mhd, (unsigned)status, response);
    MHD_destroy_response(response);
    return rc;
}

static struct MHD_Response *response_of(const char *type, struct hc_buf *out)
{
    if (out->failed)
        return NULL;
    size_t len = out->len;
    char *text = len ? hc_buf_take(out) : calloc(1, 1);
    if (!text)
        return NULL;
    struct MHD_Response *r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
    if (!r)
        free(text);
    else if (len)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    return r;
}

int hc_reply_text(struct hc_exchange *x, int status, const char *type, struct hc_buf *out)
{
    return hc_reply(x, status, response_of(type, out));
}

int hc_reply_json(struct hc_exchange *x, int status, struct hc_buf *out)
{
    return hc_reply_text(x, status, "application/json", out);
}

int hc_reply_problem(struct hc_exchange *x, const struct hc_problem *p, const struct hc_task *task)
{
    hc_autobuf out = {0};
    char seconds[16];
    if (x->route && x->route->dialect)
        return hc_e2b_reply_problem(x, p);
    hc_problem_print(p, task ? task->queued.id : NULL, task ? task->manifest : NULL, &out);
    struct MHD_Response *r = response_of("application/problem+json", &out);
    if (r && p->kind == HC_PROBLEM_UNKNOWN_USER)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (r && p->allow)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, p->allow);
    if (r && p->retry_after) {
        (void)snprintf(seconds, sizeof seconds, "%d", p->retry_after);
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
    return hc_reply(x, hc_problem_status(p), r);
}

int hc_reply_fail(struct hc_exchange *x, enum hc_problem_kind kind, const char *fmt, ...)
{
    struct hc_problem p = {.kind = kind};
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(p.detail, sizeof p.detail, fmt, ap);
    va_end(ap);
    return hc_reply_problem(x, &p, NULL);
}
