/* request.h - what the commands that run a job have in common: a command line that describes it. */
#ifndef HC_CLI_REQUEST_H
#define HC_CLI_REQUEST_H

#include "base/buf.h"
#include "spec/job.h"
#include "spec/policy.h"

#include <stdbool.h>

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
    int tool_fd;     /* of the client that answers tools; 0: none */
    char *given[64]; /* with `serve`: the options that each program gets, as arguments. Owned */
    size_t given_count;
    int64_t jobs, store; /* with `serve` */
};

#define HC_MAX_SERVED 64 /* programs at once that --jobs allows */

/* A command's work on its request: the exit status, or -1 with `err` set. */
typedef int hc_request_worker(struct hc_request *q, struct hc_error *err);

/* The whole of such a command: `q` with its first members set, read from the command line, given to `work`,
 * and finished. Asked for help, it prints `help` and the policy's options. Returns the exit status. */
int hc_request_serve(struct hc_request *q, int argc, char **argv, const char *help, hc_request_worker *work);

#endif
