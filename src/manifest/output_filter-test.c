/* What is shown of long output: nothing is cut within a character, and the note says exactly what is missing.
 */
#include "manifest/output_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In two pieces, for every place of the cut; what is passed on is what is kept. */
static void check(const char *rules, int64_t max, const char *text, const char *expected, bool truncated)
{
    struct hc_policy policy = {.rules = cJSON_Parse(rules)};
    size_t len = strlen(text);
    assert_non_null(policy.rules);
    for (size_t first = 0; first <= len; first++) {
        struct hc_stream stream = {0};
        struct hc_output_filter *s;
        struct hc_buf out = {0};
        struct hc_error err;
        assert_int_equal(hc_output_filter_new(&s, &policy, NULL, max, &stream, &err), 0);
        assert_non_null(s);
        hc_output_filter_feed(s, text, first, &out);
        hc_output_filter_feed(s, text + first, len - first, &out);
        hc_output_filter_finish(s, &out);
        assert_string_equal(stream.text.data ? stream.text.data : "", expected);
        assert_string_equal(out.data ? out.data : "", expected);
        assert_int_equal(stream.truncated, truncated);
        assert_int_equal(stream.bytes, len);
        hc_output_filter_free(s);
        hc_buf_finish(&out);
        hc_buf_finish(&stream.text);
    }
    cJSON_Delete(policy.rules);
}

static void test_head(void **state)
{
    static const char rules[] = "{\"truncation\": {\"note\": \"[{limit} {bytes}]\"}}";
    (void)state;
    check(rules, 4, "abcd", "abcd", false);
    check(rules, 4, "abcdef", "abcd[4 2]", true);
    check(rules, 4, "abc\xc3\xa9!", "abc[4 3]", true);
    check(rules, 4, "\xe6\xbc\xa2\xe5\xad\x97", "\xe6\xbc\xa2[4 3]", true);
    check(rules, 4, "\xff\xfe\xc3", "\xff\xfe\xc3", false);
}

static void test_ends(void **state)
{
    static const char rules[] =
        "{\"truncation\": {\"keep\": \"ends\", \"note\": \"[{bytes} of more than {limit}]\"}}";
    (void)state;
    check(rules, 6, "abcdef", "abcdef", false);
    check(rules, 6, "abcdefgh", "abc[2 of more than 6]fgh", true);
    check(rules, 6, "ab\xc3\xa9xx\xc3\xa9y", "ab[3 of more than 6]x\xc3\xa9y", true);
    check(rules, 4, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", "[6 of more than 4]\xe6\xbc\xa2", true);
}

static void test_nothing_to_do(void **state)
{
    struct hc_policy policy = {.name = "plain"};
    struct hc_stream stream = {0};
    struct hc_output_filter *s;
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_output_filter_new(&s, &policy, NULL, 10, &stream, &err), 0);
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
