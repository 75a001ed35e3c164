/* hotcell session - serves many runs with one interpreter: reads requests from standard input and writes
 * answers to standard output, each a line of JSON (hotcell-session(1)). */
#include "cli/cli.h"

#include "base/fd.h"
#include "cell/session_talk.h"
#include "cli/cancel.h"
#include "cli/request.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char help_head[] =
    "usage: hotcell session [OPTION]...\n"
    "Run Python programs one after another in one cell, whose interpreter keeps its state: requests on\n"
    "standard input and answers on standard output, a line of JSON each "
    "(hotcell-session(1)).\n\n" HC_HELP_OF_SESSIONS
    "      --spec FILE           all of this as JSON, but for the programs\n\n"
    "Over the policy (hotcell-policy(5)); limits of time and size are those of one run:\n";

static int run_session(struct hc_request *q, struct hc_error *err)
{
    if (!q->job.interface && !(q->job.interface = strdup("http"))) /* hints in the words of requests */
        return hc_fail(err, ENOMEM, "session");
    hc_autofd cancel = hc_cancel_open(err);
    if (cancel < 0)
        return -1;
    const struct hc_session_talk talk = {.job = &q->job,
                                         .policy = &q->policy,
                                         .default_dir = "hotcell-output",
                                         .else_temporary = true,
                                         .cancel_fd = cancel,
                                         .tool_fd = q->tool_fd,
                                         .in_fd = STDIN_FILENO,
                                         .out_fd = STDOUT_FILENO,
                                         .key = q->key.data,
                                         .key_len = q->key.len};
    int rc = hc_session_talk(&talk, err);
    hc_cancel_end(cancel);
    return rc;
}

int hc_cmd_session(int argc, char **argv)
{
    struct hc_request q = {.command = "session", .live = true};
    return hc_request_serve(&q, argc, argv, help_head, run_session);
}
