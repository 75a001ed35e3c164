#include "daemon/sessions/contexts.h"

#include "job/job.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

void hc_front_contexts_begin(struct hc_front_session *s)
{
    cJSON_Delete(s->contexts);
    s->contexts = cJSON_Parse("[{\"name\": \"" HC_CONTEXT_MAIN "\", \"workdir\": \"/output\"}]");
}

void hc_front_contexts_take(struct hc_front_session *s, const cJSON *answer)
{
    const cJSON *told = hc_json_member(answer, "contexts");
    cJSON *list = cJSON_IsArray(told) ? cJSON_Duplicate(told, true) : NULL;
    if (!list)
        return;
    cJSON_Delete(s->contexts);
    s->contexts = list;
}

const cJSON *hc_front_context_find(const struct hc_front_session *s, const char *name)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, s->contexts)
    {
        if (strcmp(hc_json_text(one, "name"), name) == 0)
            return one;
    }
    return NULL;
}

void hc_front_context_runs(struct hc_front_session *s, const char *name)
{
    (void)snprintf(s->run_context, sizeof s->run_context, "%s", name && *name ? name : HC_CONTEXT_MAIN);
}

bool hc_front_context_stop(struct hc_front_session *s, const char *name)
{
    if (s->state != HC_FRONT_SESSION_BUSY || strcmp(s->run_context, name) != 0)
        return false;
    hc_front_session_interrupt(s);
    return true;
}
