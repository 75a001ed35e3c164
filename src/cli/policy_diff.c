/* Prints the differences of two effective policies: "field: old -> new", and items that lists gain (+) or
 * lose (-). */
#include "cli/policy.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define MAX_PATH 256 /* bytes of a field's name, with its sections and a NUL */

/* Prints a value on one line. */
static void print_value(const cJSON *node)
{
    char *text = node ? cJSON_PrintUnformatted(node) : NULL;
    (void)fputs(node ? (text ? text : "?") : "not set", stdout);
    cJSON_free(text);
}

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

static bool print_missing(const char *path, char sign, const cJSON *from, const cJSON *in)
{
    bool any = false;
    const cJSON *item;
    cJSON_ArrayForEach(item, from)
    {
        if (holds(in, item))
            continue;
        (void)printf("%s: %c ", path, sign);
        print_value(item);
        (void)putchar('\n');
        any = true;
    }
    return any;
}

static bool diff_lists(const char *path, const cJSON *a, const cJSON *b)
{
    if (cJSON_Compare(a, b, true))
        return false;
    bool lost = print_missing(path, '-', a, b), gained = print_missing(path, '+', b, a);
    if (!lost && !gained)
        (void)printf("%s: in another order\n", path);
    return true;
}

static bool diff(const char *path, const cJSON *a, const cJSON *b);

static bool diff_member(const char *path, const char *name, const cJSON *a, const cJSON *b)
{
    char inner[MAX_PATH];
    (void)snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", name);
    return diff(inner, a, b);
}

static bool diff_objects(const char *path, const cJSON *a, const cJSON *b)
{
    bool any = false;
    const cJSON *item;
    cJSON_ArrayForEach(item, a) any |=
        diff_member(path, item->string, item, cJSON_GetObjectItemCaseSensitive(b, item->string));
    cJSON_ArrayForEach(item, b)
    {
        if (!cJSON_GetObjectItemCaseSensitive(a, item->string))
            any |= diff_member(path, item->string, NULL, item);
    }
    return any;
}

static bool diff(const char *path, const cJSON *a, const cJSON *b)
{
    if ((cJSON_IsObject(a) || !a) && (cJSON_IsObject(b) || !b))
        return diff_objects(path, a, b);
    if (cJSON_IsArray(a) && cJSON_IsArray(b))
        return diff_lists(path, a, b);
    if (a && b && cJSON_Compare(a, b, true))
        return false;
    (void)printf("%s: ", path);
    print_value(a);
    (void)fputs(" -> ", stdout);
    print_value(b);
    (void)putchar('\n');
    return true;
}

int hc_policy_diff(const struct hc_policy *a, const struct hc_policy *b)
{
    cJSON *one = hc_policy_to_json(a), *other = hc_policy_to_json(b);
    int status = HC_EXIT_INTERNAL;
    if (one && other) {
        cJSON_DeleteItemFromObjectCaseSensitive(one, "name"); /* the user has named both */
        cJSON_DeleteItemFromObjectCaseSensitive(other, "name");
        cJSON_DeleteItemFromObjectCaseSensitive(one, "description");
        cJSON_DeleteItemFromObjectCaseSensitive(other, "description");
        status = diff("", one, other) ? HC_EXIT_GUEST : HC_EXIT_OK;
    }
    cJSON_Delete(one);
    cJSON_Delete(other);
    return status;
}
