/* What is read back from a batch's folder when it goes on: each test writes a journal and results as earlier
 * runs would have. */
#include "batch/resume.h"

#include "base/fd.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const bool NONE[HC_BATCH_STATUSES];

struct batch {
    char path[32];
    struct hc_folder folder;
    struct hc_job_ids ids;
    struct hc_tally tally;
    struct hc_past past;
    struct hc_error err;
};

static int make_batch(void **state)
{
    struct batch *b = calloc(1, sizeof *b);
    *state = b;
    if (!b)
        return -1;
    (void)snprintf(b->path, sizeof b->path, "/tmp/resume-XXXXXX");
    if (!mkdtemp(b->path) || hc_folder_open(&b->folder, b->path, &b->err) < 0)
        return -1;
    b->past.copy = -1;
    return hc_job_ids_open(&b->ids, b->folder.dir, &b->err);
}

static int remove_batch(void **state)
{
    struct batch *b = *state;
    char command[64];
    hc_past_finish(&b->past, &b->folder);
    hc_job_ids_finish(&b->ids);
    hc_folder_close(&b->folder);
    (void)snprintf(command, sizeof command, "rm -rf %s", b->path);
    free(b);
    return system(command);
}

static void note(struct batch *b, const struct hc_entry *e)
{
    if (hc_folder_note(&b->folder, e, NULL, 0, NULL, &b->err) < 0)
        fail_msg("%s", b->err.text);
}

/* A run begins, of the first of so many shards. */
static void note_run(struct batch *b, const char *boot, int64_t shards)
{
    struct hc_entry e = {.kind = HC_ENTRY_BATCH, .shard = 1, .shards = shards, .started = "now"};
    (void)snprintf(e.boot, sizeof e.boot, "%s", boot);
    note(b, &e);
}

static void note_line(struct batch *b, enum hc_entry_kind kind, int64_t line)
{
    struct hc_entry e = {
        .kind = kind, .line = line, .attempt = 1, .bytes = line * 10, .sha256 = "ff", .status = "ok"};
    (void)snprintf(e.job_id, sizeof e.job_id, "job-%lld", (long long)line);
    note(b, &e);
}

static void add_result(struct batch *b, int64_t line, int status)
{
    struct hc_result r = {.line = line, .status = status, .attempts = 1, .reason = "why"};
    hc_autobuf text = {0};
    hc_result_print(&text, &r, NULL, 0);
    assert_int_equal(hc_buf_add(&text, "\n", 1), 0);
    assert_int_equal(hc_folder_result(&b->folder, text.data, text.len, &b->err), 0);
}

static int read_back(struct batch *b, const bool rerun[HC_BATCH_STATUSES])
{
    return hc_past_read(&b->past, &b->folder, rerun, &b->ids, &b->tally, &b->err);
}

static void an_empty_folder_has_no_past(void **state)
{
    struct batch *b = *state;
    assert_int_equal(read_back(b, NONE), 0);
    assert_false(b->past.any);
}

static void lines_with_a_result_are_done_and_the_others_open(void **state)
{
    struct batch *b = *state;
    note_run(b, "boot", 1);
    for (int64_t line = 1; line <= 3; line++)
        note_line(b, HC_ENTRY_BEGIN, line);
    note_line(b, HC_ENTRY_START, 2);
    add_result(b, 1, HC_BATCH_OK);
    if (read_back(b, NONE) < 0)
        fail_msg("%s", b->err.text);
    assert_true(b->past.any && b->past.read.line == 3 && b->tally.ended == 1);
    assert_true(hc_lineset_has(&b->past.done, 0) && !hc_lineset_has(&b->past.done, 1));
    assert_null(hc_past_find(&b->past, 1));
    assert_true(hc_past_find(&b->past, 2)->started); /* it was handed to a worker */
    assert_false(hc_past_find(&b->past, 3)->started);
    assert_string_equal(hc_past_find(&b->past, 3)->job_id, "job-3");
}

static void a_line_that_was_given_back_has_not_run(void **state)
{
    struct batch *b = *state;
    note_run(b, "boot", 1);
    note_line(b, HC_ENTRY_BEGIN, 1);
    note_line(b, HC_ENTRY_START, 1);
    note_line(b, HC_ENTRY_BACK, 1);
    assert_int_equal(read_back(b, NONE), 0);
    assert_false(hc_past_find(&b->past, 1)->started);
}

/* That a worker got a line is not put on disk before it runs: after an end of the host nobody knows. */
static void after_a_restart_of_the_host_whatever_was_begun_may_have_run(void **state)
{
    struct batch *b = *state;
    note_run(b, "first boot", 1);
    note_line(b, HC_ENTRY_BEGIN, 1);
    note_run(b, "second boot", 1);
    note_line(b, HC_ENTRY_BEGIN, 2);
    assert_int_equal(read_back(b, NONE), 0);
    assert_true(hc_past_find(&b->past, 1)->started);
    assert_false(hc_past_find(&b->past, 2)->started);
}

static void results_of_a_chosen_status_are_taken_out(void **state)
{
    struct batch *b = *state;
    bool rerun[HC_BATCH_STATUSES] = {[HC_STATUS_KILLED] = true};
    struct stat st;
    note_run(b, "boot", 1);
    note_line(b, HC_ENTRY_BEGIN, 1);
    note_line(b, HC_ENTRY_BEGIN, 2);
    add_result(b, 1, HC_STATUS_KILLED);
    add_result(b, 2, HC_BATCH_OK);
    assert_int_equal(read_back(b, rerun), 0);
    assert_true(b->past.dropped == 1 && hc_past_find(&b->past, 1)->again);
    assert_true(hc_lineset_has(&b->past.done, 1) && !hc_lineset_has(&b->past.done, 0));
    assert_int_equal(fstat(b->folder.results, &st), 0);
    off_t before = st.st_size;
    assert_int_equal(hc_past_settle(&b->past, &b->folder, &b->err),
                     0); /* only now it is gone from the file */
    assert_int_equal(fstat(b->folder.results, &st), 0);
    assert_true(st.st_size > 0 && st.st_size < before);
}

static void what_was_not_written_whole_is_cut_off(void **state)
{
    struct batch *b = *state;
    struct stat whole, cut;
    note_run(b, "boot", 1);
    note_line(b, HC_ENTRY_BEGIN, 1);
    assert_int_equal(fstat(b->folder.journal, &whole), 0);
    assert_int_equal(write(b->folder.journal, "{\"begin\": 2, \"jo", 16), 16);
    assert_int_equal(read_back(b, NONE), 0);
    assert_int_equal(b->past.read.line, 1);
    assert_int_equal(fstat(b->folder.journal, &cut), 0);
    assert_int_equal(cut.st_size, whole.st_size);
}

static void assert_refused(struct batch *b, const char *why)
{
    assert_int_equal(read_back(b, NONE), -1);
    assert_int_equal(b->err.exit, HC_EXIT_DATA);
    if (!strstr(b->err.text, why))
        fail_msg("%s", b->err.text);
}

static void a_line_has_one_result(void **state)
{
    struct batch *b = *state;
    note_run(b, "boot", 1);
    note_line(b, HC_ENTRY_BEGIN, 1);
    add_result(b, 1, HC_BATCH_OK);
    add_result(b, 1, HC_BATCH_OK);
    assert_refused(b, "line 1 has two results");
}

static void a_line_of_another_shard_is_refused(void **state)
{
    struct batch *b = *state;
    note_run(b, "boot", 2);
    add_result(b, 2, HC_BATCH_OK);
    assert_refused(b, "line 2 is another shard's");
}

static void a_journal_of_something_else_is_refused(void **state)
{
    struct batch *b = *state;
    note_line(b, HC_ENTRY_BEGIN, 1);
    assert_refused(b, "not the journal of a batch");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_batch, remove_batch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_folder_has_no_past),
        TEST(lines_with_a_result_are_done_and_the_others_open),
        TEST(a_line_that_was_given_back_has_not_run),
        TEST(after_a_restart_of_the_host_whatever_was_begun_may_have_run),
        TEST(results_of_a_chosen_status_are_taken_out),
        TEST(what_was_not_written_whole_is_cut_off),
        TEST(a_line_has_one_result),
        TEST(a_line_of_another_shard_is_refused),
        TEST(a_journal_of_something_else_is_refused),
    };
    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
