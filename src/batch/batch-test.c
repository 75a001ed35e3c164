/* The parts of a batch that need no cell: lines of any length, sets of lines, IDs, journal and sums. */
#include "base/fd.h"
#include "batch/lineset.h"
#include "batch/reader.h"
#include "batch/resume.h"
#include "batch/result.h"
#include "batch/job_ids.h"
#include "batch/under.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- reader ---- */

static void reader_gives_lines_one_by_one(void **state)
{
    static const char text[] = "one\n\nthree is long\nfour";
    struct hc_error err;
    struct hc_reader r;
    struct hc_line line;
    (void)state;
    hc_autofd fd = hc_sealed_memfd("lines", text, sizeof text - 1, &err);
    hc_reader_init(&r, fd, 5);
    assert_int_equal(hc_reader_get(&r, &line, &err), 1);
    assert_true(line.len == 3 && memcmp(line.text, "one", 3) == 0 && !line.torn && !line.too_long);
    assert_int_equal(r.bytes, 4);
    assert_int_equal(hc_reader_get(&r, &line, &err), 1);
    assert_true(line.len == 0 && r.line == 2);
    assert_int_equal(hc_reader_get(&r, &line, &err), 1);
    assert_true(line.too_long);
    assert_int_equal(hc_reader_get(&r, &line, &err), 1);
    assert_true(line.torn && line.len == 4 && r.line == 4);
    assert_int_equal(hc_reader_get(&r, &line, &err), 0);
    hc_reader_finish(&r);
}

static void prefix_hash(const char *text, int lines, char out[HC_SHA256_HEX])
{
    struct hc_error err;
    struct hc_reader r;
    struct hc_line line;
    hc_autofd fd = hc_sealed_memfd("lines", text, strlen(text), &err);
    hc_reader_init(&r, fd, 100);
    while (r.line < lines)
        assert_int_equal(hc_reader_get(&r, &line, &err), 1);
    hc_reader_hash(&r, out);
    hc_reader_finish(&r);
}

static void lines_put_behind_the_last_change_nothing_of_those_before(void **state)
{
    char a[HC_SHA256_HEX], b[HC_SHA256_HEX], c[HC_SHA256_HEX];
    (void)state;
    prefix_hash("a\nb", 2, a);
    prefix_hash("a\nb\nc\n", 2, b);
    prefix_hash("a\nB\nc\n", 2, c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
}

static void a_line_of_any_length_is_passed_over_in_little_memory(void **state)
{
    struct hc_error err;
    struct hc_reader r;
    struct hc_line line;
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    for (int i = 0; i < 400000; i++)
        assert_true(fputs("0123456789", file) >= 0);
    assert_true(fputs("\nlast\n", file) >= 0 && fflush(file) == 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    hc_reader_init(&r, fileno(file), 1000);
    assert_int_equal(hc_reader_get(&r, &line, &err), 1);
    assert_true(line.too_long && r.bytes == 4000001);
    assert_true(r.in.cap <= 1 << 20);
    assert_int_equal(hc_reader_get(&r, &line, &err), 1);
    assert_true(line.len == 4 && !line.too_long);
    hc_reader_finish(&r);
    assert_int_equal(fclose(file), 0);
}

/* ---- sets ---- */

static void lineset_holds_what_was_added(void **state)
{
    struct hc_lineset s = {0};
    (void)state;
    for (int64_t i = 0; i < 3000; i += 3)
        assert_int_equal(hc_lineset_add(&s, i), 0);
    for (int64_t i = 0; i < 4000; i++)
        assert_int_equal(hc_lineset_has(&s, i), i < 3000 && i % 3 == 0);
    for (int64_t i = 0; i < 3000; i++)
        assert_int_equal(hc_lineset_add(&s, i), 0);
    assert_int_equal(s.full, 3000);
    assert_false(hc_lineset_has(&s, 3000));
    hc_lineset_finish(&s);
}

static void lineset_takes_no_room_for_lines_in_order(void **state)
{
    struct hc_lineset s = {0};
    (void)state;
    for (int64_t i = 0; i < 100000; i += 2) { /* two workers */
        assert_int_equal(hc_lineset_add(&s, i + 1), 0);
        assert_int_equal(hc_lineset_add(&s, i), 0);
    }
    assert_int_equal(s.full, 100000);
    assert_true(s.bytes <= 64);
    hc_lineset_finish(&s);
}

static void every_line_is_one_shards(void **state)
{
    (void)state;
    for (int64_t line = 1; line < 100; line++) {
        int owners = 0;
        for (int64_t k = 1; k <= 7; k++)
            owners += hc_shard_index(line, k, 7) >= 0;
        assert_int_equal(owners, 1);
    }
    assert_int_equal(hc_shard_index(3, 3, 7), 0);
    assert_int_equal(hc_shard_index(10, 3, 7), 1);
}

static void ids_are_found_again(void **state)
{
    struct hc_job_ids seen;
    struct hc_error err;
    char id[24];
    int64_t first;
    (void)state;
    hc_autofd dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(hc_job_ids_open(&seen, dir, &err), 0);
    for (int64_t i = 1; i <= 10000; i++) { /* more than FIRST_PLACES */
        (void)snprintf(id, sizeof id, "job-%d", (int)i);
        assert_int_equal(hc_job_ids_put(&seen, id, i, &first, &err), 0);
        assert_int_equal(first, i);
    }
    assert_int_equal(hc_job_ids_put(&seen, "job-77", 20000, &first, &err), 0);
    assert_int_equal(first, 77);
    hc_job_ids_finish(&seen);
}

/* ---- journal and results ---- */

static struct hc_entry again(const struct hc_entry *e, const char *result)
{
    struct hc_entry out;
    struct hc_error err = {0};
    hc_autobuf text = {0};
    hc_entry_print(&text, e, result, result ? strlen(result) : 0);
    assert_false(text.failed);
    assert_int_equal(text.data[text.len - 1], '\n');
    if (hc_entry_parse(&out, "journal", text.data, text.len, &err) < 0)
        fail_msg("%s", err.text);
    if (result)
        assert_memory_equal(text.data + out.result, result, out.result_len);
    return out;
}

static void entries_are_what_they_were(void **state)
{
    const struct hc_entry batch = {
        .kind = HC_ENTRY_BATCH, .shard = 2, .shards = 3, .ordered = true, .boot = "b", .started = "now"};
    const struct hc_entry begin = {
        .kind = HC_ENTRY_BEGIN, .line = 5, .attempt = 2, .bytes = 700, .job_id = "a.b", .sha256 = "ff"};
    const struct hc_entry end = {.kind = HC_ENTRY_END, .line = 5, .status = "ok"};
    (void)state;
    struct hc_entry e = again(&batch, NULL);
    assert_true(e.shard == 2 && e.shards == 3 && e.ordered && !e.merged && e.result_len == 0);
    e = again(&batch, "{\"name\": \"default\"}");
    assert_true(e.shard == 2 && e.result_len == strlen("{\"name\": \"default\"}"));
    e = again(&begin, NULL);
    assert_true(e.line == 5 && e.attempt == 2 && e.bytes == 700 && strcmp(e.job_id, "a.b") == 0);
    e = again(&end, NULL);
    assert_true(e.line == 5 && e.result_len == 0);
    e = again(&end, "{\"line\": 5}");
    assert_int_equal(e.result_len, strlen("{\"line\": 5}"));
}

static void differences_are_told_in_a_few_words(void **state)
{
    static const char was[] = "{\"limits\":{\"timeout\":\"60s\",\"pids\":64},\"imports\":[\"a\",\"b\"]}";
    static const char is[] = "{\"limits\":{\"timeout\":\"5s\"},\"imports\":[\"b\",\"c\"],\"tree\":\"base\"}";
    hc_autobuf out = {0};
    (void)state;
    assert_false(hc_under_differs(was, was, &out));
    assert_false(hc_under_differs("", is, &out)); /* an older journal */
    assert_int_equal(out.len, 0);
    assert_true(hc_under_differs(was, is, &out));
    assert_string_equal(out.data, "limits.timeout: \"60s\" -> \"5s\", limits.pids: 64 -> not set, "
                                  "imports: without \"a\", imports: with \"c\" and 1 more");
}

static void bad_entries_are_refused_with_their_place(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"begin\": 0}",
        "{\"begin\": 1.5}",
        "{\"end\": 1}",
        "{\"begin\": 1, \"job_id\": \"../x\", \"attempt\": 1, \"bytes\": 1, \"sha256\": \"\"}",
        "{\"batch\": {\"version\": 2}}",
        "{\"batch\": {\"version\": 1, \"shard\": 1, \"shards\": 1, \"boot\": \"\", \"started\": \"\"}, "
        "\"under\": 1}",
        "{\"batch\": {\"version\": 1, \"shard\": 3, \"shards\": 2, \"boot\": \"\", \"started\": \"\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hc_entry e;
        struct hc_error err = {0};
        assert_int_equal(hc_entry_parse(&e, "journal", bad[i], strlen(bad[i]), &err), -1);
        assert_int_equal(err.exit, HC_EXIT_DATA);
        assert_int_equal(strncmp(err.text, "journal:1:", 10), 0);
    }
}

static void results_are_what_they_were(void **state)
{
    static const char manifest[] =
        "{\"usage\":{\"wall\":1.5,\"cpu_user\":0.25,\"cpu_system\":0.25,\"memory_peak\":4096}}";
    struct hc_result r = {.line = 3,
                          .job_id = "x",
                          .status = HC_BATCH_INVALID,
                          .exit_code = 65,
                          .attempts = 1},
                     out;
    struct hc_error err = {0};
    hc_autobuf text = {0};
    (void)state;
    (void)snprintf(r.reason, sizeof r.reason, "a \"quoted\"\tthing \xff");
    hc_result_print(&text, &r, manifest, sizeof manifest - 1);
    assert_null(memchr(text.data, '\n', text.len));
    if (hc_result_parse(&out, "results", text.data, text.len, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(out.line == 3 && out.status == HC_BATCH_INVALID && out.exit_code == 65 && out.attempts == 1);
    assert_true(out.wall_us == 1500000 && out.cpu_us == 500000 && out.memory_peak == 4096);
    assert_string_equal(out.reason, "a \"quoted\"\tthing \xef\xbf\xbd");
}

static void the_worst_outcome_counts(void **state)
{
    static const int rising[] = {0, 1, 2, 3, 65, 78, 69, 70};
    (void)state;
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++) {
        struct hc_tally t = {0};
        for (size_t j = 0; j <= i; j++) {
            const struct hc_result r = {.exit_code = rising[(j + i) % (i + 1)], .wall_us = 1000};
            hc_tally_add(&t, &r);
        }
        assert_int_equal(t.worst, rising[i]);
        assert_int_equal(t.ended, (int64_t)i + 1);
    }
}

/* The value of `p50` in the printed summary, in us. */
static double median_of(int64_t wall_us)
{
    struct hc_tally t = {0};
    const struct hc_result r = {.wall_us = wall_us};
    const struct hc_tally_end end = {.lines = 1};
    hc_tally_add(&t, &r);
    hc_autobuf out = {0};
    hc_tally_print_json(&t, &end, &out);
    assert_false(out.failed);
    const char *at = strstr(out.data, "\"p50\": ");
    assert_non_null(at);
    return strtod(at + 7, NULL) * 1e6;
}

static void a_median_is_off_by_a_thirtieth_at_most(void **state)
{
    static const int64_t times[] = {999, 1000, 1023, 1024, 1025, 1500000, 3600000000};
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double off = median_of(times[i]) / (double)times[i] - 1;
        if (off < -0.033 || off > 0.033)
            fail_msg("%lld us are printed as %.6f", (long long)times[i], median_of(times[i]));
    }
    assert_true(median_of(0) < 2 && median_of(INT64_MAX) > 1e11);
}

static void sums_end_at_the_largest_number(void **state)
{
    (void)state;
    struct hc_tally t = {0};
    const struct hc_result r = {.wall_us = INT64_MAX - 1,
                                .cpu_us = INT64_MAX - 1,
                                .output_bytes = INT64_MAX - 1},
                           unknown = {.wall_us = -1, .cpu_us = -1, .output_bytes = -1};
    for (int i = 0; i < 3; i++)
        hc_tally_add(&t, &r);
    hc_tally_add(&t, &unknown);
    assert_true(t.wall_us == INT64_MAX && t.cpu_us == INT64_MAX && t.output_bytes == INT64_MAX);
    assert_int_equal(t.timed, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_gives_lines_one_by_one),
        cmocka_unit_test(lines_put_behind_the_last_change_nothing_of_those_before),
        cmocka_unit_test(a_line_of_any_length_is_passed_over_in_little_memory),
        cmocka_unit_test(lineset_holds_what_was_added),
        cmocka_unit_test(lineset_takes_no_room_for_lines_in_order),
        cmocka_unit_test(every_line_is_one_shards),
        cmocka_unit_test(ids_are_found_again),
        cmocka_unit_test(entries_are_what_they_were),
        cmocka_unit_test(bad_entries_are_refused_with_their_place),
        cmocka_unit_test(differences_are_told_in_a_few_words),
        cmocka_unit_test(results_are_what_they_were),
        cmocka_unit_test(the_worst_outcome_counts),
        cmocka_unit_test(a_median_is_off_by_a_thirtieth_at_most),
        cmocka_unit_test(sums_end_at_the_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
