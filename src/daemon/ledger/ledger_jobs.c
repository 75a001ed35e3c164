/* Writing accepted jobs, ended jobs, and usage. */
#include "daemon/ledger/ledger_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_AT       32   /* notes in one transaction: a few ms, as the front serves no client meanwhile */
#define MAX_NOTES      1024 /* most notes in memory while they cannot be written */
#define MAX_NOTE_BYTES (16u << 20)            /* most bytes of these notes */
#define HOUR_MS        (INT64_C(3600) * 1000) /* ms of an hour */

enum hc_task_state hc_ledger_shown(const struct hc_ledger_job *job)
{
    if (job->state == HC_JOB_ACCEPTED)
        return HC_TASK_QUEUED;
    if (job->state == HC_JOB_RUNNING)
        return HC_TASK_RUNNING;
    bool result = job->state == HC_JOB_DONE && job->status && strcmp(job->status, HC_STATUS_NAME_FAILED) != 0;
    return result ? HC_TASK_DONE : HC_TASK_FAILED;
}

/* The status under which usage is counted; for a job without a manifest it tells how the job ended. */
static const char *status_of(const struct hc_ledger_job *job)
{
    if (job->state == HC_JOB_CANCELLED)
        return HC_STATUS_NAME_CANCELLED;
    return job->status && job->state == HC_JOB_DONE ? job->status : HC_STATUS_NAME_UNKNOWN;
}

static int64_t hour_of(int64_t ms)
{
    return ms - ms % HOUR_MS;
}

static int add_usage(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_USE, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, job->tenant);
    hc_db_number(st, 2, hour_of(job->finished));
    hc_db_text(st, 3, status_of(job));
    hc_db_number(st, 4, job->used.cpu_us);
    hc_db_number(st, 5, job->used.kib_s);
    hc_db_number(st, 6, job->used.bytes);
    return hc_db_run(l, st, "count usage", NULL, err);
}

/* Has the tenant used this key? 1: `known` is the id of the key's job, and `*same` is true if its request was
 * the same. */
static int find_key(struct hc_ledger *l, const struct hc_ledger_job *job, char known[65], bool *same,
                    struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_BY_KEY, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, job->tenant);
    hc_db_text(st, 2, job->key);
    int rc = hc_db_step(l, st, "look for an idempotency key", err);
    if (rc <= 0)
        return rc;
    const char *id = (const char *)sqlite3_column_text(st, 0);
    const char *body = (const char *)sqlite3_column_text(st, 1);
    (void)snprintf(known, 65, "%s", id ? id : "");
    *same = body && strcmp(body, job->body_sha256) == 0;
    (void)sqlite3_reset(st);
    return 1;
}

static int insert_accepted(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_ACCEPT, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, job->id);
    hc_db_text(st, 2, job->tenant);
    hc_db_text(st, 3, job->key);
    hc_db_text(st, 4, job->key ? job->body_sha256 : NULL);
    hc_db_blob(st, 5, job->spec, job->spec_len);
    hc_db_number(st, 6, job->accepted);
    hc_db_text(st, 7, job->policy);
    return hc_db_run(l, st, "accept a job", NULL, err);
}

int hc_ledger_accept(struct hc_ledger *l, const struct hc_ledger_job *job, enum hc_accepted *what,
                     char known[65], struct hc_error *err)
{
    bool same = false;
    if (job->key && !job->body_sha256)
        return hc_fail(err, 0, "ledger: an idempotency key without the hash of its request");
    if (hc_db_begin(l, true, err) < 0)
        return -1;
    int found = job->key ? find_key(l, job, known, &same, err) : 0;
    int rc = found == 0 ? insert_accepted(l, job, err) : found < 0 ? -1 : 0;
    if (hc_db_end(l, rc, err) < 0)
        return -1;
    *what = found == 0 ? HC_ACCEPTED : same ? HC_ACCEPTED_SAME : HC_ACCEPTED_OTHER;
    return 0;
}

static int not_open(struct hc_ledger *l, const char *what, const char *id, struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_DATA, 0, "ledger %s: %s: job '%s' is not in the state for it", l->path,
                      what, id);
}

/* Changes the state of one job, which must have the state that the statement requires. `now` is the
 * statement's second parameter, if it has one. */
static int move_job(struct hc_ledger *l, enum hc_statement which, const char *id, int64_t now,
                    const char *what, struct hc_error *err)
{
    int changed = 0, rc = -1;
    if (hc_db_begin(l, true, err) < 0)
        return -1;
    sqlite3_stmt *st = hc_db_use(l, which, err);
    if (st) {
        hc_db_text(st, 1, id);
        if (sqlite3_bind_parameter_count(st) > 1)
            hc_db_number(st, 2, now);
        rc = hc_db_run(l, st, what, &changed, err);
    }
    if (rc == 0 && changed != 1)
        rc = not_open(l, what, id, err);
    return hc_db_end(l, rc, err);
}

int hc_ledger_start(struct hc_ledger *l, const char *id, int64_t now, struct hc_error *err)
{
    return move_job(l, HC_ST_START, id, now, "start a job", err);
}

int hc_ledger_unstart(struct hc_ledger *l, const char *id, struct hc_error *err)
{
    return move_job(l, HC_ST_UNSTART, id, 0, "put a job back", err);
}

/* Writes the end into the job's row; `tenant` gets the tenant from the ledger, and not from the caller. */
static int end_job(struct hc_ledger *l, const struct hc_ledger_job *job, char tenant[HC_TENANT_NAME],
                   struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_FINISH, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, job->id);
    hc_db_number(st, 2, (int64_t)job->state);
    hc_db_text(st, 3, job->state == HC_JOB_DONE ? job->status : status_of(job));
    hc_db_blob(st, 4, job->manifest, job->manifest_len);
    hc_db_number(st, 5, job->finished);
    hc_db_number(st, 6, job->used.cpu_us);
    hc_db_number(st, 7, job->used.kib_s);
    hc_db_number(st, 8, job->used.bytes);
    hc_db_text(st, 9, job->reason);
    int rc = hc_db_step(l, st, "end a job", err);
    if (rc == 0)
        return not_open(l, "end a job", job->id, err);
    if (rc < 0)
        return -1;
    const char *name = (const char *)sqlite3_column_text(st, 0);
    (void)snprintf(tenant, HC_TENANT_NAME, "%s", name ? name : "");
    return hc_db_run(l, st, "end a job", NULL, err);
}

int hc_ledger_finish(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err)
{
    char tenant[HC_TENANT_NAME];
    if (job->state < HC_JOB_DONE)
        return hc_fail(err, 0, "ledger: '%s' is no end of a job", hc_task_state_name(hc_ledger_shown(job)));
    if (hc_db_begin(l, true, err) < 0)
        return -1;
    int rc = end_job(l, job, tenant, err);
    if (rc == 0) {
        struct hc_ledger_job use = *job;
        use.tenant = tenant;
        rc = add_usage(l, &use, err);
    }
    return hc_db_end(l, rc, err);
}

struct hc_note {
    struct hc_note *next;     /* the next newer note; NULL: none */
    struct hc_ledger_job job; /* points into `text` */
    char text[];              /* the texts of `job`, each with its NUL */
};

/* Copies a string to *at, and moves *at past the copy; NULL stays NULL. */
static const char *keep_text(char **at, const char *text, size_t len)
{
    char *copy = *at;
    if (!text)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *at += len + 1;
    return copy;
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

int hc_ledger_note(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err)
{
    size_t size = length(job->id) + length(job->tenant) + length(job->status) + length(job->policy) +
                  length(job->reason) + job->manifest_len + 6;
    struct hc_note *n = malloc(sizeof *n + size);
    if (!n)
        return hc_fail(err, ENOMEM, "ledger: note a job");
    char *at = n->text;
    n->next = NULL;
    n->job = *job;
    n->job.id = keep_text(&at, job->id, length(job->id));
    n->job.tenant = keep_text(&at, job->tenant, length(job->tenant));
    n->job.status = keep_text(&at, job->status, length(job->status));
    n->job.policy = keep_text(&at, job->policy, length(job->policy));
    n->job.reason = keep_text(&at, job->reason, length(job->reason));
    n->job.manifest = keep_text(&at, job->manifest, job->manifest_len);
    n->job.key = n->job.body_sha256 = n->job.spec = NULL;
    if (l->last_note)
        l->last_note->next = n;
    else
        l->notes = n;
    l->last_note = n;
    l->note_count++;
    l->note_bytes += size;
    return l->note_count % FLUSH_AT && l->note_bytes < MAX_NOTE_BYTES ? 0 : hc_ledger_flush(l, err);
}

bool hc_ledger_noted(const struct hc_ledger *l)
{
    return l->notes;
}

static int write_note(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_NOTE, err);
    if (!st)
        return -1;
    hc_db_text(st, 1, job->id);
    hc_db_text(st, 2, job->tenant);
    hc_db_number(st, 3, (int64_t)job->state);
    hc_db_text(st, 4, job->status);
    hc_db_blob(st, 5, job->manifest, job->manifest_len);
    hc_db_number(st, 6, job->attempts);
    hc_db_number(st, 7, job->accepted);
    hc_db_number(st, 8, job->started);
    hc_db_number(st, 9, job->finished);
    hc_db_number(st, 10, job->used.cpu_us);
    hc_db_number(st, 11, job->used.kib_s);
    hc_db_number(st, 12, job->used.bytes);
    hc_db_text(st, 13, job->policy);
    hc_db_text(st, 14, job->reason);
    return hc_db_run(l, st, "write a job down", NULL, err);
}

const struct hc_ledger_job *hc_notes_find(const struct hc_ledger *l, const char *tenant, const char *id)
{
    for (const struct hc_note *n = l->notes; n; n = n->next)
        if (strcmp(n->job.id, id) == 0 && (!tenant || strcmp(n->job.tenant, tenant) == 0))
            return &n->job;
    return NULL;
}

void hc_notes_finish(struct hc_ledger *l)
{
    for (struct hc_note *n = l->notes, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    l->notes = l->last_note = NULL;
    l->note_count = l->note_bytes = 0;
}

/* Notes that could not be written stay for the next attempt, but at most MAX_NOTES, so that a full disk does
 * not also fill the memory. */
int hc_ledger_flush(struct hc_ledger *l, struct hc_error *err)
{
    if (!l->notes)
        return 0;
    int rc = hc_db_begin(l, false, err);
    if (rc == 0) {
        for (const struct hc_note *n = l->notes; n && rc == 0; n = n->next) {
            rc = write_note(l, &n->job, err);
            if (rc == 0)
                rc = add_usage(l, &n->job, err);
        }
        rc = hc_db_end(l, rc, err);
    }
    if (rc == 0 || l->note_count >= MAX_NOTES || l->note_bytes >= MAX_NOTE_BYTES)
        hc_notes_finish(l);
    return rc;
}
