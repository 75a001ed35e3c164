/* problem.h - why a request was not answered as asked: RFC 9457 documents that say whether to try again. */
#ifndef HC_DAEMON_PROCESS_PROBLEM_H
#define HC_DAEMON_PROCESS_PROBLEM_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum hc_problem_kind {
    HC_PROBLEM_NONE,
    HC_PROBLEM_REQUEST,      /* what was sent is not what is expected */
    HC_PROBLEM_UNKNOWN_USER, /* no identity */
    HC_PROBLEM_FORBIDDEN,
    HC_PROBLEM_LIMIT,     /* more than the sender may have, now and later */
    HC_PROBLEM_NOT_FOUND, /* or it is another tenant's */
    HC_PROBLEM_METHOD,
    HC_PROBLEM_CONFLICT,
    HC_PROBLEM_IN_USE, /* it does something else at the moment */
    HC_PROBLEM_GONE,   /* it was there, and has ended */
    HC_PROBLEM_TOO_LARGE,
    HC_PROBLEM_HEAD, /* the head is */
    HC_PROBLEM_MEDIA_TYPE,
    HC_PROBLEM_RANGE, /* the file has no such bytes */
    HC_PROBLEM_SPEC,  /* well-formed, and cannot be run as it is: policy, tree, inputs */
    HC_PROBLEM_QUOTA,
    HC_PROBLEM_CANCELLED,
    HC_PROBLEM_LOST, /* whoever ran the job died with it */
    HC_PROBLEM_LAUNCH,
    HC_PROBLEM_INTERNAL,
    HC_PROBLEM_BUSY,
    HC_PROBLEM_HOST, /* this host cannot give the isolation */
};

/* What became of the job. */
enum hc_retry { HC_RETRY_NOT_STARTED, HC_RETRY_UNKNOWN, HC_RETRY_FINISHED };

struct hc_problem {
    enum hc_problem_kind kind;
    enum hc_retry retry;
    int retry_after;   /* seconds; 0: nothing is said */
    const char *quota; /* static; NULL: none */
    const char *allow; /* the methods that do apply; static; NULL: not asked */
    char limits[1024]; /* of HC_PROBLEM_LIMIT: JSON, a list of what is too much; empty otherwise */
    char detail[768];
};

void hc_problem_set(struct hc_problem *p, enum hc_problem_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What a launcher's exit status (base/error.h) says of the request, if it built no cell. */
enum hc_problem_kind hc_problem_of_exit(int exit);

int hc_problem_status(const struct hc_problem *p); /* of HTTP */

/* A document that was printed; `manifest` is malloc'd, or NULL if it has none. -1: it is none of ours. */
int hc_problem_parse(struct hc_problem *p, const char *text, size_t len, char **manifest);

/* The document, one line. `job_id` and `manifest` (JSON text) may be NULL. */
void hc_problem_print(const struct hc_problem *p, const char *job_id, const char *manifest,
                      struct hc_buf *out);

#endif
