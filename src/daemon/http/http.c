#include "daemon/http/http.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "daemon/http/callers.h"
#include "daemon/http/handlers.h"
#include "daemon/http/request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sodium/randombytes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

/* A whole request must come within this multiple of http.idle, the longest silence. */
#define WHOLE_REQUEST 4

#define LONG_ANSWER                                                                                          \
    ((size_t)1 << 20) /* bytes of an answer; shorter answers do not count as request memory                  \
                       */

#define MAX_ORDER 4096 /* most bytes of the body of an administrator's order */

#define LINES_A_MINUTE 10 /* most log lines a minute about wrong requests */

/* Bytes of a connection's memory, beside the request's head, for libmicrohttpd's own data and the answer's
 * head. */
#define MHD_ROOM 8192

/* ---- connections ---- */

/* Ends the job of a task that no client waits for any more, or the session that the task begins. */
static void cancel_task(struct hc_task *task, struct hc_dispatch *d)
{
    if (!task->of_session)
        hc_dispatch_cancel(d, task, NULL);
    else if (task->session)
        hc_front_session_cancel(task->session, "tenant", NULL);
}

/* The client has gone while its request waited. libmicrohttpd does not look at a suspended connection, and
 * learns it only from a write that fails. The task that the client waited for ends, unless it is detached. */
static void hung_up(struct hc_watch *w, uint32_t events)
{
    struct hc_connection *c = hc_owner(w, struct hc_connection, hangup);
    struct hc_exchange *x = c->exchange;
    if (!(events & (EPOLLHUP | EPOLLERR)) || !x || !x->suspended)
        return;
    if (x->task && !x->task->detached && !hc_task_ended(x->task))
        cancel_task(x->task, c->http->dispatch);
    else if (x->notebook)
        hc_notebook_cancel(x);
    else
        x->waiter.wake(&x->waiter);
}

/* Copies the part of an address that a host cannot change: of an IPv6 address only the network. */
static void take_address(const struct sockaddr_storage *address, unsigned char out[16])
{
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (address->ss_family == AF_INET)
        memcpy(out, &((const struct sockaddr_in *)address)->sin_addr, sizeof(struct in_addr));
    else if (address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6))
        memcpy(out, &v6->s6_addr[12], sizeof(struct in_addr));
    else if (address->ss_family == AF_INET6)
        memcpy(out, v6, 8);
}

static bool is_v6(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 &&
           !IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static int learn_origin(int fd, bool local, struct hc_origin *from)
{
    struct ucred peer;
    struct sockaddr_storage address = {0};
    socklen_t len = local ? sizeof peer : sizeof address;
    *from = (struct hc_origin){.local = local, .uid = (uid_t)-1};
    if (local ? getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0
              : getpeername(fd, (struct sockaddr *)&address, &len) < 0)
        return -1;
    if (local)
        from->uid = peer.uid;
    else
        take_address(&address, from->address);
    from->v6 = !local && is_v6(&address);
    return 0;
}

/* May this origin have another connection? Clients of one origin that have not named their tenant may have as
 * many connections as a tenant; otherwise they could take all connections and keep other clients out. */
static bool has_room(const struct hc_http *h, const struct hc_origin *from)
{
    int64_t silent = 0;
    for (const struct hc_connection *c = h->connections; c; c = c->next)
        silent += !c->tenant && c->from.local == from->local && c->from.uid == from->uid &&
                  memcmp(c->from.address, from->address, sizeof from->address) == 0;
    return silent < h->dispatch->config.http_tenant_connections;
}

static void connection_begins(struct hc_http *h, bool local, struct MHD_Connection *mhd, void **context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct hc_connection *c = info ? calloc(1, sizeof *c) : NULL;
    struct hc_error err;
    if (!c)
        return; /* without a context every request of the connection is refused */
    *c = (struct hc_connection){
        .hangup = {info->connect_fd, hung_up}, .http = h, .receiving = true, .since = hc_mono_ms()};
    /* epoll reports the end of a connection without being asked for any event. */
    if (learn_origin(info->connect_fd, local, &c->from) < 0 || !has_room(h, &c->from) ||
        hc_reactor_add(h->dispatch->epoll, &c->hangup, EPOLLET, &err) < 0) {
        (void)shutdown(info->connect_fd, SHUT_RDWR);
        free(c);
        return;
    }
    c->next = h->connections;
    if (c->next)
        c->next->previous = c;
    h->connections = c;
    *context = c;
}

/* There may be room for another connection now. libmicrohttpd does not accept when it has as many as it may
 * have; it looks again when it is run the next time. */
static void connection_ends(struct hc_http *h, struct hc_connection *c)
{
    h->due = true;
    if (!c)
        return;
    hc_reactor_remove(h->dispatch->epoll, &c->hangup);
    *(c->previous ? &c->previous->next : &h->connections) = c->next;
    if (c->next)
        c->next->previous = c->previous;
    if (c->tenant)
        c->tenant->connections--;
    free(c);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    const struct hc_server *s = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        connection_begins(s->http, s->local, mhd, context);
    else
        connection_ends(s->http, *context);
}

static void wake_beating(struct hc_http *h)
{
    h->list_due = 0;
    for (struct hc_connection *c = h->connections; c; c = c->next)
        if (c->exchange && c->exchange->beats)
            c->exchange->waiter.wake(&c->exchange->waiter);
}

void hc_http_sweep(struct hc_http *h, int64_t now)
{
    int64_t most = h->dispatch->config.http_idle_ms * WHOLE_REQUEST;
    hc_e2b_watchers_sweep(h, false);
    for (struct hc_connection *c = h->connections; c; c = c->next) {
        if (c->receiving && now - c->since > most)
            (void)shutdown(c->hangup.fd, SHUT_RDWR);
        if (c->exchange)
            hc_events_beat(c->exchange, now);
    }
    wake_beating(h);
}

/* ---- the log ---- */

/* Logs a line about a stranger's request; the lines are limited, as strangers may send any number of
 * requests. */
static void log_stranger(struct hc_http *h, bool warns, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void log_stranger(struct hc_http *h, bool warns, const char *fmt, ...)
{
    char line[512];
    int64_t now = hc_mono_ms();
    if (now - h->lines_since >= 60000) {
        if (h->lines > LINES_A_MINUTE)
            hc_info("http: %lld more lines in a minute", (long long)(h->lines - LINES_A_MINUTE));
        h->lines = 0;
        h->lines_since = now;
    }
    if (++h->lines > LINES_A_MINUTE)
        return;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    line[strcspn(line, "\n")] = '\0';
    if (warns)
        hc_warn("http: %s", line);
    else
        hc_info("http: %s", line);
}

/* Logs that a caller was refused, with his origin, for an administrator who looks for guessed tokens or for a
 * user without a tenant. */
static void log_refusal(struct hc_exchange *x)
{
    const struct hc_origin *from = &x->connection->from;
    const int status = hc_problem_status(&x->refused);
    char text[INET6_ADDRSTRLEN] = "";
    if (status != 401 && status != 403)
        return;
    if (from->local)
        (void)snprintf(text, sizeof text, "uid %u", from->uid);
    else
        (void)inet_ntop(from->v6 ? AF_INET6 : AF_INET, from->address, text, sizeof text);
    log_stranger(x->http, false, "%s is refused %s %s: %d", text, x->route->method, x->route->path, status);
}

/* ---- requests ---- */

const char *hc_exchange_query(const struct hc_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->mhd, MHD_GET_ARGUMENT_KIND, name);
}

const char *hc_exchange_header(const struct hc_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

static void exchange_wake(struct hc_waiter *w)
{
    struct hc_exchange *x = hc_owner(w, struct hc_exchange, waiter);
    if (!x->suspended)
        return;
    x->suspended = false;
    x->http->due = true;
    MHD_resume_connection(x->mhd);
}

void hc_exchange_pause(struct hc_exchange *x)
{
    x->suspended = true;
    MHD_suspend_connection(x->mhd);
}

int hc_exchange_suspend(struct hc_exchange *x)
{
    if (!x->waiter.task)
        hc_task_wait(x->task, &x->waiter);
    hc_exchange_pause(x);
    return MHD_YES;
}

/* Frees the body, which is not needed or not needed any more. */
static void drop_body(struct hc_exchange *x)
{
    if (x->body_held)
        hc_request_memory_let_go(&x->dispatch->request_memory, x->connection->tenant, x->body_held);
    x->body_held = 0;
    hc_buf_finish(&x->body);
}

void hc_exchange_hold_anyway(struct hc_exchange *x, size_t bytes)
{
    struct hc_tenant *t = x->connection->tenant;
    if (bytes < LONG_ANSWER || x->answer_held || !t)
        return;
    x->answer_held = (int64_t)bytes;
    t->answer_bytes += x->answer_held;
    hc_request_memory_hold(&x->dispatch->request_memory, t, x->answer_held);
}

bool hc_exchange_hold(struct hc_exchange *x, size_t bytes, struct hc_problem *why)
{
    struct hc_dispatch *d = x->dispatch;
    const struct hc_bounds bounds = {.all = d->config.http_bodies, .one = d->config.http_body};
    const struct hc_tenant *t = x->connection->tenant;
    /* One long answer at a time is never refused, or the client could never get it. */
    if (bytes >= LONG_ANSWER && t->answer_bytes &&
        !hc_request_memory_fit(&d->request_memory, &bounds, t->request_bytes, (int64_t)bytes)) {
        hc_problem_set(why, HC_PROBLEM_QUOTA, "earlier answers to the tenant have not been read yet");
        why->quota = "bodies";
        why->retry_after = 1;
        return false;
    }
    hc_exchange_hold_anyway(x, bytes);
    return true;
}

static void drop_answer(struct hc_exchange *x)
{
    if (!x->answer_held)
        return;
    x->connection->tenant->answer_bytes -= x->answer_held;
    hc_request_memory_let_go(&x->dispatch->request_memory, x->connection->tenant, x->answer_held);
}

static void exchange_destroy(struct hc_exchange *x)
{
    struct hc_task *task = x->task;
    struct hc_connection *c = x->connection;
    hc_task_unwait(&x->waiter);
    hc_task_unref(x->ahead);
    if (x->end_own)
        x->end_own(x);
    if (x->end_reading)
        x->end_reading(x);
    if (task && !task->detached && !hc_task_ended(task) && !task->waiters)
        cancel_task(task, x->dispatch); /* no client is left to get the result */
    if (task && hc_task_ended(task) && !task->waiters && !task->of_command)
        hc_events_finish(&task->events);
    hc_task_unref(task);
    hc_notebook_end(x);
    drop_body(x);
    hc_part_end(x); /* the client has gone: what came of the part stays */
    drop_answer(x);
    free(x->rest);
    cJSON_Delete(x->fetch);
    c->exchange = NULL;
    c->receiving = true;
    c->since = hc_mono_ms();
    free(x);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)cls;
    (void)mhd;
    (void)code;
    if (*context)
        exchange_destroy(*context);
    *context = NULL;
}

/* The head of a request that is being checked. */
struct lines {
    struct hc_head head; /* the lines so far */
    struct hc_error err; /* why the request is refused; empty: it is not */
};

static enum MHD_Result take_line(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct lines *l = cls;
    (void)kind;
    return hc_head_take(&l->head, name, value ? value : "", &l->err) < 0 ? MHD_NO : MHD_YES;
}

/* Since version 0.9.77 libmicrohttpd has a strict mode, in which it refuses zero bytes and folded lines
 * itself, and moves the lines of a head in memory. */
static bool is_strict(void)
{
    static const unsigned long since[] = {0, 9, 77};
    const char *at = MHD_get_version();
    for (size_t i = 0; i < sizeof since / sizeof *since; i++) {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        if (number != since[i])
            return number > since[i];
        at = *end ? end + 1 : end;
    }
    return true;
}

/* Notes where the target ends as it was sent: libmicrohttpd later decodes the target in place. */
static void *note_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct hc_connection *c = info ? info->socket_context : NULL;
    (void)cls;
    if (c)
        c->behind_target = strstr(target, "%00") ? NULL : target + strlen(target) + 1;
    return NULL;
}

/* Checks the lines of the head, which begins in memory at `method` and has `len` bytes. */
static int read_lines(struct hc_exchange *x, const char *method, const char *version, size_t len,
                      struct lines *l)
{
    const char *target_end = x->connection->behind_target, *end = NULL;
    if (!target_end)
        return hc_fail_as(&l->err, HC_EXIT_DATA, 0, "the path or its parameters have a zero byte (%%00)");
    if (!is_strict()) {
        end = method + len;
        if (hc_head_begin(&l->head, target_end, version, &l->err) < 0)
            return -1;
    }
    (void)MHD_get_connection_values(x->mhd, MHD_HEADER_KIND, take_line, l);
    return *l->err.text ? -1 : hc_head_end(&l->head, version, end, &l->err);
}

static bool is_sound(struct hc_exchange *x, const char *method, const char *version)
{
    struct lines l = {0};
    const size_t most = x->http->most_head;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const size_t len = info ? info->header_size : 0;
    if (len > most)
        hc_problem_set(&x->refused, HC_PROBLEM_HEAD, "a head of %zu bytes, and at most %zu are taken", len,
                       most);
    else if (read_lines(x, method, version, len, &l) < 0)
        hc_problem_set(&x->refused, HC_PROBLEM_REQUEST, "%s", l.err.text);
    x->closing = x->refused.kind != HC_PROBLEM_NONE;
    return !x->closing;
}

/* The query of a request that is being checked. */
struct query {
    const struct hc_route *route; /* route of the request; static */
    struct hc_problem *why;       /* gets the reason for a refusal; borrowed */
    unsigned given;               /* a bit for each of the route's parameters */
};

/* The bit of `name` in a list of names separated by blanks; 0: the name is not in the list. */
static unsigned bit_of(const char *names, const char *name)
{
    const size_t len = strlen(name);
    for (unsigned bit = 1; names && *names; bit <<= 1) {
        const size_t n = strcspn(names, " ");
        if (n == len && memcmp(names, name, n) == 0)
            return bit;
        names += n + (names[n] == ' ');
    }
    return 0;
}

static enum MHD_Result take_parameter(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct query *q = cls;
    const char *path = q->route->path, *known = q->route->query;
    const unsigned bit = bit_of(known, name);
    (void)kind;
    if (!known)
        hc_problem_set(q->why, HC_PROBLEM_REQUEST, "%s takes no parameters: '%.100s'", path, name);
    else if (!bit)
        hc_problem_set(q->why, HC_PROBLEM_REQUEST, "%s takes the parameter%s '%s', and no other: '%.100s'",
                       path, strchr(known, ' ') ? "s" : "", known, name);
    else if ((q->given & bit) || !value)
        hc_problem_set(q->why, HC_PROBLEM_REQUEST, "%s: expected one value of the parameter '%s'", path,
                       name);
    q->given |= bit;
    return q->why->kind == HC_PROBLEM_NONE ? MHD_YES : MHD_NO;
}

/* Refuses parameters that the route does not take: if a misspelt filter were ignored, the client would
 * believe that the list is filtered. */
static bool take_query(struct hc_exchange *x)
{
    struct query q = {.route = x->route, .why = &x->refused};
    (void)MHD_get_connection_values(x->mhd, MHD_GET_ARGUMENT_KIND, take_parameter, &q);
    return x->refused.kind == HC_PROBLEM_NONE;
}

static int64_t most_body(const struct hc_exchange *x)
{
    if (!x->route)
        return 0;
    switch (x->route->kind) {
    case HC_ROUTE_BODY:
    case HC_ROUTE_PART:
        return x->dispatch->config.http_body;
    case HC_ROUTE_ORDER:
        return MAX_ORDER;
    default:
        return 0;
    }
}

/* What the refusal of a body by its size advises. */
static const char *advice_on_size(const struct hc_exchange *x)
{
    const char *name = x->route ? x->route->path : "";
    if (x->route && x->route->dialect)
        return " (http.body, hotcelld.conf(5))";
    if (strcmp(name, "/v1/jobs") == 0 || strcmp(name, "/v1/sessions") == 0)
        return " (http.body, hotcelld.conf(5)): inputs can come before it, in parts (UPLOADS, hotcelld(8))";
    if (x->route && x->route->kind == HC_ROUTE_PART)
        return " (http.body, hotcelld.conf(5)): send smaller parts";
    if (strncmp(name, "/v1/sessions/", strlen("/v1/sessions/")) == 0 && x->route->ask)
        return " (http.body, hotcelld.conf(5)): a session takes files in parts (workdir/write, hotcelld(8))";
    return "";
}

static const char *expected_type(const struct hc_exchange *x)
{
    if (x->route->type)
        return x->route->type;
    return x->route->kind == HC_ROUTE_PART ? "application/octet-stream" : "application/json";
}

/* Refuses a request for reasons that are known from its head. */
static void look_at_head(struct hc_exchange *x, const char *method, const char *path, const char *version)
{
    struct hc_tenant *ignored;
    if (!is_sound(x, method, version))
        return;
    if (x->is_head)
        method = MHD_HTTP_METHOD_GET;
    x->route = hc_route_find(x, method, path, &x->refused);
    if (!x->route)
        return;
    if (!hc_caller_let_in(x, &ignored, &x->refused))
        log_refusal(x);
    if (x->refused.kind != HC_PROBLEM_NONE || !take_query(x))
        return;
    const char *length = hc_exchange_header(x, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *type = hc_exchange_header(x, MHD_HTTP_HEADER_CONTENT_TYPE);
    int64_t most = most_body(x);
    if (length && strtoull(length, NULL, 10) > (unsigned long long)most)
        hc_problem_set(&x->refused, HC_PROBLEM_TOO_LARGE,
                       "a body of %.20s bytes, and at most %lld are taken%s", length, (long long)most,
                       advice_on_size(x));
    else if (most && type && *expected_type(x) != '*' &&
             strncasecmp(type, expected_type(x), strlen(expected_type(x))) != 0)
        hc_problem_set(&x->refused, HC_PROBLEM_MEDIA_TYPE, "expected %s, got %.100s", expected_type(x), type);
    x->body.max = (size_t)most;
}

static int begin_exchange(struct hc_http *h, struct MHD_Connection *mhd, const char *method, const char *path,
                          const char *version, void **context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct hc_connection *c = info ? info->socket_context : NULL;
    struct hc_exchange *x = c ? calloc(1, sizeof *x) : NULL;
    if (!x)
        return MHD_NO; /* closes the connection */
    *x = (struct hc_exchange){
        .http = h, .dispatch = h->dispatch, .connection = c, .mhd = mhd, .waiter.wake = exchange_wake};
    c->exchange = x;
    c->since = hc_mono_ms(); /* the body gets as much time as the head had */
    *context = x;
    x->is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    look_at_head(x, method, path, version);
    /* All other requests are read to their end before they are refused, or their sender would see a broken
     * connection instead of the answer. */
    return x->closing || x->refused.kind == HC_PROBLEM_TOO_LARGE ? hc_reply_problem(x, &x->refused, NULL)
                                                                 : MHD_YES;
}

/* Takes bytes of a part, for whose first ones the caller has to be let in once more: a connection may have
 * named several tenants. */
static void take_part(struct hc_exchange *x, const char *data, size_t len)
{
    struct hc_tenant *tenant;
    if (x->refused.kind != HC_PROBLEM_NONE)
        return;
    if (!x->upload &&
        (!hc_caller_let_in(x, &tenant, &x->refused) || hc_part_begin(x, tenant, &x->refused) < 0))
        return;
    hc_part_add(x, data, len);
}

static void take_body(struct hc_exchange *x, const char *data, size_t len)
{
    struct hc_dispatch *d = x->dispatch;
    const struct hc_bounds bounds = {.all = d->config.http_bodies, .one = d->config.http_body};
    if (x->refused.kind != HC_PROBLEM_NONE)
        return;
    struct hc_tenant *t = x->route && x->route->kind == HC_ROUTE_BODY ? x->connection->tenant : NULL;
    if (!most_body(x)) {
        hc_problem_set(&x->refused, HC_PROBLEM_TOO_LARGE, "a body, and none is taken here");
    } else if (t && !hc_request_memory_fit(&d->request_memory, &bounds, t->request_bytes, (int64_t)len)) {
        hc_problem_set(&x->refused, HC_PROBLEM_BUSY, "too much is being sent at the same time");
        x->refused.retry_after = 1;
    } else if (hc_buf_add(&x->body, data, len) < 0) {
        hc_problem_set(&x->refused, HC_PROBLEM_TOO_LARGE, "the body has more than %zu bytes%s", x->body.max,
                       advice_on_size(x));
    } else {
        if (t) /* the body of an administrator's order is too short to count */
            hc_request_memory_hold(&d->request_memory, t, (int64_t)len);
        x->body_held += t ? (int64_t)len : 0;
        return;
    }
    drop_body(x);
}

static int answer_request(struct hc_exchange *x)
{
    struct hc_problem why;
    x->connection->receiving = false;
    if (x->refused.kind != HC_PROBLEM_NONE)
        return hc_reply_problem(x, &x->refused, NULL);
    struct hc_tenant *tenant;
    if (!hc_caller_let_in(x, &tenant,
                          &why)) /* checked again: the configuration may have been reloaded meanwhile */
        return hc_reply_problem(x, &why, NULL);
    int rc = x->route->handle(x, tenant);
    if (!x->ahead && !x->body_needed)
        drop_body(x); /* the handler has used the body, or refused the request */
    return rc;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *path, const char *method,
                                  const char *version, const char *data, size_t *len, void **context)
{
    struct hc_http *h = cls;
    struct hc_exchange *x = *context;
    if (!x)
        return (enum MHD_Result)begin_exchange(h, mhd, method, path, version, context);
    if (*len == 0)
        return (enum MHD_Result)(x->answered ? MHD_YES : answer_request(x));
    if (x->route && x->route->kind == HC_ROUTE_PART)
        take_part(x, data, *len);
    else
        take_body(x, data, *len);
    *len = 0;
    return MHD_YES;
}

/* ---- the servers ---- */

static void server_ready(struct hc_watch *w, uint32_t events)
{
    (void)events;
    hc_owner(w, struct hc_server, watch)->http->due = true;
}

/* Messages of libmicrohttpd, by their beginnings, with the text that the log gets instead. Those with `warns`
 * are about this host and not about a client. */
static const struct said {
    const char *theirs, *ours;
    bool warns;
} said[] = {
    {"Connection socket is closed when reading request", "a client has gone while it sent its request",
     false},
    {"Failed to send", "a client has gone before it had all of its answer", false},
    {"Error processing request", "a request that is no HTTP is refused, and its connection closed", false},
    {"Too large value of 'Content-Length'",
     "a request that is too large is refused, and its connection closed", false},
    {"Failed to parse `Content-Length'", "a request that is no HTTP is refused, and its connection closed",
     false},
    {"Server reached connection limit",
     "a connection is refused: there are as many as may be (http.connections)", false},
    {"Hit process or system resource limit",
     "out of descriptors or memory: no connection is taken for a moment", true},
    {"Error accepting connection", "a connection cannot be taken", true},
    {"Failed to start serving new connection", "a connection cannot be served", true},
    {"Error allocating memory", "a connection cannot be served: out of memory", true},
    {"Closing connection (out of memory)", "a connection is closed: out of memory", true},
};

/* Logs a message of libmicrohttpd; a message without a row is logged as it is. */
static void log_line(void *cls, const char *fmt, va_list ap)
{
    char line[512];
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (strncmp(fmt, said[i].theirs, strlen(said[i].theirs)) != 0)
            continue;
        log_stranger(cls, said[i].warns, "%s", said[i].ours);
        return;
    }
    (void)vsnprintf(line, sizeof line, fmt, ap);
    log_stranger(cls, true, "libmicrohttpd: %s", line);
}

/* Where libmicrohttpd could be strict, request.c checks as much as its version lets this program see:
 * libmicrohttpd's own answers are no problem documents. */
static int start_server(struct hc_http *h, const struct hc_listener_socket *socket, struct hc_error *err)
{
    const struct hc_config *c = &h->dispatch->config;
    struct hc_server *s = &h->servers[h->server_count];
    *s = (struct hc_server){
        .watch = {-1, server_ready}, .http = h, .local = socket->local, .passed = socket->passed};
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, h,
        MHD_OPTION_EXTERNAL_LOGGER, log_line, h, MHD_OPTION_LISTEN_SOCKET, socket->fd,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)c->http_headers + MHD_ROOM, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)c->http_connections, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)MAX(1, c->http_idle_ms / 1000), MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_STRICT_FOR_CLIENT, is_strict() ? 1 : 0,
        MHD_OPTION_URI_LOG_CALLBACK, note_target, NULL, MHD_OPTION_END);
    if (!s->daemon)
        return hc_fail(err, errno, "start HTTP");
    h->server_count++;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return hc_fail(err, 0, "start HTTP: libmicrohttpd has no epoll");
    s->watch.fd = info->epoll_fd;
    return hc_reactor_add(h->dispatch->epoll, &s->watch, EPOLLIN, err);
}

int hc_http_start(struct hc_http *h, struct hc_dispatch *dispatch, struct hc_front_sessions *sessions,
                  struct hc_mcp_peers *peers, const struct hc_listeners *l, struct hc_error *err)
{
    h->dispatch = dispatch;
    h->sessions = sessions;
    h->peers = peers;
    h->owner = geteuid();
    h->most_head = (size_t)dispatch->config.http_headers;
    randombytes_buf(h->sandbox_key, sizeof h->sandbox_key);
    for (size_t i = 0; i < l->count; i++)
        if (start_server(h, &l->list[i], err) < 0)
            return -1;
    return 0;
}

void hc_http_quiesce(struct hc_http *h)
{
    for (size_t i = 0; i < h->server_count; i++) {
        if (h->servers[i].passed)
            (void)MHD_quiesce_daemon(h->servers[i].daemon);
    }
}

void hc_http_stop(struct hc_http *h)
{
    for (struct hc_connection *c = h->connections; c; c = c->next)
        if (c->exchange)
            c->exchange->waiter.wake(&c->exchange->waiter); /* no connection may stay suspended */
    for (size_t i = 0; i < h->server_count; i++) {
        hc_reactor_remove(h->dispatch->epoll, &h->servers[i].watch);
        MHD_stop_daemon(h->servers[i].daemon);
    }
    hc_e2b_watchers_sweep(h, true);
    h->server_count = 0;
}

int hc_http_run(struct hc_http *h)
{
    int most = -1;
    if (h->list_due && hc_mono_ms() >= h->list_due)
        wake_beating(h);
    for (int rounds = 0; h->due && rounds < 16; rounds++) {
        h->due = false;
        for (size_t i = 0; i < h->server_count; i++)
            (void)MHD_run(h->servers[i].daemon);
    }
    for (size_t i = 0; i < h->server_count; i++) {
        MHD_UNSIGNED_LONG_LONG ms;
        if (MHD_get_timeout(h->servers[i].daemon, &ms) != MHD_YES)
            continue;
        if (ms == 0)
            h->due = true;
        if (most < 0 || ms < (unsigned)most)
            most = (int)MIN(ms, 60000);
    }
    if (h->list_due) {
        const int64_t ms = MAX(h->list_due - hc_mono_ms(), 0);
        most = (int)(most < 0 ? MIN(ms, 60000) : MIN(ms, most));
    }
    return h->due ? 0 : most;
}
