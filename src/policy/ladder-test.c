/* Which interpreter of a ladder a program gets, and what that interpreter's rules are. */
#include "policy/ladder.h"

#include "policy/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char ladder[] =
    "{\"warm\": {\"each\": true, \"ladder\": ["
    "{\"sample\": \"1\"},"
    "{\"imports\": [\"numpy\", \"pandas\"], \"words\": [\"scipy\"], \"code\": \"a\"},"
    "{\"imports\": [\"matplotlib.pyplot\"], \"words\": [\"hist\"], \"code\": \"b\","
    " \"sample\": \"2\"}]}}";

static void a_program_gets_the_lowest_rung_that_has_all_it_names(void **state)
{
    static const struct {
        const char *text;
        size_t rung;
    } rows[] = {
        {"", 0},
        {"print('hello')", 0},
        {"import os, sys\nimport json as j\nfrom collections import Counter\nfrom os.path import join", 0},
        {"import numpy", 1},
        {"import os, numpy as np", 1},
        {"  from pandas.core import frame", 1},
        {"if True: import pandas", 1},
        {"exec('import pandas')", 1},
        {"x = 1  # numpy", 1},
        {"import scipy", 1},
        {"import numpy\nimport matplotlib", 2},
        {"import pandas as pd\npd.Series([1]).hist()", 2},
        {"history = 1", 0},
        {"import seaborn", 2},
        {"from seaborn import set", 2},
        {"import os, seaborn", 2},
        {"import os; import seaborn", 2},
        {"from . import other", 2},
        {"from os import seaborn", 0},
        {"raise ValueError from error", 0},
        {"yield_from = [x, y]\nf(a, b)", 0},
        {"import os\nx = [a, b]", 0},
        {"import\n", 0},
        {"from", 0},
        {"\xc3\xa9 = 1; import numpy", 1},
    };
    cJSON *rules = cJSON_Parse(ladder);
    (void)state;
    assert_non_null(rules);
    assert_int_equal(hc_ladder_height(rules), 3);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (hc_ladder_rung(rules, rows[i].text, strlen(rows[i].text)) != rows[i].rung)
            fail_msg("%s: not rung %zu", rows[i].text, rows[i].rung);
    assert_int_equal(hc_ladder_rung(rules, "import numpy", 6), 0); /* its length counts, not its NUL */
    char *comment = malloc(65537);
    assert_non_null(comment);
    memset(comment, '#', 65537);
    assert_int_equal(hc_ladder_rung(rules, comment, 65536), 0);
    assert_int_equal(hc_ladder_rung(rules, comment, 65537), 2);
    free(comment);
    cJSON_Delete(rules);
}

static void a_prelude_may_need_all(void **state)
{
    static const char *const preludes[] = {"{\"names\": {\"pd\": \"pandas\"}}",
                                           "{\"code\": \"import pandas\"}"};
    (void)state;
    for (size_t i = 0; i < COUNT(preludes); i++) {
        cJSON *rules = cJSON_Parse(ladder);
        cJSON_AddItemToObject(rules, "prelude", cJSON_Parse(preludes[i]));
        assert_int_equal(hc_ladder_rung(rules, "1", 1), 2);
        cJSON_Delete(rules);
    }
}

static void without_a_ladder_there_is_one_rung(void **state)
{
    cJSON *rules = cJSON_Parse("{\"warm\": {\"imports\": [\"numpy\"]}}");
    (void)state;
    const cJSON *const none[] = {NULL, rules};
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_int_equal(hc_ladder_height(none[i]), 1);
        assert_int_equal(hc_ladder_rung(none[i], "import numpy", 12), 0);
        assert_int_equal(hc_ladder_rung_of(none[i], "pandas"), 0);
        assert_int_equal(hc_ladder_loads(none[i], 0), none[i] != NULL);
        cJSON *same = hc_ladder_rules(none[i], 0);
        assert_int_equal(cJSON_Compare(same, none[i], true), none[i] != NULL);
        cJSON_Delete(same);
    }
    cJSON_Delete(rules);
}

static void a_rung_has_what_those_below_have(void **state)
{
    static const char *const expected[] = {
        "{\"warm\":{\"each\":true,\"imports\":[],\"sample\":\"1\"}}",
        "{\"warm\":{\"each\":true,\"imports\":[\"numpy\",\"pandas\"],\"code\":\"a\\n\"}}",
        "{\"warm\":{\"each\":true,\"imports\":[\"numpy\",\"pandas\",\"matplotlib.pyplot\"],\"code\":"
        "\"a\\nb\\n\","
        "\"sample\":\"2\"}}",
    };
    cJSON *rules = cJSON_Parse(ladder);
    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++) {
        cJSON *own = hc_ladder_rules(rules, i);
        char *text = cJSON_PrintUnformatted(own);
        assert_string_equal(text, expected[i]);
        assert_int_equal(hc_ladder_loads(rules, i), i > 0);
        free(text);
        cJSON_Delete(own);
    }
    assert_int_equal(hc_ladder_rung_of(rules, "pandas"), 1);
    assert_int_equal(hc_ladder_rung_of(rules, "polars"), 2);
    cJSON_Delete(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_the_lowest_rung_that_has_all_it_names),
        cmocka_unit_test(a_prelude_may_need_all),
        cmocka_unit_test(without_a_ladder_there_is_one_rung),
        cmocka_unit_test(a_rung_has_what_those_below_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
