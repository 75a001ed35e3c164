#include "cell/warm.h"

#include "base/log.h"
#include "base/clock.h"
#include "cell/run.h"

#include <poll.h>
#include <string.h>

#define PAUSE_MS 60000 /* ms of the pause after FAILURES failures in a row */
#define FAILURES 2     /* failures in a row before a pause */

/* Age in us at which a waiting cell is replaced, well before it is too old to be used. */
#define OLD_US (INT64_C(240) * 1000000)

void hc_warm_init(struct hc_warm *w, const struct hc_warm_rules *rules)
{
    *w = (struct hc_warm){.rules = *rules};
    if (w->rules.most > HC_WARM_MOST)
        w->rules.most = HC_WARM_MOST;
    for (size_t i = 0; i < HC_WARM_MOST; i++)
        hc_parked_init(&w->slots[i].cell);
}

static void drop_cell(struct hc_warm *w, struct hc_warm_slot *s, int64_t *why)
{
    if (s->cell.pid > 0) {
        w->counts.cells--;
        ++*why;
    }
    hc_parked_finish(&s->cell);
    hc_parked_init(&s->cell);
}

/* Stop the slot's zygote and cell, and count the zygote in the counter `*why`. The slot keeps its number of
 * requests. */
static void stop_zygote(struct hc_warm *w, struct hc_warm_slot *s, int64_t *why)
{
    drop_cell(w, s, &w->counts.cells_expired);
    if (!s->zygote)
        return;
    hc_zygote_stop(s->zygote);
    hc_policy_cache_drop(s->cached);
    s->cached = NULL;
    s->zygote = NULL;
    w->counts.zygotes--;
    ++*why;
}

/* The slot of this key, or a free one, or the least recently used one, which is emptied. */
static struct hc_warm_slot *find_slot(struct hc_warm *w, const char *key, const char *tenant)
{
    struct hc_warm_slot *oldest = &w->slots[0];
    for (size_t i = 0; i < w->rules.most; i++) {
        if (strcmp(w->slots[i].key, key) == 0)
            return &w->slots[i];
        if (w->slots[i].last < oldest->last)
            oldest = &w->slots[i];
    }
    stop_zygote(w, oldest, &w->counts.zygotes_idle);
    memcpy(oldest->key, key, sizeof oldest->key);
    (void)strncpy(oldest->tenant, tenant ? tenant : "", sizeof oldest->tenant - 1);
    oldest->asked = oldest->not_before = oldest->failures = 0;
    return oldest;
}

static struct hc_parked *go_cold(struct hc_warm *w, enum hc_cold why)
{
    w->counts.cold[why]++;
    return NULL;
}

struct hc_parked *hc_warm_take(struct hc_warm *w, const struct hc_job *job,
                               const struct hc_cached_policy *cached, struct hc_warm_slot **slot)
{
    const char *why;
    *slot = NULL;
    if (w->rules.most == 0)
        return go_cold(w, HC_COLD_OFF);
    /* Jobs that need a cell of their own must not take a slot from a zygote. */
    if (job->has_seed || job->dir_count || job->workdir || cached->policy.output_mode == HC_OUTPUT_BIND)
        return go_cold(w, HC_COLD_JOB);
    struct hc_warm_slot *s = find_slot(w, cached->warm_key, job->tenant);
    s->last = hc_mono_ms();
    s->asked++;
    *slot = s;
    if (!s->zygote)
        return go_cold(w, s->last < s->not_before ? HC_COLD_PAUSED : HC_COLD_NEW);
    if (s->cell.pid <= 0)
        return go_cold(w, HC_COLD_NONE);
    if (!hc_parked_alive(&s->cell))
        return go_cold(w, HC_COLD_DIED);
    if (!hc_parked_fits(&s->cell, job, &cached->policy, cached->warm_key, &why))
        return go_cold(w, strcmp(why, "age") == 0 ? HC_COLD_NONE : HC_COLD_JOB);
    w->counts.cells--;
    w->counts.cells_used++;
    return &s->cell;
}

static bool has_died(const struct hc_zygote *z)
{
    struct pollfd p = {.fd = hc_zygote_pidfd(z), .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static void note_failure(struct hc_warm *w, struct hc_warm_slot *s, const struct hc_error *err)
{
    hc_info("no warm cells%s%s: %s", s->tenant[0] ? " for " : "", s->tenant, err->text);
    stop_zygote(w, s, &w->counts.zygotes_died);
    if (++s->failures >= FAILURES)
        s->not_before = hc_mono_ms() + PAUSE_MS;
}

static void park_cell(struct hc_warm *w, struct hc_warm_slot *s)
{
    struct hc_error err;
    drop_cell(w, s, hc_parked_alive(&s->cell) ? &w->counts.cells_expired : &w->counts.cells_died);
    if (hc_zygote_park(s->zygote, &s->cell, &err) < 0) {
        s->cell.pid = 0;
        w->counts.cells_failed++;
        note_failure(w, s, &err);
        return;
    }
    w->counts.cells++;
    w->counts.cells_made++;
    s->failures = 0;
}

static bool is_used_up(const struct hc_warm *w, const struct hc_warm_slot *s)
{
    return hc_zygote_made(s->zygote) >= w->rules.cells || hc_mono_ms() - s->started >= w->rules.age_ms;
}

/* Start a zygote if enough jobs asked for one. -1: there is none. */
static int start_zygote(struct hc_warm *w, struct hc_warm_slot *s, struct hc_cached_policy *cached,
                        int64_t weight)
{
    struct hc_error err;
    if (s->asked < w->rules.wanted || hc_mono_ms() < s->not_before)
        return -1;
    s->cached = hc_policy_cache_hold(cached);
    if (hc_zygote_start(&s->zygote, &cached->policy, s->tenant[0] ? s->tenant : NULL, weight, &err) < 0) {
        s->zygote = NULL;
        hc_policy_cache_drop(s->cached);
        s->cached = NULL;
        w->counts.zygotes_failed++;
        note_failure(w, s, &err);
        return -1;
    }
    s->started = hc_mono_ms();
    w->counts.zygotes++;
    w->counts.zygotes_started++;
    return 0;
}

void hc_warm_settle(struct hc_warm *w, struct hc_warm_slot *s, struct hc_cached_policy *cached,
                    int64_t weight)
{
    struct hc_error err;
    if (s->zygote && has_died(s->zygote))
        stop_zygote(w, s, &w->counts.zygotes_died);
    else if (s->zygote && is_used_up(w, s))
        stop_zygote(w, s, &w->counts.zygotes_recycled);
    if (!s->zygote && start_zygote(w, s, cached, weight) < 0)
        return;
    if (hc_zygote_weigh(s->zygote, weight, &err) < 0)
        hc_info("weight of %s: %s", s->tenant, err.text);
    if (s->cell.pid <= 0 || !hc_parked_alive(&s->cell) || hc_now_us() - s->cell.born_us > OLD_US)
        park_cell(w, s);
}

/* A zygote that is too old ends here; the next job of its kind starts another. */
void hc_warm_refresh(struct hc_warm *w)
{
    for (size_t i = 0; i < w->rules.most; i++) {
        struct hc_warm_slot *s = &w->slots[i];
        if (!s->zygote)
            continue;
        if (has_died(s->zygote))
            stop_zygote(w, s, &w->counts.zygotes_died);
        else if (hc_mono_ms() - s->last > w->rules.idle_ms)
            stop_zygote(w, s, &w->counts.zygotes_idle);
        else if (hc_mono_ms() - s->started >= w->rules.age_ms)
            stop_zygote(w, s, &w->counts.zygotes_recycled);
        else if (hc_now_us() - s->cell.born_us > OLD_US)
            park_cell(w, s);
    }
}

void hc_warm_drop(struct hc_warm *w, hc_warm_is_bad *is_bad, void *ctx)
{
    for (size_t i = 0; i < w->rules.most; i++) {
        const char *ids[HC_MAX_TREE_LAYERS + 1], *name;
        if (!w->slots[i].zygote)
            continue;
        size_t count = hc_zygote_trees(w->slots[i].zygote, &name, ids);
        if (is_bad(ctx, name, ids, count))
            stop_zygote(w, &w->slots[i], &w->counts.zygotes_recycled);
    }
}

void hc_warm_finish(struct hc_warm *w)
{
    for (size_t i = 0; i < HC_WARM_MOST; i++)
        stop_zygote(w, &w->slots[i], &w->counts.zygotes_idle);
}

/* ---- running one job ---- */

void hc_warm_reap_cell(struct hc_warm_use *use)
{
    if (!use->cell)
        return;
    hc_parked_finish(use->cell);
    hc_parked_init(use->cell);
    use->cell = NULL;
}

int hc_warm_run(struct hc_warm *w, struct hc_warm_use *use, const struct hc_cached_policy *cached,
                struct hc_run *run, struct hc_manifest *m, struct hc_error *err)
{
    *use = (struct hc_warm_use){0};
    run->parked = hc_warm_take(w, run->job, cached, &use->slot);
    run->warm_key = run->parked ? use->slot->key : NULL;
    int rc = hc_run(run, m, err);
    if (!run->parked)
        return rc;
    use->cell = run->parked;
    w->counts.cells_early += run->parked->fds[HC_PARKED_PIDFD] >= 0;
    run->parked = NULL;
    use->warm = m->status != HC_STATUS_LAUNCH_FAILED || m->timing.run_us >= 0;
    /* An error of the job itself, such as a missing input, would occur in any cell. */
    if (use->warm || m->exit_code == HC_EXIT_DATA || m->exit_code == HC_EXIT_CONFIG)
        return rc;
    hc_warm_reap_cell(use);
    w->counts.cold[HC_COLD_FAILED]++;
    hc_info("job %s: its warm cell failed, another is built: %s", run->job->job_id, m->reason);
    hc_run_finish(run);
    hc_manifest_finish(m);
    *m = (struct hc_manifest){0};
    return hc_run(run, m, err);
}
