#include "inside/cores.h"

#include <errno.h>
#include <sys/prctl.h>

int hc_cores_keep(struct hc_error *err)
{
    if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, PR_SCHED_CORE_SCOPE_THREAD_GROUP, 0) == 0)
        return 0;
    int error = errno;
    if (error == ENODEV)
        (void)hc_fail_as(
            err, HC_EXIT_UNAVAILABLE, 0,
            "core_scheduling cannot be \"on\": the cores of this machine run one thread each (no "
            "SMT): set it to \"off\"");
    else if (error == EINVAL)
        (void)hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                         "core_scheduling cannot be \"on\": this kernel was built without CONFIG_SCHED_CORE: "
                         "set it to \"off\", or use another kernel");
    else
        (void)hc_fail_as(err, HC_EXIT_UNAVAILABLE, error, "core_scheduling cannot be \"on\"");
    err->sys = error;
    return -1;
}

uint64_t hc_cores_cookie(pid_t pid)
{
    uint64_t cookie = 0;
    return prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, pid, PR_SCHED_CORE_SCOPE_THREAD, &cookie) == 0 ? cookie
                                                                                                  : 0;
}
