/* request.h - reads the command line of commands that run a job: run, check, session, kernel, batch, mcp. */
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
    HC_WARM_YES, /* by a daemon */
};

struct hc_request {
    const char *command; /* set by the caller: "run", "check" */
    bool check; /* set by the caller: the program is only checked; options about results are unknown */
    bool exec;  /* set by the caller: the arguments are a command, and no program's file */
    bool live;  /* set by the caller: programs come later; options for a single program are unknown */
    bool serve; /* set by the caller, with `live`: options for these programs are collected in `given` */
    struct hc_job job;       /* what the command line and the spec ask for */
    struct hc_policy policy; /* effective, with the job's options and tools; owned */
    bool unnamed;            /* the job does not change `policy`, for which hc_policy_begin was not called */
    /* Key that signs manifests, empty: none; the program while it is read; owned. */
    struct hc_buf key, code;
    const char *file;     /* the program's name for messages */
    const char *spec;     /* path of the spec; NULL: none */
    char *session, *step; /* names of the directories; owned; NULL: none. The job's output directory is the
                             step's already */
    int session_fd; /* descriptor with the lock on the session until the job has ended; owned; -1: none */
    const char *stdin_path; /* where the program's standard input comes from; NULL: the spec, or nowhere */
    int stdin_fd;           /* descriptor of that file, owned; -1: none */
    bool wait;              /* wait for the session's running step to end */
    bool json;              /* --json: print JSON instead of text */
    enum hc_warm warm;      /* where the job runs; unless HC_WARM_NO, `policy` and `key` are not loaded yet */
    int tool_fd;            /* socket to the client that answers tools, borrowed; 0: none */
    int caller_fd; /* descriptor by which the caller's end is noticed (cancel.h), borrowed; 0: none */
    int stdout_fd, stderr_fd; /* the program's output is copied to these; 0: to this process's own, or nowhere
                                 with `json` */
    int figure_fd;            /* gets a line of JSON for each figure as it is made; 0: none */
    /* With `serve` or `kernel`: options for each program, or for the session, as arguments; owned. */
    char *given[64];
    size_t given_count; /* used entries of `given` */
    /* With `serve`: most programs that run at once; most bytes of stored results; 0: not given. */
    int64_t jobs, store;
    /* With `live`, set by the caller: the options of a batch; NULL: the command is no batch. */
    struct hc_batch_options *batch;
    /* With `live`, set by the caller: the options of a kernel; NULL: the command is no kernel. */
    struct hc_kernel_options *kernel;
};

/* What `hotcell kernel` is asked for, beside the options of its session. Texts are borrowed. */
struct hc_kernel_options {
    const char *connection; /* the connection file; NULL: not given */
    const char *name;       /* the kernelspec's; NULL: not given */
    bool install, user;     /* install a kernelspec; for this user only */
};

#define HC_MAX_SERVED 64 /* most programs at once that --jobs allows */

/* Options of commands whose programs share one cell, session and kernel, as --help has them. */
#define HC_HELP_OF_SESSIONS                                                                                  \
    "  -p, --policy POLICY       what the cell may do: a name, or a path with a slash (default)\n"           \
    "  -o, --output DIR          where files and figures go\n"                                               \
    "      --input NAME=FILE     data: a variable, and read-only as /input/NAME.EXT\n"                       \
    "      --dir HOST[:PLACE][:ro|:cow]\n"                                                                   \
    "                            a directory of this host, or a copy of it to change, at PLACE or at its\n"  \
    "                            own path\n"                                                                 \
    "      --var NAME=JSON       a value\n"                                                                  \
    "      --env NAME=VALUE      an environment variable of the programs\n"                                  \
    "      --seed N              make hashes and random numbers repeatable\n"                                \
    "      --label NAME=VALUE    goes into the manifests\n"

/* Does a command's work on its request. Returns the exit status, or -1 with `err` set. */
typedef int hc_request_worker(struct hc_request *q, struct hc_error *err);

/* Loads policy and key, which were not loaded because a daemon was to run the job. */
int hc_request_load_policy(struct hc_request *q, struct hc_error *err);

/* Runs a command with such a worker: reads the command line into `q`, whose members "set by the caller" are
 * set, calls `work`, and frees `q`. With --help it prints `help` and the policy's options. Returns the exit
 * status. */
int hc_request_serve(struct hc_request *q, int argc, char **argv, const char *help, hc_request_worker *work);

#endif
