#include "cell/doctor/drill_range.h"

#include "cell/launch/parked.h"
#include "cell/run.h"
#include "cell/session.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>

/* ---- kinds of cells ---- */

/* Options that are set for each kind of cell. */
static const struct {
    const char *name;
    const char *settings[5][2]; /* flag and value */
} kinds[HC_GROUNDS] = {
    [HC_GROUND_USUAL] = {"", {{NULL}}},
    [HC_GROUND_SMALL] = {"small",
                         {{"memory", "64M"},
                          {"memory-soft", "0"},
                          {"timeout", "60s"},
                          {"open-files", "16384"},
                          {"tmp-files", "300000"}}},
    [HC_GROUND_BIND] = {"bind", {{"output-mode", "bind"}, {"collect-time", "200ms"}}},
    [HC_GROUND_SESSION] = {"session", {{NULL}}},
    [HC_GROUND_DIRECTORIES] = {"directories", {{NULL}}},
};

enum hc_ground_kind hc_ground_kind(const char *name)
{
    int kind = HC_GROUND_USUAL;
    while (kind < HC_GROUNDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    return (enum hc_ground_kind)kind;
}

/* Whether cells may open so many files: with a lower limit attacks would fail because of it, and seem
 * held. */
static bool allows_files(int64_t count)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_max == RLIM_INFINITY ||
           files.rlim_max >= (rlim_t)count;
}

static int make_ground(struct hc_ground *ground, enum hc_ground_kind kind, const struct hc_policy *policy,
                       bool guard, struct hc_error *err)
{
    *ground = (struct hc_ground){.kind = kind, .policy = *policy};
    if (!guard)
        ground->policy.guard = HC_GUARD_OFF;
    for (size_t i = 0; i < sizeof kinds[kind].settings / sizeof *kinds[kind].settings; i++) {
        const char *const *setting = kinds[kind].settings[i];
        if (setting[0] && hc_option_set(&ground->policy, hc_option_by_flag(setting[0]), setting[1], err) < 0)
            return -1;
    }
    ground->unavailable = kind == HC_GROUND_SMALL && !allows_files(ground->policy.limits.open_files);
    return 0;
}

/* ---- decoys and variables ---- */

/* Bounds in seconds. Between them an attack may take as long as CELLS idle cells one after another, as
 * emulated machines are slow. */
#define LEAST_SECONDS 8
#define MOST_SECONDS  50
#define CELLS         40

/* `memory`: bytes of memory of a small cell. `idle_us`: duration of a program that does nothing. */
static int set_vars(struct hc_range *g, int64_t memory, int64_t idle_us, struct hc_error *err)
{
    free(g->vars);
    g->vars = NULL;
    cJSON *decoys = hc_decoys_print(&g->decoys);
    int64_t seconds = MIN(MAX(idle_us * CELLS / 1000000, LEAST_SECONDS), MOST_SECONDS);
    (void)cJSON_AddNumberToObject(decoys, "memory", (double)memory);
    (void)cJSON_AddNumberToObject(decoys, "seconds", (double)seconds);
    char *text = cJSON_PrintUnformatted(decoys);
    cJSON_Delete(decoys);
    bool made = text && asprintf(&g->vars, "lure=%s", text) >= 0;
    cJSON_free(text);
    if (made)
        return 0;
    g->vars = NULL;
    return hc_fail(err, ENOMEM, "drill");
}

int hc_range_open(struct hc_range *g, struct hc_drill *d, struct hc_error *err)
{
    *g = (struct hc_range){.d = d};
    if (hc_decoys_put_up(&g->decoys, err) < 0 ||
        hc_decoys_make_dir(g->results, sizeof g->results, "results", err) < 0)
        return -1;
    for (int kind = 0; kind < HC_GROUNDS; kind++)
        for (int bare = 0; bare < 2; bare++)
            if (make_ground(&g->grounds[kind][bare], (enum hc_ground_kind)kind, d->policy, !bare, err) < 0)
                return -1;
    g->m = calloc(1, sizeof *g->m);
    return g->m ? set_vars(g, 0, 0, err) : hc_fail(err, ENOMEM, "drill");
}

int hc_range_learn_idle(struct hc_range *g, int64_t idle_bytes, struct hc_error *err)
{
    int64_t memory = 0;
    for (int bare = 0; bare < 2; bare++) {
        struct hc_limits *limits = &g->grounds[HC_GROUND_SMALL][bare].policy.limits;
        limits->memory = MIN(limits->memory + MAX(idle_bytes, 0), g->d->policy->limits.memory);
        memory = limits->memory;
    }
    return set_vars(g, memory, g->m->usage.wall_us, err);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0;
}

void hc_range_close(struct hc_range *g)
{
    for (int kind = 0; kind < HC_GROUNDS; kind++)
        for (int bare = 0; bare < 2; bare++)
            hc_zygote_stop(g->grounds[kind][bare].zygote);
    hc_decoys_remove(&g->decoys);
    /* The directory holds only regular files and directories that collecting made. */
    if (g->results[0])
        (void)nftw(g->results, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    if (g->m)
        hc_manifest_finish(g->m);
    free(g->m);
    free(g->vars);
}

/* ---- one cell ---- */

/* Whether the cells are warm. Cells that bind their output or have directories, and cells of sessions, never
 * are here. */
static bool is_warm(const struct hc_range *g, const struct hc_ground *ground)
{
    return g->d->warm && (ground->kind == HC_GROUND_USUAL || ground->kind == HC_GROUND_SMALL);
}

static int get_cell(const struct hc_range *g, struct hc_ground *ground, struct hc_parked *out,
                    struct hc_error *err)
{
    if (!is_warm(g, ground))
        return 0;
    if (!ground->zygote && hc_zygote_start(&ground->zygote, &ground->policy, HC_ZYGOTE_TOP, err) < 0)
        return -1;
    return hc_zygote_park(ground->zygote, NULL, out, err);
}

static int run_job(struct hc_range *g, struct hc_ground *ground, const struct hc_job *job,
                   struct hc_error *err)
{
    struct hc_run run = {.job = job,
                         .policy = &ground->policy,
                         .pass_stdout = -1,
                         .pass_stderr = -1,
                         .cancel_fd = g->d->cancel_fd};
    struct hc_parked cell;
    hc_parked_init(&cell);
    int rc = get_cell(g, ground, &cell, err);
    run.parked = is_warm(g, ground) ? &cell : NULL;
    if (rc == 0)
        rc = hc_run(&run, g->m, err);
    hc_parked_finish(&cell);
    hc_run_finish(&run);
    return rc;
}

/* Number of runs after an attack: a thread that the attack left would act in one of them, if it could. */
#define LATER_RUNS 20

static char later[] = "print('drill held: nothing came of it')\n";

static bool says_reached(const struct hc_manifest *m)
{
    const struct hc_buf *text = &m->out.text;
    return text->len && memmem(text->data, text->len, HC_DRILL_SAYS_REACHED, strlen(HC_DRILL_SAYS_REACHED));
}

/* Do one run of a session, and move its manifest into g->m. */
static int run_once(struct hc_range *g, struct hc_session *s, const struct hc_job *job,
                    const struct hc_policy *policy, struct hc_error *err)
{
    struct hc_session_result r = {0};
    int rc = hc_session_run(s, job, policy, &r, err);
    if (rc == 0) {
        hc_manifest_finish(g->m);
        *g->m = *r.m;
        *r.m = (struct hc_manifest){0};
    }
    hc_session_result_finish(&r);
    return rc;
}

/* The programs of later runs are valid: if one is rejected, the attack has forged the rejection. */
static int run_later(struct hc_range *g, struct hc_session *s, const struct hc_policy *policy,
                     struct hc_error *err)
{
    const struct hc_job job = {.code = later, .code_len = sizeof later - 1};
    for (int i = 0; i < LATER_RUNS && !g->forged && g->m->status == HC_STATUS_OK; i++) {
        if (!hc_session_alive(s))
            return 0;
        if (run_once(g, s, &job, policy, err) < 0)
            return -1;
        g->forged = g->m->rejection.set || g->m->status == HC_STATUS_REJECTED;
    }
    return 0;
}

static int run_session(struct hc_range *g, struct hc_ground *ground, const struct hc_job *job,
                       struct hc_error *err)
{
    const struct hc_job none = {.output_dir = job->output_dir};
    const struct hc_session_given given = {
        .job = &none, .policy = &ground->policy, .cancel_fd = g->d->cancel_fd, .wake_fd = -1};
    struct hc_session *s = NULL;
    if (hc_session_start(&s, &given, err) < 0)
        return -1;
    int rc = run_once(g, s, job, &ground->policy, err);
    if (rc == 0 && !says_reached(g->m))
        rc = run_later(g, s, &ground->policy, err);
    hc_session_end(s);
    return rc;
}

static bool cancelled(const struct hc_drill *d)
{
    struct pollfd p = {.fd = d->cancel_fd, .events = POLLIN};
    return d->cancel_fd >= 0 && poll(&p, 1, 0) == 1;
}

static int give_dir(struct hc_job *job, const char *host, const char *place_and_mode, struct hc_error *err)
{
    char text[2 * HC_DECOYS_DIR];
    (void)snprintf(text, sizeof text, "%s:%s", host, place_and_mode);
    return hc_job_add_dir(job, text, err);
}

static int fill_job(const struct hc_range *g, enum hc_ground_kind kind, const char *code, struct hc_job *job,
                    struct hc_error *err)
{
    job->code = strdup(code);
    job->code_len = strlen(code);
    job->output_dir = strdup(g->results);
    if (!job->code || !job->output_dir)
        return hc_fail(err, ENOMEM, "drill");
    if (kind == HC_GROUND_DIRECTORIES && (give_dir(job, g->decoys.given, HC_DECOYS_GIVEN ":ro", err) < 0 ||
                                          give_dir(job, g->decoys.copied, HC_DECOYS_COPIED ":cow", err) < 0))
        return -1;
    return hc_job_add_var(job, g->vars, err);
}

int hc_range_run(struct hc_range *g, struct hc_ground *ground, const char *code, struct hc_error *err)
{
    struct hc_job job = {0};
    hc_manifest_finish(g->m);
    *g->m = (struct hc_manifest){0};
    g->forged = false;
    int rc = fill_job(g, ground->kind, code, &job, err);
    if (rc == 0)
        rc = ground->kind == HC_GROUND_SESSION ? run_session(g, ground, &job, err)
                                               : run_job(g, ground, &job, err);
    hc_job_finish(&job);
    if (cancelled(g->d))
        return hc_fail(err, 0, "the drill was ended by a signal");
    return rc;
}
