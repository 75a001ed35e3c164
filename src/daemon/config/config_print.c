#include "daemon/config/config.h"

#include <string.h>

/* Gives `value` to the object; frees it if that fails. */
static bool put_member(cJSON *object, const char *name, cJSON *value)
{
    if (object && value && cJSON_AddItemToObject(object, name, value))
        return true;
    cJSON_Delete(value);
    return false;
}

/* Finds or makes the object that holds the option of `path`; `leaf`: the option's name in that object. */
static cJSON *section_of(cJSON *root, const char *path, const char **leaf)
{
    const char *dot = strchr(path, '.');
    *leaf = dot ? dot + 1 : path;
    if (!dot)
        return root;
    char name[32];
    (void)snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    cJSON *object = cJSON_GetObjectItemCaseSensitive(root, name);
    return object ? object : cJSON_AddObjectToObject(root, name);
}

static bool put_rows(cJSON *root, const struct hc_config_table *table, const void *record)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct hc_option *row = &table->rows[i];
        const char *leaf;
        if (row->kind == HC_OPT_NAME && !((const char *)record)[row->at])
            continue; /* an empty name is the same as a missing member */
        cJSON *object = section_of(root, row->path, &leaf);
        if (!put_member(object, leaf, hc_option_to_json(record, row)))
            return false;
    }
    return true;
}

static bool put_names(cJSON *object, const char *member, char **names)
{
    size_t n = 0;
    while (names && names[n])
        n++;
    return !names || put_member(object, member, cJSON_CreateStringArray((const char *const *)names, (int)n));
}

static bool put_allowed(cJSON *object, const struct hc_allowed *a)
{
    return put_names(object, "policies", a->policies) && put_names(object, "trees", a->trees);
}

static bool put_max(cJSON *object, const struct hc_quota *quota)
{
    cJSON *max = hc_maxima_to_json(&quota->max);
    bool none = max && !max->child;
    if (!none)
        return put_member(object, "max", max);
    cJSON_Delete(max);
    return true;
}

static bool put_uids(cJSON *object, const struct hc_tenant_rule *rule)
{
    cJSON *list = rule->uid_count ? cJSON_AddArrayToObject(object, "uids") : NULL;
    bool ok = list || !rule->uid_count;
    for (size_t i = 0; ok && i < rule->uid_count; i++) {
        const struct hc_uid_range *r = &rule->uids[i];
        char text[32];
        (void)snprintf(text, sizeof text, "%u-%u", r->first, r->last);
        cJSON *item = r->first == r->last ? cJSON_CreateNumber(r->first) : cJSON_CreateString(text);
        ok = item && cJSON_AddItemToArray(list, item);
    }
    return ok;
}

static bool put_tenants(cJSON *root, const struct hc_config *c)
{
    cJSON *tenants = c->tenant_count ? cJSON_AddObjectToObject(root, "tenants") : NULL;
    bool ok = tenants || !c->tenant_count;
    for (size_t i = 0; ok && i < c->tenant_count; i++) {
        const struct hc_tenant_rule *rule = &c->tenants[i];
        cJSON *object = cJSON_AddObjectToObject(tenants, rule->name);
        ok = object && put_uids(object, rule) && put_allowed(object, &rule->allowed) &&
             put_rows(object, &hc_quota_options, &rule->quota) && put_max(object, &rule->quota);
        if (ok && rule->admin)
            ok = cJSON_AddTrueToObject(object, "admin") != NULL;
    }
    return ok;
}

static bool put_listen(cJSON *root, const struct hc_config *c)
{
    cJSON *list = c->listen_count ? cJSON_AddArrayToObject(root, "listen") : NULL;
    bool ok = list || !c->listen_count;
    for (size_t i = 0; ok && i < c->listen_count; i++) {
        cJSON *object = cJSON_CreateObject();
        ok = object && cJSON_AddItemToArray(list, object) &&
             cJSON_AddStringToObject(object, "address", c->listen[i].address) &&
             cJSON_AddNumberToObject(object, "port", c->listen[i].port);
    }
    return ok;
}

cJSON *hc_config_to_json(const struct hc_config *c)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *quotas = NULL;
    bool ok = root && put_rows(root, &hc_config_options, c) && put_listen(root, c) &&
              (quotas = cJSON_AddObjectToObject(root, "quotas")) &&
              put_rows(quotas, &hc_quota_options, &c->quota) && put_max(quotas, &c->quota) &&
              put_allowed(quotas, &c->allowed) && put_tenants(root, c);
    if (ok)
        return root;
    cJSON_Delete(root);
    return NULL;
}
