/* What is kept of samples: evenly spread, and never more than there is room for. */
#include "manifest/samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)

/* As long as `us`, looked at every tenth of a second. */
static void run(struct hc_samples *s, int64_t us)
{
    hc_samples_begin(s, SECOND, SECOND / 10);
    for (int64_t at = SECOND / 10; at <= us; at += SECOND / 10)
        if (hc_samples_due(s, SECOND + at))
            hc_samples_add(s, (struct hc_usage_sample){.at_us = SECOND + at, .memory = at, .cpu_us = at});
}

static void nothing_is_sampled_before_it_begins(void **state)
{
    (void)state;
    struct hc_samples s = {0};
    assert_false(hc_samples_due(&s, 3600 * SECOND));
}

static void a_short_job_has_none_and_a_longer_one_a_few(void **state)
{
    (void)state;
    struct hc_samples s = {0};
    run(&s, SECOND / 20);
    assert_int_equal(s.count, 0);
    run(&s, SECOND);
    assert_int_equal(s.count, 10);
    assert_int_equal(s.items[0].at_us, SECOND / 10);
    assert_int_equal(s.items[9].at_us, SECOND);
}

static void however_long_it_is_they_fit_and_span_it_evenly(void **state)
{
    (void)state;
    for (int64_t seconds = 1; seconds <= 100000; seconds = seconds * 3 + 1) {
        struct hc_samples s = {0};
        run(&s, seconds * SECOND);
        assert_in_range(s.count, 10, HC_SAMPLES);
        assert_true(s.items[s.count - 1].at_us >= seconds * SECOND - s.every_us);
        for (size_t i = 1; i < s.count; i++) {
            assert_int_equal(s.items[i].at_us - s.items[i - 1].at_us, s.every_us);
            assert_int_equal(s.items[i].memory, s.items[i].at_us);
        }
    }
}

static void a_tick_that_is_a_little_early_counts(void **state)
{
    (void)state;
    struct hc_samples s = {0};
    hc_samples_begin(&s, SECOND, SECOND / 10);
    assert_false(hc_samples_due(&s, SECOND + SECOND / 20));
    assert_true(hc_samples_due(&s, SECOND + SECOND / 10 - 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_sampled_before_it_begins),
        cmocka_unit_test(a_short_job_has_none_and_a_longer_one_a_few),
        cmocka_unit_test(however_long_it_is_they_fit_and_span_it_evenly),
        cmocka_unit_test(a_tick_that_is_a_little_early_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
