/* JSON: what is refused and where, positions, canonical and indented forms, UTF-8. */
#include "json/json.h"

#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void what_is_not_json_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "job.json:1:1: expected a JSON value, found end of file"},
        {" \n ", "job.json:2:2: expected a JSON value, found end of file"},
        {"{\n  \"a\": 1\n  \"b\": 2}", "job.json:3:3: expected ',' or '}' after a member, found '\"'"},
        {"{\"a\": 1,}", "job.json:1:9: expected a member's name in double quotes, found '}'"},
        {"{a: 1}", "job.json:1:2: expected a member's name in double quotes or '}', found 'a'"},
        {"{'a': 1}", "job.json:1:2: expected a member's name in double quotes or '}', found '''"},
        {"{\"a\" 1}", "job.json:1:6: expected ':' after a member's name, found '1'"},
        {"{\"a\": }", "job.json:1:7: expected a JSON value, found '}'"},
        {"[1 2]", "job.json:1:4: expected ',' or ']' after an element, found '2'"},
        {"[1,]", "job.json:1:4: expected a JSON value, found ']'"},
        {"[1", "job.json:1:3: expected ',' or ']' after an element, found end of file"},
        {"1 2", "job.json:1:3: expected the end of the document, found '2'"},
        {"{} // why", "job.json:1:4: expected the end of the document, found '/'"},
        {"01", "job.json:1:1: a number must not begin with 0"},
        {"-01", "job.json:1:2: a number must not begin with 0"},
        {"+1", "job.json:1:1: expected a JSON value, found '+'"},
        {".5", "job.json:1:1: expected a JSON value, found '.'"},
        {"1.", "job.json:1:3: expected a digit after the decimal point, found end of file"},
        {"[1.e5]", "job.json:1:4: expected a digit after the decimal point, found 'e'"},
        {"1e", "job.json:1:3: expected a digit in the exponent, found end of file"},
        {"-x", "job.json:1:2: expected a digit, found 'x'"},
        {"0x10", "job.json:1:2: expected the end of the document, found 'x'"},
        {"[NaN]", "job.json:1:2: expected a JSON value, found NaN, which JSON does not have"},
        {"-Infinity", "job.json:1:1: expected a JSON value, found -Infinity, which JSON does not have"},
        {"True", "job.json:1:1: expected a JSON value, found 'T'"},
        {"tru", "job.json:1:1: expected a JSON value, found 't'"},
        {"nulls", "job.json:1:5: expected the end of the document, found 's'"},
        {"\"abc", "job.json:1:5: expected '\"' at the end of a string, found end of file"},
        {"\"a\nb\"", "job.json:1:3: control character 0x0a in a string: write it as \\u000a"},
        {"\"\\x41\"", "job.json:1:3: expected one of \" \\ / b f n r t u after a backslash, found 'x'"},
        {"\"\\u12g4\"", "job.json:1:6: expected four hex digits after \\u, found 'g'"},
        {"\"\\u0000\"", "job.json:1:2: a string must not contain \\u0000"},
        {"\"\\ud800\"", "job.json:1:2: half of a surrogate pair in a string"},
        {"\"\\ud800\\u0041\"", "job.json:1:2: half of a surrogate pair in a string"},
        {"\"\\udc00\\ud800\"", "job.json:1:2: half of a surrogate pair in a string"},
        {"\"\xff\"", "job.json:1:2: not UTF-8 (byte 0xff)"},
        {"\xef\xbb\xbf{}", "job.json:1:1: expected a JSON value, found a byte order mark"},
        {"\v1", "job.json:1:1: expected a JSON value, found a control character (0x0b)"},
        {"[\xc3\xa9]", "job.json:1:2: expected a JSON value, found '\xc3\xa9'"},
        {"{\"\xc3\xa9\": 1, x}", "job.json:1:10: expected a member's name in double quotes, found 'x'"},
        {"{\"a\": 1, \"b\": 2, \"a\": 3}", "job.json:1:18: 'a' is given twice in one object"},
        {"{\"a\": 1,\n\"\\u0061\": 3}", "job.json:2:1: '\\u0061' is given twice in one object"},
        {"[{\"k\":{\"x\":1,\"x\":1}}]", "job.json:1:14: 'x' is given twice in one object"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_json j;
        struct hc_error err = {0};
        if (hc_json_parse(&j, "job.json", rows[i].text, strlen(rows[i].text), &err) == 0)
            fail_msg("accepted: %s", rows[i].text);
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(err.exit, HC_EXIT_DATA);
        assert_null(j.root);
    }
}

static void a_nul_byte_is_refused(void **state)
{
    static const char *const texts[] = {"1\0", "\"a\0b\"", "{\0}"};
    static const size_t lens[] = {2, 5, 3};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct hc_json j;
        struct hc_error err;
        assert_int_equal(hc_json_parse(&j, "x", texts[i], lens[i], &err), -1);
    }
}

static void brackets(char *text, int levels)
{
    memset(text, '[', (size_t)levels);
    memset(text + levels, ']', (size_t)levels);
    text[2 * levels] = '\0';
}

static void nesting_is_bounded(void **state)
{
    char text[100000];
    struct hc_json j;
    struct hc_error err;
    (void)state;
    brackets(text, HC_JSON_DEPTH);
    assert_int_equal(hc_json_parse(&j, "x", text, strlen(text), &err), 0);
    hc_json_finish(&j);
    brackets(text, HC_JSON_DEPTH + 1);
    assert_int_equal(hc_json_parse(&j, "x", text, strlen(text), &err), -1);
    assert_string_equal(err.text, "x:1:65: nested deeper than 64 levels");
    memset(text, '[', sizeof text);
    assert_int_equal(hc_json_parse(&j, "x", text, sizeof text, &err), -1);
}

static void a_text_needs_no_nul_behind_it(void **state)
{
    static const char *const texts[] = {"{\"a\": [1, true]}", "123", "\"abc\"", "null"};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        size_t len = strlen(texts[i]);
        char *exact = malloc(len); /* a byte too far is seen by the address sanitizer */
        struct hc_json j;
        struct hc_error err;
        memcpy(exact, texts[i], len);
        assert_int_equal(hc_json_parse(&j, "x", exact, len, &err), 0);
        hc_json_finish(&j);
        free(exact);
    }
}

static void numbers_of_any_length_are_values(void **state)
{
    char text[400] = "[-1", back[400];
    struct hc_json j;
    struct hc_error err;
    size_t len;
    (void)state;
    memset(text + 3, '0', 300);
    (void)strcpy(text + 303, ", 1e400, 7]");
    assert_int_equal(hc_json_parse(&j, "x", text, strlen(text), &err), 0);
    assert_true(cJSON_GetArrayItem(j.root, 0)->valuedouble < -1e299);
    assert_int_equal(cJSON_GetArrayItem(j.root, 2)->valueint, 7);
    const char *source = hc_json_source(&j, cJSON_GetArrayItem(j.root, 0), &len);
    (void)snprintf(back, sizeof back, "%.*s", (int)len, source);
    assert_int_equal(len, 302);
    assert_memory_equal(text + 1, back, 302);
    hc_json_finish(&j);
}

static void a_node_is_blamed_where_it_stands(void **state)
{
    static const char text[] = "{\n"
                               "  \"limits\": {\"memory\": [], \"list\": [10,\n"
                               "    {\"deep\": true}]},\n"
                               "  \"\xc3\xa9\": 1, \"last\": null\n"
                               "}\n";
    struct hc_json j;
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_json_parse(&j, "p.json", text, strlen(text), &err), 0);
    const cJSON *limits = cJSON_GetObjectItem(j.root, "limits");
    const cJSON *memory = cJSON_GetObjectItem(limits, "memory");
    const cJSON *second = cJSON_GetArrayItem(cJSON_GetObjectItem(limits, "list"), 1);
    const struct {
        const cJSON *node;
        bool at_key;
        const char *error;
    } rows[] = {
        {j.root, false, "p.json:1:1: no"},
        {limits, true, "p.json:2:3: no"},
        {limits, false, "p.json:2:13: no"},
        {memory, false, "p.json:2:24: no"},
        {memory, true, "p.json:2:14: no"},
        {second, true, "p.json:3:5: no"}, /* an element has no key */
        {second->child, false, "p.json:3:14: no"},
        {cJSON_GetObjectItem(j.root, "last"), true, "p.json:4:11: no"},
        {NULL, false, "p.json: no"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(hc_json_fail(&j, rows[i].node, rows[i].at_key, &err, "%s", "no"), -1);
        assert_string_equal(err.text, rows[i].error);
    }
    hc_json_finish(&j);
}

static void the_canonical_form_is_one_for_all_spellings(void **state)
{
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        {" { \"b\" : 1 , \"a\" : [ ] } ", "{\"a\":[],\"b\":1}"},
        {"{\"b\":{\"d\":1,\"c\":2},\"a\":0}", "{\"a\":0,\"b\":{\"c\":2,\"d\":1}}"},
        {"[1.50, 1e400, -0, 1E+2, 123456789012345678901234567890]",
         "[1.50,1e400,-0,1E+2,123456789012345678901234567890]"},
        {"\"\\u00e9\\/\\ud83d\\ude00\\u0041\"", "\"\xc3\xa9/\xf0\x9f\x98\x80"
                                                "A\""},
        {"\"\\u0008\\u000c\\u000a\\u000d\\u0009\\u000B\\u001f\\u007f\"",
         "\"\\b\\f\\n\\r\\t\\u000b\\u001f\x7f\""},
        {"\"\\\"\\\\\"", "\"\\\"\\\\\""},
        /* by bytes of the decoded name: capitals before small letters, then what is not ASCII */
        {"{\"\\u00e9\":1,\"z\":2,\"Z\":3,\"\":4,\"zz\":5,\"\xf0\x9f\x98\x80\":6,\"\\uffee\":7}",
         "{\"\":4,\"Z\":3,\"z\":2,\"zz\":5,\"\xc3\xa9\":1,\"\xef\xbf\xae\":7,\"\xf0\x9f\x98\x80\":6}"},
        {"{\"sign\":1,\"signature\":{\"x\":1},\"a\":{\"signature\":2}}",
         "{\"a\":{\"signature\":2},\"sign\":1}"},
        {"{\"\\u0073ignature\":1}", "{}"},
        {"[{\"signature\":1}]", "[{\"signature\":1}]"},
        {"\"signature\"", "\"signature\""},
        {" null ", "null"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_error err;
        hc_autobuf once = {0}, twice = {0};
        assert_int_equal(hc_json_canonical(rows[i].text, strlen(rows[i].text), "signature", &once, &err), 0);
        assert_string_equal(once.data, rows[i].canonical);
        assert_int_equal(hc_json_canonical(once.data, once.len, NULL, &twice, &err), 0);
        assert_string_equal(twice.data, once.data);
    }
}

static void the_indented_form_keeps_every_token(void **state)
{
    static const char text[] = "{\"b\":[1.50,\"\\u0041\",[],{}],\"a\":{\"x\":null}}";
    static const char indented[] = "{\n"
                                   "  \"b\": [\n"
                                   "    1.50,\n"
                                   "    \"\\u0041\",\n"
                                   "    [],\n"
                                   "    {}\n"
                                   "  ],\n"
                                   "  \"a\": {\n"
                                   "    \"x\": null\n"
                                   "  }\n"
                                   "}\n";
    struct hc_error err;
    hc_autobuf out = {0};
    (void)state;
    assert_int_equal(hc_json_indent(text, strlen(text), NULL, &out, &err), 0);
    assert_string_equal(out.data, indented);
}

static void members_of_a_brief_member_have_one_line_each(void **state)
{
    static const char text[] =
        "{\"b\": {\"v\": [ [1, {\"b\": 2.50}], \"x\" ], \"w\": {}}, \"c\": {\"b\": [1]}}";
    static const char indented[] = "{\n"
                                   "  \"b\": {\n"
                                   "    \"v\": [[1,{\"b\":2.50}],\"x\"],\n"
                                   "    \"w\": {}\n"
                                   "  },\n"
                                   "  \"c\": {\n"
                                   "    \"b\": [\n"
                                   "      1\n"
                                   "    ]\n"
                                   "  }\n"
                                   "}\n";
    struct hc_error err;
    hc_autobuf out = {0}, list = {0};
    (void)state;
    assert_int_equal(hc_json_indent(text, strlen(text), "b", &out, &err), 0);
    assert_string_equal(out.data, indented);
    assert_int_equal(hc_json_indent("[[1]]", 5, "b", &list, &err), 0);
    assert_string_equal(list.data, "[\n  [\n    1\n  ]\n]\n");
}

static void what_terminals_take_for_commands_is_escaped(void **state)
{
    static const char text[] = "[\"a\x7f\xc2\x9b\xc2\xa0\xc3\x9b\", {\"\xc2\x80\": \"x\"}]";
    static const char shown[] =
        "[\n  \"a\\u007f\\u009b\xc2\xa0\xc3\x9b\",\n  {\n    \"\\u0080\": \"x\"\n  }\n]\n";
    struct hc_error err;
    hc_autobuf out = {0};
    (void)state;
    assert_int_equal(hc_json_indent(text, strlen(text), NULL, &out, &err), 0);
    assert_string_equal(out.data, shown);
}

static void members_are_read_or_have_a_default(void **state)
{
    (void)state;
    static const char text[] =
        "{\"s\": \"x\", \"n\": 3.7, \"big\": 1e300, \"t\": true, \"f\": false, \"S\": 1}";
    struct hc_json j;
    struct hc_error err;
    assert_int_equal(hc_json_parse(&j, "members", text, sizeof text - 1, &err), 0);
    assert_string_equal(hc_json_text(j.root, "s"), "x");
    assert_string_equal(hc_json_text(j.root, "n"), "");
    assert_string_equal(hc_json_text_or(j.root, "none", "-"), "-");
    assert_null(hc_json_text_or(j.root, "t", NULL));
    assert_int_equal(hc_json_int(j.root, "n", 9), 3);
    assert_int_equal(hc_json_int(j.root, "big", 9), 9);
    assert_int_equal(hc_json_int(j.root, "s", 9), 9);
    assert_int_equal(hc_json_int(j.root, "S", 9), 1);
    assert_true(hc_json_is_true(j.root, "t"));
    assert_false(hc_json_is_true(j.root, "f"));
    assert_false(hc_json_is_true(j.root, "n"));
    assert_null(hc_json_member(j.root, "none"));
    assert_null(hc_json_member(NULL, "s"));
    hc_json_finish(&j);
}

static void utf8_is_checked_by_the_book(void **state)
{
    static const struct {
        const char *text;
        int bad; /* offset, -1 for none */
        const char *scrubbed;
    } rows[] = {
        {"abc", -1, "abc"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", -1, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\xffz", 1, "a\xef\xbf\xbdz"},
        {"\xc0\xaf", 0, "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* overlong */
        {"\xe0\x80\xaf", 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong */
        {"\xed\xa0\x80", 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* surrogate */
        {"\xf4\x90\x80\x80", 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* above U+10FFFF */
        {"ok\xe2\x82", 2, "ok\xef\xbf\xbd"},                                         /* cut short */
        {"\xf0\x9f\x98z", 0, "\xef\xbf\xbdz"},                                       /* one maximal part */
        {"\xe2\x82\xe2\x82\xac", 0, "\xef\xbf\xbd\xe2\x82\xac"},
        {"\x80", 0, "\xef\xbf\xbd"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t bad = 99, len = strlen(rows[i].text);
        hc_autobuf out = {0};
        assert_int_equal(hc_utf8_valid(rows[i].text, len, &bad), rows[i].bad < 0);
        if (rows[i].bad >= 0)
            assert_int_equal(bad, rows[i].bad);
        assert_int_equal(hc_utf8_scrub(&out, rows[i].text, len), 0);
        assert_string_equal(out.data, rows[i].scrubbed);
        assert_true(hc_utf8_valid(out.data, out.len, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_json_is_refused_with_its_place),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(a_text_needs_no_nul_behind_it),
        cmocka_unit_test(numbers_of_any_length_are_values),
        cmocka_unit_test(a_node_is_blamed_where_it_stands),
        cmocka_unit_test(the_canonical_form_is_one_for_all_spellings),
        cmocka_unit_test(the_indented_form_keeps_every_token),
        cmocka_unit_test(members_of_a_brief_member_have_one_line_each),
        cmocka_unit_test(what_terminals_take_for_commands_is_escaped),
        cmocka_unit_test(members_are_read_or_have_a_default),
        cmocka_unit_test(utf8_is_checked_by_the_book),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
