/* The option table, and policy files: what they say, what is refused and where, and "extends". */
#include "json/names.h"
#include "policy/options.h"

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
    for (const struct shelf *s = ctx; s->name; s++) {
        if (strcmp(s->name, name) != 0)
            continue;
        size_t size = strlen(name) + sizeof ".json";
        *file = malloc(size);
        (void)snprintf(*file, size, "%s.json", name);
        return hc_buf_str(text, s->text);
    }
    return hc_fail_as(err, HC_EXIT_CONFIG, 0, "no policy '%s'", name);
}

static int load(struct hc_policy *p, const struct shelf *shelf, const char *name, struct hc_error *err)
{
    return hc_policy_load(p, name, read_shelf, (void *)shelf, err);
}

static void refused(const struct shelf *shelf, const char *name, const char *error)
{
    struct hc_policy p;
    struct hc_error err = {0};
    if (load(&p, shelf, name, &err) == 0)
        fail_msg("accepted: %s", shelf->text);
    assert_string_equal(err.text, error);
    assert_int_equal(err.exit, HC_EXIT_CONFIG);
    assert_null(p.env);
}

static void the_option_table_is_consistent(void **state)
{
    (void)state;
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        assert_ptr_equal(hc_option_by_flag(opt->flag), opt);
        assert_ptr_equal(hc_option_by_path(opt->path), opt);
        assert_non_null(opt->arg);
        assert_int_equal(opt->help[strlen(opt->help) - 1], '.');
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(hc_options[k].at, opt->at);
        if (opt->kind == HC_OPT_NAME)
            continue;
        if (opt->kind == HC_OPT_CHOICE)
            continue;
        assert_in_range(opt->def, opt->min, opt->max);
        if (!opt->plain || !opt->kernel)
            fail_msg("the row of %s does not say what it counts, or what enforces it", opt->path);
        const char *file = opt->cgroup_file ? opt->cgroup_file : "";
        if ((strncmp(file, "cpu.", 4) == 0 || strncmp(file, "io.", 3) == 0) && !opt->enforced)
            fail_msg("the row of %s does not say where manifests tell that %s enforces it", opt->path, file);
    }
    assert_null(hc_option_by_flag("no-such-flag"));
    assert_null(hc_option_by_path("limits"));
}

/* Some values of an option, as text: its bounds, its default, and all of its choices. */
static size_t samples(const struct hc_option *opt, char out[8][64])
{
    struct hc_policy p;
    size_t n = 0;
    hc_policy_init(&p);
    hc_option_format(&p, opt, out[n++], 64);
    if (opt->kind == HC_OPT_NAME) {
        (void)strcpy(out[n++], "./other tree");
        return n;
    }
    if (opt->kind == HC_OPT_CHOICE) {
        for (size_t i = 0; opt->choices[i]; i++)
            (void)strcpy(out[n++], opt->choices[i]);
        return n;
    }
    for (int64_t v[] = {opt->min, opt->max, opt->min + 1, opt->max - 1}, i = 0; i < 4; i++) {
        memcpy((char *)&p + opt->at, &v[i], sizeof v[i]);
        hc_option_format(&p, opt, out[n++], 64);
    }
    return n;
}

static void every_option_reads_back_what_it_prints(void **state)
{
    (void)state;
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        char text[8][64], again[256];
        for (size_t k = 0, n = samples(opt, text); k < n; k++) {
            struct hc_policy p;
            struct hc_error err;
            hc_policy_init(&p);
            if (hc_option_set(&p, opt, text[k], &err) < 0)
                fail_msg("%s: %s", opt->path, err.text);
            hc_option_format(&p, opt, again, sizeof again);
            assert_string_equal(again, text[k]);
        }
    }
}

static void every_option_survives_the_way_through_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        char text[8][64];
        for (size_t k = 0, n = samples(opt, text); k < n; k++) {
            struct hc_policy p, q;
            struct hc_error err;
            hc_policy_init(&p);
            assert_int_equal(hc_option_set(&p, opt, text[k], &err), 0);
            cJSON *value = hc_option_to_json(&p, opt), *plain = hc_option_to_plain_json(&p, opt);
            const cJSON *both[] = {value, plain};
            for (size_t form = 0; form < 2; form++) {
                struct hc_json j = {.name = "x"};
                hc_policy_init(&q);
                if (hc_option_set_json(&q, opt, &j, both[form], &err) < 0)
                    fail_msg("%s", err.text);
                assert_memory_equal(&p, &q, sizeof p);
            }
            cJSON_Delete(value);
            cJSON_Delete(plain);
        }
    }
}

static void numbers_become_the_next_thousandth(void **state)
{
    static const struct {
        double seconds;
        int64_t ms;
    } rows[] = {{0, 0},        {1e-10, 1},    {0.001, 1},         {0.0011, 2},
                {16.1, 16100}, {1.001, 1001}, {604800, 604800000}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_policy p;
        struct hc_json j = {.name = "x"};
        struct hc_error err;
        cJSON *number = cJSON_CreateNumber(rows[i].seconds);
        hc_policy_init(&p);
        assert_int_equal(hc_option_set_json(&p, hc_option_by_flag("cpu"), &j, number, &err), 0);
        assert_int_equal(p.limits.cpu_ms, rows[i].ms);
        cJSON_Delete(number);
    }
}

static void a_wrong_option_says_what_was_expected(void **state)
{
    static const struct {
        const char *flag, *text, *error;
    } rows[] = {
        {"memory", "1K", "expected 32M to 1T, got 1K"},
        {"memory", "2T", "expected 32M to 1T, got 2T"},
        {"memory", "lots", "expected a size such as \"512M\", got 'lots'"},
        {"memory", "", "expected a size such as \"512M\", got ''"},
        {"timeout", "1ms", "expected 10ms to 24h, got 1ms"},
        {"timeout", "25h", "expected 10ms to 24h, got 25h"},
        {"timeout", "60 s", "expected a duration such as \"60s\", got '60 s'"},
        {"pids", "1", "expected 2 to 4096, got 1"},
        {"pids", "-5", "expected 2 to 4096, got '-5'"},
        {"pids", "1.5", "expected a whole number, got '1.5'"},
        {"cpus", "two", "expected a number such as 1.5, got 'two'"},
        {"cpus", "2s", "expected a number such as 1.5, got '2s'"},
        {"cpus", "1024.5", "expected 0 to 1024, got 1024.5"},
        {"network", "lan", "expected none or loopback, got 'lan'"},
        {"enforcement", "none", "expected auto, cgroup or rlimits, got 'none'"},
        {"tree", "", "expected 1 to 255 bytes, got an empty string"},
        {"tree", "a\nb", "expected a name or a path, got 'a\nb'"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_policy p, untouched;
        struct hc_error err, expected;
        hc_policy_init(&p);
        hc_policy_init(&untouched);
        if (hc_option_set(&p, hc_option_by_flag(rows[i].flag), rows[i].text, &err) == 0)
            fail_msg("accepted: --%s %s", rows[i].flag, rows[i].text);
        (void)hc_fail(&expected, 0, "%s", rows[i].error); /* as one line */
        assert_string_equal(err.text, expected.text);
        assert_int_equal(err.exit, HC_EXIT_USAGE);
        assert_memory_equal(&p, &untouched, sizeof p);
    }
}

static void help_names_every_option(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    hc_options_print_help(out);
    assert_int_equal(fclose(out), 0);
    for (size_t i = 0; i < hc_options_count; i++) {
        char flag[64];
        (void)snprintf(flag, sizeof flag, "--%s ", hc_options[i].flag);
        assert_non_null(strstr(text, flag));
    }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    free(text);
}

static void a_policy_sets_what_it_says_and_nothing_else(void **state)
{
    static const struct shelf shelf[] = {
        {"reports", "{\"name\": \"nightly\", \"description\": \"x\", \"tree\": \"./t\","
                    " \"limits\": {\"memory\": \"4G\", \"timeout\": 1.5, \"cpus\": 0.25, \"pids\": 7,"
                    " \"stdout\": 0, \"enforcement\": \"cgroup\"},"
                    " \"output\": {\"mode\": \"bind\", \"overflow\": \"end\"}, \"network\": \"loopback\","
                    " \"processes\": \"fork\", \"env\": {\"TZ\": \"Europe/Berlin\", \"EMPTY\": \"\"}}"},
        {"empty", "{}"},
        {NULL, NULL},
    };
    struct hc_policy p, expected;
    struct hc_error err;
    (void)state;
    assert_int_equal(load(&p, shelf, "reports", &err), 0);
    hc_policy_init(&expected);
    (void)strcpy(expected.name, "nightly");
    (void)strcpy(expected.tree, "./t");
    memset(expected.tree + 3, 0, sizeof expected.tree - 3);
    expected.limits.memory = INT64_C(4) << 30;
    expected.limits.timeout_ms = 1500;
    expected.limits.cpus_milli = 250;
    expected.limits.pids = 7;
    expected.limits.stdout_bytes = 0;
    expected.enforcement = HC_ENFORCE_CGROUP;
    expected.output_mode = HC_OUTPUT_BIND;
    expected.overflow = HC_OVERFLOW_END;
    expected.network = HC_NETWORK_LOOPBACK;
    expected.processes = HC_PROCESSES_FORK;
    assert_string_equal(p.name, expected.name);
    assert_string_equal(p.tree, expected.tree);
    assert_memory_equal(&p.limits, &expected.limits, sizeof p.limits);
    assert_int_equal(p.enforcement, expected.enforcement);
    assert_int_equal(p.output_mode, expected.output_mode);
    assert_int_equal(p.overflow, expected.overflow);
    assert_int_equal(p.network, expected.network);
    assert_int_equal(p.processes, expected.processes);
    assert_string_equal(cJSON_GetObjectItem(p.env, "TZ")->valuestring, "Europe/Berlin");
    assert_int_equal(cJSON_GetArraySize(p.env), 2);
    hc_policy_finish(&p);

    assert_int_equal(load(&p, shelf, "empty", &err), 0);
    hc_policy_init(&expected);
    assert_memory_equal(&p.limits, &expected.limits, sizeof p.limits);
    assert_string_equal(p.tree, "scientific");
    assert_string_equal(p.name, "empty"); /* after its file */
    hc_policy_finish(&p);
}

static void a_wrong_policy_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"[]", "p.json:1:1: expected an object, got a list"},
        {"{\"limits\": {\"memory\": \"1K\"}}", "p.json:1:23: limits.memory: expected 32M to 1T, got 1K"},
        {"{\"limits\": {\"memory\": 1024}}", "p.json:1:23: limits.memory: expected 32M to 1T, got 1K"},
        {"{\"limits\": {\"memory\": -1}}", "p.json:1:23: limits.memory: expected 32M to 1T, got -1"},
        {"{\"limits\": {\"cpu\": -0.0001}}", "p.json:1:20: limits.cpu: expected 0s to 168h, got -0.0001"},
        {"{\"limits\": {\"memory\": 1e300}}", "p.json:1:23: limits.memory: expected 32M to 1T, got 1e+300"},
        {"{\"limits\": {\"memory\": 1e999}}", "p.json:1:23: limits.memory: expected 32M to 1T, got inf"},
        {"{\"limits\": {\"memory\": 67108864.5}}",
         "p.json:1:23: limits.memory: expected a size such as \"512M\", got 67108864.5"},
        {"{\"limits\":\n {\"memory\": []}}",
         "p.json:2:13: limits.memory: expected a size such as \"512M\", got a list"},
        {"{\"limits\": {\"pids\": \"64\"}}",
         "p.json:1:21: limits.pids: expected a whole number, got a string"},
        {"{\"limits\": {\"cpus\": \"2\"}}",
         "p.json:1:21: limits.cpus: expected a number such as 1.5, got a string"},
        {"{\"limits\": {\"timeout\": null}}",
         "p.json:1:24: limits.timeout: expected a duration such as \"60s\", got null"},
        {"{\"limits\": {\"memroy\": 1}}",
         "p.json:1:13: unknown member 'memroy' in limits; did you mean 'memory'?"},
        {"{\"limits\": {\"overflow\": 1}}",
         "p.json:1:13: unknown member 'overflow' in limits; did you mean 'output.overflow'?"},
        {"{\"memory\": 1}", "p.json:1:2: unknown member 'memory'; did you mean 'limits.memory'?"},
        {"{\"limit\": {}}", "p.json:1:2: unknown member 'limit'; did you mean 'limits'?"},
        {"{\"zzz\": 1}", "p.json:1:2: unknown member 'zzz'"},
        {"{\"limits.memory\": \"1G\"}", "p.json:1:2: unknown member 'limits.memory'"},
        {"{\"limits\": []}", "p.json:1:12: limits: expected an object, got a list"},
        {"{\"network\": \"lan\"}", "p.json:1:13: network: expected none or loopback, got 'lan'"},
        {"{\"network\": true}", "p.json:1:13: network: expected none or loopback, got true"},
        {"{\"network\": 1}", "p.json:1:13: network: expected none or loopback, got 1"},
        {"{\"tree\": 1}", "p.json:1:10: tree: expected a name or a path, got 1"},
        {"{\"name\": \"a b\"}", "p.json:1:10: name: expected 1 to 63 letters, digits, '.', '_' or '-', not "
                                "beginning with '.'"},
        {"{\"name\": 1}", "p.json:1:10: name: expected a name, got a number"},
        {"{\"description\": []}", "p.json:1:17: description: expected a string, got a list"},
        {"{\"extends\": []}", "p.json:1:13: extends: expected the name of a policy, got a list"},
        {"{\"env\": {\"A\": 1}}", "p.json:1:15: env.A: expected a string, got a number"},
        {"{\"env\": {\"1A\": \"\"}}",
         "p.json:1:10: env: expected a name of 1 to 64 letters, digits and '_', got '1A'"},
        {"{\"env\": {\"LD_PRELOAD\": \"x\"}}",
         "p.json:1:10: env: LD_PRELOAD must not be set: it changes how programs are loaded"},
        {"{\"env\": {\"PYTHONPATH\": \"x\"}}",
         "p.json:1:10: env: PYTHONPATH must not be set: it changes how the interpreter works"},
        {"{\"env\": {\"GLIBC_TUNABLES\": \"x\"}}",
         "p.json:1:10: env: GLIBC_TUNABLES must not be set: it changes how programs are loaded"},
        {"{\"env\": {\"HOME\": \"x\"}}", "p.json:1:10: env: HOME must not be set: hotcell sets it"},
        {"{\"env\": []}", "p.json:1:9: env: expected an object of strings, got a list"},
        {"{\"network\": \"none\", \"network\": \"none\"}",
         "p.json:1:21: 'network' is given twice in one object"},
        {"{", "p.json:1:2: expected a member's name in double quotes or '}', found end of file"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct shelf shelf[] = {{"p", rows[i].text}, {NULL, NULL}};
        refused(shelf, "p", rows[i].error);
    }
}

static void a_long_environment_is_refused(void **state)
{
    char text[8192];
    (void)state;
    int used = snprintf(text, sizeof text, "{\"env\": {\"A\": \"");
    memset(text + used, 'x', 4097);
    (void)strcpy(text + used + 4097, "\"}}");
    const struct shelf shelf[] = {{"p", text}, {NULL, NULL}};
    refused(shelf, "p", "p.json:1:15: env.A: longer than 4096 bytes");

    used = snprintf(text, sizeof text, "{\"env\": {\"V0\": \"\"");
    for (int i = 1; i <= 64; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, ",\n\"V%d\": \"\"", i);
    (void)strcpy(text + used, "}}");
    refused(shelf, "p", "p.json:65:1: env: more than 64 variables");
}

static void a_child_overrides_its_parent_field_by_field(void **state)
{
    static const struct shelf shelf[] = {
        {"base",
         "{\"name\": \"base\", \"limits\": {\"memory\": \"2G\", \"pids\": 10}, \"network\": \"loopback\","
         " \"env\": {\"A\": \"1\", \"B\": \"1\"}}"},
        {"middle", "{\"extends\": \"base\", \"limits\": {\"pids\": 20}, \"env\": {\"B\": \"2\"}}"},
        {"top", "{\"limits\": {\"timeout\": \"5s\"}, \"extends\": \"middle\", \"env\": {\"C\": \"3\"}}"},
        {NULL, NULL},
    };
    struct hc_policy p;
    struct hc_error err;
    (void)state;
    assert_int_equal(load(&p, shelf, "top", &err), 0);
    assert_string_equal(p.name, "top");
    assert_int_equal(p.limits.memory, INT64_C(2) << 30);
    assert_int_equal(p.limits.pids, 20);
    assert_int_equal(p.limits.timeout_ms, 5000);
    assert_int_equal(p.network, HC_NETWORK_LOOPBACK);
    assert_string_equal(cJSON_GetObjectItem(p.env, "A")->valuestring, "1");
    assert_string_equal(cJSON_GetObjectItem(p.env, "B")->valuestring, "2");
    assert_string_equal(cJSON_GetObjectItem(p.env, "C")->valuestring, "3");
    hc_policy_finish(&p);
}

static void circles_and_long_chains_are_refused(void **state)
{
    static const struct shelf circle[] = {
        {"a", "{\"extends\": \"b\"}"},
        {"b", "{\"extends\": \"a\"}"},
        {"self", "{\"extends\": \"self\"}"},
        {"orphan", "{\"extends\": \"nobody\"}"},
        {"wrong", "{\"extends\": \"broken\"}"},
        {"broken", "{\"limits\": 1}"},
        {NULL, NULL},
    };
    (void)state;
    refused(circle, "a", "a.json:1:13: extends 'b': b.json:1:13: extends 'a': a.json: extends itself");
    refused(circle, "self", "self.json:1:13: extends 'self': self.json: extends itself");
    refused(circle, "orphan", "orphan.json:1:13: extends 'nobody': no policy 'nobody'");
    refused(circle, "wrong",
            "wrong.json:1:13: extends 'broken': broken.json:1:12: limits: expected an object, got a number");
    refused(circle, "nobody", "no policy 'nobody'");

    static const struct shelf chain[] = {
        {"p1", "{\"extends\": \"p2\"}"},
        {"p2", "{\"extends\": \"p3\"}"},
        {"p3", "{\"extends\": \"p4\"}"},
        {"p4", "{\"extends\": \"p5\"}"},
        {"p5", "{\"extends\": \"p6\"}"},
        {"p6", "{\"extends\": \"p7\"}"},
        {"p7", "{\"extends\": \"p8\"}"},
        {"p8", "{\"extends\": \"p9\"}"},
        {"p9", "{}"},
        {NULL, NULL},
    };
    struct hc_policy p;
    struct hc_error err;
    assert_int_equal(load(&p, chain, "p2", &err), 0);
    assert_int_equal(load(&p, chain, "p1", &err), -1);
    assert_non_null(strstr(err.text, "p8.json:1:13: extends: a chain of more than 8 policies"));
}

static void the_effective_policy_loads_again_as_it_is(void **state)
{
    static const struct shelf shelf[] = {
        {"p", "{\"name\": \"p\", \"limits\": {\"timeout\": 0.123, \"memory\": 123456789, \"cpus\": 1.001},"
              " \"env\": {\"TZ\": \"\xc3\xa9\\n\"}}"},
        {NULL, NULL},
    };
    struct hc_policy p, q;
    struct hc_error err;
    (void)state;
    assert_int_equal(load(&p, shelf, "p", &err), 0);
    cJSON *root = hc_policy_to_json(&p);
    char *text = cJSON_Print(root);
    const struct shelf printed[] = {{"again", text}, {NULL, NULL}};
    assert_int_equal(load(&q, printed, "again", &err), 0);
    assert_true(cJSON_Compare(p.env, q.env, true));
    cJSON *once_more = hc_policy_to_json(&q);
    assert_true(cJSON_Compare(root, once_more, true));
    assert_memory_equal(&p.limits, &q.limits, sizeof p.limits);
    cJSON_Delete(root);
    cJSON_Delete(once_more);
    free(text);
    hc_policy_finish(&p);
    hc_policy_finish(&q);
}

static void a_slip_is_told_from_another_word(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"memory", "memory", 0},  {"memroy", "memory", 1}, {"memor", "memory", 1},
        {"mmeorry", "memory", 2}, {"", "abc", 3},          {"kitten", "sitting", 3},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(hc_distance(rows[i].a, rows[i].b), rows[i].distance);
        assert_int_equal(hc_distance(rows[i].b, rows[i].a), rows[i].distance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_option_table_is_consistent),
        cmocka_unit_test(every_option_reads_back_what_it_prints),
        cmocka_unit_test(every_option_survives_the_way_through_json),
        cmocka_unit_test(numbers_become_the_next_thousandth),
        cmocka_unit_test(a_wrong_option_says_what_was_expected),
        cmocka_unit_test(help_names_every_option),
        cmocka_unit_test(a_policy_sets_what_it_says_and_nothing_else),
        cmocka_unit_test(a_wrong_policy_is_refused_with_its_place),
        cmocka_unit_test(a_long_environment_is_refused),
        cmocka_unit_test(a_child_overrides_its_parent_field_by_field),
        cmocka_unit_test(circles_and_long_chains_are_refused),
        cmocka_unit_test(the_effective_policy_loads_again_as_it_is),
        cmocka_unit_test(a_slip_is_told_from_another_word),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
