#include "policy/tighten.h"

#include <string.h>

static bool has_maximum(const struct hc_option *opt)
{
    return opt->tighter == HC_TIGHTER_LESS || opt->tighter == HC_TIGHTER_LESS_NOT_NONE;
}

/* Is `value` at most `most`? For some options 0 stands for no limit, which is more than any number. */
static bool is_within(const struct hc_option *opt, int64_t value, int64_t most)
{
    if (opt->tighter == HC_TIGHTER_LESS_NOT_NONE && (most == 0 || value == 0))
        return most == 0;
    return value <= most;
}

/* ---- maxima ---- */

void hc_maxima_init(struct hc_limits *max)
{
    memset(max, 0, sizeof *max);
    for (size_t i = 0; i < hc_options_count; i++)
        if (has_maximum(&hc_options[i]))
            *hc_limit_place(max, &hc_options[i]) = HC_NO_MAXIMUM;
}

static int unknown_maximum(const char *path, const struct hc_json *j, const cJSON *node, struct hc_error *err)
{
    char hint[160], limit[160];
    (void)snprintf(limit, sizeof limit, "limits.%.64s", node->string);
    if (hc_option_by_path(limit))
        return hc_json_fail(j, node, true, err, "%s: there is no maximum of %s, which requests cannot raise",
                            path, limit);
    hc_nearest_option("limits", node->string, NULL, hint, sizeof hint);
    return hc_json_fail(j, node, true, err, "unknown member '%.64s' in %s%s", node->string, path, hint);
}

int hc_maxima_read(struct hc_limits *max, const char *path, const struct hc_json *j, const cJSON *object,
                   struct hc_error *err)
{
    struct hc_policy scratch;
    const cJSON *node;
    if (!cJSON_IsObject(object))
        return hc_json_fail(j, object, false, err, "%s: expected an object, got %s", path,
                            hc_json_kind(object));
    hc_policy_init(&scratch); /* owns nothing */
    cJSON_ArrayForEach(node, object)
    {
        char name[160], label[200];
        (void)snprintf(name, sizeof name, "limits.%.64s", node->string);
        (void)snprintf(label, sizeof label, "%s.%.64s", path, node->string);
        const struct hc_option *opt = hc_option_by_path(name);
        if (!opt || !has_maximum(opt))
            return unknown_maximum(path, j, node, err);
        struct hc_option row = *opt;
        row.path = label;
        if (hc_option_set_json(&scratch, &row, j, node, err) < 0)
            return -1;
        *hc_limit_place(max, opt) = hc_limit_value(&scratch.limits, opt);
    }
    return 0;
}

cJSON *hc_maxima_to_json(const struct hc_limits *max)
{
    struct hc_policy scratch;
    cJSON *object = cJSON_CreateObject();
    hc_policy_init(&scratch);
    scratch.limits = *max;
    for (size_t i = 0; object && i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (!has_maximum(opt) || hc_limit_value(max, opt) == HC_NO_MAXIMUM)
            continue;
        cJSON *value = hc_option_to_json(&scratch, opt);
        if (value && cJSON_AddItemToObject(object, opt->path + strlen("limits."), value))
            continue;
        cJSON_Delete(value);
        cJSON_Delete(object);
        return NULL;
    }
    return object;
}

static void format(const struct hc_option *opt, int64_t value, char *out, size_t size)
{
    struct hc_policy scratch;
    hc_policy_init(&scratch);
    memcpy((char *)&scratch + opt->at, &value, sizeof value);
    hc_option_format(&scratch, opt, out, size);
}

int hc_maxima_check(const struct hc_policy *p, const char *file, struct hc_error *err)
{
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        char max[40], limit[40];
        if (!has_maximum(opt) || hc_limit_value(&p->max, opt) == HC_NO_MAXIMUM ||
            is_within(opt, hc_limit_value(&p->limits, opt), hc_limit_value(&p->max, opt)))
            continue;
        format(opt, hc_limit_value(&p->max, opt), max, sizeof max);
        format(opt, hc_limit_value(&p->limits, opt), limit, sizeof limit);
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "%s: limits.max.%s: %s, and %s itself is %s", file,
                          opt->path + strlen("limits."), max, opt->path, limit);
    }
    return 0;
}

/* ---- ceilings ---- */

static void lower_limit(struct hc_limits *l, const struct hc_option *opt, int64_t most)
{
    if (!is_within(opt, hc_limit_value(l, opt), most))
        *hc_limit_place(l, opt) = most;
}

void hc_policy_lower(struct hc_policy *p, const struct hc_limits *max)
{
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (!has_maximum(opt) || hc_limit_value(max, opt) == HC_NO_MAXIMUM)
            continue;
        lower_limit(&p->limits, opt, hc_limit_value(max, opt));
        if (hc_limit_value(&p->max, opt) != HC_NO_MAXIMUM)
            lower_limit(&p->max, opt, hc_limit_value(max, opt));
    }
}

void hc_ceiling_make(struct hc_ceiling *c, const struct hc_policy *p, const struct hc_limits *max,
                     const char *tenant)
{
    *c = (struct hc_ceiling){.most = p->limits, .enforcement = p->enforcement};
    (void)snprintf(c->policy, sizeof c->policy, "%s", p->name);
    (void)snprintf(c->tenant, sizeof c->tenant, "%s", tenant);
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (!has_maximum(opt))
            continue;
        if (hc_limit_value(&p->max, opt) != HC_NO_MAXIMUM)
            *hc_limit_place(&c->most, opt) = hc_limit_value(&p->max, opt);
        if (hc_limit_value(max, opt) == HC_NO_MAXIMUM ||
            is_within(opt, hc_limit_value(&c->most, opt), hc_limit_value(max, opt)))
            continue;
        *hc_limit_place(&c->most, opt) = hc_limit_value(max, opt);
        c->of_tenant |= UINT64_C(1) << i;
    }
}

/* May a request set `opt` to `asked`? If not, `*most` is the value that it may set. */
static bool is_allowed(const struct hc_ceiling *c, const struct hc_option *opt, int64_t asked, int64_t *most)
{
    switch (opt->tighter) {
    case HC_TIGHTER_ANY:
    case HC_TIGHTER_LISTED: /* the process that serves the job knows the allowed names */
        return true;
    case HC_TIGHTER_LESS:
    case HC_TIGHTER_LESS_NOT_NONE:
        *most = hc_limit_value(&c->most, opt);
        return is_within(opt, asked, *most);
    default:
        /* Of the choices that are the policy's alone, a spec has a member for "enforcement" only. */
        *most = opt->at == offsetof(struct hc_policy, enforcement) ? c->enforcement : opt->def;
        return asked == *most;
    }
}

size_t hc_ceiling_compare(const struct hc_ceiling *c, const struct hc_override *overrides, size_t count,
                          struct hc_excess *out)
{
    struct hc_policy asked;
    struct hc_error ignored;
    size_t found = 0;
    hc_policy_init(&asked);
    for (size_t i = 0; i < count; i++) {
        const struct hc_option *opt = overrides[i].opt;
        int64_t value, most;
        if (hc_option_set(&asked, opt, overrides[i].text, &ignored) < 0 || opt->kind == HC_OPT_NAME)
            continue;
        memcpy(&value, (const char *)&asked + opt->at, sizeof value);
        if (is_allowed(c, opt, value, &most))
            continue;
        struct hc_excess *e = &out[found++];
        const bool tenant = c->of_tenant >> (opt - hc_options) & 1;
        *e = (struct hc_excess){
            .limit = opt->path, .of = tenant ? "tenant" : "policy", .name = tenant ? c->tenant : c->policy};
        format(opt, value, e->asked, sizeof e->asked);
        format(opt, most, e->maximum, sizeof e->maximum);
    }
    return found;
}

void hc_excess_text(const struct hc_excess *list, size_t count, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        int n =
            snprintf(out + used, size - used, "%s%s: %s is asked for, and the %s '%s' allows %s",
                     i ? "; " : "", list[i].limit, list[i].asked, list[i].of, list[i].name, list[i].maximum);
        used += n < 0 ? 0 : (size_t)n;
    }
}

int hc_ceiling_check(const struct hc_ceiling *c, const struct hc_override *overrides, size_t count,
                     struct hc_error *err)
{
    struct hc_excess list[HC_MAX_OVERRIDES];
    char text[sizeof err->text];
    size_t found = hc_ceiling_compare(c, overrides, count, list);
    if (!found)
        return 0;
    hc_excess_text(list, found, text, sizeof text);
    return hc_fail_as(err, HC_EXIT_CONFIG, 0, "%s", text);
}
