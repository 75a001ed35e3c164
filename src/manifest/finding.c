#include "manifest/finding.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define TEXT_MAX    4096 /* most bytes of one text in a finding */
#define FRAMES_MAX  256  /* most data frames with columns */
#define COLUMNS_MAX 2048 /* most columns of one data frame */

static bool is_text(const cJSON *node)
{
    return cJSON_IsString(node) && strlen(node->valuestring) <= TEXT_MAX;
}

static bool is_rule(const cJSON *node)
{
    return is_text(node) && *node->valuestring;
}

static bool is_text_or_null(const cJSON *node)
{
    return cJSON_IsNull(node) || is_rule(node);
}

static bool is_whole(const cJSON *node, double least, double most)
{
    return cJSON_IsNumber(node) && node->valuedouble >= least && node->valuedouble <= most &&
           node->valuedouble == floor(node->valuedouble);
}

static bool is_place_or_null(const cJSON *node)
{
    return cJSON_IsNull(node) || is_whole(node, 1, INT_MAX);
}

static bool is_finding(const cJSON *node);

static bool is_list(const cJSON *node, int most, bool (*fits)(const cJSON *item))
{
    if (!cJSON_IsArray(node) || cJSON_GetArraySize(node) > most)
        return false;
    for (const cJSON *item = node->child; item; item = item->next)
        if (!fits(item))
            return false;
    return true;
}

static bool is_findings(const cJSON *node)
{
    return is_list(node, HC_FINDINGS_LISTED, is_finding);
}

static bool is_refusals(const cJSON *node)
{
    return is_findings(node) && node->child;
}

static bool is_count(const cJSON *node)
{
    return is_whole(node, 0, INT_MAX);
}

static bool is_columns(const cJSON *node)
{
    if (!cJSON_IsObject(node) || cJSON_GetArraySize(node) > FRAMES_MAX)
        return false;
    for (const cJSON *frame = node->child; frame; frame = frame->next)
        if (!is_list(frame, COLUMNS_MAX, is_text))
            return false;
    return true;
}

struct member {
    const char *name;                /* name of the member */
    bool (*fits)(const cJSON *node); /* checks its value */
};

static const struct member of_finding[] = {
    {"rule", is_rule},
    {"message", is_text},
    {"what", is_text_or_null},
    {"hint", is_text_or_null},
    {"line", is_place_or_null},
    {"column", is_place_or_null},
    {"end_column", is_place_or_null},
};
static const struct member of_rejected[] = {{"findings", is_refusals}, {"more", is_count}};
static const struct member of_checked[] = {{"warnings", is_findings}, {"columns", is_columns}};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* The name of the first member that does not fit; NULL: `node` is an object of exactly these members. */
static const char *wrong_member(const cJSON *node, const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const cJSON *member = cJSON_GetObjectItemCaseSensitive(node, members[i].name);
        if (!member || !members[i].fits(member))
            return members[i].name;
    }
    return cJSON_IsObject(node) && cJSON_GetArraySize(node) == (int)count ? NULL : "members";
}

static bool is_finding(const cJSON *node)
{
    return cJSON_IsObject(node) && !wrong_member(node, of_finding, COUNT(of_finding));
}

/* Parses `text` and checks that it is an object of exactly these members. */
static int parse_object(struct hc_json *j, const char *name, const char *text, size_t len,
                        const struct member *members, size_t count, struct hc_error *err)
{
    if (hc_json_parse(j, name, text, len, err) < 0)
        return -1;
    const char *wrong = wrong_member(j->root, members, count);
    if (!wrong)
        return 0;
    (void)hc_json_fail(j, j->root, false, err, "'%s' is not as it must be", wrong);
    hc_json_finish(j);
    return -1;
}

int hc_rejected_parse(cJSON **findings, int64_t *more, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    if (parse_object(&j, "rejection", text, len, of_rejected, COUNT(of_rejected), err) < 0)
        return -1;
    *more = (int64_t)cJSON_GetObjectItemCaseSensitive(j.root, "more")->valuedouble;
    *findings = cJSON_DetachItemFromObjectCaseSensitive(j.root, "findings");
    hc_json_finish(&j);
    return 0;
}

int hc_checked_parse(cJSON **check, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    if (parse_object(&j, "check", text, len, of_checked, COUNT(of_checked), err) < 0)
        return -1;
    *check = hc_json_take(&j);
    return 0;
}
