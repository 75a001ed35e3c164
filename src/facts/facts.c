/* facts - prints the tables of options, rules and results as one JSON document, from which fill.py makes man
 * pages, schemas, a Python module and the names in reports. Only the build runs it; it is not installed. */
#include "daemon/config/config.h"
#include "job/job.h"
#include "json/json.h"
#include "manifest/manifest.h"
#include "policy/options.h"
#include "policy/rules.h"

#include <stdio.h>
#include <string.h>

/* ---- what a manifest says ---- */

static const struct {
    const char *id, *text;
} statuses[] = {
#define HC_STATUS_ROW(id, name, exit, limit, text) {#id, text},
#include "manifest/status.def"
};

static const char *const units[] = {
    [HC_USAGE_SECONDS] = "seconds", [HC_USAGE_BYTES] = "bytes", [HC_USAGE_COUNT] = "count"};

/* A member of a denial. Texts have no schema of their own. */
static const struct {
    const char *name, *schema, *of_python, *text;
    bool may_lack; /* may the member be null? */
} denial[] = {
#define HC_DENIAL_TEXT(member, bytes, may_lack, redacted, text)                                              \
    {#member, NULL, (may_lack) ? "Optional[str]" : "str", text, may_lack},
#define HC_DENIAL_OTHER(member, schema, of_python, text) {#member, schema, of_python, text, false},
#define HC_DENIAL_ADDED                                  HC_DENIAL_OTHER
#include "manifest/denial.def"
};

static const char *const refusers[] = {
#define HC_REFUSER_ROW(id, name, attested, source, text) text,
#include "manifest/denial.def"
};

static const struct {
    const char *name, *text;
} layers[] = {
#define HC_LAYER_ROW(name, text) {#name, text},
#include "manifest/layer.def"
};

static const char *const enforced[] = {
#define HC_ENFORCED(name) #name,
#include "policy/limits.def"
};

/* ---- rows as objects ---- */

static cJSON *add_row(cJSON *list, const char *name, const char *text)
{
    cJSON *row = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(row, "name", name);
    if (text)
        (void)cJSON_AddStringToObject(row, "text", text);
    (void)cJSON_AddItemToArray(list, row);
    return row;
}

static void add_text(cJSON *row, const char *name, const char *text)
{
    if (text)
        (void)cJSON_AddStringToObject(row, name, text);
}

static void add_choices(cJSON *row, const char *const *choices)
{
    cJSON *list = choices ? cJSON_AddArrayToObject(row, "choices") : NULL;
    for (; list && *choices; choices++)
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(*choices));
}

static void add_manifest(cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "statuses"), *row;
    for (int i = 0; i < HC_STATUSES; i++) {
        row = add_row(list, hc_status_name((enum hc_status)i), statuses[i].text);
        (void)cJSON_AddNumberToObject(row, "exit", hc_status_exit((enum hc_status)i));
        (void)cJSON_AddBoolToObject(row, "limit", hc_status_is_limit((enum hc_status)i));
        (void)cJSON_AddBoolToObject(row, "ended", i < HC_STATUS_LAUNCH_FAILED);
    }
    list = cJSON_AddArrayToObject(root, "usage");
    for (size_t i = 0; i < hc_usage_row_count; i++)
        add_text(add_row(list, hc_usage_rows[i].name, hc_usage_rows[i].text), "unit",
                 units[hc_usage_rows[i].unit]);
    list = cJSON_AddArrayToObject(root, "layers");
    for (size_t i = 0; i < HC_MAX_LAYERS; i++)
        (void)add_row(list, layers[i].name, layers[i].text);
}

static void add_denials(cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "denial");
    for (size_t i = 0; i < sizeof denial / sizeof *denial; i++) {
        cJSON *row = add_row(list, denial[i].name, denial[i].text);
        add_text(row, "schema", denial[i].schema);
        add_text(row, "python", denial[i].of_python);
        (void)cJSON_AddBoolToObject(row, "may_lack", denial[i].may_lack);
    }
    list = cJSON_AddArrayToObject(root, "refusers");
    for (int i = 0; i < HC_REFUSERS; i++)
        (void)add_row(list, hc_refuser_name((enum hc_refuser)i), refusers[i]);
}

static void add_option(cJSON *list, const struct hc_option *opt)
{
    static const char *const kinds[] = {
        [HC_OPT_SIZE] = "size",   [HC_OPT_DURATION] = "duration", [HC_OPT_COUNT] = "count",
        [HC_OPT_MILLI] = "milli", [HC_OPT_CHOICE] = "choice",     [HC_OPT_NAME] = "name",
    };
    char bounds[128], letter[] = {opt->letter, '\0'};
    cJSON *row = add_row(list, opt->path, opt->help);
    hc_option_format_bounds(opt, bounds, sizeof bounds);
    add_text(row, "kind", kinds[opt->kind]);
    add_text(row, "bounds", bounds);
    add_text(row, "plain", opt->plain);
    add_text(row, "flag", opt->flag);
    add_text(row, "letter", letter);
    add_text(row, "arg", opt->arg);
    add_choices(row, opt->kind == HC_OPT_CHOICE ? opt->choices : NULL);
    (void)cJSON_AddBoolToObject(row, "positive", opt->min > 0);
    (void)cJSON_AddBoolToObject(row, "of_run", opt->of_run);
    char text[40];
    add_text(row, "default", hc_option_default(opt, text, sizeof text));
}

static void add_options(cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "options");
    for (size_t i = 0; i < hc_options_count; i++)
        add_option(list, &hc_options[i]);
    list = cJSON_AddArrayToObject(root, "config");
    for (size_t i = 0; i < hc_config_options.count; i++)
        add_option(list, &hc_config_options.rows[i]);
    list = cJSON_AddArrayToObject(root, "quotas");
    for (size_t i = 0; i < hc_quota_options.count; i++)
        add_option(list, &hc_quota_options.rows[i]);
    list = cJSON_AddArrayToObject(root, "enforced");
    for (size_t i = 0; i < sizeof enforced / sizeof *enforced; i++)
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(enforced[i]));
}

static void add_rules(cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "rules");
    for (size_t i = 0; i < hc_rules_count; i++) {
        const struct hc_rule *rule = &hc_rules[i];
        cJSON *row = add_row(list, rule->key, rule->help);
        add_text(row, "section", rule->section);
        add_text(row, "kind", hc_rule_kind_name(rule->kind));
        add_choices(row, rule->choices);
    }
}

static void add_job_options(cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "job_options");
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *opt = &hc_job_options[i];
        cJSON *row = add_row(list, opt->name, opt->man);
        add_text(row, "flag", opt->flag);
        add_text(row, "arg", opt->is_flag ? NULL : opt->arg);
        add_choices(row, opt->choices);
        (void)cJSON_AddBoolToObject(row, "own", (opt->specs & HC_SPEC_OWN) != 0);
        (void)cJSON_AddBoolToObject(row, "upload", (opt->specs & HC_SPEC_UPLOAD) != 0);
        (void)cJSON_AddBoolToObject(row, "run", (opt->specs & HC_SPEC_RUN) != 0);
    }
}

int main(void)
{
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(root, "version", HC_VERSION);
    add_manifest(root);
    add_denials(root);
    add_options(root);
    add_rules(root);
    add_job_options(root);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text || puts(text) < 0 || fflush(stdout) != 0)
        return HC_EXIT_INTERNAL;
    cJSON_free(text);
    return HC_EXIT_OK;
}
