/* ledger_db.h - SQLite for the ledger: statements by name, transactions, errors as sentences. Private to
 * ledger*.c. */
#ifndef HC_DAEMON_LEDGER_LEDGER_DB_H
#define HC_DAEMON_LEDGER_LEDGER_DB_H

#include "daemon/ledger/ledger.h"

#include <sqlite3.h>

#define HC_LEDGER_ID 65 /* bytes of a job's ID, with its NUL */

/* The statements of the ledger; ledger.c has their texts. */
enum hc_statement {
    HC_ST_BEGIN,
    HC_ST_COMMIT,
    HC_ST_ROLLBACK,
    HC_ST_BY_KEY,             /* the job of an idempotency key */
    HC_ST_ACCEPT,             /* insert a promised job */
    HC_ST_NOTE,               /* insert an ended job that was not promised */
    HC_ST_START,              /* an accepted job runs */
    HC_ST_UNSTART,            /* a running job is accepted again */
    HC_ST_FINISH,             /* a promised job has ended */
    HC_ST_USE,                /* count the usage of one ended job */
    HC_ST_USE_OF_RUNNING,     /* count the running jobs as ended with an unknown outcome */
    HC_ST_RUNNING_IS_UNKNOWN, /* set the state of the running jobs to HC_JOB_UNKNOWN */
    HC_ST_GET,                /* one job */
    HC_ST_LIST,               /* jobs, the last written first */
    HC_ST_LIST_BY_TIME,       /* jobs, the last accepted first */
    HC_ST_ACCEPTED,           /* jobs that wait, the oldest first */
    HC_ST_USAGE,              /* usage by tenant, hour and status */
    HC_ST_STORED,             /* bytes of results of one tenant */
    HC_ST_STORED_IN_ALL,      /* bytes of all results */
    HC_ST_OLDEST,             /* the next finished job in the order of its end */
    HC_ST_FORGET,             /* remove a job that has ended */
    HC_ST_COUNT,
};

/* The end of a job that was not promised, in memory until it is written. */
struct hc_note;

struct hc_ledger {
    sqlite3 *db;                           /* the open database; owned */
    char *path;                            /* path of the ledger; owned */
    int lock;                              /* descriptor of the lock file, owned; -1 for a reader */
    enum hc_ledger_mode mode;              /* as it was opened */
    int durable;                           /* a commit waits for the disk: 0, 1, or -1 before this was set */
    sqlite3_stmt *row;                     /* the statement whose row the caller still reads; NULL: none */
    struct hc_note *notes, *last_note;     /* a list in the order of their coming, owned; NULL: none */
    size_t note_count, note_bytes;         /* number of notes; bytes that they take */
    sqlite3_stmt *statements[HC_ST_COUNT]; /* prepared statements; owned; NULL: not prepared yet */
};

/* Return a statement for the caller to bind; borrowed. The row that the caller has read last (l->row) becomes
 * invalid. NULL with an error. */
sqlite3_stmt *hc_db_use(struct hc_ledger *l, enum hc_statement which, struct hc_error *err);

/* Bind parameter number `at`, from 1; a NULL text is bound as NULL. Texts have to stay until the statement
 * has run. */
void hc_db_text(sqlite3_stmt *st, int at, const char *text);
void hc_db_blob(sqlite3_stmt *st, int at, const char *text, size_t len); /* stored as text */
void hc_db_number(sqlite3_stmt *st, int at, int64_t value);

/* Run a statement to its next row; `what` says in the error what was tried. 1: there is a row; 0: there are
 * no more rows, and the statement was reset; -1: error. */
int hc_db_step(struct hc_ledger *l, sqlite3_stmt *st, const char *what, struct hc_error *err);
/* Run a statement that returns no rows; *changed, if it is not NULL, gets the number of rows that it changed.
 */
int hc_db_run(struct hc_ledger *l, sqlite3_stmt *st, const char *what, int *changed, struct hc_error *err);

/* A transaction. With `durable` its commit is on the disk when hc_db_end returns. hc_db_end gets the result
 * of the steps within the transaction: 0 commits, -1 rolls back. It returns that result, or -1 if the commit
 * fails. */
int hc_db_begin(struct hc_ledger *l, bool durable, struct hc_error *err);
int hc_db_end(struct hc_ledger *l, int rc, struct hc_error *err);

/* Columns of a statement that reads jobs. hc_db_job fills `job` from such a row, whose texts it borrows. */
#define HC_JOB_COLUMNS                                                                                       \
    "id, tenant, state, status, key, body, attempts, accepted, started, finished, cpu_us, kib_s, bytes, "    \
    "policy, reason"
#define HC_JOB_COLUMN_COUNT 15 /* number of these columns */
void hc_db_job(sqlite3_stmt *st, struct hc_ledger_job *job);

/* The note of a tenant's job (`tenant` NULL: any tenant's), borrowed; NULL: there is none. */
const struct hc_ledger_job *hc_notes_find(const struct hc_ledger *l, const char *tenant, const char *id);
void hc_notes_finish(struct hc_ledger *l); /* frees all notes without writing them */

#endif
