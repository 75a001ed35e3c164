/* Opening a ledger, the schema of its tables, and the calls to SQLite for all other files of the ledger. */
#include "base/fd.h"
#include "daemon/ledger/ledger_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

#define APPLICATION 0x48434c47 /* application_id in the file's header: "HCLG" */
/* attempts to lock, 20 ms apart: the processes of a killed daemon may still be ending */
#define LOCK_TRIES 50
#define BUSY_MS    5000 /* milliseconds to wait for a reader, which delays a writer for moments only */
/* pages of the write-ahead log: a longer log is restarted, although this delays the writer */
#define LONG_WAL_PAGES 16384
#define WAL_REST_PAGES 256 /* most pages that may have to be copied while the writer is delayed */
/* pages of the log at which the writer copies it itself, as no checkpointer has */
#define WAL_PAGES    "65536"
#define JOURNAL_MOST "67108864" /* most bytes of the log file after a checkpoint, as text */
/* KiB of page cache: few pages are read twice, and a small cache is soon full and grows no more */
#define CACHE "-512"

/* Columns of "jobs" in all versions of the schema, and its indexes. */
#define JOB_COLUMNS_FIRST                                                                                    \
    " number INTEGER PRIMARY KEY,"                                                                           \
    " id TEXT NOT NULL UNIQUE,"                                                                              \
    " tenant TEXT NOT NULL,"                                                                                 \
    " state INTEGER NOT NULL,"                                                                               \
    " status TEXT,"                                                                                          \
    " key TEXT,"                                                                                             \
    " body TEXT,"                                                                                            \
    " attempts INTEGER NOT NULL DEFAULT 0,"                                                                  \
    " accepted INTEGER NOT NULL,"                                                                            \
    " started INTEGER,"                                                                                      \
    " finished INTEGER,"                                                                                     \
    " cpu_us INTEGER NOT NULL DEFAULT 0,"                                                                    \
    " kib_s INTEGER NOT NULL DEFAULT 0,"                                                                     \
    " bytes INTEGER NOT NULL DEFAULT 0,"
#define JOB_COLUMNS_LONG /* last: to read a column SQLite has to pass over all columns before it */          \
    " spec TEXT,"                                                                                            \
    " manifest TEXT) STRICT;"
#define JOB_INDEXES                                                                                          \
    "CREATE UNIQUE INDEX jobs_key ON jobs (tenant, key) WHERE key IS NOT NULL;"                              \
    "CREATE INDEX jobs_tenant ON jobs (tenant);"                                                             \
    "CREATE INDEX jobs_open ON jobs (state) WHERE state < 2;"                                                \
    "CREATE INDEX jobs_finished ON jobs (finished, number, bytes) WHERE finished IS NOT NULL;"

/* Row N makes version N + 1 of the schema from version N. Never change a row that was released. */
static const char *const migrations[] = {
    "CREATE TABLE jobs (" JOB_COLUMNS_FIRST JOB_COLUMNS_LONG JOB_INDEXES "CREATE TABLE usage ("
    " tenant TEXT NOT NULL,"
    " hour INTEGER NOT NULL,"
    " status TEXT NOT NULL,"
    " jobs INTEGER NOT NULL,"
    " cpu_us INTEGER NOT NULL,"
    " kib_s INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " PRIMARY KEY (tenant, hour, status)) STRICT, WITHOUT ROWID;",
    /* Adds a job's policy and the reason of its end, before the long columns. */
    "CREATE TABLE moved (" JOB_COLUMNS_FIRST " policy TEXT, reason TEXT," JOB_COLUMNS_LONG
    "INSERT INTO moved SELECT number, id, tenant, state, CASE state WHEN 3 THEN 'unknown' WHEN 4 THEN "
    "'cancelled' ELSE status END, key, body, attempts, accepted, started, finished, cpu_us, kib_s, bytes, "
    "NULL, NULL, spec, manifest FROM jobs;"
    "DROP TABLE jobs;"
    "ALTER TABLE moved RENAME TO jobs;" JOB_INDEXES,
};

/* hc_ledger_shown as an SQL expression. */
#define SHOWN_STATE "(CASE WHEN state < 2 THEN state WHEN state = 2 AND status <> 'failed' THEN 2 ELSE 3 END)"

#define NEWEST ((int)COUNT(migrations)) /* newest version of the schema */

/* Lists jobs; an ORDER BY expression has to follow. */
#define LIST                                                                                                 \
    "SELECT " HC_JOB_COLUMNS " FROM jobs WHERE (?1 IS NULL OR tenant = ?1) AND (?2 < 0 OR " SHOWN_STATE      \
    " = ?2) AND accepted >= ?3 AND (?5 IS NULL OR status = ?5) AND (?6 IS NULL OR policy = ?6) ORDER BY "

static const char *const sql[HC_ST_COUNT] = {
    [HC_ST_BEGIN] = "BEGIN IMMEDIATE",
    [HC_ST_COMMIT] = "COMMIT",
    [HC_ST_ROLLBACK] = "ROLLBACK",
    [HC_ST_BY_KEY] = "SELECT id, body FROM jobs WHERE tenant = ?1 AND key = ?2",
    [HC_ST_ACCEPT] =
        "INSERT INTO jobs (id, tenant, state, key, body, spec, accepted, policy) VALUES (?1, ?2, 0, "
        "?3, ?4, ?5, ?6, ?7)",
    [HC_ST_NOTE] =
        "INSERT OR IGNORE INTO jobs (id, tenant, state, status, manifest, attempts, accepted, started, "
        "finished, cpu_us, kib_s, bytes, policy, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
        "?11, "
        "?12, ?13, ?14)",
    [HC_ST_START] =
        "UPDATE jobs SET state = 1, attempts = attempts + 1, started = ?2 WHERE id = ?1 AND state = 0",
    [HC_ST_UNSTART] =
        "UPDATE jobs SET state = 0, started = NULL, attempts = attempts - 1 WHERE id = ?1 AND state = 1",
    [HC_ST_FINISH] =
        "UPDATE jobs SET state = ?2, status = ?3, manifest = ?4, finished = ?5, cpu_us = ?6, kib_s = ?7, "
        "bytes = ?8, reason = ?9, spec = CASE ?2 WHEN 2 THEN NULL ELSE spec END WHERE id = ?1 AND state < 2 "
        "RETURNING "
        "tenant",
    [HC_ST_USE] =
        "INSERT INTO usage (tenant, hour, status, jobs, cpu_us, kib_s, bytes) VALUES (?1, ?2, ?3, 1, "
        "?4, ?5, ?6) ON CONFLICT (tenant, hour, status) DO UPDATE SET jobs = jobs + 1, cpu_us = "
        "cpu_us + excluded.cpu_us, kib_s = kib_s + excluded.kib_s, bytes = bytes + excluded.bytes",
    [HC_ST_USE_OF_RUNNING] =
        "INSERT INTO usage (tenant, hour, status, jobs, cpu_us, kib_s, bytes) SELECT tenant, ?1, 'unknown', "
        "count(*), 0, 0, 0 FROM jobs WHERE state = 1 GROUP BY tenant ON CONFLICT (tenant, hour, status) DO "
        "UPDATE SET jobs = jobs + excluded.jobs",
    [HC_ST_RUNNING_IS_UNKNOWN] =
        "UPDATE jobs SET state = 3, status = 'unknown', reason = 'the "
        "daemon ended while the job ran', finished = ?1 WHERE state = 1 RETURNING id",
    [HC_ST_GET] =
        "SELECT " HC_JOB_COLUMNS ", spec, manifest FROM jobs WHERE id = ?1 AND (?2 IS NULL OR tenant "
        "= ?2)",
    [HC_ST_LIST] = LIST "number DESC LIMIT ?4",
    [HC_ST_LIST_BY_TIME] = LIST "accepted DESC, number DESC LIMIT ?4",
    [HC_ST_ACCEPTED] = "SELECT id FROM jobs WHERE state = 0 ORDER BY number",
    [HC_ST_USAGE] = "SELECT tenant, hour, status, jobs, cpu_us, kib_s, bytes FROM usage WHERE (?1 IS NULL OR "
                    "tenant = ?1) AND hour >= ?2 ORDER BY tenant, hour, status",
    [HC_ST_STORED] = "SELECT total(bytes) FROM jobs WHERE tenant = ?1 AND finished IS NOT NULL",
    [HC_ST_STORED_IN_ALL] = "SELECT total(bytes) FROM jobs WHERE finished IS NOT NULL",
    [HC_ST_OLDEST] = "SELECT " HC_JOB_COLUMNS ", number FROM jobs WHERE finished IS NOT NULL AND (finished, "
                     "number) > (?1, ?2) ORDER BY finished, number LIMIT 1",
    [HC_ST_FORGET] = "DELETE FROM jobs WHERE id = ?1 AND (?2 IS NULL OR tenant = ?2) AND state >= 2",
};

/* The exit status and the advice for each failure of SQLite. */
static const struct {
    int code, exit;   /* SQLite's result code; enum hc_exit */
    const char *hint; /* what to do, a phrase */
} failures[] = {
    {SQLITE_NOTADB, HC_EXIT_DATA, "it is no ledger of hotcelld"},
    {SQLITE_CORRUPT, HC_EXIT_DATA,
     "the file is broken: move it away, and its -wal with it, to begin a new one"},
    {SQLITE_FULL, HC_EXIT_UNAVAILABLE, "make room on its disk"},
    {SQLITE_READONLY, HC_EXIT_UNAVAILABLE, "it and its directory have to be writable"},
    {SQLITE_CANTOPEN, HC_EXIT_UNAVAILABLE, "it and its directory have to be there, and to be one's own"},
    {SQLITE_PERM, HC_EXIT_UNAVAILABLE, "it and its directory have to be writable"},
    {SQLITE_BUSY, HC_EXIT_UNAVAILABLE, "another program keeps it locked"},
    {SQLITE_IOERR, HC_EXIT_UNAVAILABLE, "its disk does not work"},
};

/* Makes an error of a failed call: the step that failed, and the message of SQLite. */
static int fail_db(struct hc_ledger *l, const char *what, struct hc_error *err)
{
    int code = sqlite3_errcode(l->db) & 0xff;
    int sys = sqlite3_system_errno(l->db);
    for (size_t i = 0; i < COUNT(failures); i++)
        if (failures[i].code == code)
            return hc_fail_as(err, failures[i].exit, code == SQLITE_IOERR ? sys : 0, "ledger %s: %s: %s; %s",
                              l->path, what, sqlite3_errmsg(l->db), failures[i].hint);
    return hc_fail(err, 0, "ledger %s: %s: %s", l->path, what, sqlite3_errmsg(l->db));
}

sqlite3_stmt *hc_db_use(struct hc_ledger *l, enum hc_statement which, struct hc_error *err)
{
    sqlite3_stmt **st = &l->statements[which];
    if (l->row) {
        (void)sqlite3_reset(l->row);
        l->row = NULL;
    }
    if (!*st && sqlite3_prepare_v3(l->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, st, NULL) != SQLITE_OK) {
        (void)fail_db(l, "prepare", err);
        return NULL;
    }
    (void)sqlite3_reset(*st);
    (void)sqlite3_clear_bindings(*st);
    return *st;
}

/* Binding fails only without memory. The value is then NULL, and as columns are NOT NULL the statement
 * fails. */
void hc_db_text(sqlite3_stmt *st, int at, const char *text)
{
    hc_db_blob(st, at, text, text ? strlen(text) : 0);
}

void hc_db_blob(sqlite3_stmt *st, int at, const char *text, size_t len)
{
    if (text)
        (void)sqlite3_bind_text64(st, at, text, len, SQLITE_STATIC, SQLITE_UTF8);
    else
        (void)sqlite3_bind_null(st, at);
}

void hc_db_number(sqlite3_stmt *st, int at, int64_t value)
{
    (void)sqlite3_bind_int64(st, at, value);
}

int hc_db_step(struct hc_ledger *l, sqlite3_stmt *st, const char *what, struct hc_error *err)
{
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        return 1;
    int failed = rc == SQLITE_DONE ? 0 : fail_db(l, what, err);
    (void)sqlite3_reset(st);
    return failed;
}

int hc_db_run(struct hc_ledger *l, sqlite3_stmt *st, const char *what, int *changed, struct hc_error *err)
{
    int rc;
    while ((rc = hc_db_step(l, st, what, err)) > 0)
        ;
    if (rc == 0 && changed)
        *changed = sqlite3_changes(l->db);
    return rc;
}

static int execute(struct hc_ledger *l, const char *text, const char *what, struct hc_error *err)
{
    return sqlite3_exec(l->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_db(l, what, err);
}

static int begin_transaction(struct hc_ledger *l, struct hc_error *err)
{
    sqlite3_stmt *st = hc_db_use(l, HC_ST_BEGIN, err);
    return st ? hc_db_run(l, st, "begin", NULL, err) : -1;
}

/* With a write-ahead log, NORMAL survives a kill; FULL also a power cut, for one wait for the disk. */
int hc_db_begin(struct hc_ledger *l, bool durable, struct hc_error *err)
{
    static const char *const texts[] = {"PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL"};
    if (l->durable != durable && execute(l, texts[durable], "prepare a transaction", err) < 0)
        return -1;
    l->durable = durable;
    return begin_transaction(l, err);
}

int hc_db_end(struct hc_ledger *l, int rc, struct hc_error *err)
{
    struct hc_error ignored;
    sqlite3_stmt *st;
    if (rc == 0) {
        st = hc_db_use(l, HC_ST_COMMIT, err);
        rc = st ? hc_db_run(l, st, "write", NULL, err) : -1;
    }
    /* A full disk may have ended the transaction already. */
    if (rc < 0 && !sqlite3_get_autocommit(l->db)) {
        st = hc_db_use(l, HC_ST_ROLLBACK, &ignored);
        if (st)
            (void)hc_db_run(l, st, "take back", NULL, &ignored);
    }
    return rc;
}

static int pragma_number(struct hc_ledger *l, const char *text, int64_t *value, struct hc_error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = -1;
    if (sqlite3_prepare_v2(l->db, text, -1, &st, NULL) != SQLITE_OK)
        return fail_db(l, "open", err);
    if (sqlite3_step(st) == SQLITE_ROW) {
        *value = sqlite3_column_int64(st, 0);
        rc = 0;
    } else {
        (void)fail_db(l, "open", err);
    }
    (void)sqlite3_finalize(st);
    return rc;
}

static int no_ledger(struct hc_ledger *l, struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_DATA, 0, "ledger %s: is a database, but no ledger of hotcelld", l->path);
}

/* Finds the version of the schema; 0 for an empty file. */
static int find_form(struct hc_ledger *l, int64_t *form, struct hc_error *err)
{
    int64_t application = 0, tables = 0;
    if (pragma_number(l, "PRAGMA application_id", &application, err) < 0 ||
        pragma_number(l, "PRAGMA user_version", form, err) < 0 ||
        pragma_number(l, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
        return -1;
    if (application != APPLICATION && (application || *form || tables))
        return no_ledger(l, err);
    if (*form < 0 || (*form == 0) != (tables == 0))
        return no_ledger(l, err);
    if (*form > NEWEST)
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "ledger %s: was written by a newer hotcelld (form %lld, this one knows %d): use that one",
            l->path, (long long)*form, NEWEST);
    return 0;
}

static int migrate(struct hc_ledger *l, int64_t form, struct hc_error *err)
{
    for (; form < NEWEST; form++) {
        char version[96];
        (void)snprintf(version, sizeof version, "PRAGMA application_id = %d; PRAGMA user_version = %lld",
                       APPLICATION, (long long)form + 1);
        if (hc_db_begin(l, true, err) < 0)
            return -1;
        int rc = execute(l, migrations[form], "make its tables", err);
        if (rc == 0)
            rc = execute(l, version, "make its tables", err);
        if (hc_db_end(l, rc, err) < 0)
            return -1;
    }
    return 0;
}

/* Takes the lock file: two daemons with one ledger would both run the accepted jobs. The lock belongs to this
 * process and not to its children. */
static int take_lock(struct hc_ledger *l, struct hc_error *err)
{
    hc_autobuf name = {0};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (hc_buf_fmt(&name, "%s.lock", l->path) < 0)
        return hc_fail(err, ENOMEM, "ledger");
    l->lock = open(name.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (l->lock < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "ledger %s: open %s", l->path, name.data);
    for (int left = LOCK_TRIES;; left--) {
        if (fcntl(l->lock, F_SETLK, &lock) == 0)
            return 0;
        if (errno != EAGAIN && errno != EACCES)
            return hc_fail(err, errno, "ledger %s: lock %s", l->path, name.data);
        if (!left)
            break;
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "ledger %s: another hotcelld uses it; each needs a state directory of its own",
                      l->path);
}

static int connect_to(struct hc_ledger *l, struct hc_error *err)
{
    static const int flags[] = {
        [HC_LEDGER_WRITE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        [HC_LEDGER_READ] = SQLITE_OPEN_READONLY,
        [HC_LEDGER_CHECKPOINT] = SQLITE_OPEN_READWRITE,
    };
    /* Other users must not read the programs of tenants in the ledger. */
    mode_t mask = umask(077);
    int rc =
        sqlite3_open_v2(l->path, &l->db, flags[l->mode] | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc == SQLITE_OK) {
        (void)sqlite3_busy_timeout(l->db, BUSY_MS);
        (void)sqlite3_db_config(l->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        (void)sqlite3_db_config(l->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        rc = l->mode == HC_LEDGER_READ
                 ? SQLITE_OK
                 : sqlite3_exec(l->db,
                                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = " WAL_PAGES
                                "; PRAGMA journal_size_limit = " JOURNAL_MOST "; PRAGMA cache_size = " CACHE
                                "; PRAGMA temp_store = MEMORY", /* the front cannot create files */
                                NULL, NULL, NULL);
    }
    (void)umask(mask);
    if (rc == SQLITE_OK)
        return 0;
    return l->db ? fail_db(l, "open", err) : hc_fail(err, ENOMEM, "ledger %s", l->path);
}

static int check_there(const char *path, struct hc_error *err)
{
    struct stat st = {0};
    if (stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "ledger %s: is not there: no hotcelld has kept its state here (with 'hotcelld --state DIR' it "
            "is DIR/" HC_LEDGER_FILE ": see --ledger)",
            path);
    if (access(path, R_OK) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "ledger %s", path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "ledger %s: expected a file", path);
    return 0;
}

static int open_form(struct hc_ledger *l, struct hc_error *err)
{
    int64_t form = 0;
    if (connect_to(l, err) < 0 || find_form(l, &form, err) < 0)
        return -1;
    if (l->mode == HC_LEDGER_WRITE)
        return migrate(l, form, err);
    if (form == NEWEST)
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0,
                      "ledger %s: was written by an older hotcelld: start this one once", l->path);
}

int hc_ledger_open(struct hc_ledger **out, const char *path, enum hc_ledger_mode mode, struct hc_error *err)
{
    if (mode != HC_LEDGER_WRITE && check_there(path, err) < 0)
        return -1;
    struct hc_ledger *l = calloc(1, sizeof *l);
    if (!l)
        return hc_fail(err, ENOMEM, "ledger");
    l->lock = l->durable = -1;
    l->mode = mode;
    int rc = (l->path = strdup(path)) ? 0 : hc_fail(err, ENOMEM, "ledger");
    if (rc == 0 && mode == HC_LEDGER_WRITE)
        rc = take_lock(l, err);
    if (rc == 0)
        rc = open_form(l, err);
    if (rc < 0) {
        hc_ledger_close(l);
        return -1;
    }
    *out = l;
    return 0;
}

static int checkpoint(struct hc_ledger *l, int how, int *pages, int *left, struct hc_error *err)
{
    int done = 0;
    *pages = 0;
    int rc = sqlite3_wal_checkpoint_v2(l->db, NULL, how, pages, &done) & 0xff;
    *left = *pages - done;
    /* busy: another process makes a checkpoint, or a reader still needs an older state */
    return rc == SQLITE_OK || rc == SQLITE_BUSY ? 0 : fail_db(l, "settle", err);
}

int hc_ledger_checkpoint(struct hc_ledger *l, struct hc_error *err)
{
    int pages, left;
    if (checkpoint(l, SQLITE_CHECKPOINT_PASSIVE, &pages, &left, err) < 0)
        return -1;
    if (pages < LONG_WAL_PAGES)
        return 0; /* once all of the log is copied, the next write restarts it */
    if (left > WAL_REST_PAGES && checkpoint(l, SQLITE_CHECKPOINT_PASSIVE, &pages, &left, err) < 0)
        return -1;
    return checkpoint(l, SQLITE_CHECKPOINT_RESTART, &pages, &left, err);
}

void hc_ledger_close(struct hc_ledger *l)
{
    struct hc_error ignored;
    if (!l)
        return;
    if (l->note_count)
        (void)hc_ledger_flush(l, &ignored);
    hc_notes_finish(l);
    for (size_t i = 0; i < HC_ST_COUNT; i++)
        (void)sqlite3_finalize(l->statements[i]);
    (void)sqlite3_close(l->db);
    hc_close_fd(&l->lock);
    free(l->path);
    free(l);
}
