/* ledger_db.h - SQLite for the ledger: statements by name, transactions, errors as sentences. Private to
 * ledger*.c. */
#ifndef HC_DAEMON_LEDGER_LEDGER_DB_H
#define HC_DAEMON_LEDGER_LEDGER_DB_H

#include "daemon/ledger/ledger.h"

#include <sqlite3.h>

#define HC_LEDGER_ID 65

enum hc_statement {
    HC_ST_BEGIN,
    HC_ST_COMMIT,
    HC_ST_ROLLBACK,
    HC_ST_BY_KEY,
    HC_ST_ACCEPT,
    HC_ST_NOTE,
    HC_ST_START,
    HC_ST_UNSTART,
    HC_ST_FINISH,
    HC_ST_USE,
    HC_ST_USE_OF_RUNNING,
    HC_ST_RUNNING_IS_UNKNOWN,
    HC_ST_GET,
    HC_ST_LIST,
    HC_ST_LIST_BY_TIME,
    HC_ST_ACCEPTED,
    HC_ST_USAGE,
    HC_ST_STORED,
    HC_ST_STORED_IN_ALL,
    HC_ST_OLDEST,
    HC_ST_FORGET,
    HC_ST_COUNT,
};

/* The end of a job that was not promised, in memory until it is written. */
struct hc_note;

struct hc_ledger {
    sqlite3 *db;
    char *path;
    int lock; /* descriptor of the lock file; -1 for a reader */
    enum hc_ledger_mode mode;
    int durable;       /* a commit waits for the disk: 0, 1, or -1 before this was set */
    sqlite3_stmt *row; /* the statement whose row the caller still reads */
    struct hc_note *notes, *last_note;
    size_t note_count, note_bytes;
    sqlite3_stmt *statements[HC_ST_COUNT];
};

/* A statement, ready to be bound; NULL with an error. */
sqlite3_stmt *hc_db_use(struct hc_ledger *l, enum hc_statement which, struct hc_error *err);

/* Bind parameter number `at`, from 1; a NULL text is bound as NULL. Texts have to stay until the statement
 * has run. */
void hc_db_text(sqlite3_stmt *st, int at, const char *text);
void hc_db_blob(sqlite3_stmt *st, int at, const char *text, size_t len); /* stored as text */
void hc_db_number(sqlite3_stmt *st, int at, int64_t value);

/* 1: there is a row; 0: there are no more rows, and the statement was reset; -1: error. */
int hc_db_step(struct hc_ledger *l, sqlite3_stmt *st, const char *what, struct hc_error *err);
/* Run a statement that returns no rows; *changed, if it is not NULL, gets the number of rows that it changed.
 */
int hc_db_run(struct hc_ledger *l, sqlite3_stmt *st, const char *what, int *changed, struct hc_error *err);

/* A transaction. With `durable` its commit is on the disk when hc_db_end returns. hc_db_end gets the result
 * of the steps within the transaction: 0 commits, -1 rolls back. It returns that result, or -1 if the commit
 * fails. */
int hc_db_begin(struct hc_ledger *l, bool durable, struct hc_error *err);
int hc_db_end(struct hc_ledger *l, int rc, struct hc_error *err);

/* The columns that HC_JOB_COLUMNS names. */
#define HC_JOB_COLUMNS                                                                                       \
    "id, tenant, state, status, key, body, attempts, accepted, started, finished, cpu_us, kib_s, bytes, "    \
    "policy, reason"
#define HC_JOB_COLUMN_COUNT 15
void hc_db_job(sqlite3_stmt *st, struct hc_ledger_job *job);

const struct hc_ledger_job *hc_notes_find(const struct hc_ledger *l, const char *tenant, const char *id);
void hc_notes_finish(struct hc_ledger *l);

#endif
