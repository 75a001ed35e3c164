/* e2b.h - what the files of E2B's dialect share: the sandbox of a request, its answers, and asking a sandbox,
 * which is a session of the tenant. */
#ifndef HC_DAEMON_HTTP_E2B_H
#define HC_DAEMON_HTTP_E2B_H

#include "base/hash.h"
#include "daemon/http/http.h"
#include "daemon/queue/maxima.h"
#include "wire/e2b_envd.h"

#include <cjson/cJSON.h>
#include <sys/types.h>

#define HC_E2B_KEEPALIVE_MS 15000 /* silence after which a message tells that the connection is alive */

/* The tenant of the sandbox that the request is to, by its token; x->sandbox is set. NULL: `why`. */
struct hc_tenant *hc_e2b_tenant(struct hc_exchange *x, struct hc_problem *why);

/* The token of a sandbox, which its ID and a key of this daemon make: nothing has to be kept for it. */
void hc_e2b_token(const struct hc_http *h, const char *id, char out[HC_SHA256_HEX]);

/* Answer with an error of Connect, in the form of the route. */
int hc_e2b_reply_code(struct hc_exchange *x, int status, const char *code, const char *message);

/* Answer with a problem in the form of the route's dialect. */
int hc_e2b_reply_problem(struct hc_exchange *x, const struct hc_problem *p);

/* Answer with what `read`, a callback of libmicrohttpd with the exchange as its first argument, gives. */
int hc_e2b_reply_stream(struct hc_exchange *x, const char *type,
                        ssize_t (*read)(void *cls, uint64_t at, char *out, size_t max));

/* Answer why a request could not be translated (wire/e2b.h). */
int hc_e2b_reply_untranslated(struct hc_exchange *x, const struct hc_error *err);

/* Answer that this part of E2B's API is not there. */
int hc_e2b_reply_missing(struct hc_exchange *x, const char *what);

/* Send a request to the sandbox, one line of JSON, or wait for the request that it answers. True: x->task is
 * the request. False: `*rc` is what the handler has to return; it is called again if it has to wait. */
bool hc_e2b_ask(struct hc_exchange *x, struct hc_front_session *s, const char *name,
                const struct hc_buf *line, bool stream, int *rc);

/* The same where the answer has begun: 1: x->task is the request; 0: it has to wait; -1: `why`. */
int hc_e2b_try(struct hc_exchange *x, struct hc_front_session *s, const char *name, const struct hc_buf *line,
               bool stream, struct hc_problem *why);

/* Forget the request that was answered, to send the next one. */
void hc_e2b_drop_task(struct hc_exchange *x);

/* The sandbox that the request is to, x->sandbox; NULL: it takes no requests (any more), which is answered,
 * and `*rc` is what the handler has to return. */
struct hc_front_session *hc_e2b_sandbox(struct hc_exchange *x, const struct hc_tenant *t, int *rc);

/* The body, never NULL. */
static inline const char *hc_e2b_body(const struct hc_exchange *x)
{
    return x->body.data ? x->body.data : "";
}

/* ---- listing (e2b_files.c) ---- */

/* Memory of a list, which counts as request memory of the tenant. */
struct hc_e2b_held {
    struct hc_dispatch *dispatch; /* borrowed, as is the next */
    struct hc_tenant *tenant;
    int64_t bytes; /* 0: none */
};

void hc_e2b_let_go(struct hc_e2b_held *held);

/* The files of a directory, collected page by page. */
struct hc_e2b_listing {
    char *base;              /* the directory, as a session takes it; owned */
    int depth;               /* levels of directories in the list, from 1 on */
    cJSON *queue;            /* paths of directories that are still to be listed; owned */
    cJSON *found;            /* list of files, each with the "dir" that it is in; owned */
    char *after;             /* the last name of the page before; owned; NULL: none */
    int most;                /* most files that are collected */
    int count;               /* files in `found` */
    size_t bytes;            /* of their names and of the directories that they are in */
    struct hc_e2b_held held; /* memory of `found`; owned */
};

/* -1: out of memory. */
int hc_e2b_listing_begin(struct hc_e2b_listing *l, const char *base, int depth, int most);
void hc_e2b_listing_end(struct hc_e2b_listing *l);

/* Go on with what the session has answered. 1: `found` is complete; 0: the exchange waits; -1: `why`. */
int hc_e2b_listing_step(struct hc_exchange *x, struct hc_front_session *s, struct hc_e2b_listing *l,
                        struct hc_problem *why);

/* ---- views (e2b_view.c) ---- */

/* A list of files that does not change any more. */
struct hc_e2b_files {
    int references;          /* number of pointers to this list; the last one that goes frees it */
    cJSON *list;             /* list of files, as hc_e2b_listing.found; owned */
    struct hc_e2b_held held; /* its memory; owned */
    int count;               /* files in it */
};

void hc_e2b_files_unref(struct hc_e2b_files *f); /* NULL is fine */

/* The view of a directory that a call is to watch, shared with other watches of it. NULL: out of memory. */
struct hc_e2b_view *hc_e2b_view_open(struct hc_exchange *x, const struct hc_e2b_call *call);
/* End one of its watches, by the exchange `x`, if it is one's; `v` may be NULL. */
void hc_e2b_view_close(struct hc_http *h, const struct hc_exchange *x, struct hc_e2b_view *v);

/* Its last list; borrowed; NULL: there is none yet. */
struct hc_e2b_files *hc_e2b_view_files(const struct hc_e2b_view *v);

bool hc_e2b_view_is_being_made(const struct hc_e2b_view *v); /* is its next list being made? */

/* Tell what differs between two of its lists, as events {"name", "type"}. -1: out of memory. */
typedef void hc_e2b_tell(void *to, const struct hc_buf *event);
int hc_e2b_view_compare(const struct hc_e2b_view *v, const struct hc_e2b_files *before,
                        const struct hc_e2b_files *after, hc_e2b_tell *tell, void *to);

/* Make the list anew if it may have changed and it is time to. 1: nothing is left to do for this exchange; 0:
 * the exchange waits; -1: `why`. */
int hc_e2b_view_step(struct hc_exchange *x, struct hc_front_session *s, struct hc_e2b_view *v,
                     struct hc_problem *why);

/* Answer why the session has refused a request about files. */
int hc_e2b_reply_refusal(struct hc_exchange *x, const struct hc_problem *p);

/* Do commands go on in the sandbox (e2b_process.c)? */
bool hc_e2b_runs_commands(const struct hc_front_session *s);

/* ---- handlers ---- */

hc_handler hc_e2b_post_sandbox, hc_e2b_list, hc_e2b_get, hc_e2b_delete, hc_e2b_set_timeout, hc_e2b_pause,
    hc_e2b_connect, hc_e2b_missing; /* e2b_routes.c */
hc_handler hc_e2b_post_execute, hc_e2b_list_contexts, hc_e2b_post_context, hc_e2b_delete_context,
    hc_e2b_restart_context, hc_e2b_health;                                      /* e2b_run.c */
hc_handler hc_e2b_file_call, hc_e2b_list_dir, hc_e2b_watch_dir;                 /* e2b_files.c, e2b_watch.c */
hc_handler hc_e2b_create_watcher, hc_e2b_watcher_events, hc_e2b_remove_watcher; /* e2b_watcher.c */
hc_handler hc_e2b_get_file, hc_e2b_post_files;                                  /* e2b_content.c */
hc_handler hc_e2b_start_process, hc_e2b_connect_process, hc_e2b_list_processes,
    hc_e2b_process_call; /* e2b_process.c */

#endif
