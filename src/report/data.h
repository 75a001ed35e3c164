/* data.h - members of a document that may hold anything: what is not of the type that is asked for is not
 * there. */
#ifndef HC_REPORT_DATA_H
#define HC_REPORT_DATA_H

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static inline const cJSON *hc_get(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

/* Empty if it is no string. */
static inline const char *hc_get_text(const cJSON *o, const char *name)
{
    const char *text = cJSON_GetStringValue(hc_get(o, name));
    return text ? text : "";
}

/* NaN if it is no number. */
static inline double hc_get_number(const cJSON *o, const char *name)
{
    const cJSON *node = hc_get(o, name);
    return cJSON_IsNumber(node) ? node->valuedouble : (double)NAN;
}

/* A count, a line or a column; 0 if it is no such number. */
static inline long hc_get_count(const cJSON *o, const char *name)
{
    double n = hc_get_number(o, name);
    return n >= 0 && n <= 9e15 ? (long)n : 0;
}

static inline int hc_get_length(const cJSON *o, const char *name)
{
    const cJSON *list = hc_get(o, name);
    return cJSON_IsArray(list) || cJSON_IsObject(list) ? cJSON_GetArraySize(list) : 0;
}

#endif
