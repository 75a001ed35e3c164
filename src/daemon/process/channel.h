/* channel.h - the messages between front, manager and workers: one record of fixed size per message, over a
 * SOCK_SEQPACKET pair, with descriptors beside it. No process accepts a message of another form. */
#ifndef HC_DAEMON_PROCESS_CHANNEL_H
#define HC_DAEMON_PROCESS_CHANNEL_H

#include "base/error.h"
#include "cell/volume.h"
#include "cell/warm_counts.h"
#include "manifest/figure.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hc_say {
    HC_SAY_RUN = 1,       /* front to worker, with the descriptors of enum hc_run_fd: run a job */
    HC_SAY_FORGET,        /* front to worker: remove a job's results */
    HC_SAY_REMOVE_VOLUME, /* front to worker: remove the tenant's volume `volume` */
    HC_SAY_VOLUME_GONE,   /* worker to front: the volume was removed; or it was not, and `error` says why */
    HC_SAY_DONE,          /* worker to front, with one descriptor: the manifest, a sealed memfd */
    HC_SAY_FAILED,        /* worker to front: there is no manifest, `error` says why; nothing was run */
    HC_SAY_IDLE,    /* worker to front: it has done its work after the last job, or `warm` has changed */
    HC_SAY_FIGURE,  /* worker to front: the job has made a figure; if it is small enough, with one descriptor:
                       a sealed memfd with the figure */
    HC_SAY_WORKER,  /* manager to front, with one descriptor: the channel of a new worker */
    HC_SAY_DRAIN,   /* manager to front: end when the running jobs have ended */
    HC_SAY_RELOAD,  /* manager to front, with enum hc_reload_fd: use this configuration from now on */
    HC_SAY_READY,   /* front to manager: the front accepts connections, or has reloaded */
    HC_SAY_ALIVE,   /* front to manager: the front is not stuck */
    HC_SAY_SESSION, /* front to manager: start a process for a session. Manager to front, with the channel of
                       that process; without one: it could not be started. Front to that process, with enum
                       hc_session_fd: begin the session, whose end HC_SAY_DONE or HC_SAY_FAILED tells */
};

/* Descriptors of HC_SAY_RELOAD, in their order: memfds with the configuration and the tokens, as text. */
enum hc_reload_fd { HC_RELOAD_CONFIG, HC_RELOAD_TOKENS, HC_RELOAD_FDS };

/* Descriptors of HC_SAY_RUN, in their order: the request, a sealed memfd; the writing ends of the pipes for
 * standard output and standard error; `theirs` of hc_cancel_pair; the socket of tool_link.h, which is there
 * if the client answers tools. */
enum hc_run_fd { HC_RUN_BODY, HC_RUN_STDOUT, HC_RUN_STDERR, HC_RUN_CANCEL, HC_RUN_TOOLS, HC_RUN_FDS };

/* Descriptors of HC_SAY_SESSION to a session's process, in their order. */
enum hc_session_fd {
    HC_SESSION_BODY,   /* the request that began the session, a sealed memfd */
    HC_SESSION_STREAM, /* socket: requests and answers, lines of JSON */
    HC_SESSION_CANCEL, /* `theirs` of hc_cancel_pair */
    HC_SESSION_TOOLS,  /* the socket of tool_link.h; there if the client answers tools */
    HC_SESSION_FDS
};

/* What the front learns and counts of a job that has a manifest. */
struct hc_outcome {
    int32_t status, exit_code;            /* enum hc_status; exit status of `hotcell run` */
    int64_t warm;                         /* 1: the job ran in a cell that had waited for it; else 0 */
    int64_t cpu_us, wall_us, memory_peak; /* usage of the manifest, in us and bytes; -1: unknown */
    int64_t build_us, start_us, run_us, collect_us; /* timing of the manifest, in us; -1: not reached */
    int64_t denials, bytes; /* number of kinds of refused actions; bytes of results that were kept */
    int64_t figures;        /* number of figures */
    char reason[256];       /* reason of the manifest, as much of it as fits */
};

struct hc_message {
    uint32_t kind;                  /* enum hc_say */
    char job_id[72], tenant[72];    /* ID of the job or session; name of the tenant */
    int64_t pid;                    /* HC_SAY_WORKER: pid of the worker */
    int64_t weight;                 /* HC_SAY_RUN, HC_SAY_SESSION: the tenant's quota.weight */
    struct hc_limits max;           /* HC_SAY_RUN, HC_SAY_SESSION: the tenant's quota.max */
    struct hc_volume_quota volumes; /* HC_SAY_RUN, HC_SAY_SESSION: the tenant's quota.volumes */
    char volume[HC_VOLUME_NAME];    /* HC_SAY_REMOVE_VOLUME: name of the volume */
    char policy[72];            /* HC_SAY_RUN, HC_SAY_SESSION: name of the policy if the request names none */
    struct hc_outcome outcome;  /* HC_SAY_DONE: how the job ended */
    struct hc_warm_counts warm; /* HC_SAY_IDLE: the worker's counts */
    struct hc_figure figure; /* HC_SAY_FIGURE: the figure; the content of a small one comes as a descriptor */
    struct hc_error error; /* HC_SAY_FAILED: why the job could not be run; HC_SAY_VOLUME_GONE: why the volume
                              could not be removed */
};

/* Make a channel; the caller owns both ends. */
int hc_channel_pair(int ends[2], struct hc_error *err);

/* A socket pair by which a job or a session is ended: `*theirs` becomes readable when `*ours` is closed; the
 * reason can then be read from it, if hc_cancel_close got one (hc_run.cancel_has_reason). The caller owns
 * both. */
int hc_cancel_pair(int *ours, int *theirs, struct hc_error *err);
void hc_cancel_close(int *ours, const char *why); /* `why` NULL: no reason. A descriptor of -1 is fine */

/* Send a message with `count` descriptors, which stay the caller's. Never blocks: -1 with EAGAIN in err->sys
 * if the other side has not read enough. */
int hc_channel_send(int fd, const struct hc_message *m, const int *fds, size_t count, struct hc_error *err);

/* Receive a message. 1: there is one, with `*count` descriptors, which the caller owns now; 0: the other side
 * has gone; -1: an error, with EAGAIN in err->sys if `fd` is non-blocking and no message has come. A message
 * of another form than above is an error. */
int hc_channel_receive(int fd, struct hc_message *m, int fds[HC_RUN_FDS], size_t *count,
                       struct hc_error *err);

#endif
