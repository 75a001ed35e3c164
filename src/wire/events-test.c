#include "wire/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void add(struct hc_events *e, const char *text)
{
    hc_events_output(e, HC_EVENT_STDOUT, text, strlen(text));
}

static void characters_are_not_torn(void **state)
{
    (void)state;
    struct hc_events e = {0};
    add(&e, "a\xc3");
    add(&e, "\xa9\xf0\x9f");
    add(&e, "\x98");
    add(&e, "\x80z");
    hc_events_end(&e);
    assert_string_equal(e.lines.data, "{\"event\": \"stdout\", \"text\": \"a\"}\n"
                                      "{\"event\": \"stdout\", \"text\": \"\xc3\xa9\"}\n"
                                      "{\"event\": \"stdout\", \"text\": \"\xf0\x9f\x98\x80\"}\n"
                                      "{\"event\": \"stdout\", \"text\": \"z\"}\n");
    hc_events_finish(&e);
}

static void no_byte_is_lost(void **state)
{
    (void)state;
    struct hc_events e = {0};
    add(&e, "\xff");
    add(&e, "\xc3");
    add(&e, "x\xc3");
    hc_events_end(&e);
    assert_string_equal(e.lines.data, "{\"event\": \"stdout\", \"data\": \"/8M=\"}\n"
                                      "{\"event\": \"stdout\", \"text\": \"x\"}\n"
                                      "{\"event\": \"stdout\", \"data\": \"ww==\"}\n");
    hc_events_finish(&e);
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    struct hc_events e = {0};
    hc_events_output(&e, HC_EVENT_STDERR, "\"\\\n\r\t\x1b\x7f", 7);
    assert_string_equal(e.lines.data, "{\"event\": \"stderr\", \"text\": "
                                      "\"\\\"\\\\\\n\\u000d\\u0009\\u001b\\u007f\"}\n");
    hc_events_finish(&e);
}

static void a_nul_is_no_text(void **state)
{
    (void)state;
    struct hc_events e = {0};
    hc_events_output(&e, HC_EVENT_STDOUT, "a\0b\n", 4);
    add(&e, "c");
    assert_string_equal(e.lines.data, "{\"event\": \"stdout\", \"data\": \"YQBiCg==\"}\n"
                                      "{\"event\": \"stdout\", \"text\": \"c\"}\n");
    hc_events_finish(&e);
}

static void more_than_is_kept_is_told_once(void **state)
{
    (void)state;
    struct hc_events e = {0};
    static char much[100000];
    memset(much, 'x', sizeof much);
    for (int i = 0; i < 100; i++)
        hc_events_output(&e, HC_EVENT_STDOUT, much, sizeof much);
    assert_true(e.lines.len < HC_EVENTS_MAX + 100);
    hc_events_json(&e, "manifest", "{\n \"a\": 1\n}", 11);
    const char *cut = strstr(e.lines.data, "{\"event\": \"cut\", \"stream\": \"stdout\"}\n");
    assert_non_null(cut);
    assert_string_equal(cut, "{\"event\": \"cut\", \"stream\": \"stdout\"}\n{\"event\": \"manifest\", "
                             "\"manifest\": { \"a\": 1}}\n");
    hc_events_finish(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_not_torn),        cmocka_unit_test(no_byte_is_lost),
        cmocka_unit_test(control_characters_are_escaped), cmocka_unit_test(a_nul_is_no_text),
        cmocka_unit_test(more_than_is_kept_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
