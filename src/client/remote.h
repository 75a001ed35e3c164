/* remote.h - runs one job by a daemon: sends it, follows its events, fetches its results. */
#ifndef HC_CLIENT_REMOTE_H
#define HC_CLIENT_REMOTE_H

#include "cell/collect.h"

/* A job for a daemon, filled by the caller; the last two members are results. Descriptors are borrowed. */
struct hc_remote {
    struct hc_job *job; /* the job, checked by hc_job_check; borrowed; its tools are moved out of it */
    int tool_fd;        /* socket to the client that answers tools without a command; 0: no client */
    int pass_stdout, pass_stderr; /* the guest's output is copied to these; -1: only into the manifest */
    int cancel_fd;                /* when it becomes readable, the job is cancelled; -1: no such descriptor */
    const char *default_dir;      /* parent of the output directory if the job names no output directory */
    int default_at;               /* directory that `default_dir` is relative to; 0: the current directory */
    bool else_temporary;          /* if `default_dir` cannot be had, a temporary directory gets the results */
    const char *default_name;     /* name of the output directory in `default_dir`; NULL: the job's ID */
    bool kept;                    /* result: an output directory was made */
    bool cut;                     /* result: the daemon has left out some of the output */
};

/* Runs a job. 0: it has ended with a manifest: `m` has what hc_job_result_read reads of it, and `text` is the
 * manifest, which also stands in the output directory. -1: there is no manifest, or the results could not be
 * written; `text` may have a manifest all the same. 1: the job was not sent, as no daemon answers or the job
 * cannot run in a daemon; `err` says which. */
int hc_remote_run(struct hc_remote *r, struct hc_manifest *m, struct hc_buf *text, struct hc_error *err);

#endif
