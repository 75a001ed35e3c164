/* e2b_envd.h - the messages of the daemon in E2B's sandboxes, which speaks Connect in JSON: translates calls
 * about files and processes into requests to a session, and the session's answers and events back. */
#ifndef HC_WIRE_E2B_ENVD_H
#define HC_WIRE_E2B_ENVD_H

#include "base/buf.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define HC_E2B_ROOT "/output" /* the working directory of sessions */

/* ---- streams of Connect ---- */

#define HC_E2B_LAST 2 /* the flag of the message that ends a stream of Connect */

/* Append one message of a stream: flags, length, and the JSON. */
void hc_e2b_envelope(unsigned char flags, const char *json, size_t len, struct hc_buf *out);

/* The JSON in the only message of a body; NULL: the body is something else. */
const char *hc_e2b_unwrap(const char *body, size_t len, size_t *json_len);

/* ---- files ---- */

/* Append `path` as a session takes it: without empty parts, "." and a slash at its end; "." for the working
 * directory itself. The home of E2B's user, /home/user or "~", is this directory, too. */
void hc_e2b_path(const char *path, struct hc_buf *out);

/* The same as an absolute path of the cell. */
void hc_e2b_place(const char *path, struct hc_buf *out);

/* A call about files. */
struct hc_e2b_call {
    struct hc_buf path, to; /* where: "path" or "source"; "destination"; as a session takes them; owned */
    int depth;              /* levels of directories in a list, from 1 on */
    bool recursive;         /* what is watched is a directory with all that is in it */
};

/* -1: the call is malformed (HC_EXIT_DATA). */
int hc_e2b_take_call(struct hc_e2b_call *c, const char *text, size_t len, struct hc_error *err);
void hc_e2b_call_finish(struct hc_e2b_call *c);

/* Append {NAME: {"path": PATH, "to": TO}}; `to` and `more`, further members that begin with a comma, may be
 * NULL. */
void hc_e2b_put_ask(const char *name, const char *path, const char *to, const char *more, struct hc_buf *out);

/* Append the entry for a file that a session's answer tells of, which is in the directory `dir`, "." for the
 * working directory, unless it has a path of its own (NULL). */
void hc_e2b_put_entry(const cJSON *file, const char *dir, struct hc_buf *out);

/* Append what the answer to an upload tells of one file. */
void hc_e2b_put_written(const cJSON *file, struct hc_buf *out);

/* Append the entry for the working directory itself. */
void hc_e2b_put_root(struct hc_buf *out);

/* ---- uploads ---- */

/* One part of a body in the form multipart/form-data; borrowed from the body. */
struct hc_e2b_part {
    char filename[1024]; /* "": none */
    const char *data;    /* content of the part */
    size_t len;          /* bytes of `data` */
};

/* Take the boundary out of a Content-Type; false: it has none. */
bool hc_e2b_boundary(const char *type, char out[80]);

/* Read the part at offset `*at`, at first 0, and move on. 1: `*part` is one; 0: there are no more; -1: the
 * body is malformed. */
int hc_e2b_next_part(const char *body, size_t len, const char *boundary, size_t *at,
                     struct hc_e2b_part *part);

#endif
