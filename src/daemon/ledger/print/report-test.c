/* What "hotcell jobs" and "hotcell usage" print of a ledger. */
#include "base/fd.h"
#include "daemon/ledger/print/report.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR (INT64_C(3600) * 1000)
#define DAY  (24 * HOUR)
#define NOW  (20000 * DAY) /* 2024-10-04 */

static char dir[] = "/tmp/hotcell-report-XXXXXX", path[64];
static struct hc_error err;
static struct hc_ledger *ledger;

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != 0)                                                                                     \
            fail_msg("%s: %s", #call, err.text);                                                             \
    } while (0)

static void add(const char *id, const char *tenant, int64_t accepted, enum hc_job_state state,
                const char *status)
{
    struct hc_ledger_job job = {.id = id,
                                .tenant = tenant,
                                .spec = "{}",
                                .spec_len = 2,
                                .accepted = accepted,
                                .policy = "strict",
                                .key = state == HC_JOB_DONE ? id : NULL,
                                .body_sha256 = "aa"};
    enum hc_accepted what;
    char known[65];
    OK(hc_ledger_accept(ledger, &job, &what, known, &err));
    if (state == HC_JOB_ACCEPTED)
        return;
    OK(hc_ledger_start(ledger, id, accepted + 500, &err));
    struct hc_ledger_job end = {.id = id,
                                .state = state,
                                .status = status,
                                .reason = status && strcmp(status, "ok") != 0 ? "ran \x1b[31mlong" : "",
                                .finished = accepted + 2000,
                                .used = {.cpu_us = 1250000, .kib_s = 3 << 19, .bytes = 100}};
    OK(hc_ledger_finish(ledger, &end, &err));
}

static int make_ledger(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/ledger.db", dir);
    OK(hc_ledger_open(&ledger, path, HC_LEDGER_WRITE, &err));
    add("job-1", "alice", NOW - DAY, HC_JOB_DONE, "ok");
    add("job-2", "bob", NOW - HOUR, HC_JOB_DONE, "timeout");
    add("job-3", "alice", NOW - HOUR, HC_JOB_UNKNOWN, NULL);
    add("job-4", "alice", NOW - HOUR + 1, HC_JOB_DONE, "ok");
    add("job-5", "alice", NOW, HC_JOB_ACCEPTED, NULL);
    hc_ledger_close(ledger);
    OK(hc_ledger_open(&ledger, path, HC_LEDGER_READ, &err));
    return 0;
}

static int remove_ledger(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    (void)state;
    hc_ledger_close(ledger);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[96];
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
    return rmdir(dir);
}

typedef int report(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *e);

/* What a report prints on standard output. */
static void expect(report *print, const struct hc_report_options *o, const char *text)
{
    char name[96];
    hc_autobuf out = {0};
    (void)snprintf(name, sizeof name, "%s/out", dir);
    (void)fflush(stdout);
    hc_autofd saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    hc_autofd file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(saved >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
    int rc = print(o, ledger, &err);
    (void)fflush(stdout);
    assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(rc, 0);
    OK(hc_read_file(AT_FDCWD, name, &out, 1 << 20, &err));
    assert_string_equal(out.data ? out.data : "", text);
    (void)unlink(name);
}

#define USED(bytes) "\"cpu_seconds\":1.25,\"gb_seconds\":1.5,\"" bytes "\":100}"

#define JOBS_HEAD                                                                                            \
    "JOB                                   TENANT           STATE    STATUS        POLICY       ACCEPTED   " \
    "  "                                                                                                     \
    "          TOOK (s)    CPU (s)  REASON\n"
#define USAGE_HEAD "TENANT               JOBS      CPU (s) MEMORY (GBs)    RESULTS (B)  BY STATUS\n"

static void jobs_are_a_table_or_a_list(void **state)
{
    struct hc_report_options o = {.state = -1, .tenant = "bob"},
                             some = {.state = -1, .json = true, .most = 2};
    (void)state;
    expect(hc_report_jobs, &o,
           JOBS_HEAD
           "job-2                                 bob              done     timeout       strict       "
           "2024-10-03T23:00:00Z      1.500      1.250  ran ?[31mlong\n");
    expect(hc_report_jobs, &some,
           "[{\"job_id\":\"job-5\",\"tenant\":\"alice\",\"state\":\"queued\",\"policy\":\"strict\","
           "\"status\":null,\"reason\":null,"
           "\"accepted\":\"2024-10-04T00:00:00Z\",\"started\":null,\"finished\":null,\"attempts\":0,"
           "\"idempotency_key\":null,\"cpu_seconds\":0,\"gb_seconds\":0,\"stored_bytes\":0},\n"
           "{\"job_id\":\"job-4\",\"tenant\":\"alice\",\"state\":\"done\",\"policy\":\"strict\","
           "\"status\":\"ok\",\"reason\":null,"
           "\"accepted\":\"2024-10-03T23:00:00Z\",\"started\":\"2024-10-03T23:00:00Z\","
           "\"finished\":\"2024-10-03T23:00:02Z\",\"attempts\":1,\"idempotency_key\":\"job-4\"," USED(
               "stored_bytes") "]\n");
    some = (struct hc_report_options){.state = HC_TASK_FAILED, .status = "unknown", .policy = "strict"};
    expect(hc_report_jobs, &some,
           JOBS_HEAD
           "job-3                                 alice            failed   unknown       strict       "
           "2024-10-03T23:00:00Z      1.500      1.250  -\n");
    o.tenant = "nobody";
    expect(hc_report_jobs, &o, JOBS_HEAD);
    o.json = true;
    expect(hc_report_jobs, &o, "[]\n");
}

static void usage_is_added_up_by_tenant_or_by_hour(void **state)
{
    struct hc_report_options o = {.state = -1},
                             hourly = {.json = true, .hourly = true, .since = NOW - 90 * 60000};
    (void)state;
    expect(hc_report_usage, &o,
           USAGE_HEAD "alice                   3        3.750        4.500            300  ok 2, unknown 1\n"
                      "bob                     1        1.250        1.500            100  timeout 1\n");
    expect(hc_report_usage, &hourly,
           "[{\"tenant\":\"alice\",\"hour\":\"2024-10-03T23:00:00Z\",\"jobs\":2,\"by_status\":{\"ok\":1,"
           "\"unknown\":1},\"cpu_seconds\":2.5,\"gb_seconds\":3,\"bytes\":200},\n"
           "{\"tenant\":\"bob\",\"hour\":\"2024-10-03T23:00:00Z\",\"jobs\":1,\"by_status\":{\"timeout\":1}"
           "," USED("bytes") "]\n");
    o.tenant = "nobody";
    expect(hc_report_usage, &o, USAGE_HEAD);
    hourly.since = NOW + HOUR;
    expect(hc_report_usage, &hourly, "[]\n");
}

static void times_are_dates_or_so_long_ago(void **state)
{
    static const struct {
        const char *text;
        int64_t since; /* -1: refused */
    } rows[] = {
        {"2024-10-04", NOW},
        {"2024-10-04T08:00Z", NOW + 8 * HOUR},
        {"2024-10-04T08:00:01Z", NOW + 8 * HOUR + 1000},
        {"24h", NOW - DAY},
        {"90", NOW - 90000},
        {"999999999h", 0},
        {"2024-10-04T08:00:01", -1}, /* whose time? */
        {"2024-13-04", -1},
        {"yesterday", -1},
        {"", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t since = -1;
        if (hc_report_since(rows[i].text, NOW, &since) < 0)
            since = -1;
        assert_int_equal(since, rows[i].since);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_a_table_or_a_list),
        cmocka_unit_test(usage_is_added_up_by_tenant_or_by_hour),
        cmocka_unit_test(times_are_dates_or_so_long_ago),
    };
    return cmocka_run_group_tests(tests, make_ledger, remove_ledger);
}
