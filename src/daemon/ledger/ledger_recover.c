/* Recovery of the jobs of a daemon that was killed, and removal of old jobs. */
#include "daemon/ledger/ledger_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_MS (INT64_C(3600) * 1000) /* ms of an hour */

struct ids {
    char (*id)[HC_LEDGER_ID]; /* IDs of jobs; owned */
    size_t count, room;       /* number of IDs; number that `id` has room for */
};

static int add_id(struct ids *ids, const char *id, struct hc_error *err)
{
    if (ids->count == ids->room) {
        size_t room = ids->room ? ids->room * 2 : 64;
        void *grown = realloc(ids->id, room * sizeof *ids->id);
        if (!grown)
            return hc_fail(err, ENOMEM, "ledger: collect jobs");
        ids->id = grown;
        ids->room = room;
    }
    (void)snprintf(ids->id[ids->count++], sizeof *ids->id, "%s", id ? id : "");
    return 0;
}

/* Collects ids before any callback is called: a callback may use the ledger, and changes must be on the disk
 * before a callback is told of them. */
static int collect(struct hc_ledger *l, sqlite3_stmt *st, struct ids *ids, struct hc_error *err)
{
    int rc;
    while ((rc = hc_db_step(l, st, "recover jobs", err)) > 0) {
        if (add_id(ids, (const char *)sqlite3_column_text(st, 0), err) < 0) {
            (void)sqlite3_reset(st);
            return -1;
        }
    }
    return rc;
}

static int use_of_running(struct hc_ledger *l, int64_t now, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_USE_OF_RUNNING, err);
    if (!st)
        return -1;
    hc_db_number(st, 1, now - now % HOUR_MS);
    return hc_db_run(l, st, "recover jobs", NULL, err);
}

static int running_is_unknown(struct hc_ledger *l, int64_t now, struct ids *ids, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_RUNNING_IS_UNKNOWN, err);
    if (!st)
        return -1;
    hc_db_number(st, 1, now);
    return collect(l, st, ids, err);
}

static int find_accepted(struct hc_ledger *l, struct ids *ids, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_ACCEPTED, err);
    return st ? collect(l, st, ids, err) : -1;
}

static int hand_out(struct hc_ledger *l, const struct ids *ids, hc_ledger_each *each, void *ctx,
                    struct hc_error *err)
{
    for (size_t i = 0; i < ids->count && each; i++) {
        struct hc_ledger_job job;
        bool found;
        if (hc_ledger_get(l, NULL, ids->id[i], &job, &found, err) < 0)
            return -1;
        int rc = found ? each(ctx, &job) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

int hc_ledger_recover(struct hc_ledger *l, int64_t now, hc_ledger_each *accepted, hc_ledger_each *unknown,
                      void *ctx, struct hc_error *err)
{
    struct ids lost = {0}, waiting = {0};
    int rc = hc_db_begin(l, true, err);
    if (rc == 0) {
        rc = use_of_running(l, now, err);
        if (rc == 0)
            rc = running_is_unknown(l, now, &lost, err);
        rc = hc_db_end(l, rc, err);
    }
    if (rc == 0)
        rc = find_accepted(l, &waiting, err);
    if (rc == 0)
        rc = hand_out(l, &waiting, accepted, ctx, err);
    if (rc == 0)
        rc = hand_out(l, &lost, unknown, ctx, err);
    free(lost.id);
    free(waiting.id);
    return rc;
}

/* Position of a sweep: jobs before it were removed, or kept because their callback refused. */
struct sweep {
    int64_t finished, number; /* the last job that was looked at: its end (ms since 1970), its row number */
    int64_t left;             /* bytes of all results that are kept */
    int seen;                 /* number of jobs looked at so far */
};

/* 1: *job is the oldest finished job after the sweep's position, which moves to it; valid until the next
 * call. */
static int next_oldest(struct hc_ledger *l, struct sweep *s, struct hc_ledger_job *job, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_OLDEST, err);
    if (!st)
        return -1;
    hc_db_number(st, 1, s->finished);
    hc_db_number(st, 2, s->number);
    int rc = hc_db_step(l, st, "sweep", err);
    if (rc <= 0)
        return rc;
    hc_db_job(st, job);
    s->finished = job->finished;
    s->number = sqlite3_column_int64(st, HC_JOB_COLUMN_COUNT);
    l->row = st;
    return 1;
}

static int forget(struct hc_ledger *l, const char *tenant, const char *id, int *gone, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_FORGET, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, id);
    hc_db_text(st, 2, tenant);
    return hc_db_run(l, st, "take a job out", gone, err);
}

static int stored_in_all(struct hc_ledger *l, int64_t *bytes, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_STORED_IN_ALL, err);
    int rc = st ? hc_db_step(l, st, "sweep", err) : -1;
    if (rc > 0)
        *bytes = sqlite3_column_int64(st, 0);
    if (st)
        (void)sqlite3_reset(st);
    return rc < 0 ? -1 : 0;
}

/* Removes a job that is due, unless its callback refuses. */
static int sweep_job(struct hc_ledger *l, struct sweep *s, const struct hc_ledger_job *job,
                     hc_ledger_each *gone, void *ctx, struct hc_error *err)
{
    char id[HC_LEDGER_ID];
    if (gone && gone(ctx, job) != 0)
        return 0;
    (void)snprintf(id, sizeof id, "%s", job->id);
    s->left -= job->used.bytes;
    return forget(l, NULL, id, NULL, err);
}

int hc_ledger_sweep(struct hc_ledger *l, int64_t before, int64_t bytes, hc_ledger_each *gone, void *ctx,
                    struct hc_error *err)
{
    struct sweep s = {.finished = INT64_MIN};
    struct hc_ledger_job job;
    bool more = false;
    int rc;
    if (hc_ledger_flush(l, err) < 0 || stored_in_all(l, &s.left, err) < 0 || hc_db_begin(l, false, err) < 0)
        return -1;
    while (!more && (rc = next_oldest(l, &s, &job, err)) > 0) {
        if (job.finished >= before && (bytes <= 0 || s.left <= bytes))
            break;
        more = s.seen++ == HC_SWEEP_MOST;
        if (!more && (rc = sweep_job(l, &s, &job, gone, ctx, err)) < 0)
            break;
    }
    rc = hc_db_end(l, rc < 0 ? -1 : 0, err);
    return rc < 0 ? -1 : more;
}

int hc_ledger_forget(struct hc_ledger *l, const char *tenant, const char *id, bool *found,
                     struct hc_error *err)
{
    int gone = 0;
    if (hc_ledger_flush(l, err) < 0 || hc_db_begin(l, true, err) < 0)
        return -1;
    int rc = hc_db_end(l, forget(l, tenant, id, &gone, err), err);
    *found = rc == 0 && gone > 0;
    return rc;
}
