#include "cli/drill.h"

#include "base/fd.h"
#include "base/plain.h"
#include "cell/drill.h"
#include "cell/policies.h"
#include "cli/cancel.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* ---- text for people ---- */

static bool is_bad(const struct hc_drill_result *r)
{
    return r->verdict == HC_DRILL_REACHED || r->verdict == HC_DRILL_UNCLEAR;
}

/* The layer that stopped the attack, or the attack's other result. */
static const char *short_result(const struct hc_drill_result *r)
{
    return r->verdict == HC_DRILL_HELD ? r->by : hc_drill_verdict_name(r->verdict);
}

static void print_bad(const char *when, const struct hc_drill_result *r)
{
    if (!is_bad(r))
        return;
    (void)printf("      %s: %s: ", when, hc_drill_verdict_name(r->verdict));
    hc_plain_print(r->detail); /* escaped: a program in a cell wrote it */
    (void)putchar('\n');
}

/* The headings of the tables. Each is printed with its first row, so that a drill that fails prints none. */
struct heads {
    bool guard;           /* there is a second column, for attacks without the guard */
    bool attacks, layers; /* this heading was printed */
};

static void print_row(void *ctx, const struct hc_drill_row *row)
{
    struct heads *heads = ctx;
    if (!heads->attacks)
        (void)printf("%-4s  %-28s %-9s %-9s\n", "", "attack", "policy", heads->guard ? "no guard" : "");
    heads->attacks = true;
    const struct hc_drill_result *a = &row->as_is, *b = &row->unguarded;
    bool tried = a->verdict != HC_DRILL_NOT_TRIED;
    const char *mark = !tried ? "-" : is_bad(a) || is_bad(b) ? "FAIL" : "pass";
    (void)printf("%-4s  %-28s %-9s %-9s %s\n", mark, row->attack->name, short_result(a),
                 b->verdict == HC_DRILL_NOT_TRIED ? "" : short_result(b), row->attack->about);
    print_bad("under the policy", a);
    print_bad("without its guard", b);
    (void)fflush(stdout);
}

static void print_layer(void *ctx, const struct hc_drill_layer *l)
{
    struct heads *heads = ctx;
    if (!heads->layers)
        (void)printf("\n%-4s  %-28s %-9s %s\n", "", "layer", "attacks", "");
    heads->layers = true;
    const char *mark = !l->layer->on ? "off" : l->reached ? "FAIL" : l->attacks ? "pass" : "on";
    (void)printf("%-4s  %-28s %-9d %s\n", mark, l->layer->name, l->attacks, l->layer->evidence);
}

/* ---- JSON for programs ---- */

static cJSON *result_object(const struct hc_drill_result *r)
{
    cJSON *o = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(o, "verdict", hc_drill_verdict_name(r->verdict));
    (void)cJSON_AddStringToObject(o, "by", r->by);
    (void)cJSON_AddStringToObject(o, "detail", r->detail);
    return o;
}

static cJSON *layer_names(const char *held)
{
    cJSON *list = cJSON_CreateArray();
    char names[256], *rest = NULL;
    (void)snprintf(names, sizeof names, "%s", held);
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(name));
    return list;
}

static void add_row(void *ctx, const struct hc_drill_row *row)
{
    cJSON *o = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(o, "name", row->attack->name);
    (void)cJSON_AddStringToObject(o, "about", row->attack->about);
    (void)cJSON_AddStringToObject(o, "group", row->attack->group);
    (void)cJSON_AddItemToObject(o, "layers", layer_names(row->attack->held));
    (void)cJSON_AddBoolToObject(o, "ok", !is_bad(&row->as_is) && !is_bad(&row->unguarded));
    (void)cJSON_AddItemToObject(o, "policy", result_object(&row->as_is));
    (void)cJSON_AddItemToObject(o, "unguarded", result_object(&row->unguarded));
    (void)cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(ctx, "attacks"), o);
}

static void add_layer(void *ctx, const struct hc_drill_layer *l)
{
    cJSON *o = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(o, "name", l->layer->name);
    (void)cJSON_AddBoolToObject(o, "on", l->layer->on);
    (void)cJSON_AddStringToObject(o, "evidence", l->layer->evidence);
    (void)cJSON_AddNumberToObject(o, "attacks", l->attacks);
    (void)cJSON_AddNumberToObject(o, "reached", l->reached);
    (void)cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(ctx, "layers"), o);
}

/* ---- the drill ---- */

static int load_policy(const struct hc_drill_options *o, struct hc_policy *policy, struct hc_error *err)
{
    if (hc_policy_load(policy, o->policy ? o->policy : "default", hc_policies_read, NULL, err) < 0)
        return -1;
    return o->tree ? hc_option_set(policy, hc_option_by_flag("tree"), o->tree, err) : 0;
}

static bool all_held(const struct hc_drill *d)
{
    return d->held == d->tried;
}

static int drill_text(struct hc_drill *d, struct hc_error *err)
{
    struct heads heads = {.guard = d->policy->guard == HC_GUARD_ON};
    d->each = print_row;
    d->layer = print_layer;
    d->ctx = &heads;
    if (hc_drill(d, err) < 0)
        return -1;
    (void)printf("\n%d attempts under policy %s: %d held, %d reached something, %d unclear\n", d->tried,
                 d->policy->name, d->held, d->tried - d->held - d->unclear, d->unclear);
    return 0;
}

static int drill_json(struct hc_drill *d, struct hc_error *err)
{
    cJSON *all = cJSON_CreateObject();
    d->each = add_row;
    d->layer = add_layer;
    d->ctx = all;
    (void)cJSON_AddStringToObject(all, "policy", d->policy->name);
    (void)cJSON_AddItemToObject(all, "attacks", cJSON_CreateArray());
    (void)cJSON_AddItemToObject(all, "layers", cJSON_CreateArray());
    int rc = hc_drill(d, err);
    (void)cJSON_AddNumberToObject(all, "tried", d->tried);
    (void)cJSON_AddNumberToObject(all, "held", d->held);
    (void)cJSON_AddBoolToObject(all, "ok", rc == 0 && all_held(d));
    char *text = rc == 0 ? cJSON_Print(all) : NULL;
    cJSON_Delete(all);
    if (rc == 0 && !text)
        return hc_fail(err, 0, "out of memory");
    if (text)
        (void)puts(text);
    cJSON_free(text);
    return rc;
}

int hc_drill_serve(const struct hc_drill_options *options)
{
    struct hc_error err = {0};
    struct hc_policy policy;
    hc_policy_init(&policy);
    hc_autofd cancel = hc_cancel_open(&err);
    struct hc_drill drill = {
        .policy = &policy, .only = options->attack, .warm = options->warm, .cancel_fd = cancel};
    int rc = cancel < 0 ? -1 : load_policy(options, &policy, &err);
    if (rc == 0)
        rc = options->json ? drill_json(&drill, &err) : drill_text(&drill, &err);
    int status = all_held(&drill) ? HC_EXIT_OK : HC_EXIT_UNAVAILABLE;
    if (rc < 0)
        status = hc_report(&err);
    hc_policy_finish(&policy);
    if (cancel >= 0)
        hc_cancel_end(cancel);
    return status;
}
