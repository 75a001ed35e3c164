/* Tools: how they are described, which arguments fit, how a command is split, what a call may look like. */
#include "job/tool_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Has `value` the shape of `schema`? `said` is what the refusal says, of the schema or of the value. */
static bool fits(const char *schema, const char *value, char said[752])
{
    struct hc_json s, v;
    struct hc_schema *made;
    struct hc_error err = {0};
    said[0] = '\0';
    assert_int_equal(hc_json_parse(&s, "s", schema, strlen(schema), &err), 0);
    int rc = hc_schema_new(&made, &s, s.root, "p", &err);
    if (rc == 0) {
        assert_int_equal(hc_json_parse(&v, "v", value, strlen(value), &err), 0);
        rc = hc_schema_check(made, v.root, &err);
        hc_json_finish(&v);
    }
    hc_schema_free(made);
    hc_json_finish(&s);
    if (rc < 0) {
        assert_int_equal(err.exit, HC_EXIT_DATA);
        (void)snprintf(said, sizeof err.text, "%s", err.text);
    }
    return rc == 0;
}

static void a_value_fits_its_schema_or_is_told_why_not(void **state)
{
    static const struct {
        const char *schema, *value, *said; /* NULL: it fits */
    } rows[] = {
        {"{}", "[1, null]", NULL},
        {"{\"type\": \"integer\"}", "2.0", NULL},
        {"{\"type\": \"integer\"}", "2.5", "expected type integer"},
        {"{\"type\": \"number\"}", "2.5", NULL},
        {"{\"type\": [\"string\", \"null\"]}", "null", NULL},
        {"{\"type\": [\"string\", \"null\"]}", "false", "expected type string or null"},
        {"{\"type\": \"boolean\"}", "false", NULL},
        {"{\"type\": \"array\"}", "{}", "expected type array"},
        {"{\"type\": \"object\"}", "[]", "expected type object"},
        {"{\"enum\": [1, \"a\", [2]]}", "[2]", NULL},
        {"{\"enum\": [1, \"a\"]}", "\"A\"", "expected one of 1, \"a\""},
        {"{\"const\": {\"a\": 1}}", "{\"a\": 1}", NULL},
        {"{\"const\": {\"a\": 1}}", "{\"a\": 2}", "expected {\"a\":1}"},
        {"{\"minimum\": 1}", "1", NULL},
        {"{\"minimum\": 1}", "0.9", "at least 1"},
        {"{\"minimum\": 1}", "\"text\"", NULL}, /* it binds numbers alone */
        {"{\"maximum\": 1}", "1.1", "at most 1"},
        {"{\"minLength\": 2}", "\"\xc3\xa9\xc3\xa9\"", NULL},
        {"{\"minLength\": 3}", "\"\xc3\xa9\xc3\xa9\"", "at least 3 characters"},
        {"{\"maxLength\": 1}", "\"\xc3\xa9\xc3\xa9\"", "at most 1 characters"},
        {"{\"pattern\": \"^a+$\"}", "\"aaa\"", NULL},
        {"{\"pattern\": \"^a+$\"}", "\"aaa\\n\"", "matches ^a+$"},
        {"{\"pattern\": \"b\"}", "\"abc\"", NULL},
        {"{\"pattern\": \"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"",
         "takes too long"},
        {"{\"minItems\": 1}", "[]", "at least 1 items"},
        {"{\"maxItems\": 1}", "[1, 2]", "at most 1 items"},
        {"{\"items\": {\"type\": \"string\"}}", "[\"a\", 1]", "[1]: expected type string"},
        {"{\"required\": [\"a\"]}", "{\"A\": 1}", "'a' is missing"},
        {"{\"properties\": {\"a\": {\"items\": {\"maximum\": 3}}}}", "{\"a\": [1, 9]}",
         "a[1]: expected at most 3"},
        {"{\"properties\": {\"a\": {}}, \"additionalProperties\": false}", "{\"b\": 1}",
         "'b' is not expected"},
        {"{\"additionalProperties\": {\"type\": \"null\"}}", "{\"b\": 1}", "b: expected type null"},
        {"{\"properties\": {\"pattern\": {\"pattern\": \"a\"}}}", "{\"pattern\": \"b\"}",
         "pattern: expected"},
        {"{\"default\": 7, \"title\": \"t\", \"description\": \"d\"}", "1", NULL},
        {"{\"oneOf\": []}", "1", "s:1:2: p: 'oneOf' is no keyword"},
        {"{\"properties\": {\"a\": {\"$ref\": \"#\"}}}", "1", "'$ref' is no keyword"},
        {"{\"type\": \"text\"}", "1", "expected null, boolean"},
        {"{\"type\": []}", "1", "expected null, boolean"},
        {"{\"properties\": []}", "1", "an object of schemas"},
        {"{\"required\": [1]}", "1", "a name"},
        {"{\"enum\": []}", "1", "a list of values"},
        {"{\"minLength\": -1}", "1", "a whole number"},
        {"{\"pattern\": \"[\"}", "1", "pattern: "},
        {"{\"items\": true}", "1", "a schema"},
        {"{\"additionalProperties\": 1}", "1", "true, false or a schema"},
        {"true", "1", "expected a schema"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char said[752];
        bool good = fits(rows[i].schema, rows[i].value, said);
        if (good != !rows[i].said || (rows[i].said && !strstr(said, rows[i].said)))
            fail_msg("%s and %s: '%s'", rows[i].schema, rows[i].value, said);
    }
}

static void a_command_is_split_without_a_shell(void **state)
{
    static const struct {
        const char *text, *words; /* with '|' between them; NULL: refused */
    } rows[] = {
        {"x=a b  c", "a|b|c"},
        {"x= a\tb\n", "a|b"},
        {"x='a b' \"c d\"", "a b|c d"},
        {"x=a'b'\"c\"d", "abcd"},
        {"x=a '' b", "a||b"},
        {"x=\"\\\"\\\\\\$\\x\"", "\"\\$\\x"},
        {"x=a\\ b '\\'", "a b|\\"},
        {"x=$(a) `b` ;|>", "$(a)|`b`|;|>"},
        {"x=a=b", "a=b"},
        {"x=", NULL},
        {"x=   ", NULL},
        {"x='a", NULL},
        {"x=a\\", NULL},
        {"=a", NULL},
        {"x", NULL},
        {"1x=a", NULL},
        {"_x=a", NULL},
        {"class=a", NULL},
        {"x=''", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_tools tools = {0};
        struct hc_error err = {0};
        hc_autobuf joined = {0};
        int rc = hc_tools_add_command(&tools, rows[i].text, &err);
        for (char **w = rc == 0 ? tools.items[0].command : NULL; w && *w; w++)
            (void)hc_buf_fmt(&joined, "%s%s", w == tools.items[0].command ? "" : "|", *w);
        if ((rc == 0) != (rows[i].words != NULL) || (rc == 0 && strcmp(joined.data, rows[i].words) != 0))
            fail_msg("%s: %s%s", rows[i].text, joined.data ? joined.data : "", err.text);
        if (rc < 0)
            assert_int_equal(err.exit, HC_EXIT_USAGE);
        hc_tools_finish(&tools);
    }
}

static void a_description_becomes_itself_again(void **state)
{
    static const char text[] =
        "{\"b\":{\"description\":\"d\",\"parameters\":{\"properties\":{\"p\":{\"pattern\":\"x\"},\"m\":{}}},"
        "\"command\":[\"/bin/cat\",\"-\"],\"paths\":{\"p\":{\"mode\":\"m\",\"below\":[\"/a\",\"~/b\"]}},"
        "\"calls\":7,\"rate\":1.5,\"timeout\":\"250ms\",\"argument_size\":\"2K\",\"result_size\":\"3K\"},"
        "\"a\":{\"calls\":100,\"rate\":0,\"timeout\":\"10s\",\"argument_size\":\"64K\",\"result_size\":"
        "\"1M\"}}";
    struct hc_tools tools = {0};
    struct hc_json j;
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_json_parse(&j, "t", text, strlen(text), &err), 0);
    assert_int_equal(hc_tools_read(&tools, &j, j.root, true, &err), 0);
    hc_json_finish(&j);
    cJSON *again = hc_tools_to_json(&tools);
    char *printed = cJSON_PrintUnformatted(again);
    assert_string_equal(printed, text);
    free(printed);
    cJSON_Delete(again);
    assert_int_equal(hc_tools_find(&tools, "b")->rate_milli, 1500);
    assert_null(hc_tools_find(&tools, "c"));
    hc_tools_finish(&tools);
}

static int resolve(void *ctx, const struct hc_tool_path *path, const char *value, char **out,
                   struct hc_error *err)
{
    (void)ctx;
    if (strncmp(value, path->below[0], strlen(path->below[0])) != 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "not there");
    return asprintf(out, "/resolved%s", value) < 0 ? -1 : 0;
}

static void arguments_arrive_as_they_were_written(void **state)
{
    static const char text[] =
        "{\"t\":{\"parameters\":{\"properties\":{\"n\":{},\"d\":{\"default\":[1]},\"p\":{},\"q\":{"
        "\"default\":\"/in/q\"},"
        "\"m\":{}}},\"paths\":{\"p\":{\"below\":[\"/in\"],\"mode\":\"m\"},\"q\":{\"below\":[\"/in\"]}}}}";
    static const struct {
        const char *given, *got;
    } rows[] = {
        {"{\"n\": 123456789012345678901234567890.10}",
         "{\"n\": 123456789012345678901234567890.10, \"d\": [1], \"q\": \"/resolved/in/q\"}"},
        {"{\"p\": \"/etc\"}", "{\"p\": \"/etc\", \"d\": [1], \"q\": \"/resolved/in/q\"}"},
        {"{\"p\": \"/etc\", \"m\": \"rb\", \"d\": 0, \"q\":\n\"/in/\\u0041\"}",
         "{\"p\": \"/etc\", \"m\": \"rb\", \"d\": 0, \"q\": \"/resolved/in/A\"}"},
        {"{\"p\": \"/in/x\", \"m\": \"w\"}",
         "{\"p\": \"/resolved/in/x\", \"m\": \"w\", \"d\": [1], \"q\": \"/resolved/in/q\"}"},
        {"{\"p\": \"/etc\", \"m\": \"a\"}", NULL},
        {"{\"p\": \"/etc\", \"m\": 1}", NULL},
        {"{\"q\": 1}", NULL},
    };
    struct hc_tools tools = {0};
    struct hc_json j;
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_json_parse(&j, "t", text, strlen(text), &err), 0);
    assert_int_equal(hc_tools_read(&tools, &j, j.root, true, &err), 0);
    hc_json_finish(&j);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_tool_call call;
        hc_autobuf text_of_call = {0};
        hc_autobuf out = {0};
        bool by_path;
        (void)hc_buf_fmt(&text_of_call, "{\"id\": 1, \"name\": \"t\", \"arguments\": %s}", rows[i].given);
        assert_int_equal(hc_tool_call_parse(&call, text_of_call.data, text_of_call.len, &err), 0);
        int rc = hc_tool_arguments(&tools.items[0], &call, resolve, NULL, &out, &by_path, &err);
        assert_int_equal(rc, rows[i].got ? 0 : -1);
        assert_int_equal(by_path, !rows[i].got);
        if (rows[i].got)
            assert_string_equal(out.data, rows[i].got);
        hc_tool_call_finish(&call);
    }
    hc_tools_finish(&tools);
}

static void text_of_a_tool_becomes_one_clean_line(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *clean;
    } rows[] = {
        {"", 0, ""},
        {"\n\n a\tb \nc", 9, "a b"},
        {"a\0b", 3, "a"},
        {"\xff!", 2, "\xef\xbf\xbd!"},
        {"12345678\xc3\xa9x", 11, "12345678"}, /* cut within a character */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[10];
        hc_tool_clean(out, sizeof out, rows[i].text, rows[i].len);
        assert_string_equal(out, rows[i].clean);
    }
}

static void refused_calls_do_not_crowd_out_others(void **state)
{
    struct hc_tool_log log = {0};
    (void)state;
    for (int i = 0; i < 2 * HC_TOOL_REFUSED_LISTED; i++)
        (void)hc_tool_log_add(&log, "x", "{}", 2, true);
    assert_int_equal(log.count, HC_TOOL_REFUSED_LISTED);
    assert_true(log.more);
    assert_non_null(hc_tool_log_add(&log, "x", "{}", 2, false));
    hc_tool_log_finish(&log);
    assert_int_equal(log.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_fits_its_schema_or_is_told_why_not),
        cmocka_unit_test(a_command_is_split_without_a_shell),
        cmocka_unit_test(a_description_becomes_itself_again),
        cmocka_unit_test(arguments_arrive_as_they_were_written),
        cmocka_unit_test(text_of_a_tool_becomes_one_clean_line),
        cmocka_unit_test(refused_calls_do_not_crowd_out_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
