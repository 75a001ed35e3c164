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
    struct hc_job job;
    struct hc_policy policy;
    struct hc_buf key, code;
    const char *file; /* the program's name for messages */
    const char *spec;
    char *session, *step; /* owned; NULL: none. The job's output directory is that of the step already */
    int session_fd;       /* holds the session for as long as the job takes; -1: none */
    bool wait;            /* for the session */
    bool json;
};

/* 0; 1 if only help is asked for; else the exit status, with the reason told. */
int hc_request_read(struct hc_request *q, int argc, char **argv);
void hc_request_finish(struct hc_request *q);

#endif
