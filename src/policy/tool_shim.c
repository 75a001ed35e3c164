/* Tools as JSON for the handover. The shim is linked with the code that writes handovers but not with tool.c,
 * which reads tools, so this function has a file of its own. */
#include "policy/tool.h"

static bool put_tool(cJSON *list, const struct hc_tool *t)
{
    cJSON *one = cJSON_CreateObject();
    if (!one || !cJSON_AddItemToArray(list, one)) {
        cJSON_Delete(one);
        return false;
    }
    if (!cJSON_AddStringToObject(one, "name", t->name) ||
        !cJSON_AddNumberToObject(one, "argument_bytes", (double)t->argument_bytes) ||
        (t->description && !cJSON_AddStringToObject(one, "description", t->description)))
        return false;
    cJSON *schema = t->schema ? cJSON_Duplicate(t->schema, true) : NULL;
    if (!t->schema || (schema && cJSON_AddItemToObject(one, "parameters", schema)))
        return true;
    cJSON_Delete(schema);
    return false;
}

cJSON *hc_tools_for_shim(const struct hc_tools *tools)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; list && i < tools->count; i++) {
        if (put_tool(list, &tools->items[i]))
            continue;
        cJSON_Delete(list);
        list = NULL;
    }
    return list;
}
