/* request.h - what the commands that run a job have in common: a command line that describes it. */
#ifndef HC_CLI_REQUEST_H
#define HC_CLI_REQUEST_H

#include "base/buf.h"
#include "job/job.h"
#include "policy/policy.h"

#include <stdbool.h>

struct hc_batch_options;

enum hc_warm {
    HC_WARM_NO,  /* in a cell that this process builds */
    HC_WARM_TRY, /* by a daemon, if there is one that can take the job */
    HC_WARM_YES,
};

struct hc_request {
    const char *command; /* set by the caller: "run", "check" */
    bool check;          /* set by the caller: only look at the program; options about results are unknown */
    bool live;           /* set by the caller: there is no program yet, and none of what is said of one */
    bool serve;          /* .. and with `live`: the options for those to come are collected */
    struct hc_job job;
    struct hc_policy policy;
    struct hc_buf key, code;
    const char *file; /* the program's name for messages */
    const char *spec;
    char *session, *step; /* owned; NULL: none. The job's output directory is that of the step already */
    int session_fd;       /* holds the session for as long as the job takes; -1: none */
    bool wait;            /* for the session */
    bool json;
    enum hc_warm warm; /* of "run": who runs it. Unless it is HC_WARM_NO, policy and key are not read */
    int tool_fd;       /* of the client that answers tools; 0: none */
    int caller_fd;     /* tells that the caller has gone (cancel.h); 0: none */
    char *given[64];   /* with `serve`: the options that each program gets, as arguments. Owned */
    size_t given_count;
    int64_t jobs, store; /* with `serve` */
    /* With `live`, set by the caller: there are many programs, in a file, and these are said of them. */
    struct hc_batch_options *batch;
};

#define HC_MAX_SERVED 64 /* programs at once that --jobs allows */

/* A command's work on its request: the exit status, or -1 with `err` set. */
typedef int hc_request_worker(struct hc_request *q, struct hc_error *err);

/* What was left out for a daemon that there is not: policy and key. */
int hc_request_load_policy(struct hc_request *q, struct hc_error *err);

/* The whole of such a command: `q` with its first members set, read from the command line, given to `work`,
 * and finished. Asked for help, it prints `help` and the policy's options. Returns the exit status. */
int hc_request_serve(struct hc_request *q, int argc, char **argv, const char *help, hc_request_worker *work);

#endif
