#include "shim/harness/feed.h"

#include "base/fd.h"
#include "shim/harness/frozen.h"
#include "shim/harness/pyjson.h"

#include <errno.h>
#include <fcntl.h>

int hc_feed_take(int fd, struct hc_error *err)
{
    hc_autofd from = fd;
    return from >= 0 && dup2(from, STDIN_FILENO) < 0 ? hc_fail(err, errno, "take standard input") : 0;
}

int hc_feed_end(struct hc_error *err)
{
    hc_autofd nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ? hc_fail(err, errno, "end standard input") : 0;
}

int hc_feed_begin(const struct hc_handover_job *job, bool run)
{
    static bool given; /* this job, or an earlier run of the session, has got input */
    given = given || job->args || job->env || job->has_stdin;
    if (!given)
        return 0;
    hc_autopy *args = job->args ? hc_py_from_json(job->args) : PyList_New(0);
    hc_autopy *env = job->env ? hc_py_from_json(job->env) : PyDict_New();
    hc_autopy *done =
        args && env ? hc_frozen_call("hooks", "feed", "(OOii)", args, env, (int)job->has_stdin, (int)run)
                    : NULL;
    return done ? 0 : -1;
}
