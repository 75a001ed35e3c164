/* parts.h - private to src/lib: what stands behind the handles of hotcell.h. */
#ifndef HC_LIB_PARTS_H
#define HC_LIB_PARTS_H

#include "base/error.h"
#include "client/http.h"
#include "json/json.h"
#include "lib/hotcell.h"

#include <sys/types.h>

#define HC_LIB_PATIENCE_MS 10000               /* until what was asked to end is killed, or given up */
#define HC_LIB_MAX_ANSWER  ((size_t)512 << 20) /* most bytes of a manifest, or of an answer with one */

struct hotcell_place {
    char *command;                    /* path of the command, owned; NULL: the place is a daemon */
    struct hc_daemon_address address; /* the daemon's address; its token is `token` */
    char *token;                      /* owned; NULL: none */
};

/* Gives the caller an error that happened; returns HOTCELL_FAILED. */
int hc_lib_tell(struct hotcell_error *to, const struct hc_error *err);

/* ---- specs ---- */

struct hotcell_spec {
    cJSON *root; /* object of the members, owned. Values are raw JSON without line ends; "limits", "vars" and
                  * "inputs" are objects of such values, if they were objects at all */
};

/* Appends a spec as JSON, on one line. With `contents` the content of input files stands in it, and they are
 * read. NULL stands for an empty spec. HC_EXIT_DATA: a file cannot be read. */
int hc_lib_print_spec(const struct hotcell_spec *spec, bool contents, struct hc_buf *out,
                      struct hc_error *err);

/* The directory for results that a spec names, a copy that the caller owns; NULL: it names none. -1: out of
 * memory. */
int hc_lib_output_dir(const struct hotcell_spec *spec, char **out, struct hc_error *err);

/* ---- child processes ---- */

struct hc_lib_child {
    pid_t pid;     /* 0: none, or it was waited for */
    int end;       /* readable when the child has ended: its pidfd, or, without pidfds, a socket of which it
                    * holds the other end; owned; -1: none */
    bool is_pidfd; /* `end` is a pidfd */
    int messages;  /* memfd that is the child's standard error; owned; -1: none */
    bool known;    /* its exit status is known: `status` */
    int status;    /* as exit(3), or 128 and the number of a signal */
};

#define HC_LIB_NO_CHILD ((struct hc_lib_child){.end = -1, .messages = -1})

/* Starts the command. `in` and `out` become its standard input and output, `third` its descriptor 3 (-1: no
 * such); all are borrowed. With `tied` its descriptor HC_LIB_CALLER_FD becomes readable when this process
 * ends. HC_EXIT_UNAVAILABLE: it cannot be started. */
#define HC_LIB_CALLER_FD 4
int hc_lib_child_start(struct hc_lib_child *c, const char *const *argv, int in, int out, int third, bool tied,
                       struct hc_error *err);
bool hc_lib_child_ended(struct hc_lib_child *c); /* has it ended? Does not wait. */
void hc_lib_child_signal(struct hc_lib_child *c, int signal);
/* Fails with what the child, which has ended, has written to standard error, and its exit status. */
int hc_lib_child_fail(struct hc_lib_child *c, struct hc_error *err);
/* Waits for its end, ten seconds at most, then kills it; frees what the struct owns. */
void hc_lib_child_finish(struct hc_lib_child *c);

/* Waits until `fd` is readable, or `timeout_ms` are over (-1: never). Interrupted waits go on. */
bool hc_lib_await(int fd, int timeout_ms);

/* Milliseconds of the monotonic clock; those that are left of `timeout_ms` since then. */
int64_t hc_lib_now_ms(void);
int hc_lib_left_ms(int64_t since, int timeout_ms);

/* ---- exchanges with a daemon ---- */

/* One request and its answer, over a connection of its own that never blocks. */
struct hc_lib_exchange {
    int fd;                  /* the connection, owned; -1: none */
    struct hc_buf out;       /* the request */
    size_t sent;             /* bytes of it that were sent */
    bool sending;            /* there is more to send */
    struct hc_answer answer; /* the answer so far */
};

/* Connects, and has `epoll` watch the connection. */
int hc_lib_exchange_begin(struct hc_lib_exchange *x, int epoll, const struct hc_daemon_address *to,
                          const struct hc_exchange_head *head, struct hc_error *err);
/* 1: the answer is whole; 0: it is not; -1: the connection broke. */
int hc_lib_exchange_step(struct hc_lib_exchange *x, int epoll, struct hc_error *err);
void hc_lib_exchange_finish(struct hc_lib_exchange *x);

/* A whole exchange, for which it waits `timeout_ms` at most; the caller finishes it in any case. */
int hc_lib_exchange_whole(struct hc_lib_exchange *x, const struct hc_daemon_address *to,
                          const struct hc_exchange_head *head, int timeout_ms, struct hc_error *err);

/* Fails with a problem document of the daemon. If it has a manifest, `*manifest` becomes its text, which the
 * caller frees; `manifest` may be NULL. */
int hc_lib_problem(const char *text, size_t len, int http_status, char **manifest, struct hc_error *err);

/* ---- results ---- */

struct hotcell_result {
    char *text;          /* the manifest, owned */
    size_t len;          /* bytes of `text` */
    struct hc_json json; /* the same, parsed */
    char *output_dir;    /* directory of its files, owned; NULL: a daemon has them */
    char *url;           /* path of its files at the daemon, such as "/v1/jobs/ID/files/", owned; or NULL */
    char *value;         /* JSON of the program's value, owned; NULL: none */
    struct hc_lib_member *members; /* texts that were asked for, owned */
    int run;                       /* number of the run in its session; 0: no session */
    char state[64];                /* which state the next run finds; empty: no session */
};

/* Makes a result of a manifest. `text`, `output_dir` and `url` are taken, also if this fails. */
int hc_lib_result_new(struct hotcell_result **out, char *text, char *output_dir, char *url,
                      struct hc_error *err);

/* Where `hotcell run` puts results if no output directory was named. */
#define HC_LIB_DEFAULT_DIR "hotcell-output"

#endif
