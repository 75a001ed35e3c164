#include "daemon/queue/maxima.h"

#include "base/clock.h"
#include "base/fd.h"
#include "cell/policies.h"
#include "daemon/queue/dispatch.h"
#include "job/job.h"

#include <string.h>

/* Loads a policy and computes its hash, once; otherwise each request would compute it for its own copy. */
static int load_policy(struct hc_policy *p, const char *name, struct hc_error *err)
{
    if (hc_policy_load(p, name, hc_policies_read, NULL, err) < 0)
        return -1;
    const struct hc_limits max = p->max;
    if (hc_policy_note_base(p, err) < 0) {
        hc_policy_finish(p);
        return -1;
    }
    p->max = max; /* requests are compared with the policy's maxima */
    return 0;
}

static const struct hc_policy *look_up_policy(struct hc_dispatch *d, const char *name, struct hc_error *err)
{
    struct hc_policy p;
    for (size_t i = 0; i < d->policy_count; i++)
        if (strcmp(d->policies[i].name, name) == 0)
            return &d->policies[i].policy;
    if (load_policy(&p, name, err) < 0)
        return NULL;
    struct hc_dispatch_policy *row = &d->policies[d->policy_count % HC_DISPATCH_POLICIES];
    /* if the table is full, the new policy replaces the last */
    d->policy_count += d->policy_count < HC_DISPATCH_POLICIES - 1;
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    /* Of the lists, only the layers are needed here. */
    cJSON *layers = cJSON_DetachItemFromObjectCaseSensitive(p.rules, "layers");
    hc_policy_finish(&p);
    hc_policy_finish(&row->policy);
    row->policy = p;
    row->policy.rules = layers ? cJSON_CreateObject() : NULL;
    if (layers && !cJSON_AddItemToObject(row->policy.rules, "layers", layers))
        cJSON_Delete(layers);
    return &row->policy;
}

void hc_dispatch_forget_policies(struct hc_dispatch *d)
{
    for (size_t i = 0; i < sizeof d->policies / sizeof *d->policies; i++)
        hc_policy_finish(&d->policies[i].policy);
    memset(d->policies, 0, sizeof d->policies);
    d->policy_count = 0;
}

/* Whether a file of that name is among the policies; if the list cannot be made, it is taken to be. */
static bool is_listed(char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return !names || *names;
}

void hc_set_no_policy(struct hc_problem *why, enum hc_problem_kind kind, const struct hc_tenant *t,
                      const char *name, const struct hc_error *err)
{
    char **names = NULL;
    struct hc_error ignored;
    hc_autobuf list = {.max = 400};
    if (hc_policies_list(&names, &ignored) < 0 || is_listed(names, name)) {
        hc_problem_set(why, kind, "%s", err->text);
        hc_policies_free(names);
        return;
    }
    for (char **each = names; *each; each++)
        if (strlen(*each) < HC_TENANT_NAME && hc_tenant_may_use(t, *each))
            (void)hc_buf_fmt(&list, "%s%s", list.len ? ", " : "", *each);
    hc_policies_free(names);
    hc_problem_set(why, kind, "there is no policy '%.100s'%s%s", name, list.len ? ": expected one of " : "",
                   list.len ? list.data : "");
}

static const struct hc_policy *find_policy(struct hc_dispatch *d, const struct hc_tenant *t, const char *name,
                                           struct hc_problem *why)
{
    struct hc_error err;
    if (strlen(name) >= HC_TENANT_NAME) {
        hc_problem_set(why, HC_PROBLEM_SPEC, "there is no policy '%.100s'", name);
        return NULL;
    }
    if (!hc_tenant_may_use(t, name)) {
        hc_problem_set(why, HC_PROBLEM_FORBIDDEN,
                       "the tenant '%s' may not use the policy '%s'; /v1/policies has those that it may",
                       t->name, name);
        return NULL;
    }
    const struct hc_policy *p = look_up_policy(d, name, &err);
    if (!p)
        hc_set_no_policy(why, HC_PROBLEM_SPEC, t, name, &err);
    return p;
}

/* Checks a tree that the policy or the job names. A tree may have several names; a tenant with a list of
 * trees may use only the names in its list. */
static int check_tree(const struct hc_tenant *t, const char *tree, struct hc_problem *why)
{
    hc_autobuf list = {0};
    if (hc_tenant_may_use_tree(t, tree))
        return 0;
    for (char **name = t->allowed.trees; *name; name++)
        (void)hc_buf_fmt(&list, "%s\"%s\"", name == t->allowed.trees ? "" : ", ", *name);
    hc_problem_set(
        why, HC_PROBLEM_FORBIDDEN,
        "the tenant '%s' may not use the tree '%.64s': its rule in hotcelld.conf has \"trees\": [%s]",
        t->name, tree, list.data ? list.data : "");
    return -1;
}

/* Prints as many of the excesses as `out` has room for. */
static void print_excesses(const struct hc_excess *list, size_t count, char *out, size_t size)
{
    hc_autobuf all = {0};
    for (size_t i = 0; i < count; i++) {
        hc_autobuf one = {0};
        (void)hc_buf_fmt(
            &one,
            "%s{\"limit\": \"%s\", \"asked\": \"%s\", \"maximum\": \"%s\", \"of\": \"%s\", \"name\": \"%s\"}",
            i ? ", " : "", list[i].limit, list[i].asked, list[i].maximum, list[i].of, list[i].name);
        if (one.failed || all.len + one.len + sizeof "[]" > size)
            break;
        (void)hc_buf_add(&all, one.data, one.len);
    }
    (void)snprintf(out, size, "[%s]", all.data ? all.data : "");
}

static int refuse_excesses(const struct hc_excess *list, size_t count, struct hc_problem *why)
{
    char text[sizeof why->detail];
    hc_excess_text(list, count, text, sizeof text);
    hc_problem_set(why, HC_PROBLEM_LIMIT, "%s", text);
    print_excesses(list, count, why->limits, sizeof why->limits);
    return -1;
}

/* May the tenant use the policy that the job names, and do the job's limits stay within the maxima?
 * `*out` gets what they are. -1: `why`. */
static int check_limits(struct hc_dispatch *d, const struct hc_tenant *t, const struct hc_job *job,
                        struct hc_checked *out, struct hc_problem *why)
{
    struct hc_excess excesses[HC_MAX_OVERRIDES];
    struct hc_ceiling ceiling;
    struct hc_error err;
    const struct hc_policy *p = find_policy(d, t, job->policy ? job->policy : hc_tenant_policy(t), why);
    if (!p)
        return -1;
    hc_ceiling_make(&ceiling, p, &t->quota.max, t->name);
    size_t count = hc_ceiling_compare(&ceiling, job->overrides, job->override_count, excesses);
    if (count)
        return refuse_excesses(excesses, count, why);
    if (hc_job_check_texts(job, &p->limits, HC_MAX_TEXT, &err) < 0) {
        hc_problem_set(why, HC_PROBLEM_SPEC, "%s", err.text);
        return -1;
    }
    struct hc_policy effective = *p; /* a shallow copy: owns nothing */
    hc_policy_lower(&effective, &t->quota.max);
    if (hc_job_apply(job, &effective, &err) < 0) {
        hc_problem_set(why, HC_PROBLEM_SPEC, "%s", err.text);
        return -1;
    }
    out->memory = effective.limits.memory;
    out->life_ms = effective.limits.session_life_ms;
    if (hc_policy_check_layers(&effective, &err) < 0) {
        hc_problem_set(why, HC_PROBLEM_FORBIDDEN, "%s", err.text);
        return -1;
    }
    return check_tree(t, effective.tree, why);
}

/* The uploads that a request names have to be the tenant's, and finished. Their age begins anew. */
static int check_uploads(const struct hc_dispatch *d, const struct hc_tenant *t, const struct hc_job *job,
                         const struct hc_uploads *uploads, struct hc_problem *why)
{
    for (size_t i = 0; i < uploads->count; i++) {
        const char *id = uploads->list[i].upload;
        struct hc_upload *u = id ? hc_upload_find(&d->uploads, t, id) : NULL;
        if (id && (!u || !u->finished)) {
            hc_problem_set(why, HC_PROBLEM_SPEC, "inputs.%s.upload: %s '%s'", job->inputs[i].name,
                           u ? "not finished: the upload" : "there is no upload", id);
            return -1;
        }
        if (u)
            u->used = hc_wall_ms();
    }
    return 0;
}

int hc_check_request(struct hc_dispatch *d, const struct hc_buf *body, const struct hc_tenant *t,
                     bool session, struct hc_checked *out, struct hc_problem *why)
{
    struct hc_job job;
    struct hc_uploads uploads;
    struct hc_error err;
    const char *text = body->data ? body->data : "";
    if (hc_job_parse_upload(&job, &uploads, session, "request", text, body->len, &err) < 0) {
        hc_problem_set(why, HC_PROBLEM_REQUEST, "%s", err.text);
        return -1;
    }
    int rc = hc_job_check(&job, &err);
    out->has_tools = job.tools.count > 0;
    if (rc < 0)
        hc_problem_set(why, HC_PROBLEM_REQUEST, "%s", err.text);
    else
        rc = check_limits(d, t, &job, out, why);
    if (rc == 0)
        rc = check_uploads(d, t, &job, &uploads, why);
    if (rc == 0)
        (void)snprintf(out->policy, sizeof out->policy, "%s", job.policy ? job.policy : hc_tenant_policy(t));
    out->labels = rc == 0 && session && job.labels ? cJSON_PrintUnformatted(job.labels) : NULL;
    hc_uploads_finish(&uploads);
    hc_job_finish(&job);
    return rc;
}

int hc_check_again(struct hc_task *task, struct hc_problem *why)
{
    struct hc_dispatch *d = task->dispatch;
    struct hc_checked checked = {0};
    struct hc_error err;
    hc_autobuf body = {0};
    if (task->allowed_under == d->configuration)
        return 0;
    if (task->queued.tenant->removed) {
        hc_problem_set(why, HC_PROBLEM_FORBIDDEN, "the tenant '%s' is no longer in the configuration",
                       task->queued.tenant->name);
        return -1;
    }
    if (lseek(task->body_fd, 0, SEEK_SET) < 0 ||
        hc_read_all(task->body_fd, &body, task->body_len, &err) < 0) {
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "the request cannot be read");
        return -1;
    }
    if (hc_check_request(d, &body, task->queued.tenant, false, &checked, why) < 0)
        return -1;
    task->allowed_under = d->configuration;
    memcpy(task->policy, checked.policy, sizeof task->policy); /* the default policy if the job names none */
    return 0;
}

void hc_set_refusal(struct hc_problem *why, const struct hc_refusal *refusal)
{
    hc_problem_set(why, refusal->never ? HC_PROBLEM_LIMIT : HC_PROBLEM_QUOTA, "%s", refusal->text);
    why->quota = refusal->quota;
    why->retry_after = refusal->never || refusal->retry_ms < 0 ? 0 : (int)((refusal->retry_ms + 999) / 1000);
}
