/* The ledger: promises that survive kills, keys, usage, retention, and files that are not what they should
 * be. */
#include "base/fd.h"
#include "daemon/ledger/ledger_db.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* How often the disk was waited for: SQLite's calls end up here. */
static int syncs;

int fdatasync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

static char dir[] = "/tmp/hotcell-ledger-XXXXXX", path[64];
static struct hc_error err;

static int make_dir(void **state)
{
    (void)state;
    (void)strcpy(dir, "/tmp/hotcell-ledger-XXXXXX");
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/ledger.db", dir);
    return 0;
}

static int remove_dir(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", ".lock"};
    (void)state;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[96];
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
    return rmdir(dir);
}

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != 0)                                                                                     \
            fail_msg("%s: %s", #call, err.text);                                                             \
    } while (0)

static struct hc_ledger *open_ledger(void)
{
    struct hc_ledger *l;
    OK(hc_ledger_open(&l, path, HC_LEDGER_WRITE, &err));
    return l;
}

static void refused(enum hc_ledger_mode mode, int exit, const char *part)
{
    struct hc_ledger *l;
    assert_int_equal(hc_ledger_open(&l, path, mode, &err), -1);
    if (!strstr(err.text, part) || strchr(err.text, '\n'))
        fail_msg("'%s' instead of '%s'", err.text, part);
    assert_int_equal(err.exit, exit);
}

static struct hc_ledger_job new_job(const char *id, const char *tenant)
{
    return (struct hc_ledger_job){
        .id = id, .tenant = tenant, .spec = "{\"code\": \"1\"}", .spec_len = 13, .accepted = 1000};
}

static struct hc_ledger_job end_of(const char *id, int64_t finished)
{
    return (struct hc_ledger_job){.id = id,
                                  .state = HC_JOB_DONE,
                                  .status = "ok",
                                  .manifest = "{\"status\": \"ok\"}",
                                  .manifest_len = 16,
                                  .finished = finished,
                                  .used = {.cpu_us = 500, .kib_s = 7, .bytes = 100}};
}

static void accept_job(struct hc_ledger *l, const char *id, const char *tenant)
{
    struct hc_ledger_job job = new_job(id, tenant);
    enum hc_accepted what;
    char known[65];
    OK(hc_ledger_accept(l, &job, &what, known, &err));
    assert_int_equal(what, HC_ACCEPTED);
}

static void finish_job(struct hc_ledger *l, const char *id, int64_t finished)
{
    struct hc_ledger_job end = end_of(id, finished);
    OK(hc_ledger_finish(l, &end, &err));
}

static struct hc_ledger_job get(struct hc_ledger *l, const char *tenant, const char *id)
{
    struct hc_ledger_job job = {0};
    bool found;
    OK(hc_ledger_get(l, tenant, id, &job, &found, &err));
    if (!found)
        job.id = NULL;
    return job;
}

static void a_job_goes_its_way(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct hc_ledger_job job;
    (void)state;
    accept_job(l, "j1", "alice");
    job = get(l, "alice", "j1");
    assert_int_equal(job.state, HC_JOB_ACCEPTED);
    assert_string_equal(job.spec, "{\"code\": \"1\"}");
    assert_null(job.manifest);
    OK(hc_ledger_start(l, "j1", 2000, &err));
    OK(hc_ledger_unstart(l, "j1", &err));
    assert_int_equal(get(l, "alice", "j1").started, 0);
    OK(hc_ledger_start(l, "j1", 3000, &err));
    finish_job(l, "j1", 4000);
    job = get(l, "alice", "j1");
    assert_int_equal(job.state, HC_JOB_DONE);
    assert_int_equal(job.attempts, 1);
    assert_int_equal(job.started, 3000);
    assert_int_equal(job.finished, 4000);
    assert_int_equal(job.used.cpu_us, 500);
    assert_string_equal(job.manifest, "{\"status\": \"ok\"}");
    assert_null(job.spec);
    hc_ledger_close(l);
}

static void no_step_can_be_taken_twice_or_out_of_order(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct hc_ledger_job job = new_job("j1", "alice"), end = end_of("j1", 1), open = end;
    enum hc_accepted what;
    char known[65];
    (void)state;
    accept_job(l, "j1", "alice");
    assert_int_equal(hc_ledger_accept(l, &job, &what, known, &err), -1);
    assert_int_equal(hc_ledger_unstart(l, "j1", &err), -1);
    OK(hc_ledger_start(l, "j1", 1, &err));
    assert_int_equal(hc_ledger_start(l, "j1", 1, &err), -1);
    assert_int_equal(err.exit, HC_EXIT_DATA);
    open.state = HC_JOB_RUNNING;
    assert_int_equal(hc_ledger_finish(l, &open, &err), -1);
    OK(hc_ledger_finish(l, &end, &err));
    assert_int_equal(hc_ledger_finish(l, &end, &err), -1);
    assert_int_equal(hc_ledger_start(l, "j1", 1, &err), -1);
    assert_int_equal(hc_ledger_start(l, "other", 1, &err), -1);
    /* What was refused left nothing half done: one job, counted once. */
    accept_job(l, "j2", "alice");
    hc_ledger_close(l);
}

static void another_tenants_job_is_not_there(void **state)
{
    struct hc_ledger *l = open_ledger();
    bool found;
    (void)state;
    accept_job(l, "j1", "alice");
    OK(hc_ledger_start(l, "j1", 1, &err));
    finish_job(l, "j1", 1);
    assert_null(get(l, "bob", "j1").id);
    OK(hc_ledger_forget(l, "bob", "j1", &found, &err));
    assert_false(found);
    OK(hc_ledger_forget(l, "alice", "j1", &found, &err));
    assert_true(found);
    assert_null(get(l, "alice", "j1").id);
    accept_job(l, "j2", "alice");
    OK(hc_ledger_forget(l, "alice", "j2", &found, &err)); /* not before it has ended */
    assert_false(found);
    hc_ledger_close(l);
}

static enum hc_accepted with_key(struct hc_ledger *l, const char *id, const char *tenant, const char *key,
                                 const char *body, char known[65])
{
    struct hc_ledger_job job = new_job(id, tenant);
    enum hc_accepted what;
    job.key = key;
    job.body_sha256 = body;
    OK(hc_ledger_accept(l, &job, &what, known, &err));
    return what;
}

static void a_key_stands_for_one_request_of_one_tenant(void **state)
{
    struct hc_ledger *l = open_ledger();
    char known[65] = "";
    (void)state;
    assert_int_equal(with_key(l, "j1", "alice", "k", "aa", known), HC_ACCEPTED);
    assert_int_equal(with_key(l, "j2", "alice", "k", "aa", known), HC_ACCEPTED_SAME);
    assert_string_equal(known, "j1");
    assert_int_equal(with_key(l, "j3", "alice", "k", "bb", known), HC_ACCEPTED_OTHER);
    assert_string_equal(known, "j1");
    assert_int_equal(with_key(l, "j4", "bob", "k", "bb", known), HC_ACCEPTED);
    assert_null(get(l, NULL, "j2").id);
    hc_ledger_close(l);
    l = open_ledger();
    assert_int_equal(with_key(l, "j5", "alice", "k", "aa", known), HC_ACCEPTED_SAME);
    hc_ledger_close(l);
}

/* What a callback has heard of. */
struct heard {
    char ids[64][65];
    size_t count;
    int64_t bytes;
};

static int hear(void *ctx, const struct hc_ledger_job *job)
{
    struct heard *h = ctx;
    assert_true(h->count < 64);
    (void)snprintf(h->ids[h->count++], 65, "%s %s", job->id, hc_task_state_name(hc_ledger_shown(job)));
    return 0;
}

static void promises_wait_for_the_disk_and_notes_do_not(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct hc_ledger_job note = end_of("n1", 5);
    int before;
    (void)state;
    note.tenant = "alice";
    before = syncs;
    accept_job(l, "j1", "alice");
    assert_true(syncs > before);
    before = syncs;
    OK(hc_ledger_start(l, "j1", 1, &err));
    assert_true(syncs > before);
    before = syncs;
    finish_job(l, "j1", 2);
    assert_true(syncs > before);
    before = syncs;
    OK(hc_ledger_note(l, &note, &err));
    assert_string_equal(get(l, "alice", "n1").status, "ok"); /* before it was written */
    assert_null(get(l, "bob", "n1").id);
    OK(hc_ledger_flush(l, &err));
    assert_string_equal(get(l, "alice", "n1").status, "ok");
    assert_int_equal(syncs, before);
    accept_job(l, "j2", "alice");
    assert_true(syncs > before);
    hc_ledger_close(l);
}

static void jobs_are_listed_newest_first(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct heard h = {0};
    (void)state;
    accept_job(l, "j1", "alice");
    accept_job(l, "j2", "bob");
    accept_job(l, "j3", "alice");
    OK(hc_ledger_start(l, "j3", 1, &err));
    OK(hc_ledger_list(l, &(struct hc_ledger_filter){.state = -1}, hear, &h, &err));
    assert_int_equal(h.count, 3);
    assert_string_equal(h.ids[0], "j3 running");
    h.count = 0;
    OK(hc_ledger_list(l, &(struct hc_ledger_filter){.tenant = "alice", .state = HC_TASK_QUEUED}, hear, &h,
                      &err));
    assert_int_equal(h.count, 1);
    assert_string_equal(h.ids[0], "j1 queued");
    h.count = 0;
    OK(hc_ledger_list(l, &(struct hc_ledger_filter){.state = -1, .most = 2}, hear, &h, &err));
    assert_int_equal(h.count, 2);
    OK(hc_ledger_list(l, &(struct hc_ledger_filter){.state = -1, .since = 1001}, hear, &h, &err));
    assert_int_equal(h.count, 2);
    hc_ledger_close(l);
}

static int add_up(void *ctx, const struct hc_ledger_use *use)
{
    struct heard *h = ctx;
    (void)snprintf(h->ids[h->count++], 65, "%s %lld %s %lld %lld", use->tenant, (long long)use->hour,
                   use->status, (long long)use->jobs, (long long)use->used.cpu_us);
    return 0;
}

static void usage_is_by_tenant_hour_and_status(void **state)
{
    const int64_t hour = INT64_C(3600) * 1000;
    struct hc_ledger *l = open_ledger();
    struct hc_ledger_job note = end_of("n1", hour + 5), cancelled = {.id = "j3", .state = HC_JOB_CANCELLED};
    struct heard h = {0};
    int64_t bytes;
    bool found;
    (void)state;
    note.tenant = "alice";
    accept_job(l, "j1", "alice");
    accept_job(l, "j2", "alice");
    accept_job(l, "j3", "alice");
    finish_job(l, "j1", 5);
    finish_job(l, "j2", 6);
    OK(hc_ledger_finish(l, &cancelled, &err));
    OK(hc_ledger_note(l, &note, &err));
    OK(hc_ledger_usage(l, NULL, 0, add_up, &h, &err));
    assert_int_equal(h.count, 3);
    assert_string_equal(h.ids[0], "alice 0 cancelled 1 0");
    assert_string_equal(h.ids[1], "alice 0 ok 2 1000");
    assert_string_equal(h.ids[2], "alice 3600000 ok 1 500");
    h.count = 0;
    OK(hc_ledger_usage(l, "alice", 1, add_up, &h, &err));
    OK(hc_ledger_usage(l, "bob", 0, add_up, &h, &err));
    assert_int_equal(h.count, 1);
    OK(hc_ledger_stored(l, "alice", &bytes, &err));
    assert_int_equal(bytes, 300);
    OK(hc_ledger_forget(l, "alice", "j1", &found, &err));
    OK(hc_ledger_stored(l, "alice", &bytes, &err));
    assert_int_equal(bytes, 200);
    h.count = 0;
    OK(hc_ledger_usage(l, NULL, 0, add_up, &h, &err)); /* outlives the jobs */
    assert_string_equal(h.ids[1], "alice 0 ok 2 1000");
    hc_ledger_close(l);
}

static int keep_j2(void *ctx, const struct hc_ledger_job *job)
{
    (void)hear(ctx, job);
    return strcmp(job->id, "j2") == 0;
}

static void old_jobs_go_and_then_the_oldest_beyond_the_bytes(void **state)
{
    static const char *const ids[] = {"j1", "j2", "j3", "j4", "j5"};
    struct hc_ledger *l = open_ledger();
    struct heard h = {0};
    (void)state;
    for (int i = 0; i < 5; i++) {
        accept_job(l, ids[i], "alice");
        finish_job(l, ids[i], 10 * (i + 1));
    }
    accept_job(l, "open", "alice");
    OK(hc_ledger_sweep(l, 25, 0, keep_j2, &h, &err));
    assert_int_equal(h.count, 2);
    assert_null(get(l, NULL, "j1").id);
    assert_non_null(get(l, NULL, "j2").id); /* was refused */
    h.count = 0;
    OK(hc_ledger_sweep(l, 0, 250, keep_j2, &h,
                       &err)); /* 400 are kept; j2 is not given up, so two others go */
    assert_int_equal(h.count, 3);
    assert_non_null(get(l, NULL, "j2").id);
    assert_null(get(l, NULL, "j3").id);
    assert_null(get(l, NULL, "j4").id);
    assert_non_null(get(l, NULL, "j5").id);
    OK(hc_ledger_sweep(l, 1000, 0, NULL, NULL, &err));
    assert_null(get(l, NULL, "j5").id);
    assert_non_null(get(l, NULL, "open").id);
    hc_ledger_close(l);
}

static void a_sweep_leaves_others_their_turn(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct hc_ledger_job note = end_of("", 5);
    struct heard h = {0};
    int64_t bytes;
    (void)state;
    note.tenant = "alice";
    for (int i = 0; i < HC_SWEEP_MOST + 10; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "n%d", i);
        note.id = id;
        OK(hc_ledger_note(l, &note, &err));
    }
    assert_int_equal(hc_ledger_sweep(l, 10, 0, NULL, NULL, &err), 1);
    OK(hc_ledger_stored(l, "alice", &bytes, &err));
    assert_int_equal(bytes, 1000);
    OK(hc_ledger_sweep(l, 10, 0, hear, &h, &err));
    assert_int_equal(h.count, 10);
    OK(hc_ledger_sweep(l, 10, 0, hear, &h, &err));
    assert_int_equal(h.count, 10);
    hc_ledger_close(l);
}

static void after_a_crash_nothing_is_run_twice(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct heard waiting = {0}, lost = {0}, h = {0};
    (void)state;
    accept_job(l, "j1", "alice");
    accept_job(l, "j2", "alice");
    accept_job(l, "j3", "bob");
    OK(hc_ledger_start(l, "j2", 5, &err));
    hc_ledger_close(l);
    l = open_ledger();
    OK(hc_ledger_recover(l, 7200000, hear, NULL, &waiting, &err));
    assert_int_equal(waiting.count, 2);
    assert_string_equal(waiting.ids[0], "j1 queued");
    assert_string_equal(waiting.ids[1], "j3 queued");
    assert_int_equal(get(l, NULL, "j2").state, HC_JOB_UNKNOWN);
    assert_int_equal(get(l, NULL, "j2").finished, 7200000);
    OK(hc_ledger_usage(l, NULL, 0, add_up, &h, &err));
    assert_string_equal(h.ids[0], "alice 7200000 unknown 1 0");
    OK(hc_ledger_start(l, "j1", 6, &err));
    OK(hc_ledger_recover(l, 7200001, NULL, hear, &lost, &err));
    assert_int_equal(lost.count, 1);
    assert_string_equal(lost.ids[0], "j1 failed");
    hc_ledger_close(l);
}

/* What a daemon that is killed told the world: one letter and a number for each step that had returned. */
static void live_until_killed(int out, int first)
{
    struct hc_ledger *l = open_ledger();
    for (int i = first;; i++) {
        char id[16], said[32];
        (void)snprintf(id, sizeof id, "j%d", i);
        accept_job(l, id, "alice");
        (void)snprintf(said, sizeof said, "a%d ", i);
        OK(hc_write_all(out, said, strlen(said), &err));
        if (i % 3 == 0)
            continue; /* waits */
        OK(hc_ledger_start(l, id, i, &err));
        said[0] = 's';
        OK(hc_write_all(out, said, strlen(said), &err));
        if (i % 3 == 1)
            continue; /* runs */
        finish_job(l, id, i);
        said[0] = 'f';
        OK(hc_write_all(out, said, strlen(said), &err));
    }
}

enum { MAX_TOLD = 100000 };

static char told[MAX_TOLD]; /* the last letter per job */
static bool handed_out[MAX_TOLD];

static int hand_out(void *ctx, const struct hc_ledger_job *job)
{
    int number = atoi(job->id + 1);
    (void)ctx;
    if (handed_out[number])
        fail_msg("%s is to be run a second time", job->id);
    if (told[number] == 's' || told[number] == 'f')
        fail_msg("%s has run, and is to be run again", job->id);
    handed_out[number] = true;
    return 0;
}

static int read_told(const char *text, int last)
{
    for (const char *at = text; *at; at++) {
        char *end;
        long number = strtol(at + 1, &end, 10);
        if (*end != ' ')
            break; /* the kill came in the middle of a word */
        told[number] = *at;
        last = (int)number > last ? (int)number : last;
        at = end;
    }
    return last;
}

static void check_told(struct hc_ledger *l, int first, int last)
{
    for (int i = first; i <= last; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "j%d", i);
        struct hc_ledger_job job = get(l, "alice", id);
        if (!job.id && told[i])
            fail_msg("%s was promised, and is lost", id);
        if (!job.id)
            continue;
        if (told[i] == 'f')
            assert_int_equal(job.state, HC_JOB_DONE);
        if (told[i] == 's')
            assert_true(job.state == HC_JOB_DONE || job.state == HC_JOB_UNKNOWN);
        if (job.state == HC_JOB_ACCEPTED && !handed_out[i])
            fail_msg("%s was promised, and is not to be run", id);
        assert_int_not_equal(job.state, HC_JOB_RUNNING);
        /* What was handed out is run now, and is over before the next kill. */
        if (job.state == HC_JOB_ACCEPTED) {
            OK(hc_ledger_start(l, id, i, &err));
            finish_job(l, id, i);
            told[i] = 'f';
        }
    }
}

/* One life: the child works until it has told `words` bytes, and is killed in whatever it does then. */
static int live_and_die(int first, size_t words)
{
    static char text[1 << 16];
    size_t len = 0;
    int ends[2], status;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        live_until_killed(ends[1], first);
        _exit(1);
    }
    (void)close(ends[1]);
    while (len < words) {
        ssize_t n = read(ends[0], text + len, words - len);
        assert_true(n > 0);
        len += (size_t)n;
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    for (ssize_t n; (n = read(ends[0], text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    (void)close(ends[0]);
    text[len] = '\0';
    return read_told(text, first - 1);
}

static void kills_at_any_moment_lose_nothing(void **state)
{
    enum { LIVES = 25, MOST_WORDS = 400 };
    int first = 1;
    (void)state;
    srandom(7);
    for (int life = 0; life < LIVES; life++) {
        int last = live_and_die(first, 1 + (size_t)random() % MOST_WORDS);
        struct hc_ledger *l = open_ledger();
        OK(hc_ledger_recover(l, 1, hand_out, NULL, NULL, &err));
        check_told(l, 1, last + 1);
        hc_ledger_close(l);
        first = last + 2; /* the one behind the last may be in the ledger, though nobody was told */
        assert_true(first < MAX_TOLD - 10000);
    }
}

/* In the database alone, without the log beside it. */
static int64_t jobs_without_log(void)
{
    char uri[96];
    sqlite3 *db;
    sqlite3_stmt *st;
    (void)snprintf(uri, sizeof uri, "file:%s?immutable=1", path);
    assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM jobs", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return count;
}

static void what_is_settled_is_in_the_database_and_the_log_begins_anew(void **state)
{
    enum { ROUNDS = 5, JOBS = 20, BYTES = 1 << 18 };
    static char text[BYTES];
    struct hc_ledger *l = open_ledger(), *checkpointer;
    struct stat st;
    char name[96];
    (void)state;
    memset(text, 'x', sizeof text);
    OK(hc_ledger_open(&checkpointer, path, HC_LEDGER_CHECKPOINT, &err)); /* beside the one that writes */
    OK(hc_ledger_checkpoint(checkpointer, &err));
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(jobs_without_log(), round * JOBS);
        for (int i = 0; i < JOBS; i++) {
            char id[32];
            (void)snprintf(id, sizeof id, "r%d-%d", round, i);
            struct hc_ledger_job job = end_of(id, 5);
            job.tenant = "alice";
            job.manifest = text;
            job.manifest_len = sizeof text;
            OK(hc_ledger_note(l, &job, &err));
        }
        OK(hc_ledger_flush(l, &err));
        OK(hc_ledger_checkpoint(checkpointer, &err));
    }
    (void)snprintf(name, sizeof name, "%s-wal", path);
    assert_int_equal(stat(name, &st), 0);
    assert_true(st.st_size < (off_t)2 * JOBS * BYTES);
    hc_ledger_close(checkpointer);
    hc_ledger_close(l);
}

static void two_daemons_cannot_have_one_ledger(void **state)
{
    struct hc_ledger *l = open_ledger(), *other;
    char answer = 0;
    int ends[2], status;
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        bool told_so = hc_ledger_open(&other, path, HC_LEDGER_WRITE, &err) < 0 &&
                       strstr(err.text, "another hotcelld uses it") && err.exit == HC_EXIT_UNAVAILABLE;
        (void)hc_write_all(ends[1], told_so ? "y" : "n", 1, &err);
        (void)raise(SIGKILL); /* what it has of its parent is not its own to give back */
    }
    assert_int_equal(read(ends[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    /* Readers are welcome. */
    accept_job(l, "j1", "alice");
    OK(hc_ledger_open(&other, path, HC_LEDGER_READ, &err));
    assert_string_equal(get(other, NULL, "j1").tenant, "alice");
    assert_int_equal(hc_ledger_start(other, "j1", 1, &err), -1);
    hc_ledger_close(other);
    hc_ledger_close(l);
}

static void write_file(const char *text, size_t len)
{
    hc_autofd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    OK(hc_write_all(fd, text, len, &err));
}

static void change_database(const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void what_is_no_ledger_is_said_so(void **state)
{
    static char page[8192];
    (void)state;
    refused(HC_LEDGER_READ, HC_EXIT_DATA, "is not there: no hotcelld has kept its state here");
    memset(page, 'x', sizeof page);
    write_file(page, sizeof page);
    refused(HC_LEDGER_WRITE, HC_EXIT_DATA, "file is not a database; it is no ledger of hotcelld");
    refused(HC_LEDGER_READ, HC_EXIT_DATA, "file is not a database; it is no ledger of hotcelld");
    (void)unlink(path);
    change_database("CREATE TABLE t (x)");
    refused(HC_LEDGER_WRITE, HC_EXIT_DATA, "is a database, but no ledger of hotcelld");
    (void)unlink(path);
    hc_ledger_close(open_ledger());
    change_database("PRAGMA user_version = 9");
    refused(HC_LEDGER_WRITE, HC_EXIT_DATA, "was written by a newer hotcelld (form 9, this one knows 2)");
    (void)unlink(path);
    write_file("", 0); /* as good as none */
    refused(HC_LEDGER_READ, HC_EXIT_DATA, "was written by an older hotcelld");
    hc_ledger_close(open_ledger());
}

/* As the first form had it, with a job in each state. */
static void a_ledger_of_the_first_form_is_brought_to_the_newest(void **state)
{
    struct heard h = {0};
    (void)state;
    change_database(
        "PRAGMA application_id = 1212369991; PRAGMA user_version = 1;"
        "CREATE TABLE jobs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT "
        "NULL, state INTEGER NOT NULL, status TEXT, key TEXT, body TEXT, attempts INTEGER NOT NULL "
        "DEFAULT 0, accepted INTEGER NOT NULL, started INTEGER, finished INTEGER, cpu_us INTEGER "
        "NOT NULL DEFAULT 0, kib_s INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, "
        "spec TEXT, manifest TEXT) STRICT;"
        "CREATE UNIQUE INDEX jobs_key ON jobs (tenant, key) WHERE key IS NOT NULL;"
        "CREATE INDEX jobs_tenant ON jobs (tenant);"
        "CREATE INDEX jobs_open ON jobs (state) WHERE state < 2;"
        "CREATE INDEX jobs_finished ON jobs (finished, number, bytes) WHERE finished IS NOT NULL;"
        "CREATE TABLE usage (tenant TEXT NOT NULL, hour INTEGER NOT NULL, status TEXT NOT NULL, jobs "
        "INTEGER NOT NULL, cpu_us INTEGER NOT NULL, kib_s INTEGER NOT NULL, bytes INTEGER NOT NULL, "
        "PRIMARY KEY (tenant, hour, status)) STRICT, WITHOUT ROWID;"
        "INSERT INTO jobs (id, tenant, state, status, accepted, finished, spec, manifest, key, body) "
        "VALUES ('j0', 'alice', 0, NULL, 1, NULL, '{}', NULL, 'k', 'aa'), ('j2', 'alice', 2, 'ok', 2, "
        "5, NULL, '{\"a\": 1}', NULL, NULL), ('j3', 'bob', 3, NULL, 3, 6, NULL, NULL, NULL, NULL), "
        "('j4', 'bob', 4, NULL, 4, 7, NULL, NULL, NULL, NULL)");
    struct hc_ledger *l = open_ledger();
    OK(hc_ledger_list(l, &(struct hc_ledger_filter){.state = -1}, hear, &h, &err));
    assert_int_equal(h.count, 4);
    assert_string_equal(h.ids[0], "j4 failed");
    assert_string_equal(h.ids[1], "j3 failed");
    assert_string_equal(h.ids[2], "j2 done");
    assert_string_equal(h.ids[3], "j0 queued");
    assert_string_equal(get(l, NULL, "j4").status, "cancelled");
    assert_string_equal(get(l, NULL, "j3").status, "unknown");
    assert_string_equal(get(l, "alice", "j2").manifest, "{\"a\": 1}");
    assert_string_equal(get(l, "alice", "j0").key, "k");
    assert_null(get(l, "alice", "j0").policy);
    hc_ledger_close(l);
}

static void a_broken_file_is_said_to_be_broken(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct hc_ledger_filter all = {.state = -1};
    struct heard h = {0};
    static char zeros[4096];
    (void)state;
    for (int i = 0; i < 40; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "j%d", i);
        accept_job(l, id, "alice");
    }
    hc_ledger_close(l);
    hc_autofd fd = open(path, O_WRONLY | O_CLOEXEC);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    memset(zeros, 0x5a, sizeof zeros);
    for (off_t at = 4096; at < st.st_size; at += 4096)
        assert_int_equal(pwrite(fd, zeros, sizeof zeros, at), sizeof zeros);
    l = open_ledger(); /* its first page is whole */
    assert_int_equal(hc_ledger_list(l, &all, hear, &h, &err), -1);
    assert_int_equal(err.exit, HC_EXIT_DATA);
    assert_non_null(strstr(err.text, "the file is broken: move it away"));
    hc_ledger_close(l);
}

static void a_full_disk_refuses_and_takes_back(void **state)
{
    struct hc_ledger *l = open_ledger();
    static char spec[1 << 20];
    struct hc_ledger_job big = new_job("big", "alice");
    enum hc_accepted what;
    char known[65];
    (void)state;
    memset(spec, 'x', sizeof spec);
    big.spec = spec;
    big.spec_len = sizeof spec;
    assert_int_equal(sqlite3_exec(l->db, "PRAGMA max_page_count = 40", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(hc_ledger_accept(l, &big, &what, known, &err), -1);
    assert_int_equal(err.exit, HC_EXIT_UNAVAILABLE);
    assert_non_null(strstr(err.text, "full; make room on its disk"));
    accept_job(l, "small", "alice"); /* goes on with what fits */
    assert_null(get(l, NULL, "big").id);
    hc_ledger_close(l);
}

/* A place that this user may not write to. */
static void a_directory_that_cannot_be_written_to_is_named(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/proc/no-such-place/ledger.db");
    refused(HC_LEDGER_WRITE, HC_EXIT_UNAVAILABLE, "ledger /proc/no-such-place/ledger.db: open ");
    (void)snprintf(path, sizeof path, "%s/ledger.db", dir);
    hc_ledger_close(open_ledger());
}

static void notes_of_jobs_that_are_known_harm_nobody(void **state)
{
    struct hc_ledger *l = open_ledger();
    struct hc_ledger_job note = end_of("j1", 5);
    struct heard h = {0};
    (void)state;
    note.tenant = "alice";
    accept_job(l, "j1", "bob");
    OK(hc_ledger_note(l, &note, &err));
    OK(hc_ledger_flush(l, &err));
    assert_string_equal(get(l, NULL, "j1").tenant, "bob");
    for (int i = 0; i < 3000; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "n%d", i);
        note.id = id;
        OK(hc_ledger_note(l, &note, &err));
    }
    assert_true(l->note_count < 32); /* written in between, without being asked to */
    OK(hc_ledger_usage(l, "alice", 0, add_up, &h, &err));
    assert_string_equal(h.ids[0], "alice 0 ok 3001 1500500");
    hc_ledger_close(l);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)
    const struct CMUnitTest tests[] = {
        TEST(a_job_goes_its_way),
        TEST(no_step_can_be_taken_twice_or_out_of_order),
        TEST(another_tenants_job_is_not_there),
        TEST(a_key_stands_for_one_request_of_one_tenant),
        TEST(promises_wait_for_the_disk_and_notes_do_not),
        TEST(jobs_are_listed_newest_first),
        TEST(usage_is_by_tenant_hour_and_status),
        TEST(old_jobs_go_and_then_the_oldest_beyond_the_bytes),
        TEST(a_sweep_leaves_others_their_turn),
        TEST(after_a_crash_nothing_is_run_twice),
        TEST(kills_at_any_moment_lose_nothing),
        TEST(what_is_settled_is_in_the_database_and_the_log_begins_anew),
        TEST(two_daemons_cannot_have_one_ledger),
        TEST(what_is_no_ledger_is_said_so),
        TEST(a_ledger_of_the_first_form_is_brought_to_the_newest),
        TEST(a_broken_file_is_said_to_be_broken),
        TEST(a_full_disk_refuses_and_takes_back),
        TEST(a_directory_that_cannot_be_written_to_is_named),
        TEST(notes_of_jobs_that_are_known_harm_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
