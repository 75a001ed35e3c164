/* The rules of a policy: what is taken, how policies that extend each other are joined, what is refused. */
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A folder of policies in memory. */
struct shelf {
    const char *name, *text;
};

static int read_shelf(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                      struct hc_error *err)
{
    (void)from;
    (void)file;
    for (const struct shelf *s = ctx; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return hc_buf_str(text, s->text);
    return hc_fail_as(err, HC_EXIT_CONFIG, 0, "no policy '%s'", name);
}

static void load(struct hc_policy *p, const struct shelf *shelf, const char *name)
{
    struct hc_error err = {0};
    if (hc_policy_load(p, name, read_shelf, (void *)shelf, &err) < 0)
        fail_msg("%s", err.text);
}

static void refused(const char *text, const char *error)
{
    const struct shelf shelf[] = {{"p", text}, {NULL, NULL}};
    struct hc_policy p;
    struct hc_error err = {0};
    if (hc_policy_load(&p, "p", read_shelf, (void *)shelf, &err) == 0)
        fail_msg("accepted: %s", text);
    assert_string_equal(err.text, error);
    assert_int_equal(err.exit, HC_EXIT_CONFIG);
}

/* The effective rules of policy `name`, as compact JSON. */
static void effective(const struct shelf *shelf, const char *name, const char *expected)
{
    struct hc_policy p;
    load(&p, shelf, name);
    char *text = cJSON_PrintUnformatted(p.rules);
    assert_string_equal(text, expected);
    free(text);
    hc_policy_finish(&p);
}

static void the_table_is_consistent(void **state)
{
    (void)state;
    for (size_t i = 0; i < hc_rules_count; i++) {
        const struct hc_rule *r = &hc_rules[i];
        assert_true(hc_rules_is_section(r->section));
        assert_int_equal(r->help[strlen(r->help) - 1], '.');
        assert_true(r->kind != HC_RULE_CHOICE || r->choices);
        assert_true(!r->choices || r->kind == HC_RULE_CHOICE || r->kind == HC_RULE_NAMES);
        assert_true((r->kind == HC_RULE_ROWS) == (r->fields != NULL));
        assert_true(r->kind != HC_RULE_COUNT || r->max > 0);
        for (size_t k = 0; k < i; k++)
            assert_true(strcmp(hc_rules[k].section, r->section) != 0 || strcmp(hc_rules[k].key, r->key) != 0);
    }
    assert_false(hc_rules_is_section("limits"));
    assert_string_equal(hc_rules_section(0), "imports");
    assert_null(hc_rules_section(1000));
}

static void lists_replace_and_lists_with_a_plus_add(void **state)
{
    const struct shelf shelf[] = {
        {"base", "{\"imports\": {\"deny\": [\"a\", \"b\"], \"exact\": true}}"},
        {"replaces", "{\"extends\": \"base\", \"imports\": {\"deny\": [\"c\"]}}"},
        {"adds", "{\"extends\": \"base\", \"imports\": {\"deny+\": [\"c\"]}}"},
        {"adds to nothing", "{\"imports\": {\"allow+\": [\"c\"]}}"},
        {"empties", "{\"extends\": \"base\", \"imports\": {\"deny\": []}}"},
        {"takes away", "{\"extends\": \"base\", \"imports\": {\"deny\": null, \"exact\": null}}"},
        {NULL, NULL},
    };
    (void)state;
    effective(shelf, "replaces", "{\"imports\":{\"exact\":true,\"deny\":[\"c\"]}}");
    effective(shelf, "adds", "{\"imports\":{\"exact\":true,\"deny\":[\"a\",\"b\",\"c\"]}}");
    effective(shelf, "adds to nothing", "{\"imports\":{\"allow\":[\"c\"]}}");
    effective(shelf, "empties", "{\"imports\":{\"exact\":true,\"deny\":[]}}");
    effective(shelf, "takes away", "{\"imports\":{}}");
}

static void a_ladder_takes_the_place_of_one_interpreter(void **state)
{
    const struct shelf shelf[] = {
        {"one", "{\"warm\": {\"imports\": [\"a\"], \"code\": \"1\", \"sample\": \"2\", \"each\": true}}"},
        {"ladder",
         "{\"extends\": \"one\", \"warm\": {\"ladder\": [{\"imports\": [\"b\"]}, {\"code\": \"3\"}]}}"},
        {"one again", "{\"extends\": \"ladder\", \"warm\": {\"code\": \"4\"}}"},
        {"none", "{\"extends\": \"ladder\", \"warm\": {\"ladder\": null}}"},
        {NULL, NULL},
    };
    (void)state;
    effective(shelf, "ladder",
              "{\"warm\":{\"each\":true,\"ladder\":[{\"imports\":[\"b\"]},{\"code\":\"3\"}]}}");
    effective(shelf, "one again", "{\"warm\":{\"each\":true,\"code\":\"4\"}}");
    effective(shelf, "none", "{\"warm\":{\"each\":true}}");
    refused("{\"warm\": {\"ladder\": [{}], \"code\": \"1\"}}",
            "p:1:27: warm.code: not beside warm.ladder, whose rows have their own");
    refused("{\"warm\": {\"ladder\": []}}",
            "p:1:21: warm.ladder: expected at least one row, or null for no ladder");
    refused("{\"warm\": {\"ladder+\": []}}",
            "p:1:10: warm.ladder: expected at least one row, or null for no ladder");
    refused("{\"warm\": {\"ladder\": [{\"code\": 1}]}}",
            "p:1:31: ladder.code: expected a string, got a number");
}

static void maps_are_merged(void **state)
{
    const struct shelf shelf[] = {
        {"base", "{\"prelude\": {\"names\": {\"np\": \"numpy\", \"pd\": \"pandas\"}}}"},
        {"child",
         "{\"extends\": \"base\", \"prelude\": {\"names\": {\"pd\": \"polars\", \"plt\": \"x:y\"}}}"},
        {NULL, NULL},
    };
    (void)state;
    effective(shelf, "child",
              "{\"prelude\":{\"names\":{\"np\":\"numpy\",\"pd\":\"polars\",\"plt\":\"x:y\"}}}");
}

static void an_effective_policy_reads_back_as_itself(void **state)
{
    const struct shelf shelf[] = {
        {"p", "{\"redact\": {\"rules\": [{\"name\": \"n\", \"pattern\": \"a(b)\", \"replace\": \"\\\\1\"}], "
              "\"max_chars\": 2000}, \"files\": {\"read\": [\"/input\"]}, \"description\": \"text\"}"},
        {NULL, NULL},
    };
    struct hc_policy p, again;
    (void)state;
    load(&p, shelf, "p");
    cJSON *json = hc_policy_to_json(&p);
    char *text = cJSON_PrintUnformatted(json);
    const struct shelf printed[] = {{"p", text}, {NULL, NULL}};
    load(&again, printed, "p");
    cJSON *twice = hc_policy_to_json(&again);
    char *second = cJSON_PrintUnformatted(twice);
    assert_string_equal(text, second);
    free(text);
    free(second);
    cJSON_Delete(json);
    cJSON_Delete(twice);
    hc_policy_finish(&p);
    hc_policy_finish(&again);
}

static void the_shim_is_told_what_concerns_it(void **state)
{
    const struct shelf shelf[] = {
        {"p", "{\"imports\": {\"deny\": [\"a\"]}, \"figures\": {\"show\": \"save\"}, \"redact\": "
              "{\"env_lines\": 3}}"},
        {NULL, NULL},
    };
    struct hc_policy p;
    (void)state;
    load(&p, shelf, "p");
    cJSON *on = hc_rules_for_shim(p.rules, true), *off = hc_rules_for_shim(p.rules, false);
    assert_non_null(hc_rules_get(on, "imports", "deny"));
    assert_string_equal(hc_rules_text(on, "figures", "show", ""), "save");
    assert_null(hc_rules_get(on, "redact", "env_lines"));
    assert_null(hc_rules_get(off, "imports", "deny"));
    assert_string_equal(hc_rules_text(off, "figures", "show", ""), "save");
    assert_int_equal(hc_rules_count_of(p.rules, "redact", "env_lines", 0), 3);
    assert_true(hc_rules_bool(p.rules, "imports", "exact", true));
    cJSON_Delete(on);
    cJSON_Delete(off);
    hc_policy_finish(&p);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"{\"imports\": []}", "p:1:13: imports: expected an object, got a list"},
        {"{\"imports\": {\"denny\": []}}", "p:1:14: unknown member 'denny' in imports; did you mean 'deny'?"},
        {"{\"improts\": {}}", "p:1:2: unknown member 'improts'; did you mean 'imports'?"},
        {"{\"imports\": {\"deny\": \"os\"}}",
         "p:1:22: imports.deny: expected a list of strings, got a string"},
        {"{\"imports\": {\"deny\": [1]}}", "p:1:23: imports.deny: expected a string, got a number"},
        {"{\"imports\": {\"deny\": [\"\"]}}", "p:1:23: imports.deny: expected a name, got an empty string"},
        {"{\"imports\": {\"exact+\": true}}",
         "p:1:14: unknown member 'exact+' in imports; did you mean 'exact'?"},
        {"{\"imports\": {\"when\": \"never\"}}",
         "p:1:22: imports.when: expected both, check or run, got 'never'"},
        {"{\"imports\": {\"exact\": 1}}", "p:1:23: imports.exact: expected true or false, got a number"},
        {"{\"code\": {\"filename\": \"/usr/lib/x.py\"}}", "p:1:23: code.filename: must not begin with '/'"},
        {"{\"code\": {\"filename\": \"a\\nb\"}}", "p:1:23: code.filename: control characters"},
        {"{\"code\": {\"filename\": \"\"}}", "p:1:23: code.filename: expected 1 to 255 bytes"},
        {"{\"figures\": {\"formats\": [\"png\", \"gif\"]}}",
         "p:1:33: figures.formats: expected png, svg or pdf, got 'gif'"},
        {"{\"figures\": {\"directory\": \"a/b\"}}",
         "p:1:27: figures.directory: expected letters, digits, '.', '_' or '-', not beginning with '.'"},
        {"{\"code\": {\"max_chars\": -1}}", "p:1:24: code.max_chars: expected 0 to 16777216, got -1"},
        {"{\"code\": {\"max_chars\": 1.5}}", "p:1:24: code.max_chars: expected a whole number, got 1.5"},
        {"{\"prelude\": {\"names\": {\"a b\": \"m\"}}}",
         "p:1:24: prelude.names: expected a Python name, got 'a b'"},
        {"{\"prelude\": {\"names\": {\"class\": \"m\"}}}",
         "p:1:24: prelude.names: expected a Python name, got 'class'"},
        {"{\"files\": {\"write\": [\"/output\", \"data\"]}}",
         "p:1:33: files.write: expected an absolute path, one from \"~\", or \".\", got 'data'"},
        {"{\"modules\": {\"replace\": [{\"module\": \"os\"}]}}",
         "p:1:26: modules.replace: expected a member 'name'"},
        {"{\"modules\": {\"replace\": [{\"modul\": \"os\"}]}}",
         "p:1:27: unknown member 'modul' in modules.replace"},
        {"{\"modules\": {\"replace\": [{\"module\": \"os\", \"name\": \"system\", \"with\": \"x\"}]}}",
         "p:1:69: replace.with: expected none, refuse, ignore or choose, got 'x'"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        refused(rows[i].text, rows[i].error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_consistent),
        cmocka_unit_test(lists_replace_and_lists_with_a_plus_add),
        cmocka_unit_test(a_ladder_takes_the_place_of_one_interpreter),
        cmocka_unit_test(maps_are_merged),
        cmocka_unit_test(an_effective_policy_reads_back_as_itself),
        cmocka_unit_test(the_shim_is_told_what_concerns_it),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
