#include "json/diff.h"

#include <stdio.h>

/* Who gets the differences. */
struct listener {
    hc_json_change_visitor *each;
    void *ctx;
};

static bool holds(const cJSON *list, const cJSON *item)
{
    const cJSON *other;
    cJSON_ArrayForEach(other, list)
    {
        if (cJSON_Compare(item, other, true))
            return true;
    }
    return false;
}

/* The items of one list that the other lacks. */
static bool tell_missing(const struct listener *l, const char *path, const cJSON *list, const cJSON *other,
                         bool lost)
{
    bool any = false;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (holds(other, item))
            continue;
        const struct hc_json_change change = {
            .path = path, .from = lost ? item : NULL, .to = lost ? NULL : item, .item = true};
        l->each(l->ctx, &change);
        any = true;
    }
    return any;
}

static bool diff_lists(const struct listener *l, const char *path, const cJSON *a, const cJSON *b)
{
    if (cJSON_Compare(a, b, true))
        return false;
    bool lost = tell_missing(l, path, a, b, true), gained = tell_missing(l, path, b, a, false);
    const struct hc_json_change change = {.path = path, .from = a, .to = b, .reordered = true};
    if (!lost && !gained)
        l->each(l->ctx, &change);
    return true;
}

static bool diff(const struct listener *l, const char *path, const cJSON *a, const cJSON *b);

static bool diff_member(const struct listener *l, const char *path, const char *name, const cJSON *a,
                        const cJSON *b)
{
    char inner[HC_JSON_PATH];
    (void)snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", name);
    return diff(l, inner, a, b);
}

static bool diff_objects(const struct listener *l, const char *path, const cJSON *a, const cJSON *b)
{
    bool any = false;
    const cJSON *item;
    cJSON_ArrayForEach(item, a)
    {
        any |= diff_member(l, path, item->string, item, cJSON_GetObjectItemCaseSensitive(b, item->string));
    }
    cJSON_ArrayForEach(item, b)
    {
        if (!cJSON_GetObjectItemCaseSensitive(a, item->string))
            any |= diff_member(l, path, item->string, NULL, item);
    }
    return any;
}

static bool diff(const struct listener *l, const char *path, const cJSON *a, const cJSON *b)
{
    if ((cJSON_IsObject(a) || !a) && (cJSON_IsObject(b) || !b))
        return diff_objects(l, path, a, b);
    if (cJSON_IsArray(a) && cJSON_IsArray(b))
        return diff_lists(l, path, a, b);
    if (a && b && cJSON_Compare(a, b, true))
        return false;
    const struct hc_json_change change = {.path = path, .from = a, .to = b};
    l->each(l->ctx, &change);
    return true;
}

bool hc_json_diff(const cJSON *a, const cJSON *b, hc_json_change_visitor *each, void *ctx)
{
    const struct listener l = {each, ctx};
    return diff(&l, "", a, b);
}
