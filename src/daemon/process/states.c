#include "daemon/process/states.h"

#include "manifest/manifest.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [HC_TASK_QUEUED] = "queued",
    [HC_TASK_RUNNING] = "running",
    [HC_TASK_DONE] = "done",
    [HC_TASK_FAILED] = "failed",
};

const char *hc_task_state_name(enum hc_task_state s)
{
    return names[s];
}

int hc_task_state_from(const char *name)
{
    for (int i = HC_TASK_QUEUED; i <= HC_TASK_FAILED; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* All status names: those of results, then those of jobs without a result. A launch that failed has no
 * result, so it counts as "failed". NULL: `i` is beyond the last. */
static const char *status_at(int i)
{
    static const char *const others[] = {HC_STATUS_NAME_FAILED, HC_STATUS_NAME_CANCELLED,
                                         HC_STATUS_NAME_UNKNOWN};
    const int count = (int)(sizeof others / sizeof *others);
    if (i < HC_STATUS_LAUNCH_FAILED)
        return hc_status_name((enum hc_status)i);
    return i < HC_STATUS_LAUNCH_FAILED + count ? others[i - HC_STATUS_LAUNCH_FAILED] : NULL;
}

bool hc_task_is_status(const char *name)
{
    for (int i = 0; status_at(i); i++)
        if (strcmp(status_at(i), name) == 0)
            return true;
    return false;
}

const char *hc_task_status_list(char out[HC_TASK_STATUS_LIST])
{
    size_t len = 0;
    for (int i = 0; status_at(i) && len < HC_TASK_STATUS_LIST; i++) {
        const char *between = i == 0 ? "" : status_at(i + 1) ? ", " : " or ";
        len += (size_t)snprintf(out + len, HC_TASK_STATUS_LIST - len, "%s%s", between, status_at(i));
    }
    return out;
}
