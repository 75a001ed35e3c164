/* http.h - HTTP by libmicrohttpd, inside somebody else's epoll loop: connections, who is at their other end,
 * requests with bounded bodies, answers. */
#ifndef HC_DAEMON_HTTP_HTTP_H
#define HC_DAEMON_HTTP_HTTP_H

#include "daemon/http/listen.h"
#include "daemon/queue/dispatch.h"
#include "daemon/sessions/sessions.h"

struct MHD_Daemon;
struct MHD_Connection;
struct MHD_Response;
struct hc_route;

/* Where a connection comes from, before it has said for whom: a user of this host, or an address. */
struct hc_origin {
    bool local;
    uid_t uid; /* local: of its process */
    bool v6;
    unsigned char address[16]; /* not local: IPv4, or the network of an IPv6 one */
};

/* One client. */
struct hc_connection {
    struct hc_watch hangup; /* of its socket, which is libmicrohttpd's */
    struct hc_http *http;
    struct hc_origin from;
    struct hc_tenant *tenant;  /* once it is known; counted in tenant->connections */
    bool receiving;            /* it sends a request, or nothing yet: not for longer than the bound */
    int64_t since;             /* CLOCK_MONOTONIC, ms: when that began */
    const char *behind_target; /* the byte behind the target of the request that begins; NULL: it has "%00" */
    struct hc_exchange *exchange;
    struct hc_connection *next, *previous; /* in hc_http.connections */
};

/* One request and its answer. */
struct hc_exchange {
    struct hc_http *http;
    struct hc_dispatch *dispatch; /* http->dispatch */
    struct hc_connection *connection;
    struct MHD_Connection *mhd;
    const struct hc_route *route;
    char admin[HC_TENANT_NAME]; /* who asks, on routes for administrators: "root", "uid-1000", a tenant */
    char id[HC_JOB_ID];         /* from the path; "": none */
    char *rest;                 /* of the path, owned; NULL: none */
    bool is_head;
    struct hc_buf body;
    int64_t body_held;         /* bytes of it that count as request memory, until it has been taken up */
    int64_t answer_held;       /* bytes of its answer that count so, until the client has them */
    struct hc_problem refused; /* why it is refused, which was decided before the body was whole */
    struct hc_waiter waiter;   /* of the task that it waits for */
    struct hc_task *task;      /* the job or the request to a session that it is about; a reference */
    bool suspended;            /* libmicrohttpd does not look at the connection until the task has news */
    bool answered;             /* its answer is queued */
    bool closing; /* the connection ends with its answer: where the next request begins is not certain */
};

/* One listening socket. */
struct hc_server {
    struct MHD_Daemon *daemon;
    struct hc_watch watch; /* of its epoll set */
    struct hc_http *http;
    bool local;
};

struct hc_http {
    struct hc_dispatch *dispatch;       /* lent */
    struct hc_front_sessions *sessions; /* lent */
    uid_t owner;                        /* who started the daemon */
    struct hc_server servers[HC_MAX_LISTENERS];
    size_t server_count;
    struct hc_connection *connections;
    bool due;                   /* a connection was resumed, or has ended: libmicrohttpd has work to do */
    bool quiet;                 /* it takes no new connections */
    size_t most_head;           /* bytes of a request's head */
    int64_t lines, lines_since; /* lines logged about strangers, and since when (ms) they are counted */
};

/* Serve what comes on these sockets; both structs are lent. */
int hc_http_start(struct hc_http *h, struct hc_dispatch *dispatch, struct hc_front_sessions *sessions,
                  const struct hc_listeners *l, struct hc_error *err);
void hc_http_stop(struct hc_http *h);
void hc_http_quiesce(struct hc_http *h); /* take no new connections */

/* Whatever is due; then how long the loop may sleep, in ms, -1: as long as it likes. */
int hc_http_run(struct hc_http *h);

/* Cut off those who take too long to send a request. */
void hc_http_sweep(struct hc_http *h, int64_t now);

/* ---- answers ---- */

/* Each queues one answer and returns what the handler is to return. `out` is emptied. */
int hc_reply_json(struct hc_exchange *x, int status, struct hc_buf *out);
int hc_reply_text(struct hc_exchange *x, int status, const char *type, struct hc_buf *out);
int hc_reply_problem(struct hc_exchange *x, const struct hc_problem *p, const struct hc_task *task);
int hc_reply(struct hc_exchange *x, int status, struct MHD_Response *response);
int hc_reply_fail(struct hc_exchange *x, enum hc_problem_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Memory that the answer takes until the client has it, if it is much: counts as request memory of the
 * tenant. False: there is no room, and the tenant's clients leave other answers lying; `why` says so. */
bool hc_exchange_hold(struct hc_exchange *x, size_t bytes, struct hc_problem *why);

/* The same, of an answer that cannot be refused any more: the tenant's next requests find less room. */
void hc_exchange_hold_anyway(struct hc_exchange *x, size_t bytes);

/* Sleep until the task has news; the handler is then called again. */
int hc_exchange_suspend(struct hc_exchange *x);

const char *hc_exchange_header(const struct hc_exchange *x, const char *name); /* NULL: not there */
const char *hc_exchange_query(const struct hc_exchange *x, const char *name);  /* a parameter; likewise */

/* ---- routes (routes.c) ---- */

/* Answers a request, or suspends it and is called once more when its task has news. */
typedef int hc_handler(struct hc_exchange *x, struct hc_tenant *tenant);

struct hc_route {
    const char *method,
        *path; /* "{id}" stands for a job, a session or a policy, "{rest}" for all that follows */
    hc_handler *handle;
    enum {
        HC_ROUTE_PLAIN,
        HC_ROUTE_BODY,  /* takes a body */
        HC_ROUTE_OPEN,  /* is for anybody */
        HC_ROUTE_ADMIN, /* is for administrators, whose handler gets no tenant */
        HC_ROUTE_ORDER, /* the same, and takes a short body */
    } kind;
    const char *query; /* the parameters that it takes behind "?", with blanks between them; NULL: none */

    /* Where one handler serves several routes, which one this is. */
    const char *ask;    /* of a request to a session: its name as the session's process has it */
    const char *member; /* the member of the body that is passed on; NULL: all of it */
    bool undo;          /* of an administrator's order */
};

/* NULL, with `why`: there is none. Fills in x->id and x->rest. */
const struct hc_route *hc_route_find(struct hc_exchange *x, const char *method, const char *path,
                                     struct hc_problem *why);

#endif
