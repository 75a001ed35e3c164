#include "cell/drill.h"

#include "cell/doctor/drill_range.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drill.inc"

#define HELD "drill held: " /* begins the line printed for an attack that did not reach its target */

/* This code follows each attack: it calls the attack and prints the result. It uses no module, no underscore
 * and no other feature that a policy might refuse. */
static const char call_it[] =
    "\n\n"
    "try:\n"
    "    reached = attack(lure)\n"
    "    print('drill reached: ' + reached if reached else 'drill held: nothing came of it')\n"
    "except BaseException as error:\n"
    "    print('drill held: ' + type(error).__name__ + ': ' + str(error))\n";

/* Two tests of the drill itself: an attack that does nothing must count as held, and one that succeeds as
 * reached. */
static const struct hc_attack idle = {.text = "def attack(lure):\n    return None\n"};
static const struct hc_attack winner = {.text = "def attack(lure):\n    return lure['secret']\n"};

struct drill {
    struct hc_range range;                       /* cells, decoys and the last manifest; owned */
    struct hc_drill_layer layers[HC_MAX_LAYERS]; /* counts for each of `seen` */
    struct hc_layer seen[HC_MAX_LAYERS];         /* the layers of a usual cell, and the guard */
    size_t layer_count;                          /* used entries of both */
};

const char *hc_drill_verdict_name(enum hc_drill_verdict v)
{
    static const char *const names[] = {"not tried", "held", "reached", "unclear"};
    return names[v];
}

/* ---- one attempt ---- */

static void set_result(struct hc_drill_result *r, enum hc_drill_verdict verdict, const char *by,
                       const char *detail, size_t len)
{
    *r = (struct hc_drill_result){.verdict = verdict, .by = by};
    (void)snprintf(r->detail, sizeof r->detail, "%.*s",
                   (int)(len < sizeof r->detail ? len : sizeof r->detail), detail);
}

/* The layer that refused the attack, according to the manifest's denials. */
static const char *refuser(const struct hc_manifest *m)
{
    for (size_t i = 0; i < m->denials.count; i++)
        if (m->denials.items[i].by != HC_REFUSER_SECCOMP)
            return "guard";
    return m->denials.count ? "seccomp" : "kernel";
}

/* The rest of the last line that begins with `mark`. The attack's own output comes before that line. */
static const char *last_line(const struct hc_buf *text, const char *mark, size_t *len)
{
    const char *found = NULL, *end = text->data + text->len;
    for (const char *at = text->data; at && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if ((size_t)(stop - at) >= strlen(mark) && memcmp(at, mark, strlen(mark)) == 0) {
            found = at + strlen(mark);
            *len = (size_t)(stop - found);
        }
        at = newline ? newline + 1 : NULL;
    }
    return found;
}

/* Whether a limit ended an attack on limits. */
static bool was_limited(const struct hc_manifest *m, const struct hc_ground *ground)
{
    return ground->kind != HC_GROUND_USUAL && hc_status_is_limit(m->status);
}

#define COLLECT_SLACK_MS 1000 /* ms that collecting may take beyond limits.collect_time */

/* Whether an attack succeeded without reporting it. */
static bool has_reached(const struct hc_range *g, const struct hc_ground *ground, struct hc_drill_result *r)
{
    static const char spoke[] = "a later run was said to be rejected",
                      held[] = "it kept the launcher collecting";
    int64_t most_ms = ground->policy.limits.collect_ms + COLLECT_SLACK_MS;
    if (g->forged)
        set_result(r, HC_DRILL_REACHED, "", spoke, strlen(spoke));
    else if (g->m->timing.collect_us / 1000 > most_ms)
        set_result(r, HC_DRILL_REACHED, "", held, strlen(held));
    return r->verdict == HC_DRILL_REACHED;
}

static void conclude_from_status(const struct hc_ground *ground, const struct hc_manifest *m,
                                 struct hc_drill_result *r)
{
    if (was_limited(m, ground))
        set_result(r, HC_DRILL_HELD, "limit", m->reason, strlen(m->reason));
    else if (m->status == HC_STATUS_ERROR || m->status == HC_STATUS_KILLED)
        set_result(r, HC_DRILL_HELD, refuser(m), m->reason, strlen(m->reason));
    else
        set_result(r, HC_DRILL_UNCLEAR, "", m->reason, strlen(m->reason));
}

static void conclude_attempt(const struct hc_range *g, const struct hc_ground *ground,
                             struct hc_drill_result *r)
{
    const struct hc_manifest *m = g->m;
    size_t len = 0;
    *r = (struct hc_drill_result){.by = ""};
    const char *line = last_line(&m->out.text, HC_DRILL_SAYS_REACHED, &len);
    if (line) {
        set_result(r, HC_DRILL_REACHED, "", line, len);
        return;
    }
    if (has_reached(g, ground, r))
        return;
    if (m->status == HC_STATUS_REJECTED) {
        set_result(r, HC_DRILL_HELD, "guard", m->rejection.message, strlen(m->rejection.message));
        return;
    }
    line = last_line(&m->out.text, HELD, &len);
    if (line && strncmp(line, "NameError", strlen("NameError")) == 0) /* the attack did not begin */
        set_result(r, HC_DRILL_UNCLEAR, "", line, len);
    else if (line && !was_limited(m, ground))
        set_result(r, HC_DRILL_HELD, refuser(m), line, len);
    else
        conclude_from_status(ground, m, r);
}

static int attempt(struct hc_range *g, const struct hc_attack *a, struct hc_ground *ground,
                   struct hc_drill_result *out, struct hc_error *err)
{
    char *code = NULL;
    if (asprintf(&code, "%s%s%s", a->with_kit ? kit : "", a->text, call_it) < 0)
        return hc_fail(err, ENOMEM, "drill");
    int rc = hc_range_run(g, ground, code, err);
    free(code);
    if (rc < 0)
        return a->name ? hc_ctx(err, "attack %s", a->name) : -1;
    conclude_attempt(g, ground, out);
    return 0;
}

/* ---- layers ---- */

static void remember_layers(struct drill *g)
{
    const struct hc_policy *p = g->range.d->policy;
    const struct hc_manifest *m = g->range.m;
    for (size_t i = 0; i < m->layer_count; i++)
        g->seen[g->layer_count++] = m->layers[i];
    if (g->layer_count < HC_MAX_LAYERS)
        g->seen[g->layer_count++] = (struct hc_layer){
            .name = "guard", .on = p->guard == HC_GUARD_ON, .evidence = "the policy's rules for Python code"};
    for (size_t i = 0; i < g->layer_count; i++)
        g->layers[i].layer = &g->seen[i];
}

static bool names_layer(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

static void count_row(struct drill *g, const struct hc_drill_row *row)
{
    const struct hc_drill_result *const both[] = {&row->as_is, &row->unguarded};
    bool reached = false;
    for (size_t i = 0; i < 2; i++) {
        g->range.d->tried += both[i]->verdict != HC_DRILL_NOT_TRIED;
        g->range.d->held += both[i]->verdict == HC_DRILL_HELD;
        g->range.d->unclear += both[i]->verdict == HC_DRILL_UNCLEAR;
        reached |= both[i]->verdict == HC_DRILL_REACHED;
    }
    for (size_t i = 0; i < g->layer_count; i++)
        if (names_layer(row->attack->held, g->seen[i].name)) {
            g->layers[i].attacks++;
            g->layers[i].reached += reached;
        }
}

/* ---- all attacks ---- */

/* Whether the host lacks a decoy of the attack, which names it as lure["NAME"]. */
static bool lacks_decoy(const struct hc_range *g, const struct hc_attack *a)
{
    return (g->decoys.shm_id < 0 && strstr(a->text, "lure[\"shm\"]")) ||
           (g->decoys.mq == (mqd_t)-1 && strstr(a->text, "lure[\"mqueue\"]"));
}

static bool has_guard(const struct drill *g)
{
    return g->range.d->policy->guard == HC_GUARD_ON;
}

static int try_attack(struct drill *g, const struct hc_attack *a, struct hc_error *err)
{
    struct hc_drill_row row = {.attack = a, .as_is.by = "", .unguarded.by = ""};
    struct hc_ground *grounds = g->range.grounds[hc_ground_kind(a->cell)];
    if (!lacks_decoy(&g->range, a) && !grounds->unavailable &&
        (attempt(&g->range, a, &grounds[0], &row.as_is, err) < 0 ||
         (has_guard(g) && attempt(&g->range, a, &grounds[1], &row.unguarded, err) < 0)))
        return -1;
    count_row(g, &row);
    g->range.d->each(g->range.d->ctx, &row);
    return 0;
}

/* Test that the drill recognises a held and a successful attack in this kind of cell. */
static int prove_ground(struct hc_range *g, struct hc_ground *ground, struct hc_error *err)
{
    struct hc_drill_result r;
    if (attempt(g, &idle, ground, &r, err) < 0)
        return -1;
    if (r.verdict != HC_DRILL_HELD || g->m->status != HC_STATUS_OK)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "attacks cannot be tried under this policy: one that does nothing ends with '%s'",
                          g->m->reason[0] ? g->m->reason : r.detail);
    if (attempt(g, &winner, ground, &r, err) < 0)
        return -1;
    if (r.verdict != HC_DRILL_REACHED || strcmp(r.detail, g->decoys.secret) != 0)
        return hc_fail(err, 0, "an attack that succeeds is not seen: '%s'", r.detail);
    ground->proven = true;
    return 0;
}

/* Test the cells that the policy itself describes, in which most attacks are tried. The drill reports the
 * layers of the last of them, which has no guard. */
static int prove_usual(struct drill *g, struct hc_error *err)
{
    struct hc_ground *grounds = g->range.grounds[HC_GROUND_USUAL];
    if (prove_ground(&g->range, &grounds[0], err) < 0 ||
        (has_guard(g) && prove_ground(&g->range, &grounds[1], err) < 0))
        return -1;
    remember_layers(g);
    return hc_range_learn_idle(&g->range, g->range.m->usage.memory_peak, err);
}

/* Test another kind of cell, which cannot be made under every policy. */
static int prove_kind(struct drill *g, enum hc_ground_kind kind, struct hc_error *err)
{
    struct hc_ground *grounds = g->range.grounds[kind];
    if (grounds->proven || grounds->unavailable)
        return 0;
    if (prove_ground(&g->range, &grounds[0], err) == 0 &&
        (!has_guard(g) || prove_ground(&g->range, &grounds[1], err) == 0))
        return 0;
    grounds->unavailable = err->exit == HC_EXIT_CONFIG || err->exit == HC_EXIT_UNAVAILABLE;
    if (!grounds->unavailable)
        return -1;
    *err = (struct hc_error){0};
    return 0;
}

static bool is_attack(const char *name)
{
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
        if (strcmp(name, attacks[i].name) == 0)
            return true;
    return false;
}

static int try_all(struct drill *g, struct hc_error *err)
{
    const struct hc_drill *d = g->range.d;
    if (prove_usual(g, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        if (d->only && strcmp(d->only, attacks[i].name) != 0)
            continue;
        if (prove_kind(g, hc_ground_kind(attacks[i].cell), err) < 0 || try_attack(g, &attacks[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < g->layer_count; i++)
        d->layer(d->ctx, &g->layers[i]);
    return 0;
}

int hc_drill(struct hc_drill *d, struct hc_error *err)
{
    if (d->only && !is_attack(d->only))
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "there is no attack '%.60s' (without --attack, all are listed)", d->only);
    struct drill g = {.layer_count = 0};
    int rc = hc_range_open(&g.range, d, err) < 0 ? -1 : try_all(&g, err);
    hc_range_close(&g.range);
    return rc;
}
