/* What the interpreter's process may say of a program: this shape, and nothing else. */
#include "json/lines.h"
#include "manifest/finding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

#define FINDING                                                                                              \
    "{\"rule\":\"imports\",\"message\":\"no\",\"what\":\"os\",\"hint\":null,\"line\":1,\"column\":2,"        \
    "\"end_column\":null}"

static void refusals_are_read(void **state)
{
    static const char text[] = "{\"findings\":[" FINDING "," FINDING "],\"more\":3}";
    struct hc_error err;
    cJSON *findings;
    int64_t more;
    (void)state;
    assert_int_equal(hc_rejected_parse(&findings, &more, text, strlen(text), &err), 0);
    assert_int_equal(cJSON_GetArraySize(findings), 2);
    assert_int_equal(more, 3);
    assert_string_equal(hc_json_text(findings->child, "what"), "os");
    assert_string_equal(hc_json_text(findings->child, "hint"), "");
    assert_int_equal((int)hc_json_int(findings->child, "column", 0), 2);
    assert_int_equal((int)hc_json_int(findings->child, "end_column", 0), 0);
    cJSON_Delete(findings);
}

static void checks_are_read(void **state)
{
    static const char text[] = "{\"warnings\":[" FINDING "],\"columns\":{\"df\":[\"a\",\"\"],\"x\":[]}}";
    struct hc_error err;
    cJSON *check;
    (void)state;
    assert_int_equal(hc_checked_parse(&check, text, strlen(text), &err), 0);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(check, "columns")), 2);
    cJSON_Delete(check);
}

static void other_refusals_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"findings\":[],\"more\":0}",
        "{\"findings\":[" FINDING "]}",
        "{\"findings\":[" FINDING "],\"more\":-1}",
        "{\"findings\":[" FINDING "],\"more\":0.5}",
        "{\"findings\":[" FINDING "],\"more\":0,\"rule\":\"x\"}",
        "{\"findings\":[" FINDING "],\"more\":0,\"more\":0}",
        "{\"findings\":{\"a\":" FINDING "},\"more\":0}",
        "{\"findings\":[" FINDING ",1],\"more\":0}",
        "{\"findings\":[{\"rule\":\"\",\"message\":\"no\",\"what\":null,\"hint\":null,\"line\":1,\"column\":"
        "2,"
        "\"end_column\":null}],\"more\":0}",
        "{\"findings\":[{\"rule\":\"x\",\"message\":null,\"what\":null,\"hint\":null,\"line\":1,\"column\":2,"
        "\"end_column\":null}],\"more\":0}",
        "{\"findings\":[{\"rule\":\"x\",\"message\":\"no\",\"what\":null,\"hint\":null,\"line\":0,\"column\":"
        "2,"
        "\"end_column\":null}],\"more\":0}",
        "{\"findings\":[{\"rule\":\"x\",\"message\":\"no\",\"what\":null,\"hint\":null,\"line\":1e99,"
        "\"column\":2,\"end_column\":null}],\"more\":0}",
        "{\"findings\":[{\"rule\":\"x\",\"message\":\"no\",\"what\":null,\"hint\":null,\"line\":1,"
        "\"column\":2}],\"more\":0}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct hc_error err = {0};
        cJSON *findings = NULL;
        int64_t more;
        if (hc_rejected_parse(&findings, &more, texts[i], strlen(texts[i]), &err) == 0)
            fail_msg("accepted: %s", texts[i]);
        assert_null(findings);
        assert_int_equal(err.exit, HC_EXIT_DATA);
    }
}

static void other_checks_are_refused(void **state)
{
    static const char *const texts[] = {
        "{\"warnings\":[]}",
        "{\"warnings\":[],\"columns\":[]}",
        "{\"warnings\":[],\"columns\":{\"df\":\"a\"}}",
        "{\"warnings\":[],\"columns\":{\"df\":[1]}}",
        "{\"warnings\":[1],\"columns\":{}}",
        "{\"warnings\":null,\"columns\":{}}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct hc_error err = {0};
        cJSON *check = NULL;
        if (hc_checked_parse(&check, texts[i], strlen(texts[i]), &err) == 0)
            fail_msg("accepted: %s", texts[i]);
        assert_null(check);
    }
}

static void too_many_are_refused(void **state)
{
    hc_autobuf text = {0};
    struct hc_error err;
    cJSON *findings;
    int64_t more;
    (void)state;
    (void)hc_buf_str(&text, "{\"findings\":[" FINDING);
    for (int i = 0; i < HC_FINDINGS_LISTED; i++)
        (void)hc_buf_str(&text, "," FINDING);
    (void)hc_buf_str(&text, "],\"more\":0}");
    assert_int_equal(hc_rejected_parse(&findings, &more, text.data, text.len, &err), -1);
}

/* Lines as Python counts them, whatever place is asked for. */
static void lines_are_shown_with_their_place(void **state)
{
    static const struct {
        struct hc_span at;
        const char *shown;
    } rows[] = {
        {{1, 2, 4}, "    a bc\n     ^^\n"},
        {{2, 1, 0}, "    \xc3\xa9 x\n    ^\n"},
        {{2, 3, 4}, "    \xc3\xa9 x\n      ^\n"},
        {{3, 0, 0}, ""},
        {{4, 3, 4}, "    y\n    ^\n"},
        {{4, 0, 0}, "      y\n"},
        {{5, 1, 0}, "     \n    ^\n"},
        {{6, 1, 2}, ""},
        {{0, 1, 2}, ""},
        {{1, 99, 200}, ""},
        {{2147483647, 2147483647, 1}, ""},
        {{1, 1, 2147483647}, NULL},
    };
    struct hc_lines lines;
    (void)state;
    assert_int_equal(hc_lines_init(&lines, "a bc\r\n\xc3\xa9 x\r\r  y\n\xc2\x9b"), 0);
    assert_int_equal(lines.count, 5);
    for (size_t i = 0; i < COUNT(rows); i++) {
        hc_autobuf out = {0};
        hc_lines_show(&lines, rows[i].at, &out);
        if (rows[i].shown)
            assert_string_equal(out.data ? out.data : "", rows[i].shown);
        else
            assert_true(out.len < 200);
    }
    hc_lines_finish(&lines);
}

static void words_are_found(void **state)
{
    struct hc_lines lines;
    (void)state;
    assert_int_equal(hc_lines_init(&lines, "\xc3\xa9 = abc.abc\n"), 0);
    struct hc_span at = hc_lines_count_characters(&lines, hc_lines_word(&lines, 1, 6, "abc"));
    assert_int_equal(at.column, 9);
    assert_int_equal(at.end_column, 12);
    at = hc_lines_count_characters(&lines, hc_lines_word_before(&lines, 1, 8, "abc"));
    assert_int_equal(at.column, 5);
    assert_int_equal(hc_lines_word_before(&lines, 1, 7, "abc").line, 0);
    assert_int_equal(hc_lines_word_before(&lines, 1, 99, "abc").line, 0);
    assert_int_equal(hc_lines_word(&lines, 1, 2, "none").column, 2);
    at = hc_lines_place(&lines, 7, -3, 7, 99);
    assert_int_equal(at.line, 1);
    assert_int_equal(at.column, 0);
    hc_lines_finish(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_are_read),
        cmocka_unit_test(checks_are_read),
        cmocka_unit_test(other_refusals_are_refused),
        cmocka_unit_test(other_checks_are_refused),
        cmocka_unit_test(too_many_are_refused),
        cmocka_unit_test(lines_are_shown_with_their_place),
        cmocka_unit_test(words_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
