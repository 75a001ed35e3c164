/* tool_proxy.h - where calls of tools that a job makes elsewhere are answered on this host: by the same
 * toolbox that answers those of a job here, so that commands, limits and paths are looked at here as well,
 * whatever the daemon has let through. */
#ifndef HC_CLIENT_TOOL_PROXY_H
#define HC_CLIENT_TOOL_PROXY_H

#include "cell/tools.h"
#include "client/http.h"
#include "job/job.h"

struct hc_tool_proxy {
    struct hc_tools tools;      /* those that the job brings */
    struct hc_toolbox *toolbox; /* NULL: it brings none */
    int ours, theirs;           /* answers come out of it as a cell would get them */
    struct hc_buf answer;       /* as far as it has come */
    struct hc_tool_log log;
    struct hc_denials denials;
    bool refused; /* the daemon did not take an answer, and the user knows */
};

/* `job` gives its tools away. `tool_fd` as for "hotcell run"; 0: none. */
int hc_tool_proxy_open(struct hc_tool_proxy *d, struct hc_job *job, int tool_fd, struct hc_error *err);
void hc_tool_proxy_close(struct hc_tool_proxy *d);

int hc_tool_proxy_fd(const struct hc_tool_proxy *d); /* readable: hc_tool_proxy_work. -1: no tools */

/* The event of a call. -1: it is none. */
int hc_tool_proxy_call(struct hc_tool_proxy *d, const struct hc_json *event, struct hc_error *err);

/* Whatever there is to do; answers are sent to the daemon. `job` is the job's path there. */
int hc_tool_proxy_work(struct hc_tool_proxy *d, const struct hc_place *place, const char *job,
                       struct hc_error *err);

#endif
