/* Reading jobs and usage from the ledger. */
#include "daemon/ledger/ledger_db.h"

#include <string.h>

static const char *text_of(sqlite3_stmt *st, int column)
{
    return (const char *)sqlite3_column_text(st, column);
}

void hc_db_job(sqlite3_stmt *st, struct hc_ledger_job *job)
{
    int64_t state = sqlite3_column_int64(st, 2);
    *job = (struct hc_ledger_job){
        .id = text_of(st, 0),
        .tenant = text_of(st, 1),
        /* A number that is no state, as in a damaged file, becomes unknown. */
        .state =
            state >= HC_JOB_ACCEPTED && state <= HC_JOB_CANCELLED ? (enum hc_job_state)state : HC_JOB_UNKNOWN,
        .status = text_of(st, 3),
        .key = text_of(st, 4),
        .body_sha256 = text_of(st, 5),
        .attempts = sqlite3_column_int64(st, 6),
        .accepted = sqlite3_column_int64(st, 7),
        .started = sqlite3_column_int64(st, 8),
        .finished = sqlite3_column_int64(st, 9),
        .used = {.cpu_us = sqlite3_column_int64(st, 10),
                 .kib_s = sqlite3_column_int64(st, 11),
                 .bytes = sqlite3_column_int64(st, 12)},
        .policy = text_of(st, 13),
        .reason = text_of(st, 14),
    };
}

int hc_ledger_get(struct hc_ledger *l, const char *tenant, const char *id, struct hc_ledger_job *job,
                  bool *found, struct hc_error *err)
{
    const struct hc_ledger_job *note = hc_notes_find(l, tenant, id);
    *found = note != NULL;
    if (note) {
        *job = *note;
        return 0;
    }
    sqlite3_stmt *st = hc_db_use(l, HC_ST_GET, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, id);
    hc_db_text(st, 2, tenant);
    int rc = hc_db_step(l, st, "read a job", err);
    if (rc <= 0)
        return rc;
    hc_db_job(st, job);
    job->spec = text_of(st, HC_JOB_COLUMN_COUNT);
    job->spec_len = (size_t)sqlite3_column_bytes(st, HC_JOB_COLUMN_COUNT);
    job->manifest = text_of(st, HC_JOB_COLUMN_COUNT + 1);
    job->manifest_len = (size_t)sqlite3_column_bytes(st, HC_JOB_COLUMN_COUNT + 1);
    l->row = st;
    *found = true;
    return 0;
}

int hc_ledger_list(struct hc_ledger *l, const struct hc_ledger_filter *f, hc_ledger_each *each, void *ctx,
                   struct hc_error *err)
{
    int rc;
    if (hc_ledger_flush(l, err) < 0)
        return -1;
    sqlite3_stmt *st = hc_db_use(l, f->by_time ? HC_ST_LIST_BY_TIME : HC_ST_LIST, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, f->tenant);
    hc_db_number(st, 2, f->state);
    hc_db_number(st, 3, f->since);
    hc_db_number(st, 4, f->most > 0 ? f->most : -1);
    hc_db_text(st, 5, f->status);
    hc_db_text(st, 6, f->policy);
    while ((rc = hc_db_step(l, st, "list jobs", err)) > 0) {
        struct hc_ledger_job job;
        hc_db_job(st, &job);
        int stop = each(ctx, &job);
        if (!stop)
            continue;
        (void)sqlite3_reset(st);
        return stop;
    }
    return rc;
}

int hc_ledger_usage(struct hc_ledger *l, const char *tenant, int64_t since, hc_ledger_each_use *each,
                    void *ctx, struct hc_error *err)
{
    int rc;
    if (hc_ledger_flush(l, err) < 0)
        return -1;
    sqlite3_stmt *st = hc_db_use(l, HC_ST_USAGE, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, tenant);
    hc_db_number(st, 2, since);
    while ((rc = hc_db_step(l, st, "read usage", err)) > 0) {
        struct hc_ledger_use use = {
            .tenant = text_of(st, 0),
            .hour = sqlite3_column_int64(st, 1),
            .status = text_of(st, 2),
            .jobs = sqlite3_column_int64(st, 3),
            .used = {.cpu_us = sqlite3_column_int64(st, 4),
                     .kib_s = sqlite3_column_int64(st, 5),
                     .bytes = sqlite3_column_int64(st, 6)},
        };
        int stop = each(ctx, &use);
        if (!stop)
            continue;
        (void)sqlite3_reset(st);
        return stop;
    }
    return rc;
}

int hc_ledger_stored(struct hc_ledger *l, const char *tenant, int64_t *bytes, struct hc_error *err)
{
    *bytes = 0;
    if (hc_ledger_flush(l, err) < 0)
        return -1;
    sqlite3_stmt *st = hc_db_use(l, HC_ST_STORED, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, tenant);
    int rc = hc_db_step(l, st, "add up results", err);
    if (rc > 0)
        *bytes = sqlite3_column_int64(st, 0);
    (void)sqlite3_reset(st);
    return rc < 0 ? -1 : 0;
}
