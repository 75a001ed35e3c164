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

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define ONES  "1111111111111111111111111111111111111111111111111111111111111111"
#define HASH  "\"" ZEROS "\""

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
                                      "{\"path\": \"figures/a.png\"}",
                                      "{\"path\": \"figures/a.png\", \"sha256\": \"00\"}",
                                      "{\"sha256\": " HASH "}",
                                      "{\"path\": \"/etc/passwd\", \"sha256\": " HASH "}",
                                      "{\"path\": \"figures/a.png\", \"sha256\": " HASH ", \"bytes\": 1}",
                                      "{\"path\": \"figures/a.png\", \"sha256\": " HASH "} "
                                      "{}"};
    struct hc_figure f;
    struct hc_error err;
    (void)state;
    hc_autobuf said = {0};
    hc_figure_tell("figures/\"a\".png", ZEROS, &said);
    assert_int_equal(hc_figure_parse(&f, said.data, said.len, &err), 0);
    assert_string_equal(f.path, "figures/\"a\".png");
    assert_string_equal(f.sha256, ZEROS);
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
    assert_string_equal(hc_figure_mime("figures", "figures/a.jpg"), "image/jpeg");
    assert_string_equal(hc_figure_mime("figures", "figures/a.jpeg"), "image/jpeg");
    assert_null(hc_figure_mime("figures", "figures/a.txt"));
    assert_null(hc_figure_mime("figures", "figures/a"));
    assert_null(hc_figure_mime("figures", "figures/sub/a.png"));
    assert_null(hc_figure_mime("figures", "plots/a.png"));
    assert_null(hc_figure_mime("figures", "figuresa.png"));
}

static void beginnings_of_types(void **state)
{
    (void)state;
    assert_true(hc_figure_begins("image/png", "\x89PNG\r\n\x1a\n...", 11));
    assert_false(hc_figure_begins("image/png", "\x89PNG", 4));
    assert_false(hc_figure_begins("image/png", "not a png", 9));
    assert_true(hc_figure_begins("image/jpeg", "\xff\xd8\xff\xe0...", 7));
    assert_true(hc_figure_begins("application/pdf", "%PDF-1.4", 8));
    assert_false(hc_figure_begins("text/plain", "x", 1));
}

static void figures_in_the_order_of_their_announcement(void **state)
{
    struct hc_figure_list list = {0};
    struct hc_figure a = {.path = "figures/b.png", .sha256 = ZEROS},
                     b = {.path = "figures/a.png", .sha256 = ONES};
    (void)state;
    hc_figure_list_add(&list, &a);
    hc_figure_list_add(&list, &b);
    assert_int_equal(hc_figure_list_find(&list, "figures/b.png", ZEROS), 0);
    assert_int_equal(hc_figure_list_find(&list, "figures/a.png", ONES), 1);
    assert_int_equal(hc_figure_list_find(&list, "figures/a.png", ZEROS), -1);
    assert_int_equal(hc_figure_list_find(&list, "figures/c.png", ONES), -1);
    (void)snprintf(a.sha256, sizeof a.sha256, ONES);
    hc_figure_list_add(&list, &a);
    assert_int_equal(list.count, 2);
    assert_int_equal(hc_figure_list_find(&list, "figures/b.png", ONES), 0);
    for (int i = 0; i < HC_FIGURES_LISTED + 5; i++) {
        (void)snprintf(a.path, sizeof a.path, "figures/%d.png", i);
        hc_figure_list_add(&list, &a);
    }
    assert_int_equal(list.count, HC_FIGURES_LISTED);
    hc_figure_list_finish(&list);
    assert_int_equal(list.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_two_plain_parts),
        cmocka_unit_test(parts_that_are_too_long),
        cmocka_unit_test(what_a_cell_says),
        cmocka_unit_test(what_others_are_told),
        cmocka_unit_test(types_by_ending_in_the_directory),
        cmocka_unit_test(beginnings_of_types),
        cmocka_unit_test(figures_in_the_order_of_their_announcement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
