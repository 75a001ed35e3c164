#include "cell/drill.h"

#include "base/fd.h"
#include "cell/lures.h"
#include "cell/parked.h"
#include "cell/run.h"
#include "cell/zygote.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drill.inc"

#define REACHED "drill reached: "
#define HELD    "drill held: "

/* Needs no module, no underscore and nothing else that a policy might refuse. */
static const char call_it[] =
    "\n\n"
    "try:\n"
    "    reached = attack(lure)\n"
    "    print('drill reached: ' + reached if reached else 'drill held: nothing came of it')\n"
    "except BaseException as error:\n"
    "    print('drill held: ' + type(error).__name__ + ': ' + str(error))\n";

/* The drill's own two proofs: that an attack which does nothing is held, and one that succeeds is seen. */
static const struct hc_attack idle = {
    .name = "idle", .about = "", .group = "", .held = "", .text = "def attack(lure):\n    return None\n"};
static const struct hc_attack winner = {.name = "winner",
                                        .about = "",
                                        .group = "",
                                        .held = "",
                                        .text = "def attack(lure):\n    return lure['secret']\n"};

#define ZYGOTES 2 /* under the policy, and under it without its guard */

struct range {
    struct hc_drill *d;
    struct hc_policy bare;              /* the policy without its guard; shares what it points to */
    struct hc_zygote *zygotes[ZYGOTES]; /* of warm cells; NULL: none yet */
    struct hc_lures lures;
    char *vars;                 /* NAME=JSON for hc_job_add_var */
    char results[HC_LURES_DIR]; /* a directory for what attacks leave in /output; empty: none yet */
    struct hc_manifest *m;      /* of the last cell */
    struct hc_drill_layer layers[HC_MAX_LAYERS];
    struct hc_layer seen[HC_MAX_LAYERS];
    size_t layer_count;
};

const char *hc_drill_verdict_name(enum hc_drill_verdict v)
{
    static const char *const names[] = {"not tried", "held", "reached", "unclear"};
    return names[v];
}

/* ---- one cell ---- */

static int write_program(const struct hc_attack *a, struct hc_job *job, struct hc_error *err)
{
    int n = asprintf(&job->code, "%s%s%s", a->with_kit ? kit : "", a->text, call_it);
    if (n < 0) {
        job->code = NULL;
        return hc_fail(err, ENOMEM, "attack %s", a->name);
    }
    job->code_len = (size_t)n;
    return 0;
}

static void set_result(struct hc_drill_result *r, enum hc_drill_verdict verdict, const char *by,
                       const char *detail, size_t len)
{
    *r = (struct hc_drill_result){.verdict = verdict, .by = by};
    (void)snprintf(r->detail, sizeof r->detail, "%.*s",
                   (int)(len < sizeof r->detail ? len : sizeof r->detail), detail);
}

/* Who refused, as far as the manifest tells. */
static const char *refuser(const struct hc_manifest *m)
{
    for (size_t i = 0; i < m->denials.count; i++)
        if (m->denials.items[i].by != HC_REFUSER_SECCOMP)
            return "guard";
    return m->denials.count ? "seccomp" : "kernel";
}

/* The last line that the runner printed. What the attack itself printed comes before. */
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

static void judge(const struct hc_manifest *m, struct hc_drill_result *r)
{
    size_t len = 0;
    const char *line = last_line(&m->out.text, REACHED, &len);
    if (line) {
        set_result(r, HC_DRILL_REACHED, "", line, len);
        return;
    }
    if (m->status == HC_STATUS_REJECTED) {
        set_result(r, HC_DRILL_HELD, "guard", m->rejection.message, strlen(m->rejection.message));
        return;
    }
    line = last_line(&m->out.text, HELD, &len);
    if (line && strncmp(line, "NameError", strlen("NameError")) == 0) /* it never got as far as to attack */
        set_result(r, HC_DRILL_UNCLEAR, "", line, len);
    else if (line)
        set_result(r, HC_DRILL_HELD, refuser(m), line, len);
    else if (m->status == HC_STATUS_ERROR || m->status == HC_STATUS_KILLED)
        set_result(r, HC_DRILL_HELD, refuser(m), m->reason, strlen(m->reason));
    else
        set_result(r, HC_DRILL_UNCLEAR, "", m->reason, strlen(m->reason));
}

static bool cancelled(const struct hc_drill *d)
{
    struct pollfd p = {.fd = d->cancel_fd, .events = POLLIN};
    return d->cancel_fd >= 0 && poll(&p, 1, 0) == 1;
}

/* A warm one, if such are attacked. */
static int get_cell(struct range *g, const struct hc_policy *policy, struct hc_parked *out,
                    struct hc_error *err)
{
    struct hc_zygote **zygote = &g->zygotes[policy == &g->bare];
    if (!g->d->warm)
        return 0;
    if (!*zygote && hc_zygote_start(zygote, policy, NULL, 0, err) < 0)
        return -1;
    return hc_zygote_park(*zygote, out, err);
}

static int run_attack(struct range *g, const struct hc_attack *a, const struct hc_policy *policy,
                      struct hc_error *err)
{
    struct hc_job job = {0};
    struct hc_run run = {
        .job = &job, .policy = policy, .pass_stdout = -1, .pass_stderr = -1, .cancel_fd = g->d->cancel_fd};
    struct hc_parked cell;
    hc_parked_init(&cell);
    hc_manifest_finish(g->m);
    *g->m = (struct hc_manifest){0};
    int rc = write_program(a, &job, err);
    if (rc == 0 && !(job.output_dir = strdup(g->results)))
        rc = hc_fail(err, ENOMEM, "attack %s", a->name);
    if (rc == 0)
        rc = hc_job_add_var(&job, g->vars, err);
    if (rc == 0)
        rc = get_cell(g, policy, &cell, err);
    run.parked = g->d->warm ? &cell : NULL;
    if (rc == 0)
        rc = hc_run(&run, g->m, err);
    hc_parked_finish(&cell);
    hc_run_finish(&run);
    hc_job_finish(&job);
    if (rc == 0 && cancelled(g->d))
        return hc_fail(err, 0, "the drill was ended by a signal");
    return rc < 0 ? hc_ctx(err, "attack %s", a->name) : 0;
}

static int attempt(struct range *g, const struct hc_attack *a, const struct hc_policy *policy,
                   struct hc_drill_result *out, struct hc_error *err)
{
    if (run_attack(g, a, policy, err) < 0)
        return -1;
    judge(g->m, out);
    return 0;
}

/* ---- what rests on which layer ---- */

static void remember_layers(struct range *g)
{
    const struct hc_policy *p = g->d->policy;
    for (size_t i = 0; i < g->m->layer_count; i++)
        g->seen[g->layer_count++] = g->m->layers[i];
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

static void count(struct range *g, const struct hc_drill_row *row)
{
    const struct hc_drill_result *const both[] = {&row->as_is, &row->unguarded};
    bool reached = false;
    for (size_t i = 0; i < 2; i++) {
        g->d->tried += both[i]->verdict != HC_DRILL_NOT_TRIED;
        g->d->held += both[i]->verdict == HC_DRILL_HELD;
        g->d->unclear += both[i]->verdict == HC_DRILL_UNCLEAR;
        reached |= both[i]->verdict == HC_DRILL_REACHED;
    }
    for (size_t i = 0; i < g->layer_count; i++)
        if (names_layer(row->attack->held, g->seen[i].name)) {
            g->layers[i].attacks++;
            g->layers[i].reached += reached;
        }
}

/* ---- all of them ---- */

/* Attacks name the lures that they need as lure["NAME"]. */
static bool lacks_lure(const struct range *g, const struct hc_attack *a)
{
    return (g->lures.shm_id < 0 && strstr(a->text, "lure[\"shm\"]")) ||
           (g->lures.mq == (mqd_t)-1 && strstr(a->text, "lure[\"mqueue\"]"));
}

static int try_attack(struct range *g, const struct hc_attack *a, struct hc_error *err)
{
    struct hc_drill_row row = {.attack = a, .as_is.by = "", .unguarded.by = ""};
    const struct hc_policy *policy = g->d->policy;
    if (!lacks_lure(g, a) &&
        (attempt(g, a, policy, &row.as_is, err) < 0 ||
         (policy->guard == HC_GUARD_ON && attempt(g, a, &g->bare, &row.unguarded, err) < 0)))
        return -1;
    count(g, &row);
    g->d->each(g->d->ctx, &row);
    return 0;
}

/* A drill that sees nothing would let everything pass. */
static int prove(struct range *g, const struct hc_policy *policy, struct hc_error *err)
{
    struct hc_drill_result r;
    if (attempt(g, &idle, policy, &r, err) < 0)
        return -1;
    if (r.verdict != HC_DRILL_HELD || g->m->status != HC_STATUS_OK)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "attacks cannot be tried under this policy: one that does nothing ends with '%s'",
                          g->m->reason[0] ? g->m->reason : r.detail);
    if (policy == &g->bare || g->d->policy->guard == HC_GUARD_OFF)
        remember_layers(g);
    if (attempt(g, &winner, policy, &r, err) < 0)
        return -1;
    if (r.verdict != HC_DRILL_REACHED || strcmp(r.detail, g->lures.secret) != 0)
        return hc_fail(err, 0, "an attack that succeeds is not seen: '%s'", r.detail);
    return 0;
}

static bool is_attack(const char *name)
{
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
        if (strcmp(name, attacks[i].name) == 0)
            return true;
    return false;
}

static int try_all(struct range *g, struct hc_error *err)
{
    if (prove(g, g->d->policy, err) < 0 ||
        (g->d->policy->guard == HC_GUARD_ON && prove(g, &g->bare, err) < 0))
        return -1;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        if (g->d->only && strcmp(g->d->only, attacks[i].name) != 0)
            continue;
        if (try_attack(g, &attacks[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < g->layer_count; i++)
        g->d->layer(g->d->ctx, &g->layers[i]);
    return 0;
}

static int prepare(struct range *g, struct hc_error *err)
{
    if (hc_lures_put_up(&g->lures, err) < 0)
        return -1;
    if (hc_lures_make_dir(g->results, sizeof g->results, "results", err) < 0)
        return -1;
    cJSON *lures = hc_lures_print(&g->lures);
    char *text = cJSON_PrintUnformatted(lures);
    cJSON_Delete(lures);
    bool made = text && asprintf(&g->vars, "lure=%s", text) >= 0;
    cJSON_free(text);
    g->m = calloc(1, sizeof *g->m);
    if (made && g->m)
        return 0;
    g->vars = made ? g->vars : NULL;
    return hc_fail(err, ENOMEM, "drill");
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0;
}

int hc_drill(struct hc_drill *d, struct hc_error *err)
{
    if (d->only && !is_attack(d->only))
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "there is no attack '%.60s' (without --attack, all are listed)", d->only);
    struct range g = {.d = d, .bare = *d->policy};
    g.bare.guard = HC_GUARD_OFF;
    int rc = prepare(&g, err) < 0 ? -1 : try_all(&g, err);
    for (size_t i = 0; i < ZYGOTES; i++)
        hc_zygote_stop(g.zygotes[i]);
    hc_lures_remove(&g.lures);
    /* Of what attacks left there, only plain files and folders of ours ever come out of a cell. */
    if (g.results[0])
        (void)nftw(g.results, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    if (g.m)
        hc_manifest_finish(g.m);
    free(g.m);
    free(g.vars);
    return rc;
}
