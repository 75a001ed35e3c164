/* http.h - the HTTP server: libmicrohttpd inside the front's epoll loop. It has the connections and the
 * identity of their clients, takes requests with bounded bodies, and sends answers. */
#ifndef HC_DAEMON_HTTP_HTTP_H
#define HC_DAEMON_HTTP_HTTP_H

#include "daemon/http/listen.h"
#include "daemon/mcp/peers.h"
#include "daemon/queue/dispatch.h"
#include "daemon/sessions/sessions.h"

struct MHD_Daemon;
struct MHD_Connection;
struct MHD_Response;
struct hc_route;
struct hc_notebook;
struct hc_e2b_view;
struct hc_e2b_watcher;

/* The origin of a connection, known before the client has named its tenant: a user of this host, or an
 * address. */
struct hc_origin {
    bool local; /* the connection came over a Unix socket */
    uid_t uid;  /* local: uid of the client's process */
    bool v6;    /* the address of a TCP connection is IPv6 */
    /* Not local: the IPv4 address, or the first 8 bytes (the network) of the IPv6 address. */
    unsigned char address[16];
};

/* One client. */
struct hc_connection {
    struct hc_watch hangup;    /* tells that the client has hung up; libmicrohttpd owns the socket */
    struct hc_http *http;      /* borrowed */
    struct hc_origin from;     /* origin of the connection */
    struct hc_tenant *tenant;  /* NULL: not known yet; else counted in tenant->connections */
    bool receiving;            /* a request is still to come or incomplete; hc_http_sweep bounds how long */
    int64_t since;             /* time at which `receiving` began (CLOCK_MONOTONIC, ms) */
    const char *behind_target; /* the byte behind the target of the next request; NULL: it has "%00" */
    /* The request that is being read or answered; borrowed from libmicrohttpd; NULL: none. */
    struct hc_exchange *exchange;
    struct hc_connection *next, *previous; /* neighbours in the list hc_http.connections */
};

/* How far an exchange has sent the events of its task as Server-Sent Events. */
struct hc_event_reader {
    bool sse;           /* the exchange sends events in this form */
    bool gap_unsent;    /* the client must be told first that earlier events are not kept any more */
    bool keepalive_due; /* a comment has to be sent, if there is no event to send */
    size_t line;        /* offset of the next line in the task's lines */
    size_t sent;        /* bytes of this line's message that were sent */
    int64_t since;      /* time at which something was sent last (CLOCK_MONOTONIC, ms) */
};

/* One request and its answer. */
struct hc_exchange {
    struct hc_http *http;             /* borrowed, as are the next four */
    struct hc_dispatch *dispatch;     /* http->dispatch */
    struct hc_connection *connection; /* connection that the request came over */
    struct MHD_Connection *mhd;       /* the same connection, as libmicrohttpd has it */
    const struct hc_route *route;     /* route of the request; static; NULL: not known yet */
    char admin[HC_TENANT_NAME];       /* the administrator's name, on routes for them: "root", "uid-1000", a
                                         tenant's name */
    char id[HC_JOB_ID];               /* what stands for {id} in the path; "": none */
    char part[HC_JOB_ID];             /* what stands for {command} or {context} in the path; "": none, or too
                                         long */
    char *rest;                       /* what stands for {rest} in the path; owned; NULL: none */
    bool is_head;                     /* the method is HEAD */
    struct hc_buf body;               /* body of the request, as far as it has come; owned */
    struct hc_upload *upload; /* upload of which the body is a part, while it comes; borrowed; NULL: none */
    int64_t part_bytes;       /* bytes of that part that have come so far */
    int64_t body_held;   /* bytes of `body` that count as request memory until the handler has returned */
    int64_t answer_held; /* bytes of the answer that count as request memory until the client has them */
    struct hc_problem refused; /* why the request is refused; set before the body is complete */
    cJSON *fetch; /* files that a request in SandboxFusion's form wants back; owned; NULL: none */
    struct hc_notebook *notebook; /* notebook in SandboxFusion's form, while it runs; owned; NULL: none */
    char sandbox[HC_JOB_ID]; /* the session that a request in E2B's dialect is to, by its token; "": none */
    void *own;               /* what a handler keeps for the exchange; owned; NULL: nothing */
    void (*end_own)(struct hc_exchange *x); /* frees `own`; NULL: there is nothing to free */
    bool body_needed;                       /* the body is needed after the handler has returned */
    bool beats;                             /* the exchange is woken every second while it is suspended */
    struct hc_task *ahead;   /* the request that the session has to answer first; a reference; NULL: none */
    struct hc_waiter waiter; /* wakes the exchange when `task` has news */
    struct hc_task *task; /* the job, or the request to a session, that the exchange is about; a reference */
    struct hc_event_reader events; /* place in the stream of the task's events */
    struct hc_mcp_stream *stream;  /* messages of MCP that the exchange sends; borrowed; NULL: none */
    char peer_id[HC_MCP_PEER_ID];  /* ID of the session of MCP that the request began; "": it began none */
    void (*end_reading)(struct hc_exchange *x); /* gives `stream` back; NULL: there was none */
    bool suspended; /* libmicrohttpd does not look at the connection until the task has news */
    bool answered;  /* the answer is queued */
    bool closing;   /* the connection ends with the answer: where the next request begins is uncertain */
};

/* One listening socket. */
struct hc_server {
    struct MHD_Daemon *daemon; /* libmicrohttpd's; owned */
    struct hc_watch watch;     /* watch of libmicrohttpd's own epoll set */
    struct hc_http *http;      /* borrowed */
    bool local;                /* the socket is a Unix socket */
    bool passed;               /* systemd has passed it */
};

struct hc_http {
    struct hc_dispatch *dispatch;               /* the front's jobs; borrowed */
    struct hc_mcp_peers *peers;                 /* clients that speak MCP; borrowed */
    struct hc_front_sessions *sessions;         /* the front's sessions; borrowed */
    uid_t owner;                                /* uid of the user who started the daemon */
    struct hc_server servers[HC_MAX_LISTENERS]; /* one for each listening socket */
    size_t server_count;                        /* used entries of `servers` */
    struct hc_connection *connections;          /* list of all open connections; each is freed at its end */
    bool due;                  /* a connection was resumed, or has ended: libmicrohttpd has work to do */
    size_t most_head;          /* most bytes of a request's head */
    struct hc_e2b_view *views; /* directories of E2B's sandboxes that are watched; each freed with its
                                  last watch */
    struct hc_e2b_watcher *watchers; /* watchers of E2B's sandboxes, which clients ask for events; owned */
    int64_t watcher_numbers;         /* number of watchers so far, which names them */
    int64_t list_due; /* time at which the list of a view is due (CLOCK_MONOTONIC, ms); 0: none is */
    unsigned char sandbox_key[32]; /* from which the tokens of E2B's sandboxes are made */
    /* Number of log lines in this minute about refused or malformed requests; start of the minute
     * (CLOCK_MONOTONIC, ms). */
    int64_t lines, lines_since;
};

/* Serve clients on these sockets; `dispatch`, `sessions` and `peers` are borrowed. */
int hc_http_start(struct hc_http *h, struct hc_dispatch *dispatch, struct hc_front_sessions *sessions,
                  struct hc_mcp_peers *peers, const struct hc_listeners *l, struct hc_error *err);
void hc_http_stop(struct hc_http *h);

/* Accept no new connections on sockets that systemd has passed: it starts the next daemon for them. On
 * others, clients are told that the daemon ends. */
void hc_http_quiesce(struct hc_http *h);

/* Do all work that is due. Returns how many ms the loop may sleep; -1: without a limit. */
int hc_http_run(struct hc_http *h);

/* Close the connections of clients that take too long to send a request. */
void hc_http_sweep(struct hc_http *h, int64_t now);

/* ---- answers ---- */

/* Each of these queues one answer with this HTTP status, and returns the value that the handler has to
 * return: JSON; text of the media type `type`; a problem document, with the manifest of `task` if it has one
 * (NULL: no task); a response that was made already, and is released here; a problem of this kind. The
 * content of `out` is taken out of it. */
int hc_reply_json(struct hc_exchange *x, int status, struct hc_buf *out);
int hc_reply_text(struct hc_exchange *x, int status, const char *type, struct hc_buf *out);
int hc_reply_problem(struct hc_exchange *x, const struct hc_problem *p, const struct hc_task *task);
int hc_reply(struct hc_exchange *x, int status, struct MHD_Response *response);
int hc_reply_fail(struct hc_exchange *x, enum hc_problem_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Count the memory of a long answer as request memory of the tenant until the client has the answer. False
 * (`why`): there is no room, and the tenant's clients have not read earlier answers. */
bool hc_exchange_hold(struct hc_exchange *x, size_t bytes, struct hc_problem *why);

/* Count an answer even without room, as it cannot be refused any more: the next requests find less room. */
void hc_exchange_hold_anyway(struct hc_exchange *x, size_t bytes);

/* Suspend the exchange until its task has news; the handler is then called again. */
int hc_exchange_suspend(struct hc_exchange *x);
/* Suspend the exchange until something else wakes x->waiter. */
void hc_exchange_pause(struct hc_exchange *x);

/* Wait for the request that the session answers, if there is one: the handler is called again. False: there
 * is none. */
bool hc_wait_for_session(struct hc_exchange *x, const struct hc_front_session *s);

/* Have a stream of Server-Sent Events send a comment if it has been silent for long. */
void hc_events_beat(struct hc_exchange *x, int64_t now);

/* The text of a header; of a parameter of the query; borrowed. NULL: the request does not have it. */
const char *hc_exchange_header(const struct hc_exchange *x, const char *name);
const char *hc_exchange_query(const struct hc_exchange *x, const char *name);

/* ---- routes (routes.c) ---- */

/* Answers a request, or suspends it and is called once more when its task has news. */
typedef int hc_handler(struct hc_exchange *x, struct hc_tenant *tenant);

struct hc_route {
    /* "{id}" stands for a job, a session or a policy, "{rest}" for all that follows */
    const char *method, *path;
    hc_handler *handle; /* answers its requests */
    enum {
        HC_ROUTE_PLAIN, /* for tenants, without a body */
        HC_ROUTE_BODY,  /* for tenants, with a body */
        HC_ROUTE_PART,  /* for tenants; the body is a part of an upload, and goes to the disk */
        HC_ROUTE_OPEN,  /* for every client, who need not be a tenant */
        HC_ROUTE_ADMIN, /* for administrators; the handler gets no tenant */
        HC_ROUTE_ORDER, /* for administrators, with a short body */
    } kind;
    const char *query; /* the parameters that it takes behind "?", separated by blanks; NULL: none */
    const char *type;  /* the media type of its body, "*" for any; NULL: that of its kind */
    /* How its callers are known, and what its problems look like. */
    enum {
        HC_DIALECT_OWN,     /* callers are known by the tenant's token, errors are RFC 9457's */
        HC_DIALECT_API,     /* E2B's API: by the tenant's token as X-API-Key; {"code", "message"} */
        HC_DIALECT_SANDBOX, /* a sandbox of E2B: by the sandbox's own token; {"code", "message"} */
        HC_DIALECT_UNARY,   /* the same, as a call of Connect with one answer */
        HC_DIALECT_STREAM,  /* the same, as a call of Connect with a stream of answers */
    } dialect;

    /* These tell the routes of one handler apart. */
    const char *ask;    /* the name of the request in the language of the session's process */
    const char *member; /* the member of the body that is passed on; NULL: the whole body */
    bool in_context;    /* the body may also name a context, and is passed on as a whole then */
    bool silent;        /* an exchange of this route has no events, only an answer */
    bool undo;          /* the order takes back another order: release a tenant, resume the daemon; the
                           request is about the end of input */
};

/* A table of routes that are there or not as hotcelld.conf says. */
struct hc_route_table {
    const struct hc_route *routes; /* static */
    size_t count;                  /* number of `routes` */
};

/* The routes of E2B's dialect (e2b_routes.c). */
extern const struct hc_route_table hc_e2b_routes;

/* Forget the watchers whose sandboxes have ended, or all (e2b_watcher.c). */
void hc_e2b_watchers_sweep(struct hc_http *h, bool all);

/* Find the route of a request, and fill in x->id and x->rest. NULL (`why`): there is none. */
const struct hc_route *hc_route_find(struct hc_exchange *x, const char *method, const char *path,
                                     struct hc_problem *why);

#endif
