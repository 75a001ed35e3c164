/* Watchers of E2B's sandboxes, which clients ask for events instead of being sent them: each is a watch of a
 * directory that lives until it is removed, or its sandbox ends. */
#include "daemon/http/e2b.h"

#include "json/json.h"
#include "wire/e2b_envd.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WATCHERS 64 /* most watchers of a sandbox */

struct hc_e2b_watcher {
    struct hc_e2b_watcher *next; /* the next one of hc_http.watchers */
    char sandbox[HC_JOB_ID];
    char id[24];                /* "w1" */
    struct hc_e2b_call call;    /* the request that made it, with the directory */
    struct hc_e2b_view *view;   /* the directory; one of its watches; NULL: not yet */
    struct hc_e2b_files *known; /* files that the client knows of; a reference; NULL: not yet */
};

/* What an exchange needs of a watcher that may be removed meanwhile. */
struct poll {
    struct hc_e2b_view *view;    /* one of its watches; NULL: not yet */
    struct hc_e2b_watcher *made; /* the watcher that is being made; owned; NULL: none */
    char id[24];                 /* ID of the watcher */
};

static void free_watcher(struct hc_http *h, struct hc_e2b_watcher *w)
{
    if (!w)
        return;
    hc_e2b_call_finish(&w->call);
    hc_e2b_view_close(h, NULL, w->view);
    hc_e2b_files_unref(w->known);
    free(w);
}

static void end_poll(struct hc_exchange *x)
{
    struct poll *p = x->own;
    hc_e2b_view_close(x->http, x, p->view);
    free_watcher(x->http, p->made);
    free(p);
}

/* The place of a watcher in the list; of NULL if there is none. */
static struct hc_e2b_watcher **find_place(struct hc_http *h, const char *sandbox, const char *id)
{
    struct hc_e2b_watcher **at = &h->watchers;
    while (*at && (strcmp((*at)->sandbox, sandbox) != 0 || strcmp((*at)->id, id) != 0))
        at = &(*at)->next;
    return at;
}

static void remove_watcher(struct hc_http *h, struct hc_e2b_watcher **at)
{
    struct hc_e2b_watcher *gone = *at;
    *at = gone->next;
    free_watcher(h, gone);
}

void hc_e2b_watchers_sweep(struct hc_http *h, bool all)
{
    for (struct hc_e2b_watcher **at = &h->watchers; *at;) {
        const struct hc_front_session *s = hc_front_session_find_any(h->sessions, (*at)->sandbox);
        if (all || !s || s->state == HC_FRONT_SESSION_ENDED)
            remove_watcher(h, at);
        else
            at = &(*at)->next;
    }
}

static bool has_room(const struct hc_exchange *x)
{
    int count = 0;
    for (const struct hc_e2b_watcher *w = x->http->watchers; w; w = w->next)
        count += strcmp(w->sandbox, x->sandbox) == 0;
    return count < MOST_WATCHERS;
}

static int not_found(struct hc_exchange *x, const char *id)
{
    return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "watcher with id %.20s not found", id);
}

/* Begin a poll. NULL: out of memory. */
static struct poll *begin(struct hc_exchange *x)
{
    x->own = calloc(1, sizeof(struct poll));
    x->end_own = x->own ? end_poll : NULL;
    x->beats = x->own != NULL;
    return x->own;
}

/* Have the list of the view be the one of now. False: `*rc` is what the handler has to return. */
static bool is_ready(struct hc_exchange *x, struct hc_front_session *s, struct hc_e2b_view *v, int *rc)
{
    struct hc_problem why;
    const int step = hc_e2b_view_step(x, s, v, &why);
    *rc = MHD_YES;
    if (step < 0)
        *rc = hc_e2b_reply_refusal(x, &why);
    if (step <= 0)
        return false;
    if (hc_e2b_view_files(v) && !hc_e2b_view_is_being_made(v))
        return true;
    if (!hc_wait_for_session(x, s))
        hc_exchange_pause(x);
    return false;
}

/* ---- create ---- */

/* -1: the answer is in `rc`. */
static int begin_watcher(struct hc_exchange *x, int *rc)
{
    struct hc_error err;
    struct poll *p = begin(x);
    struct hc_e2b_watcher *w = p ? calloc(1, sizeof *w) : NULL;
    *rc = MHD_NO;
    if (!w)
        return -1;
    p->made = w;
    if (!has_room(x))
        *rc = hc_reply_fail(x, HC_PROBLEM_SPEC, "a sandbox has %d watchers at most", MOST_WATCHERS);
    else if (hc_e2b_take_call(&w->call, hc_e2b_body(x), x->body.len, &err) < 0)
        *rc = hc_e2b_reply_untranslated(x, &err);
    else if (!w->call.path.failed) {
        memcpy(w->sandbox, x->sandbox, sizeof w->sandbox);
        w->view = hc_e2b_view_open(x, &w->call);
        p->view = w->view ? hc_e2b_view_open(x, &w->call) : NULL;
    }
    return p->view ? 0 : -1;
}

int hc_e2b_create_watcher(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s || (!x->own && begin_watcher(x, &rc) < 0))
        return rc;
    struct poll *p = x->own;
    struct hc_e2b_watcher *w = p->made;
    if (!is_ready(x, s, p->view, &rc))
        return rc;
    w->known = hc_e2b_view_files(p->view);
    w->known->references++;
    (void)snprintf(w->id, sizeof w->id, "w%lld", (long long)++x->http->watcher_numbers);
    w->next = x->http->watchers;
    x->http->watchers = w;
    p->made = NULL;
    (void)hc_buf_fmt(&out, "{\"watcherId\": \"%s\"}", w->id);
    return hc_reply_json(x, 200, &out);
}

/* ---- events, remove ---- */

/* Take the ID of a watcher out of the body. -1: the answer is in `rc`. */
static int take_id(struct hc_exchange *x, char id[24], int *rc)
{
    struct hc_json j;
    struct hc_error err;
    if (hc_json_parse(&j, "request", hc_e2b_body(x), x->body.len, &err) < 0) {
        *rc = hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
        return -1;
    }
    (void)snprintf(id, 24, "%s", hc_json_text(j.root, "watcherId"));
    hc_json_finish(&j);
    if (*id)
        return 0;
    *rc = hc_reply_fail(x, HC_PROBLEM_REQUEST, "watcherId: expected the ID of a watcher");
    return -1;
}

static void add_event(void *to, const struct hc_buf *event)
{
    struct hc_buf *out = to;
    (void)hc_buf_str(out, out->len ? ", " : "");
    (void)hc_buf_str(out, event->data);
}

/* Answer with what differs since the last time. */
static int reply_events(struct hc_exchange *x, struct hc_e2b_watcher *w)
{
    hc_autobuf events = {0}, out = {0};
    struct hc_problem why;
    struct hc_e2b_files *now = hc_e2b_view_files(w->view);
    if (hc_e2b_view_compare(w->view, w->known, now, add_event, &events) < 0)
        return MHD_NO;
    (void)hc_buf_str(&out, "{\"events\": [");
    (void)hc_buf_add(&out, events.data, events.len);
    (void)hc_buf_str(&out, "]}");
    if (!hc_exchange_hold(x, out.len, &why))
        return hc_reply_problem(x, &why, NULL);
    hc_e2b_files_unref(w->known);
    w->known = now;
    now->references++;
    return hc_reply_json(x, 200, &out);
}

int hc_e2b_watcher_events(struct hc_exchange *x, struct hc_tenant *t)
{
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s)
        return rc;
    struct poll *p = x->own ? x->own : begin(x);
    if (!p)
        return MHD_NO;
    if (!*p->id && take_id(x, p->id, &rc) < 0)
        return rc;
    struct hc_e2b_watcher *w = *find_place(x->http, x->sandbox, p->id);
    if (!w)
        return not_found(x, p->id);
    if (!p->view)
        p->view = hc_e2b_view_open(x, &w->call);
    if (!p->view)
        return MHD_NO;
    return is_ready(x, s, p->view, &rc) ? reply_events(x, w) : rc;
}

int hc_e2b_remove_watcher(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    char id[24];
    int rc;
    if (!hc_e2b_sandbox(x, t, &rc) || take_id(x, id, &rc) < 0)
        return rc;
    struct hc_e2b_watcher **at = find_place(x->http, x->sandbox, id);
    if (!*at)
        return not_found(x, id);
    remove_watcher(x->http, at);
    (void)hc_buf_str(&out, "{}");
    return hc_reply_json(x, 200, &out);
}
