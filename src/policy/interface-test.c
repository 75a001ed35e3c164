/* Hints in the words of each interface. */
#include "policy/interface.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void assert_filled(const char *name, const char *hint, const char *expected)
{
    hc_autobuf out = {0};
    hc_interface_fill(hc_interface_find(name), hint, &out);
    assert_string_equal(out.data, expected);
}

static void words_are_filled_in(void **state)
{
    (void)state;
    assert_filled("cli", "pass data with {input}.", "pass data with --input.");
    assert_filled("python", "{var} and {timeout}", "vars={...} and timeout=...");
    assert_filled("mcp", "{input}", "the argument \"files\"");
    assert_filled("http", "{inputs} {x} {", "{inputs} {x} {");
}

static void each_interface_is_found_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; hc_interface_names[i]; i++)
        assert_string_equal(hc_interface_find(hc_interface_names[i])->name, hc_interface_names[i]);
    assert_null(hc_interface_find("soap"));
    assert_null(hc_interface_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_filled_in),
        cmocka_unit_test(each_interface_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
