/* E2B's API of sandboxes: a sandbox is a session of the tenant, its template a policy, its metadata the
 * session's labels, and its timeout the time at which the front ends the session. */
#include "daemon/http/e2b.h"

#include "base/clock.h"
#include "json/json.h"
#include "wire/e2b.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define ENVD_VERSION "0.5.7" /* the version of E2B's daemon in sandboxes whose interface is there */
#define MOST_LISTED  1000    /* most sandboxes in one page of a list, unless the client asks for fewer */

/* clang-format off */
static const struct hc_route routes[] = {
    {"POST", "/sandboxes", hc_e2b_post_sandbox, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"POST", "/v2/sandboxes", hc_e2b_post_sandbox, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"GET", "/sandboxes", hc_e2b_list, .kind = HC_ROUTE_PLAIN, .query = "metadata", .dialect = HC_DIALECT_API},
    {"GET", "/v2/sandboxes", hc_e2b_list, .kind = HC_ROUTE_PLAIN, .query = "metadata state template limit nextToken", .dialect = HC_DIALECT_API},
    {"GET", "/sandboxes/{id}", hc_e2b_get, .kind = HC_ROUTE_PLAIN, .dialect = HC_DIALECT_API},
    {"DELETE", "/sandboxes/{id}", hc_e2b_delete, .kind = HC_ROUTE_PLAIN, .dialect = HC_DIALECT_API},
    {"POST", "/sandboxes/{id}/timeout", hc_e2b_set_timeout, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"POST", "/sandboxes/{id}/pause", hc_e2b_pause, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"POST", "/sandboxes/{id}/resume", hc_e2b_connect, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"POST", "/sandboxes/{id}/connect", hc_e2b_connect, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"POST", "/v2/sandboxes/{id}/connect", hc_e2b_connect, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"GET", "/sandboxes/{id}/metrics", hc_e2b_missing, .kind = HC_ROUTE_PLAIN, .query = "start end", .dialect = HC_DIALECT_API},
    {"POST", "/sandboxes/{id}/snapshots", hc_e2b_missing, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"POST", "/sandboxes/{id}/fork", hc_e2b_missing, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_API},
    {"GET", "/snapshots", hc_e2b_missing, .kind = HC_ROUTE_PLAIN, .query = "sandboxID name limit nextToken", .dialect = HC_DIALECT_API},
    {"GET", "/templates", hc_e2b_missing, .kind = HC_ROUTE_PLAIN, .dialect = HC_DIALECT_API},
    {"POST", "/execute", hc_e2b_post_execute, .kind = HC_ROUTE_BODY, .query = "source", .dialect = HC_DIALECT_SANDBOX},
    {"GET", "/contexts", hc_e2b_list_contexts, .kind = HC_ROUTE_PLAIN, .query = "source", .dialect = HC_DIALECT_SANDBOX},
    {"POST", "/contexts", hc_e2b_post_context, .kind = HC_ROUTE_BODY, .query = "source", .dialect = HC_DIALECT_SANDBOX},
    {"DELETE", "/contexts/{id}", hc_e2b_delete_context, .kind = HC_ROUTE_PLAIN, .query = "source", .dialect = HC_DIALECT_SANDBOX},
    {"POST", "/contexts/{id}/restart", hc_e2b_restart_context, .kind = HC_ROUTE_PLAIN, .query = "source", .dialect = HC_DIALECT_SANDBOX},
    {"GET", "/health", hc_e2b_health, .kind = HC_ROUTE_PLAIN, .query = "source", .dialect = HC_DIALECT_SANDBOX},
    {"POST", "/filesystem.Filesystem/Stat", hc_e2b_file_call, .kind = HC_ROUTE_BODY, .ask = "stat_file", .dialect = HC_DIALECT_UNARY},
    {"POST", "/filesystem.Filesystem/MakeDir", hc_e2b_file_call, .kind = HC_ROUTE_BODY, .ask = "make_directory", .dialect = HC_DIALECT_UNARY},
    {"POST", "/filesystem.Filesystem/Move", hc_e2b_file_call, .kind = HC_ROUTE_BODY, .ask = "move_file", .dialect = HC_DIALECT_UNARY},
    {"POST", "/filesystem.Filesystem/Remove", hc_e2b_file_call, .kind = HC_ROUTE_BODY, .ask = "remove_file", .dialect = HC_DIALECT_UNARY},
    {"POST", "/filesystem.Filesystem/ListDir", hc_e2b_list_dir, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_UNARY},
    {"POST", "/filesystem.Filesystem/WatchDir", hc_e2b_watch_dir, .kind = HC_ROUTE_BODY, .type = "application/connect+json", .dialect = HC_DIALECT_STREAM},
    {"POST", "/filesystem.Filesystem/CreateWatcher", hc_e2b_create_watcher, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_UNARY},
    {"POST", "/filesystem.Filesystem/GetWatcherEvents", hc_e2b_watcher_events, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_UNARY},
    {"POST", "/filesystem.Filesystem/RemoveWatcher", hc_e2b_remove_watcher, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_UNARY},
    {"POST", "/process.Process/Start", hc_e2b_start_process, .kind = HC_ROUTE_BODY, .ask = "start", .type = "application/connect+json", .dialect = HC_DIALECT_STREAM},
    {"POST", "/process.Process/Connect", hc_e2b_connect_process, .kind = HC_ROUTE_BODY, .type = "application/connect+json", .dialect = HC_DIALECT_STREAM},
    {"POST", "/process.Process/List", hc_e2b_list_processes, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_UNARY},
    {"POST", "/process.Process/SendInput", hc_e2b_process_call, .kind = HC_ROUTE_BODY, .ask = "command_input", .dialect = HC_DIALECT_UNARY},
    {"POST", "/process.Process/CloseStdin", hc_e2b_process_call, .kind = HC_ROUTE_BODY, .ask = "command_input", .undo = true, .dialect = HC_DIALECT_UNARY},
    {"POST", "/process.Process/SendSignal", hc_e2b_process_call, .kind = HC_ROUTE_BODY, .ask = "command_signal", .dialect = HC_DIALECT_UNARY},
    {"POST", "/process.Process/Update", hc_e2b_missing, .kind = HC_ROUTE_BODY, .dialect = HC_DIALECT_UNARY},
    {"POST", "/process.Process/StreamInput", hc_e2b_missing, .kind = HC_ROUTE_BODY, .type = "application/connect+json", .dialect = HC_DIALECT_STREAM},
    {"GET", "/files", hc_e2b_get_file, .kind = HC_ROUTE_PLAIN, .query = "path username signature signature_expiration", .dialect = HC_DIALECT_SANDBOX},
    {"POST", "/files", hc_e2b_post_files, .kind = HC_ROUTE_BODY, .query = "path username signature signature_expiration", .type = "*", .dialect = HC_DIALECT_SANDBOX},
};
/* clang-format on */

const struct hc_route_table hc_e2b_routes = {routes, sizeof routes / sizeof *routes};

/* ---- a sandbox as JSON ---- */

static int64_t end_of(const struct hc_front_session *s)
{
    return s->expires ? MIN(s->expires, s->life_ends) : s->life_ends;
}

static void put_time(const char *name, int64_t ms, struct hc_buf *out)
{
    char time[40];
    (void)hc_buf_fmt(out, ", \"%s\": \"%s\"", name, hc_format_time(ms, true, time));
}

static void put_sandbox(const struct hc_front_session *s, struct hc_buf *out)
{
    (void)hc_buf_fmt(out,
                     "{\"sandboxID\": \"%s\", \"templateID\": \"%s\", \"clientID\": \"hotcell\", \"state\": "
                     "\"%s\", \"envdVersion\": \"" ENVD_VERSION "\", \"cpuCount\": 1, \"memoryMB\": %lld, "
                     "\"diskSizeMB\": 0",
                     s->id, s->policy, s->paused ? "paused" : "running", (long long)(s->memory >> 20));
    put_time("startedAt", s->created, out);
    put_time("endAt", end_of(s), out);
    (void)hc_buf_fmt(out, ", \"metadata\": %s}", s->labels ? s->labels : "{}");
}

/* What a client needs to talk to the sandbox. */
static int reply_access(struct hc_exchange *x, const struct hc_front_session *s, int status)
{
    hc_autobuf out = {0};
    char token[HC_SHA256_HEX];
    hc_e2b_token(x->http, s->id, token);
    (void)hc_buf_fmt(&out,
                     "{\"sandboxID\": \"%s\", \"templateID\": \"%s\", \"clientID\": \"hotcell\", "
                     "\"envdVersion\": \"" ENVD_VERSION "\", \"envdAccessToken\": \"%s\", "
                     "\"trafficAccessToken\": \"%s\", \"domain\": null}\n",
                     s->id, s->policy, token, token);
    return hc_reply_json(x, status, &out);
}

static struct hc_front_session *find(struct hc_exchange *x, const struct hc_tenant *t)
{
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->id);
    return s && s->state != HC_FRONT_SESSION_ENDED ? s : NULL;
}

static int not_found(struct hc_exchange *x)
{
    return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND,
                         "sandbox \"%s\" doesn't exist or you don't have access to it", x->id);
}

/* ---- create ---- */

/* What is left to do for a new sandbox when its session has begun. */
struct creation {
    int64_t timeout_s; /* seconds that it has from then on */
};

static void end_creation(struct hc_exchange *x)
{
    free(x->own);
}

/* Begin the session. -1: the answer is in `rc`. */
static int begin(struct hc_exchange *x, struct hc_tenant *t, int *rc)
{
    const struct hc_config *config = &x->dispatch->config;
    const struct hc_e2b_rules rules = {config->e2b_policy, config->e2b_templates};
    struct hc_problem why = {0};
    struct hc_checked checked = {0};
    struct hc_error err;
    hc_autobuf spec = {0};
    struct creation *c = calloc(1, sizeof *c);
    *rc = MHD_NO;
    if (!c)
        return -1;
    x->own = c;
    x->end_own = end_creation;
    if (hc_e2b_spec(&rules, hc_e2b_body(x), x->body.len, &spec, &c->timeout_s, &err) < 0)
        *rc = hc_e2b_reply_untranslated(x, &err);
    else if (!hc_dispatch_takes_jobs(x->dispatch, &why) ||
             hc_check_request(x->dispatch, &spec, t, true, &checked, &why) < 0 ||
             !(x->task = hc_front_session_start(x->http->sessions, t, &spec, &checked, &why)))
        *rc = hc_reply_problem(x, &why, NULL);
    return x->task ? 0 : -1;
}

int hc_e2b_post_sandbox(struct hc_exchange *x, struct hc_tenant *t)
{
    int rc;
    if (!x->task && begin(x, t, &rc) < 0)
        return rc;
    const struct creation *c = x->own;
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->task->queued.id);
    if (x->task->state == HC_TASK_FAILED)
        return hc_reply_problem(x, &x->task->problem, NULL);
    if (!s || s->state == HC_FRONT_SESSION_ENDED)
        return hc_reply_fail(x, HC_PROBLEM_LAUNCH, "the sandbox has ended as it began");
    hc_front_session_expire_in(s, c->timeout_s * 1000);
    return reply_access(x, s, 201);
}

/* ---- list ---- */

/* Which sandboxes a list has. */
struct filter {
    const struct hc_tenant *tenant;
    const char *metadata, *state, *template; /* borrowed; NULL: any */
    int64_t skip, limit;                     /* sandboxes that earlier pages have; most of this page */
};

static int64_t number_of(const char *text, int64_t otherwise)
{
    char *end;
    const long long n = text ? strtoll(text, &end, 10) : otherwise;
    return text && (*end || end == text || n < 0) ? -1 : n;
}

static bool fits(const struct hc_front_session *s, const struct filter *f)
{
    if (s->tenant != f->tenant || s->state == HC_FRONT_SESSION_ENDED || s->state == HC_FRONT_SESSION_STARTING)
        return false;
    if (f->state && !strstr(f->state, s->paused ? "paused" : "running"))
        return false;
    if (f->template && strcmp(f->template, s->policy) != 0)
        return false;
    cJSON *labels = f->metadata && s->labels ? cJSON_Parse(s->labels) : NULL;
    const bool has = !f->metadata || hc_e2b_labels_fit(labels, f->metadata);
    cJSON_Delete(labels);
    return has;
}

/* Append one page; returns the number of sandboxes in it and before it, or 0 if it is the last. */
static int64_t put_page(const struct hc_exchange *x, const struct filter *f, struct hc_buf *out)
{
    int64_t at = 0, put = 0;
    (void)hc_buf_str(out, "[");
    for (const struct hc_front_session *s = x->http->sessions->newest; s; s = s->next) {
        if (!fits(s, f) || at++ < f->skip)
            continue;
        if (put == f->limit)
            return f->skip + put;
        (void)hc_buf_str(out, put++ ? ", " : "");
        put_sandbox(s, out);
    }
    return 0;
}

int hc_e2b_list(struct hc_exchange *x, struct hc_tenant *t)
{
    const struct filter f = {.tenant = t,
                             .metadata = hc_exchange_query(x, "metadata"),
                             .state = hc_exchange_query(x, "state"),
                             .template = hc_exchange_query(x, "template"),
                             .skip = number_of(hc_exchange_query(x, "nextToken"), 0),
                             .limit = number_of(hc_exchange_query(x, "limit"), MOST_LISTED)};
    hc_autobuf out = {0};
    char next[24];
    if (f.skip < 0 || f.limit < 1)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "limit, nextToken: expected whole numbers");
    const int64_t more = put_page(x, &f, &out);
    (void)hc_buf_str(&out, "]\n");
    if (out.failed)
        return MHD_NO;
    (void)snprintf(next, sizeof next, "%lld", (long long)more);
    struct MHD_Response *r = MHD_create_response_from_buffer(out.len, out.data, MHD_RESPMEM_MUST_COPY);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    if (r && more)
        (void)MHD_add_response_header(r, "X-Next-Token", next);
    return hc_reply(x, 200, r);
}

/* ---- one sandbox ---- */

int hc_e2b_get(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    const struct hc_front_session *s = find(x, t);
    if (!s)
        return not_found(x);
    put_sandbox(s, &out);
    return hc_reply_json(x, 200, &out);
}

static int reply_nothing(struct hc_exchange *x)
{
    hc_autobuf nothing = {0};
    return hc_reply_json(x, 204, &nothing);
}

int hc_e2b_delete(struct hc_exchange *x, struct hc_tenant *t)
{
    if (!x->task) {
        struct hc_front_session *s = find(x, t);
        if (!s)
            return not_found(x);
        x->task = hc_front_session_end(s);
        if (!x->task)
            return MHD_NO;
    }
    return hc_task_ended(x->task) ? reply_nothing(x) : hc_exchange_suspend(x);
}

/* The sandbox of the path, and the "timeout" of the body in seconds, -1 if it has none. NULL: the answer is
 * in `rc`. */
static struct hc_front_session *find_with_timeout(struct hc_exchange *x, const struct hc_tenant *t,
                                                  int64_t *seconds, int *rc)
{
    struct hc_error err;
    struct hc_front_session *s = find(x, t);
    if (!s)
        *rc = not_found(x);
    else if (hc_e2b_timeout(hc_e2b_body(x), x->body.len, -1, seconds, &err) < 0)
        *rc = hc_e2b_reply_untranslated(x, &err);
    else
        return s;
    return NULL;
}

int hc_e2b_set_timeout(struct hc_exchange *x, struct hc_tenant *t)
{
    int64_t seconds;
    int rc;
    struct hc_front_session *s = find_with_timeout(x, t, &seconds, &rc);
    if (!s)
        return rc;
    if (seconds < 0)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "timeout: expected a number of seconds, got nothing");
    if (s->paused)
        return hc_reply_fail(x, HC_PROBLEM_IN_USE, "the sandbox is paused");
    hc_front_session_expire_in(s, seconds * 1000);
    return reply_nothing(x);
}

/* Between runs all processes of a session stand still anyway: a paused one keeps its memory, and is only told
 * apart by the front, which neither ends it by its timeout nor passes requests on to it. */
int hc_e2b_pause(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_front_session *s = find(x, t);
    if (!s)
        return not_found(x);
    if (s->paused)
        return hc_reply_fail(x, HC_PROBLEM_IN_USE, "the sandbox is paused already");
    if (hc_e2b_runs_commands(s))
        return hc_reply_fail(x, HC_PROBLEM_REQUEST,
                             "commands go on in the sandbox: it can be paused when they have ended");
    if (hc_wait_for_session(x, s))
        return MHD_YES;
    s->paused = true;
    s->expires = 0;
    return reply_nothing(x);
}

int hc_e2b_connect(struct hc_exchange *x, struct hc_tenant *t)
{
    int64_t seconds;
    int rc;
    struct hc_front_session *s = find_with_timeout(x, t, &seconds, &rc);
    if (!s)
        return rc;
    const bool resumed = s->paused;
    const int64_t before = s->expires;
    s->paused = false;
    if (seconds >= 0 || resumed)
        hc_front_session_expire_in(s, (seconds < 0 ? HC_E2B_TIMEOUT : seconds) * 1000);
    if (!resumed && before > s->expires) /* whoever connects does not shorten the time of others */
        s->expires = before;
    return reply_access(x, s, resumed ? 201 : 200);
}

int hc_e2b_missing(struct hc_exchange *x, struct hc_tenant *t)
{
    (void)t;
    return hc_e2b_reply_missing(x, x->route->path);
}
