/* problem.h - why a request was not answered as asked: RFC 9457 documents that say whether to try again. */
#ifndef HC_DAEMON_PROCESS_PROBLEM_H
#define HC_DAEMON_PROCESS_PROBLEM_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum hc_problem_kind {
    HC_PROBLEM_NONE,         /* there is no problem */
    HC_PROBLEM_REQUEST,      /* the request is not well-formed */
    HC_PROBLEM_UNKNOWN_USER, /* the client's credentials belong to no tenant */
    HC_PROBLEM_FORBIDDEN,    /* the route, policy or tree is not for this client */
    HC_PROBLEM_LIMIT,        /* the request asks for more than its sender may ever have */
    HC_PROBLEM_NOT_FOUND,    /* there is no such thing, or it is another tenant's */
    HC_PROBLEM_METHOD,       /* the path has no such method */
    HC_PROBLEM_CONFLICT,     /* the idempotency key was used for another request */
    HC_PROBLEM_IN_USE,       /* the session is busy with another request, or another job has the volume */
    HC_PROBLEM_OFFSET,       /* the part of an upload has another offset than the next part */
    HC_PROBLEM_GONE,         /* the session has ended */
    HC_PROBLEM_TOO_LARGE,    /* the request's body is too large */
    HC_PROBLEM_HEAD,         /* the request's head is too large */
    HC_PROBLEM_MEDIA_TYPE,   /* the body is no JSON by its Content-Type */
    HC_PROBLEM_RANGE,        /* the file has no such bytes */
    HC_PROBLEM_SPEC,      /* the request is well-formed, but cannot be run as it is: policy, tree, inputs */
    HC_PROBLEM_CONTENT,   /* the upload has another hash than its sender says */
    HC_PROBLEM_QUOTA,     /* a quota is used up for now */
    HC_PROBLEM_CANCELLED, /* the job was cancelled before it ran */
    HC_PROBLEM_LOST,      /* the process that ran the job died with it */
    HC_PROBLEM_LAUNCH,    /* the cell could not be built, or its results not be kept */
    HC_PROBLEM_INTERNAL,  /* the daemon has failed */
    HC_PROBLEM_BUSY,      /* the daemon takes no more at the moment */
    HC_PROBLEM_LATER,     /* as BUSY, QUOTA and LOST, for clients that send again only after this status */
    HC_PROBLEM_HOST,      /* this host cannot give the isolation that was asked for */
};

/* What became of the job: it did not start; it started, and its outcome is unknown; it has ended. */
enum hc_retry { HC_RETRY_NOT_STARTED, HC_RETRY_UNKNOWN, HC_RETRY_FINISHED };

struct hc_problem {
    enum hc_problem_kind kind; /* why there is no answer */
    enum hc_retry retry;       /* tells the client whether to send the request again */
    int retry_after;           /* seconds after which to try again; 0: nothing is said */
    int sys;                   /* ENOENT, EEXIST: what a request about files found; 0: nothing is known */
    const char *quota;         /* name of the quota that is used up; static; NULL: none */
    const char *allow; /* methods of the path, if the problem is HC_PROBLEM_METHOD; static; else NULL */
    char limits[1024]; /* JSON list of the limits that are too high, if the problem is HC_PROBLEM_LIMIT; else
                          "" */
    char detail[768];  /* one sentence for the client */
};

/* Set the kind and the detail; all other members become 0. */
void hc_problem_set(struct hc_problem *p, enum hc_problem_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The kind of problem that a launcher's exit status (base/error.h) tells of, if it built no cell. */
enum hc_problem_kind hc_problem_of_exit(int exit);

/* The kind of problem that an error tells of: by its exit status, but for a volume that is in use (EBUSY) or
 * over its quota (EDQUOT) by err->sys. */
enum hc_problem_kind hc_problem_of_error(const struct hc_error *err);

int hc_problem_status(const struct hc_problem *p); /* the HTTP status */

/* Parse a document that hc_problem_print has printed. `*manifest`: the manifest in it, malloc'd; NULL: it has
 * none. -1: the text is no such document. */
int hc_problem_parse(struct hc_problem *p, const char *text, size_t len, char **manifest);

/* Append the document as one line. `job_id` and `manifest` (JSON text) may be NULL. */
void hc_problem_print(const struct hc_problem *p, const char *job_id, const char *manifest,
                      struct hc_buf *out);

#endif
