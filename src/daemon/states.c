#include "daemon/states.h"

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
