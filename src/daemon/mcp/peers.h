/* peers.h - clients that speak the Model Context Protocol with the daemon: each "peer" is one session of that
 * protocol (Mcp-Session-Id), and belongs to a tenant.
 *
 * A peer has a server of its own (mcp/server.h), whose host is the daemon: a program becomes a job in the
 * queue, a Python session one of the daemon's sessions, a file that the client writes an upload, all of the
 * peer's tenant and checked as requests of that tenant are. So a peer can do nothing that its tenant could
 * not do by the other routes. What a peer's client has not read yet waits in its streams, which are bounded.
 * The functions here know no HTTP. */
#ifndef HC_DAEMON_MCP_PEERS_H
#define HC_DAEMON_MCP_PEERS_H

#include "daemon/sessions/sessions.h"
#include "mcp/server.h"

#define HC_MCP_PEER_ID 33 /* bytes of a peer's ID, its NUL included */

/* An event of a stream: a message for the client. */
struct hc_mcp_event {
    int64_t number; /* its number in the stream, from 1 */
    size_t len;     /* bytes of `text` */
    struct hc_mcp_event *next;
    char text[]; /* the message, JSON in one line */
};

/* The messages about one request of the client, with its answer as the last; or, number 0, those about none.
 */
struct hc_mcp_stream {
    struct hc_mcp_peer *peer;   /* borrowed; NULL: the peer has ended, and the reader frees the stream */
    int64_t number;             /* number of the stream, unique in its peer */
    char id[HC_RPC_ID_MAX + 1]; /* JSON-RPC ID of the request */
    bool answered;              /* the last message is there, or none will come */
    bool news;                  /* the client takes events, not the answer alone */
    bool closed;                /* its reader has to end */
    int64_t made;               /* number of its events so far */
    struct hc_mcp_event *first, **last; /* the events that are kept; owned */
    struct hc_waiter *reader;           /* woken by news; borrowed; NULL: nobody reads */
    struct hc_mcp_stream **held;        /* the pointer by which the reader has the stream; borrowed */
    int64_t next;                       /* number of the event that the reader gets next */
    size_t sent;                        /* bytes of this event that the reader has */
    bool greeted;                       /* the reader has the event that begins the stream */
    struct hc_mcp_stream *older;        /* the next in hc_mcp_peer.streams */
};

/* A job of the daemon: a program of the peer, or a request to its session. */
struct hc_mcp_work {
    struct hc_task *task;    /* a reference; NULL: none */
    struct hc_waiter waiter; /* marks the peer as due */
    struct hc_mcp_peer *peer;
    size_t line;  /* offset of the next of the task's events */
    bool started; /* the program runs */
};

/* A session of the daemon, for a session of the peer. */
struct hc_mcp_held {
    char id[HC_JOB_ID];      /* ID of the daemon's session */
    bool ready;              /* it is open */
    struct hc_mcp_work call; /* the request that it answers */
    struct hc_mcp_work end;  /* the order to end */
    char refused[800];       /* why a request was not taken, to be told; "": nothing is to be told */
};

/* The daemon's names for what the peer's client knows by names of its own. */
struct hc_mcp_name {
    char name[HC_STORE_NAME + 1]; /* of a run or session, or of a file that the client wrote; "": free */
    char id[HC_JOB_ID];           /* ID of the job or session; of the upload */
};

#define HC_MCP_NAMES (HC_STORE_RUNS + HC_MCP_PLACES + HC_MCP_SESSIONS)

struct hc_mcp_peer {
    struct hc_mcp m;                               /* the server */
    struct hc_store store;                         /* its files */
    char id[HC_MCP_PEER_ID];                       /* the ID, which is hard to guess */
    struct hc_mcp_peers *all;                      /* borrowed */
    struct hc_tenant *tenant;                      /* borrowed */
    char policy[HC_TENANT_NAME];                   /* name of the policy of its programs */
    char *card;                                    /* owned */
    cJSON *session_card;                           /* owned */
    int64_t used;                                  /* last request or end of one (CLOCK_MONOTONIC, ms) */
    bool due;                                      /* there is news of its programs or sessions */
    struct hc_mcp_work programs[HC_MCP_PLACES];    /* one for each of m.programs */
    struct hc_mcp_held sessions[HC_MCP_SESSIONS];  /* one for each of m.sessions */
    struct hc_mcp_name runs[HC_MCP_NAMES];         /* jobs and sessions */
    struct hc_mcp_name written[HC_UPLOADS_TENANT]; /* uploads */
    struct hc_mcp_stream *streams;                 /* newest first; number 0 is the last; owned */
    int64_t streams_made;                          /* number of the newest stream */
    int64_t bytes;                                 /* bytes of the events that are kept */
    struct hc_mcp_peer *next;                      /* the next in hc_mcp_peers.newest */
};

struct hc_mcp_peers {
    struct hc_dispatch *dispatch;       /* borrowed */
    struct hc_front_sessions *sessions; /* borrowed */
    struct hc_mcp_peer *newest;         /* list of all peers; owned */
    int64_t count;                      /* their number */
    bool due;                           /* a peer is due */
};

/* Begin a peer of this tenant. `policy`: NULL: the tenant's own. NULL: it is refused; `why` says why. */
struct hc_mcp_peer *hc_mcp_peer_begin(struct hc_mcp_peers *all, struct hc_tenant *t, const char *policy,
                                      struct hc_problem *why);
/* The tenant's peer of this ID. NULL: there is none. */
struct hc_mcp_peer *hc_mcp_peer_find(struct hc_mcp_peers *all, const struct hc_tenant *t, const char *id);
/* End it: its programs and sessions are cancelled, the files that its client wrote are removed. */
void hc_mcp_peer_end(struct hc_mcp_peer *p);

/* Handle the news of jobs and sessions. To be called in each turn of the front's loop. */
void hc_mcp_peers_run(struct hc_mcp_peers *all);
/* End the peers that were not used for long, and have others say what goes on. Once a second. */
void hc_mcp_peers_sweep(struct hc_mcp_peers *all, int64_t now);
void hc_mcp_peers_drain(struct hc_mcp_peers *all);  /* end the streams that are about no request */
void hc_mcp_peers_finish(struct hc_mcp_peers *all); /* end all peers */

/* ---- streams (streams.c) ---- */

/* Begin the stream of a request. NULL: no memory. */
struct hc_mcp_stream *hc_mcp_stream_begin(struct hc_mcp_peer *p, const char *id, bool news);
/* The stream of the event with this ID, as the header Last-Event-ID has it; `*after`: number of the event.
 * NULL: there is none, or its events are not kept any more. */
struct hc_mcp_stream *hc_mcp_stream_of_event(struct hc_mcp_peer *p, const char *event_id, int64_t *after);
/* Read the stream from behind the event `after` on; `*held` becomes the stream. `again`: the client has read
 * some of it before. An earlier reader loses the stream: its `*held` becomes NULL, and it is woken. */
void hc_mcp_stream_attach(struct hc_mcp_stream *s, struct hc_waiter *reader, struct hc_mcp_stream **held,
                          int64_t after, bool again);
/* The reader reads no more. */
void hc_mcp_stream_detach(struct hc_mcp_stream *s);
/* Copy bytes of Server-Sent Events to `out`, which has room for at least 512. 0: there are none yet; -1: the
 * stream is at its end for this reader. */
ssize_t hc_mcp_stream_read(struct hc_mcp_stream *s, char *out, size_t max);
/* The answer, once it is there; NULL: it is not. Then forget the stream. */
const struct hc_mcp_event *hc_mcp_stream_answer(const struct hc_mcp_stream *s);
void hc_mcp_stream_forget(struct hc_mcp_stream *s);

/* ---- for the parts of this folder ---- */
int hc_mcp_stream_send(struct hc_mcp *m, const char *id, bool answer, const char *text, size_t len);
void hc_mcp_stream_drop(struct hc_mcp *m, const char *id);
bool hc_mcp_stream_is_full(const struct hc_mcp *m, const char *id);
void hc_mcp_streams_finish(struct hc_mcp_peer *p);
extern const struct hc_mcp_host hc_mcp_daemon;          /* host.c */
extern const struct hc_store_place hc_mcp_daemon_place; /* place.c */
const char *hc_mcp_name_find(const struct hc_mcp_peer *p, const char *run);
void hc_mcp_name_note(struct hc_mcp_peer *p, const char *run, const char *id);
const char *hc_mcp_written_id(const struct hc_mcp_peer *p,
                              const char *name); /* ID of the upload; NULL: none */

static inline struct hc_mcp_peer *hc_mcp_peer_of(struct hc_mcp *m)
{
    return hc_owner(m, struct hc_mcp_peer, m);
}

#endif
