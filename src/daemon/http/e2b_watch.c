/* Watching a directory of E2B's sandboxes. Unless commands go on, nothing changes between a session's
 * requests, as all its processes stand still then: after each request that may have changed a file, and now
 * and then while commands go on, the directory is listed anew (e2b_view.c), and what differs becomes events.
 */
#include "daemon/http/e2b.h"

#include "base/clock.h"
#include "json/json.h"
#include "wire/e2b_envd.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

struct watch {
    struct hc_e2b_call call;
    struct hc_e2b_view *view;   /* the directory, as others see it, too; one of its watches */
    struct hc_e2b_files *known; /* files that the client knows of; a reference; NULL: none */
    struct hc_buf out;          /* messages that were not sent yet; owned */
    size_t sent;                /* bytes of `out` that were sent */
    int64_t since;              /* time of the last message (CLOCK_MONOTONIC, ms) */
    bool over;                  /* the last message is in `out` */
};

static void end_watch(struct hc_exchange *x)
{
    struct watch *w = x->own;
    hc_e2b_call_finish(&w->call);
    hc_e2b_view_close(x->http, x, w->view);
    hc_e2b_files_unref(w->known);
    hc_buf_finish(&w->out);
    free(w);
}

/* ---- what differs ---- */

static void send_event(void *to, const struct hc_buf *event)
{
    struct watch *w = to;
    hc_autobuf json = {0};
    (void)hc_buf_fmt(&json, "{\"filesystem\": %s}", event->data);
    w->out.failed |= json.failed;
    hc_e2b_envelope(0, json.data ? json.data : "", json.len, &w->out);
}

/* Tell what the view shows: at first only that the directory is there. */
static void tell(struct watch *w)
{
    static const char start[] = "{\"start\": {}}";
    struct hc_e2b_files *files = hc_e2b_view_files(w->view);
    if (w->known)
        w->out.failed |= hc_e2b_view_compare(w->view, w->known, files, send_event, w) < 0;
    else
        hc_e2b_envelope(0, start, sizeof start - 1, &w->out);
    hc_e2b_files_unref(w->known);
    w->known = files;
    files->references++;
}

/* ---- the stream ---- */

/* End the stream, as the sandbox takes no more requests or the directory cannot be listed. */
static void finish(struct watch *w, const char *code, const char *message)
{
    hc_autobuf json = {0};
    (void)hc_buf_fmt(&json, "{\"error\": {\"code\": \"%s\", \"message\": ", code);
    hc_json_quote(&json, message, strlen(message));
    (void)hc_buf_str(&json, "}}");
    hc_e2b_envelope(HC_E2B_LAST, json.data ? json.data : "", json.len, &w->out);
    w->over = true;
}

static bool is_open(const struct hc_front_session *s)
{
    return s && s->state != HC_FRONT_SESSION_ENDED && !s->closing && !s->paused;
}

/* Go on until there is a message, or something to wait for (false). */
static bool advance(struct hc_exchange *x, struct watch *w)
{
    static const char alive[] = "{\"keepalive\": {}}";
    struct hc_problem why;
    struct hc_front_session *s = hc_front_session_find_any(x->http->sessions, x->sandbox);
    if (!is_open(s)) {
        finish(w, "unavailable", "The sandbox was not found");
        return true;
    }
    const bool up_to_date = hc_e2b_view_files(w->view) == w->known;
    const int rc = up_to_date || !w->known ? hc_e2b_view_step(x, s, w->view, &why) : 1;
    if (rc < 0) {
        finish(w, why.sys ? "not_found" : why.quota ? "resource_exhausted" : "internal", why.detail);
        return true;
    }
    if (rc == 0)
        return false;
    /* A new watch compares with the list that is being made now, and not with an older one. */
    const bool begins = !w->known && hc_e2b_view_is_being_made(w->view);
    if (!begins && hc_e2b_view_files(w->view) != w->known) {
        tell(w);
        return true;
    }
    if (hc_mono_ms() - w->since >= HC_E2B_KEEPALIVE_MS)
        hc_e2b_envelope(0, alive, sizeof alive - 1, &w->out);
    else if (!hc_wait_for_session(x, s))
        hc_exchange_pause(x);
    return w->out.len > w->sent;
}

static ssize_t read_messages(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    struct watch *w = x->own;
    (void)at;
    while (w->sent == w->out.len) {
        if (w->over)
            return MHD_CONTENT_READER_END_OF_STREAM;
        hc_buf_clear(&w->out);
        w->sent = 0;
        if (!advance(x, w))
            return 0;
    }
    if (w->out.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    const size_t n = MIN(max, w->out.len - w->sent);
    memcpy(out, w->out.data + w->sent, n);
    w->sent += n;
    w->since = hc_mono_ms();
    return (ssize_t)n;
}

int hc_e2b_watch_dir(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_error err;
    size_t len = 0;
    int rc;
    if (!hc_e2b_sandbox(x, t, &rc))
        return rc;
    const char *json = hc_e2b_unwrap(hc_e2b_body(x), x->body.len, &len);
    if (!json)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "expected one message of Connect");
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return MHD_NO;
    x->own = w;
    x->end_own = end_watch;
    w->since = hc_mono_ms();
    if (hc_e2b_take_call(&w->call, json, len, &err) < 0)
        return hc_e2b_reply_untranslated(x, &err);
    w->view = w->call.path.failed ? NULL : hc_e2b_view_open(x, &w->call);
    if (!w->view)
        return MHD_NO;
    x->beats = true;
    return hc_e2b_reply_stream(x, "application/connect+json", read_messages);
}
