/* remote.h - one job, run by a daemon: sent, followed, and its results brought here. */
#ifndef HC_CLIENT_REMOTE_H
#define HC_CLIENT_REMOTE_H

#include "cell/collect.h"

struct hc_remote {
    struct hc_job *job; /* borrowed; hc_job_check has seen it. Gives its tools away, once there is a daemon */
    int tool_fd;        /* of the client that answers tools without a command; 0: none */
    int pass_stdout, pass_stderr; /* the guest's output as it comes; -1: only into the manifest */
    int cancel_fd;                /* readable: cancel the job. -1: none */
    const char *default_dir;      /* parent of the output directory if the job names none */
    int default_at;               /* the directory that it is relative to; 0: the current one */
    const char *default_name;     /* of the output directory in it; NULL: the daemon's ID of the job */
    bool kept;                    /* filled: there is an output directory */
    bool cut;                     /* filled: the daemon has left some output out */
};

/* 0: there is a result. `m` is filled as far as it is told on a terminal, `text` with the manifest, which is
 * written where results go as well. -1: there is none, or it could not be kept; `text` may have a manifest
 * all the same. 1: nothing has begun, as there is no daemon or the job is not for one; `err` says which. */
int hc_remote_run(struct hc_remote *r, struct hc_manifest *m, struct hc_buf *text, struct hc_error *err);

#endif
