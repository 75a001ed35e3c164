/* tool_proxy.h - answers on this host the calls of tools that a job in a daemon makes. It uses the toolbox of
 * a local cell, so commands, limits and paths are checked here again, whatever the daemon has let through. */
#ifndef HC_CLIENT_TOOL_PROXY_H
#define HC_CLIENT_TOOL_PROXY_H

#include "cell/tools.h"
#include "client/http.h"
#include "job/job.h"

/* The tools of one job, and their open calls. It owns all of its members. */
struct hc_tool_proxy {
    struct hc_tools tools;      /* the tools that the job brings */
    struct hc_toolbox *toolbox; /* NULL: the job brings no tools */
    int ours, theirs;           /* a socket pair: the toolbox sends answers into `ours`, as to a cell */
    struct hc_buf answer;       /* the packets of one answer read from `theirs` so far */
    struct hc_tool_log log;     /* calls, as the toolbox lists them */
    struct hc_denials denials;  /* refused calls, as the toolbox lists them */
    bool refused;               /* the daemon has refused an answer, and the user was told */
};

/* Moves the tools of `job` into the proxy. `tool_fd` is the socket to the client that answers tools without a
 * command, borrowed; 0: no client. After -1, too, hc_tool_proxy_close is called. */
int hc_tool_proxy_open(struct hc_tool_proxy *d, struct hc_job *job, int tool_fd, struct hc_error *err);
void hc_tool_proxy_close(struct hc_tool_proxy *d);

/* A descriptor, borrowed; when it is readable, call hc_tool_proxy_work. -1: the job brings no tools. */
int hc_tool_proxy_fd(const struct hc_tool_proxy *d);

/* Starts the call that a "tool_call" event asks for. -1: the event is not a valid call. */
int hc_tool_proxy_call(struct hc_tool_proxy *d, const struct hc_json *event, struct hc_error *err);

/* Works on the calls, and sends finished answers to the daemon at `place`. `job` is the job's path there,
 * "/v1/jobs/ID". -1: the daemon cannot be reached, or there is no memory. */
int hc_tool_proxy_work(struct hc_tool_proxy *d, const struct hc_daemon_address *place, const char *job,
                       struct hc_error *err);

#endif
