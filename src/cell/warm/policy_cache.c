#include "cell/warm/policy_cache.h"

#include "cell/launch/parked.h"
#include "cell/policies.h"
#include "cell/policy_store.h"
#include "cell/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILES 10 /* most files of a policy: its own, and those that it extends */

/* A file that a cached policy was made from. */
struct origin_file {
    char *name, *from, *file; /* as for hc_policy_reader, owned; `from` NULL for the first */
    struct hc_buf text;       /* content of the file; owned */
};

struct hc_cached_policy_origin {
    char *tenant;                                   /* tenant of the job; owned; NULL: none */
    bool sent;                                      /* a client sent the job */
    struct hc_limits max;                           /* if `sent`: the sender's maxima */
    struct hc_override overrides[HC_MAX_OVERRIDES]; /* limits that the job asked for; texts owned */
    size_t override_count;                          /* used entries of `overrides` */
    struct origin_file files[MOST_FILES];           /* the policy, and the files that it extends */
    size_t file_count;                              /* used entries of `files` */
    bool whole;                                     /* no part is missing for lack of memory or room */
};

static void origin_free(struct hc_cached_policy_origin *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->override_count; i++)
        free(o->overrides[i].text);
    for (size_t i = 0; i < o->file_count; i++) {
        free(o->files[i].name);
        free(o->files[i].from);
        free(o->files[i].file);
        hc_buf_finish(&o->files[i].text);
    }
    free(o->tenant);
    free(o);
}

struct hc_cached_policy *hc_policy_cache_hold(struct hc_cached_policy *k)
{
    k->holders++;
    return k;
}

void hc_policy_cache_drop(struct hc_cached_policy *k)
{
    if (!k || --k->holders)
        return;
    hc_policy_finish(&k->policy);
    origin_free(k->origin);
    free(k);
}

/* ---- finding a policy in the cache ---- */

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same_file(const struct origin_file *f)
{
    struct hc_error ignored;
    hc_autobuf text = {0};
    char *file = NULL;
    bool same = hc_policies_read(NULL, f->name, f->from, &text, &file, &ignored) == 0 &&
                strcmp(file, f->file) == 0 && text.len == f->text.len &&
                memcmp(text.data ? text.data : "", f->text.data ? f->text.data : "", text.len) == 0;
    free(file);
    return same;
}

static bool is_same_sender(const struct hc_cached_policy_origin *o, const struct hc_limits *max)
{
    return max ? o->sent && memcmp(&o->max, max, sizeof *max) == 0 : !o->sent;
}

static bool fits_job(const struct hc_cached_policy_origin *o, const struct hc_job *job)
{
    if (strcmp(o->files[0].name, hc_job_policy(job)) != 0 || !is_same_text(o->tenant, job->tenant) ||
        o->override_count != job->override_count)
        return false;
    for (size_t i = 0; i < o->override_count; i++)
        if (o->overrides[i].opt != job->overrides[i].opt ||
            strcmp(o->overrides[i].text, job->overrides[i].text) != 0)
            return false;
    return true;
}

static bool has_same_files(const struct hc_cached_policy_origin *o)
{
    for (size_t i = 0; i < o->file_count; i++)
        if (!is_same_file(&o->files[i]))
            return false;
    return true;
}

static struct hc_cached_policy *find_cached(struct hc_policy_cache *l, const struct hc_job *job,
                                            const struct hc_limits *max)
{
    for (size_t i = 0; i < HC_POLICY_CACHE_MAX; i++) {
        struct hc_cached_policy *k = l->rows[i];
        if (!k || !fits_job(k->origin, job) || !is_same_sender(k->origin, max))
            continue;
        if (has_same_files(k->origin))
            return k;
        hc_policy_cache_drop(k);
        l->rows[i] = NULL;
    }
    return NULL;
}

/* ---- working out a policy ---- */

/* A hc_policy_reader that also notes in the origin every file that it reads. */
static int read_and_note(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                         struct hc_error *err)
{
    struct hc_cached_policy_origin *o = ctx;
    if (hc_policies_read(NULL, name, from, text, file, err) < 0)
        return -1;
    if (o->file_count == MOST_FILES) {
        o->whole = false;
        return 0;
    }
    struct origin_file *f = &o->files[o->file_count++];
    *f =
        (struct origin_file){.name = strdup(name), .from = from ? strdup(from) : NULL, .file = strdup(*file)};
    if (!f->name || !f->file || (from && !f->from) || hc_buf_add(&f->text, text->data, text->len) < 0)
        o->whole = false;
    return 0;
}

static void note_job(struct hc_cached_policy_origin *o, const struct hc_job *job)
{
    o->tenant = job->tenant ? strdup(job->tenant) : NULL;
    if (job->tenant && !o->tenant)
        o->whole = false;
    for (size_t i = 0; i < job->override_count; i++) {
        struct hc_override *to = &o->overrides[o->override_count++];
        *to = (struct hc_override){.opt = job->overrides[i].opt, .text = strdup(job->overrides[i].text)};
        if (!to->text)
            o->whole = false;
    }
}

/* Lower the policy to the sender's maxima, and check the job's overrides against them. */
static int apply_maxima(struct hc_cached_policy *k, const struct hc_job *job, const struct hc_limits *max,
                        struct hc_error *err)
{
    k->origin->sent = true;
    k->origin->max = *max;
    hc_policy_lower(&k->policy, max);
    return hc_ceiling_check(&k->ceiling, job->overrides, job->override_count, err);
}

static int hash_policy(struct hc_cached_policy *k, const struct hc_job *job, struct hc_error *err)
{
    if (hc_policy_hash(&k->policy, k->policy_hash, err) < 0)
        return -1;
    hc_policy_keep(&k->policy, k->policy_hash, job->tenant);
    if (hc_warm_key(&k->policy, NULL, k->zygote_key, err) < 0)
        return -1;
    if (job->tenant)
        return hc_warm_key(&k->policy, job->tenant, k->warm_key, err);
    memcpy(k->warm_key, k->zygote_key, sizeof k->warm_key);
    return 0;
}

static int load_policy(struct hc_cached_policy *k, struct hc_job *job, const struct hc_limits *max,
                       struct hc_error *err)
{
    struct hc_policy *p = &k->policy;
    if (hc_policy_load(p, hc_job_policy(job), read_and_note, k->origin, err) < 0)
        return -1;
    if (max)
        hc_ceiling_make(&k->ceiling, p, max, job->tenant ? job->tenant : "");
    if (hc_policy_begin(p, err) < 0 || (max && apply_maxima(k, job, max, err) < 0) ||
        hc_job_apply(job, p, err) < 0 || hc_job_put_tools(job, p, err) < 0)
        return -1;
    note_job(k->origin, job);
    return hash_policy(k, job, err);
}

static void insert(struct hc_policy_cache *l, struct hc_cached_policy *k)
{
    size_t at = 0;
    for (size_t i = 0; i < HC_POLICY_CACHE_MAX; i++) {
        if (!l->rows[i]) {
            at = i;
            break;
        }
        if (l->rows[i]->used < l->rows[at]->used)
            at = i;
    }
    hc_policy_cache_drop(l->rows[at]);
    l->rows[at] = hc_policy_cache_hold(k);
}

static int add_policy(struct hc_policy_cache *l, struct hc_job *job, const struct hc_limits *max,
                      struct hc_cached_policy **out, struct hc_error *err)
{
    struct hc_cached_policy *k = calloc(1, sizeof *k);
    if (!k)
        return hc_fail(err, ENOMEM, "load the policy");
    k->holders = 1;
    hc_policy_init(&k->policy);
    k->origin = calloc(1, sizeof *k->origin);
    if (!k->origin) {
        hc_policy_cache_drop(k);
        return hc_fail(err, ENOMEM, "load the policy");
    }
    k->origin->whole = true;
    if (load_policy(k, job, max, err) < 0) {
        hc_policy_cache_drop(k);
        return -1;
    }
    /* A policy with tools is not cached: they may be the job's own, checked together with its variables. */
    if (k->origin->whole && k->policy.tools.count == 0)
        insert(l, k);
    *out = k;
    return 0;
}

int hc_policy_cache_find(struct hc_policy_cache *l, struct hc_job *job, const struct hc_limits *max,
                         struct hc_cached_policy **out, struct hc_error *err)
{
    bool plain = job->tools.count == 0 && job->tool_command_count == 0;
    struct hc_cached_policy *k = plain ? find_cached(l, job, max) : NULL;
    l->jobs++;
    *out = k ? hc_policy_cache_hold(k) : NULL;
    if (!k && add_policy(l, job, max, out, err) < 0)
        return -1;
    (*out)->used = l->jobs;
    return 0;
}
