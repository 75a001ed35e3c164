/* e2b.h - the messages of E2B's API of sandboxes and of its code interpreter: translates their requests into
 * those of a session, and a session's events into their lines. */
#ifndef HC_WIRE_E2B_H
#define HC_WIRE_E2B_H

#include "base/buf.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define HC_E2B_TIMEOUT 300 /* seconds of a sandbox whose client names none */

/* What the daemon lets such requests have. */
struct hc_e2b_rules {
    const char *policy;    /* policy of the templates that E2B's own clients ask for */
    const char *templates; /* further templates, which are names of policies, separated by blanks */
};

/* All functions that read a request: HC_EXIT_DATA: it is malformed, with line, column and what was expected;
 * HC_EXIT_UNAVAILABLE: it is well-formed, and what it asks for is not to be had here. */

/* Append to `spec` the request for a session that a new sandbox stands for. `*timeout_s`: seconds until its
 * end. */
int hc_e2b_spec(const struct hc_e2b_rules *rules, const char *text, size_t len, struct hc_buf *spec,
                int64_t *timeout_s, struct hc_error *err);

/* The member "timeout" of a request, in seconds; `otherwise` if it has none, or the body is empty. */
int hc_e2b_timeout(const char *text, size_t len, int64_t otherwise, int64_t *timeout_s, struct hc_error *err);

/* The code contexts of a sandbox. */
struct hc_e2b_contexts {
    const char *first;  /* ID of the first one, which ends with the sandbox: that of the sandbox */
    const cJSON *items; /* list of {"name", "workdir"}, the first of the session first */
};

/* The session's name of the context with this ID; borrowed. NULL: there is none. */
const char *hc_e2b_context(const struct hc_e2b_contexts *c, const char *id);

/* Append to `line` the session's request for code, which is a run in a context; `context` gets the session's
 * name of it, borrowed from `contexts`. */
int hc_e2b_execute(const struct hc_e2b_contexts *contexts, const char *text, size_t len, const char **context,
                   struct hc_buf *line, struct hc_error *err);

/* Append to `line` the session's request for a further context. */
int hc_e2b_new_context(const char *text, size_t len, struct hc_buf *line, struct hc_error *err);

/* Append the JSON of a context of the session's list; `first`: the ID of the sandbox's first one. */
void hc_e2b_put_context(const cJSON *context, const char *first, struct hc_buf *out);

/* Do the labels, a JSON object or NULL, have all of `wanted`, the parameter "metadata" of a list: pairs
 * "name=value" with "&" between them, each part encoded as in a URL? */
bool hc_e2b_labels_fit(const cJSON *labels, const char *wanted);

/* The translation of one run's events. */
struct hc_e2b_events {
    const char *now; /* time of the events, as text; borrowed */
    /* Append the content of a figure as base64; false: it is not there. */
    bool (*figure)(void *owner, const char *path, struct hc_buf *out);
    void *owner;        /* passed to `figure` */
    struct hc_buf held; /* the end of standard error, which may repeat the error of the result; owned */
};

void hc_e2b_events_finish(struct hc_e2b_events *e);

/* Append to `out` the lines that one event of a run, one line of JSON, makes; for some there are none. */
void hc_e2b_event(struct hc_e2b_events *e, const char *line, size_t len, struct hc_buf *out);

/* Append {"code": CODE, "message": TEXT}. */
void hc_e2b_error(int code, const char *message, struct hc_buf *out);

#endif
