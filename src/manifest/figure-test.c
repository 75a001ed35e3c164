#include "manifest/figure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void paths_of_two_plain_parts(void **state)
{
    static const char *const good[] = {"figures/a.png", "p/1", "figures/\xc3\xbc .svg", "a.b/c..d"};
    static const char *const bad[] = {"",      "a",         "a/",    "/a",      "./a",    "a/..",      "../a",
                                      "a/b/c", "a/.hidden", "a\n/b", "a/b\x7f", "a/\xff", "figures//a"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(hc_figure_is_path(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(hc_figure_is_path(bad[i]));
}

static void parts_that_are_too_long(void **state)
{
    char path[400];
    (void)state;
    (void)snprintf(path, sizeof path, "%063d/%0255d", 1, 1);
    assert_true(hc_figure_is_path(path));
    (void)snprintf(path, sizeof path, "%064d/%0255d", 1, 1);
    assert_false(hc_figure_is_path(path));
    (void)snprintf(path, sizeof path, "%063d/%0256d", 1, 1);
    assert_false(hc_figure_is_path(path));
}

static void what_a_cell_says(void **state)
{
    static const char *const bad[] = {"",
                                      "[]",
                                      "{}",
                                      "\"figures/a.png\"",
                                      "{\"path\": 1}",
                                      "{\"path\": \"figures/a.png\", \"bytes\": 1}",
                                      "{\"path\": \"figures/a\\u0000b\"}",
                                      "{\"path\": \"/etc/passwd\"}",
                                      "{\"path\": \"figures/a.png\"} "
                                      "{}"};
    struct hc_figure f;
    struct hc_error err;
    (void)state;
    hc_autobuf said = {0};
    hc_figure_tell("figures/\"a\".png", &said);
    assert_int_equal(hc_figure_parse(&f, said.data, said.len, &err), 0);
    assert_string_equal(f.path, "figures/\"a\".png");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (struct hc_error){0};
        assert_int_equal(hc_figure_parse(&f, bad[i], strlen(bad[i]), &err), -1);
        assert_true(*err.text);
    }
}

static void what_others_are_told(void **state)
{
    const struct hc_figure f = {.path = "figures/\"a\".png", .mime = "image/png", .bytes = 12};
    hc_autobuf out = {0};
    (void)state;
    hc_figure_print(&f, &out);
    assert_string_equal(out.data,
                        "{\"path\": \"figures/\\\"a\\\".png\", \"mime\": \"image/png\", \"bytes\": 12}");
}

static void types_by_ending_in_the_directory(void **state)
{
    (void)state;
    assert_string_equal(hc_figure_mime("figures", "figures/a.b.svg"), "image/svg+xml");
    assert_null(hc_figure_mime("figures", "figures/a.txt"));
    assert_null(hc_figure_mime("figures", "figures/a"));
    assert_null(hc_figure_mime("figures", "figures/sub/a.png"));
    assert_null(hc_figure_mime("figures", "plots/a.png"));
    assert_null(hc_figure_mime("figures", "figuresa.png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_two_plain_parts),
        cmocka_unit_test(parts_that_are_too_long),
        cmocka_unit_test(what_a_cell_says),
        cmocka_unit_test(what_others_are_told),
        cmocka_unit_test(types_by_ending_in_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
