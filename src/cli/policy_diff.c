/* Prints the differences of two effective policies: "field: old -> new", and items that lists gain (+) or
 * lose (-). */
#include "cli/policy.h"

#include "base/error.h"
#include "json/diff.h"

#include <stdio.h>

/* Prints a value on one line. */
static void print_value(const cJSON *node)
{
    char *text = node ? cJSON_PrintUnformatted(node) : NULL;
    (void)fputs(node ? (text ? text : "?") : "not set", stdout);
    cJSON_free(text);
}

static void print_change(void *ctx, const struct hc_json_change *c)
{
    (void)ctx;
    (void)printf("%s: ", c->path);
    if (c->reordered) {
        (void)puts("in another order");
        return;
    }
    if (c->item) {
        (void)fputs(c->from ? "- " : "+ ", stdout);
        print_value(c->from ? c->from : c->to);
    } else {
        print_value(c->from);
        (void)fputs(" -> ", stdout);
        print_value(c->to);
    }
    (void)putchar('\n');
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
        status = hc_json_diff(one, other, print_change, NULL) ? HC_EXIT_GUEST : HC_EXIT_OK;
    }
    cJSON_Delete(one);
    cJSON_Delete(other);
    return status;
}
