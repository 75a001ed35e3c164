/* Denials: what is merged, how many are kept, and which words of the guest's process are accepted. */
#include "manifest/denial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static struct hc_denial denial(enum hc_refuser by, const char *what, int line, int64_t count)
{
    struct hc_denial d = {.by = by, .rule = "rule", .line = line, .count = count};
    (void)snprintf(d.what, sizeof d.what, "%s", what);
    return d;
}

static void note(struct hc_denials *list, enum hc_refuser by, const char *what, int line, int64_t count,
                 bool sum)
{
    struct hc_denial d = denial(by, what, line, count);
    hc_denials_note(list, &d, sum);
}

static void the_same_refusal_is_one_entry(void **state)
{
    struct hc_denials list = {0};
    (void)state;
    note(&list, HC_REFUSER_AUDIT, "socket", 3, 1, false);
    note(&list, HC_REFUSER_AUDIT, "socket", 3, 4, false); /* replaces: it is told anew as it grows */
    note(&list, HC_REFUSER_SECCOMP, "socket", 0, 1, true);
    note(&list, HC_REFUSER_SECCOMP, "socket", 0, 1, true);
    note(&list, HC_REFUSER_AUDIT, "socket", 4, 1, false);
    note(&list, HC_REFUSER_RUNTIME, "socket", 3, 1, false);
    assert_int_equal(list.count, 4);
    assert_int_equal(list.items[0].count, 4);
    assert_int_equal(list.items[1].count, 2);
    assert_false(list.more);
    hc_denials_finish(&list);
}

static void no_source_can_crowd_out_another(void **state)
{
    struct hc_denials list = {0};
    (void)state;
    for (int line = 1; line < 1000; line++)
        note(&list, line & 1 ? HC_REFUSER_AUDIT : HC_REFUSER_RUNTIME, "x", line, 1, false);
    assert_int_equal(list.count, HC_DENIALS_PER_SOURCE);
    assert_true(list.more);
    note(&list, HC_REFUSER_SECCOMP, "execve", 0, 1, true);
    note(&list, HC_REFUSER_AST, "import", 1, 1, true);
    note(&list, HC_REFUSER_AUDIT, "x", 1, 70, false); /* known: still counted */
    assert_int_equal(list.count, HC_DENIALS_PER_SOURCE + 2);
    assert_int_equal(list.items[0].count, 70);
    hc_denials_finish(&list);
    assert_int_equal(list.count, 0);
}

#define ENTRY(layer, rule, what, line, count, hint)                                                          \
    "{\"layer\":" layer ",\"rule\":" rule ",\"what\":" what ",\"line\":" line ",\"count\":" count            \
    ",\"hint\":" hint "}"

static void the_guests_word_has_one_shape(void **state)
{
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "3", "1", "null"), true},
        {ENTRY("\"runtime\"", "\"imports\"", "\"os\"", "null", "1", "\"use pathlib\""), true},
        {ENTRY("\"ast\"", "\"imports\"", "\"os\"", "3", "1", "null"), false},
        {ENTRY("\"seccomp\"", "\"execve\"", "\"execve\"", "3", "1", "null"), false},
        {ENTRY("1", "\"files\"", "\"/etc\"", "3", "1", "null"), false},
        {ENTRY("\"audit\"", "\"\"", "\"/etc\"", "3", "1", "null"), false},
        {ENTRY("\"audit\"", "null", "\"/etc\"", "3", "1", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "[]", "3", "1", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "0", "1", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "-1", "1", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "1.5", "1", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "1e300", "1", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "3", "0", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "3", "1e300", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "3", "null", "null"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "3", "1", "true"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "3", "1", "null,\"attested\":true"), false},
        {ENTRY("\"audit\"", "\"files\"", "\"/etc\"", "3", "1", "null,\"count\":2"), false},
        {"{\"layer\":\"audit\"}", false},
        {"[]", false},
        {"null", false},
        {"", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_denial d;
        struct hc_error err = {0};
        int rc = hc_denial_parse(&d, rows[i].text, strlen(rows[i].text), &err);
        if ((rc == 0) != rows[i].good)
            fail_msg("row %zu: %s", i, rc == 0 ? "accepted" : err.text);
    }
}

static void what_it_says_is_kept_and_cut(void **state)
{
    char text[HC_DENIAL_MESSAGE_MAX + 2], long_one[1001];
    struct hc_denial d;
    struct hc_error err;
    (void)state;
    memset(long_one, 'x', 1000);
    long_one[1000] = '\0';
    int len = snprintf(
        text, sizeof text,
        "{\"layer\":\"audit\",\"rule\":\"%s\",\"what\":\"%s\",\"line\":7,\"count\":9,\"hint\":\"%s\"}",
        long_one, long_one, long_one);
    assert_int_equal(hc_denial_parse(&d, text, (size_t)len, &err), 0);
    assert_int_equal(d.by, HC_REFUSER_AUDIT);
    assert_int_equal(d.line, 7);
    assert_int_equal(d.count, 9);
    assert_int_equal(strlen(d.rule), sizeof d.rule - 1);
    assert_int_equal(strlen(d.what), sizeof d.what - 1);
    assert_int_equal(strlen(d.hint), sizeof d.hint - 1);
    memset(text, ' ', sizeof text);
    assert_int_equal(hc_denial_parse(&d, text, HC_DENIAL_MESSAGE_MAX + 1, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_refusal_is_one_entry),
        cmocka_unit_test(no_source_can_crowd_out_another),
        cmocka_unit_test(the_guests_word_has_one_shape),
        cmocka_unit_test(what_it_says_is_kept_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
