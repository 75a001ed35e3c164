#include "daemon/warm.h"

#include "base/log.h"
#include "cell/supervise.h"
#include "daemon/reactor.h"

#include <poll.h>
#include <string.h>

#define WANTED     2     /* times that somebody asked, before a zygote is started */
#define MOST_CELLS 1000  /* of one zygote: they share an address layout */
#define PAUSE_MS   60000 /* after so many failures in a row: */
#define FAILURES   2

/* Nobody has asked for so long: the zygote ends. */
#define IDLE_MS (INT64_C(600) * 1000)
/* A waiting cell is replaced, well before it is too old to be used. */
#define OLD_US (INT64_C(240) * 1000000)

void hc_warm_init(struct hc_warm *w, size_t most)
{
    *w = (struct hc_warm){.most = most < HC_WARM_MOST ? most : HC_WARM_MOST};
    for (size_t i = 0; i < HC_WARM_MOST; i++)
        hc_parked_init(&w->slots[i].cell);
}

/* Zygote and cells; the slot remembers how often it was asked for. */
static void cool(struct hc_warm_slot *s)
{
    hc_parked_finish(&s->cell);
    hc_parked_init(&s->cell);
    hc_zygote_stop(s->zygote);
    if (s->zygote)
        hc_policy_finish(&s->policy);
    s->zygote = NULL;
}

/* Its own, or a free one, or the one that was not asked for the longest. */
static struct hc_warm_slot *find_slot(struct hc_warm *w, const char *key, const char *tenant)
{
    struct hc_warm_slot *oldest = &w->slots[0];
    for (size_t i = 0; i < w->most; i++) {
        if (strcmp(w->slots[i].key, key) == 0)
            return &w->slots[i];
        if (w->slots[i].last < oldest->last)
            oldest = &w->slots[i];
    }
    cool(oldest);
    memcpy(oldest->key, key, sizeof oldest->key);
    (void)strncpy(oldest->tenant, tenant ? tenant : "", sizeof oldest->tenant - 1);
    oldest->asked = oldest->not_before = oldest->failures = 0;
    return oldest;
}

struct hc_parked *hc_warm_take(struct hc_warm *w, const struct hc_job *job, const struct hc_policy *policy,
                               struct hc_warm_slot **slot)
{
    char key[HC_SHA256_HEX];
    struct hc_error ignored;
    const char *why;
    *slot = NULL;
    /* Whatever a cell of its own alone can have is not to drive a zygote out. */
    if (w->most == 0 || job->has_seed || policy->output_mode == HC_OUTPUT_BIND ||
        hc_warm_key(policy, job->tenant, key, &ignored) < 0)
        return NULL;
    struct hc_warm_slot *s = find_slot(w, key, job->tenant);
    s->last = hc_mono_ms();
    s->asked++;
    *slot = s;
    if (!s->zygote || s->cell.pid <= 0)
        return NULL;
    return hc_parked_alive(&s->cell) && hc_parked_fits(&s->cell, job, policy, &why) ? &s->cell : NULL;
}

static bool died(const struct hc_zygote *z)
{
    struct pollfd p = {.fd = hc_zygote_pidfd(z), .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static void give_up(struct hc_warm_slot *s, const struct hc_error *err)
{
    hc_info("no warm cells for %s: %s", s->tenant, err->text);
    cool(s);
    if (++s->failures >= FAILURES)
        s->not_before = hc_mono_ms() + PAUSE_MS;
}

static void park(struct hc_warm_slot *s)
{
    struct hc_error err;
    hc_parked_finish(&s->cell);
    hc_parked_init(&s->cell);
    if (hc_zygote_park(s->zygote, &s->cell, &err) < 0)
        give_up(s, &err);
    else
        s->failures = 0;
}

void hc_warm_settle(struct hc_warm_slot *s, struct hc_policy *policy, int64_t weight)
{
    struct hc_error err;
    if (s->zygote && (hc_zygote_made(s->zygote) >= MOST_CELLS || died(s->zygote)))
        cool(s);
    if (!s->zygote) {
        if (s->asked < WANTED || hc_mono_ms() < s->not_before)
            return;
        s->policy = *policy;
        hc_policy_init(policy);
        if (hc_zygote_start(&s->zygote, &s->policy, s->tenant[0] ? s->tenant : NULL, weight, &err) < 0) {
            s->zygote = NULL;
            hc_policy_finish(&s->policy);
            give_up(s, &err);
            return;
        }
    }
    if (hc_zygote_weigh(s->zygote, weight, &err) < 0)
        hc_info("weight of %s: %s", s->tenant, err.text);
    if (s->cell.pid <= 0 || !hc_parked_alive(&s->cell) || hc_now_us() - s->cell.born_us > OLD_US)
        park(s);
}

void hc_warm_refresh(struct hc_warm *w)
{
    for (size_t i = 0; i < w->most; i++) {
        struct hc_warm_slot *s = &w->slots[i];
        if (s->zygote && (hc_mono_ms() - s->last > IDLE_MS || died(s->zygote)))
            cool(s);
        else if (s->zygote && hc_now_us() - s->cell.born_us > OLD_US)
            park(s);
    }
}
