#include "manifest/report.h"

#include "json/scan.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Most values of a report, so that the rest of the manifest fits beside it in one document. */
#define VALUES_MAX (HC_JSON_VALUES / 4)

/* Most lists and objects around a report: its manifest, in the result of a branch, in the answer about all
 * branches, in an event. A client that parses these as strictly must not fail because of a report that is
 * nested too deeply. */
#define AROUND 8

static bool all_fit(const cJSON *container, bool (*fits)(const cJSON *node))
{
    for (const cJSON *node = container->child; node; node = node->next)
        if (!fits(node))
            return false;
    return true;
}

static bool is_string(const cJSON *node)
{
    return cJSON_IsString(node);
}

static bool is_strings(const cJSON *node)
{
    return cJSON_IsArray(node) && all_fit(node, is_string);
}

static bool is_warning_kind(const cJSON *node)
{
    return cJSON_IsString(node) && (strcmp(node->valuestring, HC_WARNING_INPUT) == 0 ||
                                    strcmp(node->valuestring, HC_WARNING_REPORT) == 0);
}

static bool is_warning_kinds(const cJSON *node)
{
    return cJSON_IsArray(node) && all_fit(node, is_warning_kind);
}

static bool is_value(const cJSON *node)
{
    return cJSON_IsNull(node) || cJSON_IsObject(node);
}

/* Is `node` null, or a whole number from 1? */
static bool is_place(const cJSON *node)
{
    return cJSON_IsNull(node) ||
           (cJSON_IsNumber(node) && node->valuedouble >= 1 && node->valuedouble <= INT_MAX &&
            node->valuedouble == floor(node->valuedouble));
}

static bool is_text(const cJSON *node)
{
    return cJSON_IsNull(node) || cJSON_IsString(node);
}

static bool is_object(const cJSON *node)
{
    return cJSON_IsObject(node);
}

/* A member of an object of the report. */
struct part {
    const char *name;
    bool (*fits)(const cJSON *node);
    bool may_lack;
};

/* Is `node` an object of these members, and no others? */
static bool has_parts(const cJSON *node, const struct part *parts, size_t count)
{
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        const cJSON *part = cJSON_GetObjectItemCaseSensitive(node, parts[i].name);
        if (part ? !parts[i].fits(part) : !parts[i].may_lack)
            return false;
        found += part != NULL;
    }
    return cJSON_IsObject(node) && cJSON_GetArraySize(node) == found;
}

static bool is_error(const cJSON *node)
{
    static const struct part parts[] = {
        {"type", is_string, false}, {"message", is_string, false}, {"traceback", is_string, false},
        {"line", is_place, true},   {"column", is_place, true},    {"end_column", is_place, true},
        {"hint", is_text, true},    {"classes", is_strings, true},
    };
    return cJSON_IsNull(node) || has_parts(node, parts, sizeof parts / sizeof *parts);
}

static bool is_figure(const cJSON *node)
{
    static const struct part parts[] = {{"path", is_string, false},
                                        {"mime", is_string, false},
                                        {"kind", is_string, false},
                                        {"chart", is_object, true}};
    return has_parts(node, parts, sizeof parts / sizeof *parts);
}

static bool is_figures(const cJSON *node)
{
    return cJSON_IsArray(node) && all_fit(node, is_figure);
}

static bool is_any(const cJSON *node)
{
    (void)node;
    return true;
}

/* The result for one returned variable: strings, except "json". */
static bool is_returned_value(const cJSON *node)
{
    static const char *const strings[] = {"type", "path", "mime", "error"};
    for (const cJSON *part = cJSON_IsObject(node) ? node->child : NULL; part; part = part->next) {
        bool known = strcmp(part->string, "json") == 0;
        for (size_t i = 0; i < sizeof strings / sizeof *strings && !known; i++)
            known = strcmp(part->string, strings[i]) == 0 && cJSON_IsString(part);
        if (!known)
            return false;
    }
    return cJSON_IsObject(node);
}

static bool is_displays(const cJSON *node)
{
    return cJSON_IsArray(node) && all_fit(node, is_object);
}

static bool is_returned(const cJSON *node)
{
    return cJSON_IsObject(node) && all_fit(node, is_returned_value);
}

static bool is_columns(const cJSON *node)
{
    return cJSON_IsObject(node) && all_fit(node, is_strings);
}

static bool is_status(const cJSON *node)
{
    return cJSON_IsNumber(node) && fabs(node->valuedouble) <= INT_MAX &&
           node->valuedouble == floor(node->valuedouble);
}

static bool is_bool(const cJSON *node)
{
    return cJSON_IsBool(node);
}

static const struct {
    const char *name;                /* name of the member */
    bool (*fits)(const cJSON *node); /* checks its value */
} members[] = {
    {"value", is_value},
    {"error", is_error},
    {"figures", is_figures},
    {"columns", is_columns},
    {"warnings", is_strings},
    {"exit", is_status},
    {"complete", is_bool},
    {"results", is_any},
    {"returned", is_returned},
    {"displays", is_displays},
    {"warning_kinds", is_warning_kinds},
};

static int check_member(const struct hc_json *j, const cJSON *node, struct hc_error *err)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].name, node->string) != 0)
            continue;
        return members[i].fits(node)
                   ? 0
                   : hc_json_fail(j, node, false, err, "'%s' is not as it must be", node->string);
    }
    return hc_json_fail(j, node, true, err, "a member that is not known");
}

static int check_shape(const struct hc_json *j, struct hc_error *err)
{
    if (!cJSON_IsObject(j->root))
        return hc_json_fail(j, j->root, false, err, "expected an object, got %s", hc_json_kind(j->root));
    for (const cJSON *node = j->root->child; node; node = node->next)
        if (check_member(j, node, err) < 0)
            return -1;
    const cJSON *kinds = cJSON_GetObjectItemCaseSensitive(j->root, "warning_kinds");
    const cJSON *texts = cJSON_GetObjectItemCaseSensitive(j->root, "warnings");
    if (kinds && cJSON_GetArraySize(kinds) != cJSON_GetArraySize(texts))
        return hc_json_fail(j, kinds, false, err, "'warning_kinds' has not one kind for each warning");
    return 0;
}

void hc_guest_warnings_finish(struct hc_guest_warnings *warnings)
{
    cJSON_Delete(warnings->texts);
    cJSON_Delete(warnings->kinds);
    *warnings = (struct hc_guest_warnings){0};
}

int hc_guest_report_check(const char *text, size_t len, struct hc_guest_warnings *warnings,
                          struct hc_error *err)
{
    if (warnings)
        *warnings = (struct hc_guest_warnings){0};
    struct hc_json j;
    hc_autoscan scan;
    if (hc_scan(&scan, "report", text, len, AROUND, err) < 0)
        return -1;
    if (scan.count > VALUES_MAX)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "report: more than %d values", VALUES_MAX);
    if (hc_scan_numbers(&scan, "report", err) < 0 || hc_json_parse(&j, "report", text, len, err) < 0)
        return -1;
    int rc = check_shape(&j, err);
    if (rc == 0 && warnings) {
        warnings->texts = cJSON_DetachItemFromObjectCaseSensitive(j.root, "warnings");
        warnings->kinds = cJSON_DetachItemFromObjectCaseSensitive(j.root, "warning_kinds");
    }
    hc_json_finish(&j);
    return rc;
}
