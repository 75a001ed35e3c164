#include "manifest/denial.h"

#include "json/json.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1e15 /* exact in a double */

static const struct {
    const char *name;
    bool attested;
    int source; /* who shares an allowance */
} refusers[HC_REFUSERS] = {
    [HC_REFUSER_AST] = {"ast", true, 0},      [HC_REFUSER_RUNTIME] = {"runtime", false, 1},
    [HC_REFUSER_AUDIT] = {"audit", false, 1}, [HC_REFUSER_SECCOMP] = {"seccomp", true, 2},
    [HC_REFUSER_TOOL] = {"tool", true, 3},
};

const char *hc_refuser_name(enum hc_refuser by)
{
    return refusers[by].name;
}

bool hc_refuser_attested(enum hc_refuser by)
{
    return refusers[by].attested;
}

/* ---- the list ---- */

static struct hc_denial *find(const struct hc_denials *list, const struct hc_denial *d)
{
    for (size_t i = 0; i < list->count; i++) {
        struct hc_denial *known = &list->items[i];
        if (known->by == d->by && known->line == d->line && strcmp(known->rule, d->rule) == 0 &&
            strcmp(known->what, d->what) == 0)
            return known;
    }
    return NULL;
}

static bool has_room(const struct hc_denials *list, enum hc_refuser by)
{
    size_t taken = 0;
    for (size_t i = 0; i < list->count; i++)
        taken += refusers[list->items[i].by].source == refusers[by].source;
    return taken < HC_DENIALS_PER_SOURCE;
}

void hc_denials_note(struct hc_denials *list, const struct hc_denial *d, bool sum)
{
    struct hc_denial *known = find(list, d);
    if (known) {
        known->count = sum ? known->count + d->count : d->count;
        return;
    }
    struct hc_denial *items =
        has_room(list, d->by) ? reallocarray(list->items, list->count + 1, sizeof *items) : NULL;
    if (!items) {
        list->more = true;
        return;
    }
    items[list->count++] = *d;
    list->items = items;
}

void hc_denials_finish(struct hc_denials *list)
{
    free(list->items);
    *list = (struct hc_denials){0};
}

bool hc_denial_attested(const struct hc_denials *list, const struct hc_denial *d)
{
    return hc_refuser_attested(d->by) && !(list->shared && d->by != HC_REFUSER_AST);
}

/* ---- the guest's word ---- */

static bool read_layer(const cJSON *node, struct hc_denial *out)
{
    for (int by = 0; by < HC_REFUSERS; by++) {
        if (refusers[by].attested || !cJSON_IsString(node) ||
            strcmp(node->valuestring, refusers[by].name) != 0)
            continue;
        out->by = (enum hc_refuser)by;
        return true;
    }
    return false;
}

static bool read_text(const cJSON *node, char *out, size_t size, bool may_lack)
{
    if (cJSON_IsNull(node))
        return may_lack;
    if (!cJSON_IsString(node) || !*node->valuestring)
        return false;
    size_t len = strnlen(node->valuestring, size - 1);
    memcpy(out, node->valuestring, len);
    out[len] = '\0';
    return true;
}

static bool read_rule(const cJSON *node, struct hc_denial *out)
{
    return read_text(node, out->rule, sizeof out->rule, false);
}

static bool read_what(const cJSON *node, struct hc_denial *out)
{
    return read_text(node, out->what, sizeof out->what, false);
}

static bool read_hint(const cJSON *node, struct hc_denial *out)
{
    return read_text(node, out->hint, sizeof out->hint, true);
}

static bool is_whole(const cJSON *node, double max)
{
    return cJSON_IsNumber(node) && node->valuedouble >= 1 && node->valuedouble <= max &&
           node->valuedouble == floor(node->valuedouble);
}

static bool read_line(const cJSON *node, struct hc_denial *out)
{
    if (cJSON_IsNull(node))
        return true;
    if (!is_whole(node, INT_MAX))
        return false;
    out->line = (int)node->valuedouble;
    return true;
}

static bool read_count(const cJSON *node, struct hc_denial *out)
{
    if (!is_whole(node, COUNT_MAX))
        return false;
    out->count = (int64_t)node->valuedouble;
    return true;
}

static const struct {
    const char *name;
    bool (*read)(const cJSON *node, struct hc_denial *out);
} members[] = {
    {"layer", read_layer}, {"rule", read_rule},   {"what", read_what},
    {"line", read_line},   {"count", read_count}, {"hint", read_hint},
};

#define MEMBERS (sizeof members / sizeof *members)

static int read_members(struct hc_denial *out, const struct hc_json *j, struct hc_error *err)
{
    if (!cJSON_IsObject(j->root))
        return hc_json_fail(j, j->root, false, err, "expected an object, got %s", hc_json_kind(j->root));
    for (size_t i = 0; i < MEMBERS; i++) {
        const cJSON *node = cJSON_GetObjectItemCaseSensitive(j->root, members[i].name);
        if (!node)
            return hc_json_fail(j, j->root, false, err, "'%s' is missing", members[i].name);
        if (!members[i].read(node, out))
            return hc_json_fail(j, node, false, err, "'%s' is not as it must be", members[i].name);
    }
    if (cJSON_GetArraySize(j->root) != (int)MEMBERS)
        return hc_json_fail(j, j->root, false, err, "it has members that are not known");
    return 0;
}

int hc_denial_parse(struct hc_denial *out, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *out = (struct hc_denial){0};
    if (len > HC_DENIAL_MESSAGE_MAX)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "denial: more than %d bytes", HC_DENIAL_MESSAGE_MAX);
    if (hc_json_parse(&j, "denial", text, len, err) < 0)
        return -1;
    int rc = read_members(out, &j, err);
    hc_json_finish(&j);
    return rc;
}
