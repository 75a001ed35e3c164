#include "manifest/denial.h"

#include "json/json.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1e15 /* highest count that is believed: exact in a double */

static const struct {
    const char *name; /* name of the layer in a manifest */
    bool attested;    /* a process outside of the program sees the refusal */
    int source;       /* refusers with the same source share an allowance */
} refusers[HC_REFUSERS] = {
#define HC_REFUSER_ROW(id, name, attested, source, text) [HC_REFUSER_##id] = {name, attested, source},
#include "manifest/denial.def"
};

const char *hc_refuser_name(enum hc_refuser by)
{
    return refusers[by].name;
}

bool hc_refuser_attested(enum hc_refuser by)
{
    return refusers[by].attested;
}

/* ---- a list of denials ---- */

static struct hc_denial *find_denial(const struct hc_denials *list, const struct hc_denial *d)
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
    struct hc_denial *known = find_denial(list, d);
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

/* ---- the message of the guest's process ---- */

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

/* The members of the message. */
static const struct {
    const char *name;                                       /* name of the member */
    bool (*read)(const cJSON *node, struct hc_denial *out); /* NULL: the member is a text */
    size_t at, size; /* of a text: its offset in struct hc_denial; its bytes with the NUL */
    bool may_lack;   /* it may be null */
} members[] = {
#define HC_DENIAL_TEXT(member, bytes, may_lack, ...)                                                         \
    {#member, NULL, offsetof(struct hc_denial, member), bytes, may_lack},
#define HC_DENIAL_OTHER(member, ...) {.name = #member, .read = read_##member},
#include "manifest/denial.def"
};

#define MEMBERS (sizeof members / sizeof *members)

static bool read_member(size_t i, const cJSON *node, struct hc_denial *out)
{
    if (members[i].read)
        return members[i].read(node, out);
    return read_text(node, (char *)out + members[i].at, members[i].size, members[i].may_lack);
}

static int read_members(struct hc_denial *out, const struct hc_json *j, struct hc_error *err)
{
    if (!cJSON_IsObject(j->root))
        return hc_json_fail(j, j->root, false, err, "expected an object, got %s", hc_json_kind(j->root));
    for (size_t i = 0; i < MEMBERS; i++) {
        const cJSON *node = cJSON_GetObjectItemCaseSensitive(j->root, members[i].name);
        if (!node)
            return hc_json_fail(j, j->root, false, err, "'%s' is missing", members[i].name);
        if (!read_member(i, node, out))
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
