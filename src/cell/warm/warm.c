#include "cell/warm.h"

#include "base/clock.h"
#include "base/log.h"
#include "cell/run.h"
#include "policy/ladder.h"

#include <poll.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>

#define PAUSE_MS 60000 /* ms of the pause after FAILURES failures in a row */
#define FAILURES 2     /* failures in a row before a pause */

/* ms after its last job for which a zygote is in use: it does not give way to another. Starting one takes a
 * second of processor time, and two that gave way to each other would take it for every job. */
#define IN_USE_MS 10000

/* Descriptors of a waiting cell, two of them for its network (networks.h), and those that a worker needs
 * besides. */
#define CELL_FDS 12
#define MORE_FDS 128

/* Age in us at which a waiting cell is replaced, well before it is too old to be used. */
#define OLD_US (INT64_C(240) * 1000000)

/* ---- ends ---- */

static void drop_cell(struct hc_warm *w, struct hc_warm_slot *s, int64_t *why)
{
    if (s->cell.pid > 0) {
        w->counts.cells--;
        ++*why;
    }
    hc_parked_finish(&s->cell);
    hc_parked_init(&s->cell);
}

static struct hc_warm_zygote *zygote_of(struct hc_warm *w, const struct hc_warm_slot *s)
{
    return &w->zygotes[s->zygote];
}

/* Stop the zygote with its cells, and count it in the counter `*why`. Its row keeps its number of requests.
 */
static void stop_zygote(struct hc_warm *w, struct hc_warm_zygote *z, int64_t *why)
{
    for (size_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].key[0] && zygote_of(w, &w->slots[i]) == z)
            drop_cell(w, &w->slots[i], &w->counts.cells_expired);
    if (!z->zygote)
        return;
    hc_zygote_stop(z->zygote);
    hc_policy_cache_drop(z->cached);
    z->cached = NULL;
    z->zygote = NULL;
    w->counts.zygotes--;
    ++*why;
}

/* ---- room ---- */

/* Bytes that the zygote for these rules counts for at this rung. */
static int64_t zygote_bytes(const struct hc_cached_policy *cached, size_t rung)
{
    return hc_ladder_loads(cached->policy.rules, rung) ? HC_WARM_LOADED_BYTES : HC_WARM_PLAIN_BYTES;
}

/* Bytes that a cell counts for in addition once it has copied what jobs write to (hc_warm_prepare). */
static int64_t prepared_bytes(const struct hc_warm_zygote *z)
{
    return hc_ladder_loads(z->cached->policy.rules, z->rung) ? HC_WARM_PREPARED_BYTES : 0;
}

static int64_t bytes_used(struct hc_warm *w)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < HC_WARM_ROWS; i++)
        if (w->zygotes[i].zygote)
            bytes += zygote_bytes(w->zygotes[i].cached, w->zygotes[i].rung);
    for (size_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].cell.pid > 0)
            bytes += HC_WARM_CELL_BYTES +
                     (w->slots[i].cell.prepared ? prepared_bytes(zygote_of(w, &w->slots[i])) : 0);
    return bytes;
}

/* The most slots for which there are descriptors, at least one. */
static size_t most_slots(void)
{
    struct rlimit fds;
    if (getrlimit(RLIMIT_NOFILE, &fds) < 0 || fds.rlim_max < MORE_FDS + 2 * CELL_FDS)
        return 1;
    return MIN(HC_WARM_SLOTS, (fds.rlim_max - MORE_FDS) / CELL_FDS);
}

static void raise_fds(void)
{
    struct rlimit fds;
    if (getrlimit(RLIMIT_NOFILE, &fds) < 0)
        return;
    fds.rlim_cur = fds.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &fds);
}

static void count_room(struct hc_warm *w)
{
    int64_t free_slots = (int64_t)w->slot_most - w->counts.cells;
    int64_t fit = (w->rules.bytes - bytes_used(w)) / HC_WARM_CELL_BYTES;
    w->counts.room = MAX(MIN(fit, free_slots), 0);
}

void hc_warm_init(struct hc_warm *w, const struct hc_warm_rules *rules)
{
    memset(w, 0, offsetof(struct hc_warm, slots));
    w->rules = *rules;
    raise_fds();
    w->slot_most = most_slots();
    count_room(w);
}

int64_t hc_warm_fit(const struct hc_warm_rules *rules)
{
    int64_t rest = rules->bytes - HC_WARM_PLAIN_BYTES - HC_WARM_USUAL_LOADED * HC_WARM_LOADED_BYTES;
    return MAX(MIN(rest / HC_WARM_CELL_BYTES, (int64_t)most_slots()), 0);
}

static bool is_in_use(int64_t last)
{
    return hc_mono_ms() - last <= IN_USE_MS;
}

/* Drop the cell that has waited the longest for a job, if that is long enough. False: there is none. */
static bool drop_unneeded_cell(struct hc_warm *w)
{
    struct hc_warm_slot *oldest = NULL;
    for (size_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].cell.pid > 0 && (!oldest || w->slots[i].last < oldest->last))
            oldest = &w->slots[i];
    if (!oldest || is_in_use(oldest->last))
        return false;
    drop_cell(w, oldest, &w->counts.cells_expired);
    return true;
}

/* Is `z` one that `other`, of a higher rung of the same policy, can stand in for? */
static bool is_below(const struct hc_warm_zygote *z, const struct hc_warm_zygote *other)
{
    return other && z->rung < other->rung && strcmp(z->key, other->key) == 0;
}

/* The zygote that gives way to `newcomer` (NULL: to a cell): one that it can stand in for, or the one that no
 * job has asked for the longest, if that is long enough. NULL: all are in use. */
static struct hc_warm_zygote *find_unneeded(struct hc_warm *w, const struct hc_warm_zygote *newcomer)
{
    struct hc_warm_zygote *oldest = NULL;
    for (size_t i = 0; i < HC_WARM_ROWS; i++) {
        struct hc_warm_zygote *z = &w->zygotes[i];
        if (z->zygote && (!oldest || z->last < oldest->last))
            oldest = z;
    }
    if (oldest && !is_in_use(oldest->last))
        return oldest;
    for (size_t i = 0; i < HC_WARM_ROWS; i++)
        if (w->zygotes[i].zygote && is_below(&w->zygotes[i], newcomer))
            return &w->zygotes[i];
    return NULL;
}

/* Stop a zygote that another needs the place of; `bound`: what there is no more room in. */
static void evict(struct hc_warm *w, struct hc_warm_zygote *z, const char *bound)
{
    hc_info("a warm interpreter of policy \"%s\" that was last used %lld s ago gives way to another (%s)",
            z->cached->policy.name, (long long)(hc_mono_ms() - z->last) / 1000, bound);
    stop_zygote(w, z, &w->counts.zygotes_evicted);
}

/* Make room for so many more bytes, for `newcomer` (NULL: for a cell), by dropping cells and stopping
 * zygotes. False: there is none. */
static bool make_room(struct hc_warm *w, const struct hc_warm_zygote *newcomer, int64_t bytes)
{
    while (bytes_used(w) + bytes > w->rules.bytes) {
        if (drop_unneeded_cell(w))
            continue;
        struct hc_warm_zygote *z = find_unneeded(w, newcomer);
        if (!z)
            return false;
        evict(w, z, "warm.memory");
    }
    return true;
}

/* Make room for one more zygote among those that a worker keeps. False: all are in use. */
static bool make_place(struct hc_warm *w, const struct hc_warm_zygote *newcomer)
{
    char bound[48];
    if (w->counts.zygotes < HC_WARM_ZYGOTES)
        return true;
    struct hc_warm_zygote *z = find_unneeded(w, newcomer);
    if (!z)
        return false;
    (void)snprintf(bound, sizeof bound, "a worker keeps %d at most", HC_WARM_ZYGOTES);
    evict(w, z, bound);
    return true;
}

/* ---- rows ---- */

/* The row of this key and rung, or else the least recently used one that has no zygote, of which there is
 * always one. */
static struct hc_warm_zygote *find_zygote(struct hc_warm *w, const char *key, size_t rung)
{
    struct hc_warm_zygote *found = NULL;
    for (size_t i = 0; i < HC_WARM_ROWS; i++) {
        struct hc_warm_zygote *z = &w->zygotes[i];
        if (z->rung == rung && strcmp(z->key, key) == 0)
            return z;
        if (!z->zygote && (!found || z->last < found->last))
            found = z;
    }
    *found = (struct hc_warm_zygote){.rung = rung};
    memcpy(found->key, key, sizeof found->key);
    return found;
}

static struct hc_warm_slot *new_slot(struct hc_warm *w)
{
    struct hc_warm_slot *s = &w->slots[w->slot_count++];
    *s = (struct hc_warm_slot){.last = 0};
    hc_parked_init(&s->cell);
    return s;
}

/* The slot of this key below this zygote, or a new one, or the least recently used one, which is emptied. */
static struct hc_warm_slot *find_slot(struct hc_warm *w, const char *key, const char *tenant,
                                      const struct hc_warm_zygote *z)
{
    const size_t zygote = (size_t)(z - w->zygotes);
    struct hc_warm_slot *oldest = &w->slots[0];
    for (size_t i = 0; i < w->slot_count; i++) {
        struct hc_warm_slot *s = &w->slots[i];
        if (s->zygote == zygote && strcmp(s->key, key) == 0)
            return s;
        if (s->last < oldest->last)
            oldest = s;
    }
    if (w->slot_count < w->slot_most)
        oldest = new_slot(w);
    else
        drop_cell(w, oldest, &w->counts.cells_expired);
    memcpy(oldest->key, key, sizeof oldest->key);
    oldest->zygote = zygote;
    (void)snprintf(oldest->tenant, sizeof oldest->tenant, "%s", tenant ? tenant : "");
    return oldest;
}

/* ---- making cells ---- */

/* `z` still holds its policy, which the log names. */
static void note_failure(struct hc_warm *w, struct hc_warm_zygote *z, const char *tenant,
                         const struct hc_error *err)
{
    hc_info("no warm cells%s%s under policy \"%s\": %s", tenant[0] ? " for " : "", tenant,
            z->cached->policy.name, err->text);
    stop_zygote(w, z, &w->counts.zygotes_died);
    if (++z->failures >= FAILURES)
        z->not_before = hc_mono_ms() + PAUSE_MS;
}

/* Drop the cell of this zygote that has waited the longest for a job: its uid is free once it has ended. */
static void drop_oldest_of(struct hc_warm *w, const struct hc_warm_zygote *z)
{
    struct hc_warm_slot *oldest = NULL;
    for (size_t i = 0; i < w->slot_count; i++) {
        struct hc_warm_slot *s = &w->slots[i];
        if (s->cell.pid > 0 && zygote_of(w, s) == z && (!oldest || s->last < oldest->last))
            oldest = s;
    }
    if (oldest)
        drop_cell(w, oldest, &w->counts.cells_expired);
}

/* Put a new cell into the slot, in the place of its cell. If all uids of the zygote are in use, one is given
 * back, and the slot stays empty. */
static void park_cell(struct hc_warm *w, struct hc_warm_slot *s)
{
    struct hc_error err;
    struct hc_warm_zygote *z = zygote_of(w, s);
    if (!hc_zygote_has_room(z->zygote)) {
        drop_oldest_of(w, z);
        return;
    }
    const struct hc_zygote_heir heir = {.key = s->key, .share = {s->tenant[0] ? s->tenant : NULL, s->weight}};
    drop_cell(w, s, hc_parked_alive(&s->cell) ? &w->counts.cells_expired : &w->counts.cells_died);
    if (hc_zygote_park(z->zygote, &heir, &s->cell, &err) < 0) {
        s->cell.pid = 0;
        w->counts.cells_failed++;
        note_failure(w, z, s->tenant, &err);
        return;
    }
    w->counts.cells++;
    w->counts.cells_made++;
    z->failures = 0;
}

/* ---- which cell a job gets ---- */

/* The rung that the job needs. Its inputs and values are often frames, and runs of a session are not known
 * yet. */
static size_t rung_for(const struct hc_job *job, const struct hc_cached_policy *cached)
{
    const cJSON *rules = cached->policy.rules;
    size_t top = hc_ladder_height(rules) - 1;
    if (job->session || !job->code)
        return top;
    size_t rung = hc_ladder_rung(rules, job->code, job->code_len);
    return job->input_count || job->vars || job->given ? MAX(rung, hc_ladder_rung_of(rules, "pandas")) : rung;
}

/* The slot for jobs of this rung, which is asked for now. */
static struct hc_warm_slot *ask_for(struct hc_warm *w, const struct hc_job *job,
                                    const struct hc_cached_policy *cached, size_t rung)
{
    struct hc_warm_zygote *z = find_zygote(w, w->rules.apart ? cached->warm_key : cached->zygote_key, rung);
    struct hc_warm_slot *s = find_slot(w, cached->warm_key, job->tenant, z);
    s->last = z->last = hc_mono_ms();
    z->asked++;
    return s;
}

static bool is_ready(const struct hc_warm_slot *s, const char *key)
{
    return strcmp(s->key, key) == 0 && s->cell.pid > 0 && hc_parked_alive(&s->cell);
}

/* Make a cell for a job that is here already: it takes as long as making one ahead, and much less than a cold
 * cell. False: there is no zygote, or it failed. */
static bool make_at_once(struct hc_warm *w, struct hc_warm_slot *s, int64_t weight)
{
    if (!zygote_of(w, s)->zygote)
        return false;
    s->weight = weight;
    park_cell(w, s);
    return s->cell.pid > 0;
}

/* A slot that has a cell for the job: `wanted`, or one of another rung, the highest first. NULL: there is
 * none. */
static struct hc_warm_slot *find_ready(struct hc_warm *w, struct hc_warm_slot *wanted, const char *key)
{
    struct hc_warm_slot *found = NULL;
    if (is_ready(wanted, key))
        return wanted;
    for (size_t i = 0; i < w->slot_count; i++)
        if (is_ready(&w->slots[i], key) &&
            (!found || zygote_of(w, found)->rung < zygote_of(w, &w->slots[i])->rung))
            found = &w->slots[i];
    return found;
}

/* Why there is no cell in the slot that the job needs. */
static enum hc_cold why_none(struct hc_warm *w, const struct hc_warm_slot *s)
{
    const struct hc_warm_zygote *z = zygote_of(w, s);
    if (!z->zygote)
        return z->last < z->not_before ? HC_COLD_PAUSED : z->crowded ? HC_COLD_FULL : HC_COLD_NEW;
    return s->cell.pid <= 0 ? HC_COLD_NONE : HC_COLD_DIED;
}

static struct hc_parked *go_cold(struct hc_warm *w, enum hc_cold why)
{
    w->counts.cold[why]++;
    return NULL;
}

struct hc_parked *hc_warm_take(struct hc_warm *w, const struct hc_job *job, struct hc_cached_policy *cached,
                               int64_t weight, struct hc_warm_use *use)
{
    const char *why;
    *use = (struct hc_warm_use){0};
    if (w->rules.bytes < HC_WARM_PLAIN_BYTES)
        return go_cold(w, HC_COLD_OFF);
    /* Jobs that need a cell of their own must not take a slot from others. */
    if (job->has_seed || job->dir_count || job->workdir || cached->policy.output_mode == HC_OUTPUT_BIND)
        return go_cold(w, HC_COLD_JOB);
    use->wanted = ask_for(w, job, cached, rung_for(job, cached));
    struct hc_warm_slot *s = find_ready(w, use->wanted, cached->warm_key);
    enum hc_cold none = s ? HC_COLD_NONE : why_none(w, use->wanted);
    if (!s && make_at_once(w, use->wanted, weight))
        s = use->wanted;
    if (!s)
        return go_cold(w, none);
    if (!hc_parked_fits(&s->cell, job, &cached->policy, cached->warm_key, &why))
        return go_cold(w, strcmp(why, "age") == 0 ? HC_COLD_NONE : HC_COLD_JOB);
    s->last = zygote_of(w, s)->last = hc_mono_ms();
    use->slot = s;
    w->counts.cells--;
    w->counts.cells_used++;
    return &s->cell;
}

/* ---- the next cell ---- */

static bool has_died(const struct hc_zygote *z)
{
    struct pollfd p = {.fd = hc_zygote_pidfd(z), .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static bool is_used_up(const struct hc_warm *w, const struct hc_warm_zygote *z)
{
    return hc_zygote_made(z->zygote) >= w->rules.cells || hc_mono_ms() - z->started >= w->rules.age_ms;
}

static void tell_of_sample(struct hc_warm_zygote *z)
{
    const char *why = hc_zygote_sample(z->zygote);
    if (why[0] && !z->told)
        hc_warn("warm.sample of policy \"%s\" fails, so its jobs are slower: %s", z->cached->policy.name,
                why);
    z->told = why[0];
}

/* Start a zygote if enough jobs asked for one, and there is room. -1: there is none. */
static int start_zygote(struct hc_warm *w, struct hc_warm_slot *s, struct hc_cached_policy *cached)
{
    struct hc_error err;
    struct hc_warm_zygote *z = zygote_of(w, s);
    if (z->asked < w->rules.wanted || hc_mono_ms() < z->not_before)
        return -1;
    z->crowded = !make_room(w, z, zygote_bytes(cached, z->rung)) || !make_place(w, z);
    if (z->crowded)
        return -1;
    z->cached = hc_policy_cache_hold(cached);
    if (hc_zygote_start(&z->zygote, &cached->policy, z->rung, &err) < 0) {
        z->zygote = NULL;
        w->counts.zygotes_failed++;
        note_failure(w, z, s->tenant, &err);
        hc_policy_cache_drop(z->cached);
        z->cached = NULL;
        return -1;
    }
    tell_of_sample(z);
    z->started = hc_mono_ms();
    w->counts.zygotes++;
    w->counts.zygotes_started++;
    return 0;
}

static void settle_slot(struct hc_warm *w, struct hc_warm_slot *s, struct hc_cached_policy *cached,
                        int64_t weight)
{
    struct hc_warm_zygote *z = zygote_of(w, s);
    s->weight = weight;
    if (z->zygote && has_died(z->zygote))
        stop_zygote(w, z, &w->counts.zygotes_died);
    else if (z->zygote && is_used_up(w, z))
        stop_zygote(w, z, &w->counts.zygotes_recycled);
    if (!z->zygote && start_zygote(w, s, cached) < 0)
        return;
    bool waits = s->cell.pid > 0 && hc_parked_alive(&s->cell) && hc_now_us() - s->cell.born_us <= OLD_US;
    if (!waits && make_room(w, NULL, HC_WARM_CELL_BYTES))
        park_cell(w, s);
}

void hc_warm_settle(struct hc_warm *w, const struct hc_warm_use *use, struct hc_cached_policy *cached,
                    int64_t weight)
{
    if (use->slot)
        settle_slot(w, use->slot, cached, weight);
    if (use->wanted && use->wanted != use->slot)
        settle_slot(w, use->wanted, cached, weight);
    count_room(w);
}

/* The cell that is to prepare next: that of the tenant who asked last. NULL: there is none. */
static struct hc_warm_slot *find_unprepared(struct hc_warm *w)
{
    struct hc_warm_slot *next = NULL;
    for (size_t i = 0; i < w->slot_count; i++) {
        struct hc_warm_slot *s = &w->slots[i];
        if (s->cell.pid > 0 && !s->cell.prepared && is_in_use(s->last) && (!next || s->last > next->last))
            next = s;
    }
    return next;
}

/* The prepared cell that has waited the longest for a job; NULL: there is none. `count`: number of prepared
 * cells. */
static struct hc_warm_slot *find_prepared(struct hc_warm *w, size_t *count)
{
    struct hc_warm_slot *oldest = NULL;
    *count = 0;
    for (size_t i = 0; i < w->slot_count; i++) {
        struct hc_warm_slot *s = &w->slots[i];
        if (s->cell.pid <= 0 || !s->cell.prepared)
            continue;
        ++*count;
        if (!oldest || s->last < oldest->last)
            oldest = s;
    }
    return oldest;
}

bool hc_warm_prepare(struct hc_warm *w)
{
    size_t count;
    struct hc_warm_slot *next = find_unprepared(w), *oldest = find_prepared(w, &count);
    if (!next)
        return false;
    if (count >= HC_WARM_PREPARED && is_in_use(oldest->last))
        return false;
    if (count >= HC_WARM_PREPARED)
        park_cell(w, oldest); /* a new one shares its memory with its interpreter */
    const int64_t more = prepared_bytes(zygote_of(w, next));
    if (bytes_used(w) + more > w->rules.bytes)
        return false;
    hc_parked_prepare(&next->cell);
    return true;
}

bool hc_warm_renew(struct hc_warm *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        if (w->slots[i].cell.pid > 0 && hc_now_us() - w->slots[i].cell.born_us > OLD_US) {
            park_cell(w, &w->slots[i]);
            return w->slots[i].cell.pid > 0 && hc_now_us() - w->slots[i].cell.born_us <= OLD_US;
        }
    }
    return false;
}

void hc_warm_refresh(struct hc_warm *w)
{
    for (size_t i = 0; i < HC_WARM_ROWS; i++) {
        struct hc_warm_zygote *z = &w->zygotes[i];
        if (!z->zygote)
            continue;
        if (has_died(z->zygote))
            stop_zygote(w, z, &w->counts.zygotes_died);
        else if (hc_mono_ms() - z->last > w->rules.idle_ms)
            stop_zygote(w, z, &w->counts.zygotes_idle);
        else if (hc_mono_ms() - z->started >= w->rules.age_ms)
            stop_zygote(w, z, &w->counts.zygotes_recycled);
    }
    count_room(w);
}

void hc_warm_drop(struct hc_warm *w, hc_warm_is_bad *is_bad, void *ctx)
{
    for (size_t i = 0; i < HC_WARM_ROWS; i++) {
        const char *ids[HC_MAX_TREE_LAYERS + 1], *name;
        if (!w->zygotes[i].zygote)
            continue;
        size_t count = hc_zygote_trees(w->zygotes[i].zygote, &name, ids);
        if (is_bad(ctx, name, ids, count))
            stop_zygote(w, &w->zygotes[i], &w->counts.zygotes_recycled);
    }
}

void hc_warm_finish(struct hc_warm *w)
{
    for (size_t i = 0; i < HC_WARM_ROWS; i++)
        stop_zygote(w, &w->zygotes[i], &w->counts.zygotes_idle);
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

int hc_warm_run(struct hc_warm *w, struct hc_warm_use *use, struct hc_cached_policy *cached,
                struct hc_run *run, struct hc_manifest *m, struct hc_error *err)
{
    run->parked = hc_warm_take(w, run->job, cached, run->share.weight, use);
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
