/* Job specs in both forms, the pieces of a command line, and the handover to the shim. */
#include "job/job.h"
#include "wire/handover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void parsed(struct hc_job *job, const char *text)
{
    struct hc_error err;
    if (hc_job_parse(job, "job.json", text, strlen(text), &err) < 0)
        fail_msg("%s", err.text);
}

static const char * override(const struct hc_job *job, const char *path)
{
    for (size_t i = 0; i < job->override_count; i++)
        if (strcmp(job->overrides[i].opt->path, path) == 0)
            return job->overrides[i].text;
    return NULL;
}

static void a_spec_says_all_about_a_job(void **state)
{
    struct hc_job job;
    struct hc_error err;
    (void)state;
    parsed(&job,
           "{\"code\": \"print(1)\", \"inputs\": {\"sales\": \"q1 report.CSV\", \"raw\": \"x.tar.gz\"},"
           " \"vars\": {\"n\": 123456789012345678901234567890, \"f\": 1.50}, \"policy\": \"reports\","
           " \"tree\": \"base\", \"output_dir\": \"out\", \"persist_code\": true, \"tenant\": \"t-1\","
           " \"job_id\": \"j.1\", \"labels\": {\"run\": \"7\"}, \"seed\": 4294967295, \"sign\": \"key\","
           " \"limits\": {\"timeout\": 1.5, \"memory\": \"512M\", \"enforcement\": \"cgroup\"}}");
    assert_int_equal(hc_job_check(&job, &err), 0);
    assert_string_equal(job.code, "print(1)");
    assert_int_equal(job.code_len, 8);
    assert_int_equal(job.input_count, 2);
    assert_string_equal(job.inputs[0].name, "sales");
    assert_string_equal(job.inputs[0].path, "q1 report.CSV");
    assert_int_equal(job.inputs[0].format, HC_INPUT_CSV);
    assert_int_equal(job.inputs[1].format, HC_INPUT_PATH);
    assert_string_equal(job.vars_text, "{\"n\": 123456789012345678901234567890, \"f\": 1.50}");
    assert_int_equal(cJSON_GetArraySize(job.vars), 2);
    assert_string_equal(job.policy, "reports");
    assert_string_equal(job.output_dir, "out");
    assert_true(job.persist_code);
    assert_string_equal(job.tenant, "t-1");
    assert_string_equal(job.job_id, "j.1");
    assert_string_equal(cJSON_GetObjectItem(job.labels, "run")->valuestring, "7");
    assert_true(job.has_seed);
    assert_true(job.seed == UINT32_MAX);
    assert_string_equal(job.sign, "key");
    assert_string_equal(override(&job, "tree"), "base");
    assert_string_equal(override(&job, "limits.timeout"), "1500ms");
    assert_string_equal(override(&job, "limits.memory"), "512M");
    assert_string_equal(override(&job, "limits.enforcement"), "cgroup");
    assert_false(job.runner_form);
    hc_job_finish(&job);
}

static void a_spec_needs_nothing_but_code(void **state)
{
    struct hc_job job;
    (void)state;
    parsed(&job, "{\"code\": \"1\"}");
    assert_false(job.persist_code);
    assert_false(job.has_seed);
    assert_int_equal(job.override_count, 0);
    assert_null(job.vars_text);
    assert_null(job.labels);
    hc_job_finish(&job);
    parsed(&job, "{\"code\": \"1\", \"vars\": {}, \"labels\": {}, \"inputs\": {}, \"limits\": {}}");
    assert_null(job.vars_text);
    assert_null(job.vars);
    hc_job_finish(&job);
}

static void the_older_runners_form_is_taken_as_it_stands(void **state)
{
    struct hc_job job;
    (void)state;
    parsed(&job, "{\"code\": \"df\", \"df_paths\": {\"df\": \"/data/rows.txt\"}, \"output_dir\": \"/out\"}");
    assert_true(job.runner_form);
    assert_true(job.persist_code);
    assert_int_equal(job.inputs[0].format, HC_INPUT_FRAME); /* whatever the file is called */
    assert_string_equal(override(&job, "limits.stdout"), "200000");
    assert_string_equal(override(&job, "limits.figures"), "20");
    hc_job_finish(&job);
    parsed(&job, "{\"code\": \"1\", \"max_figures\": 0, \"max_output_bytes\": 0, \"persist_code\": false}");
    assert_true(job.runner_form);
    assert_false(job.persist_code);
    assert_string_equal(override(&job, "limits.stdout"), "0");
    assert_string_equal(override(&job, "limits.figures"), "0");
    assert_int_equal(job.override_count, 2);
    hc_job_finish(&job);
}

static void a_wrong_spec_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "job.json:1:1: expected a JSON value, found end of file"},
        {"{\n  \"code\": \"1\",\n}", "job.json:3:1: expected a member's name in double quotes, found '}'"},
        {"[]", "job.json:1:1: expected an object, got a list"},
        {"{}", "job.json:1:1: expected a member 'code', which holds the program"},
        {"{\"code\": 1}", "job.json:1:10: code: expected the program's source as a string, got a number"},
        {"{\"code\": null}", "job.json:1:10: code: expected the program's source as a string, got null"},
        {"{\"cod\": \"1\"}", "job.json:1:2: unknown member 'cod'; did you mean 'code'?"},
        {"{\"processes\": \"fork\"}", "job.json:1:2: 'processes' is for a policy to say (hotcell-policy(5))"},
        {"{\"timeout\": 1}", "job.json:1:2: unknown member 'timeout'; did you mean 'limits.timeout'?"},
        {"{\"inputs\": []}", "job.json:1:12: inputs: expected an object of name and path, got a list"},
        {"{\"inputs\": {\"a\": 1}}", "job.json:1:18: inputs.a: expected a path, got a number"},
        {"{\"inputs\": {\"a\": \"\"}}", "job.json:1:18: inputs.a: expected a path, got an empty string"},
        {"{\"vars\": 1}", "job.json:1:10: vars: expected an object of name and value, got a number"},
        {"{\"limits\": {\"memory\": \"1K\"}}", "job.json:1:23: limits.memory: expected 32M to 1T, got 1K"},
        {"{\"limits\": {\"tree\": \"x\"}}",
         "job.json:1:13: unknown member 'tree' in limits; 'tree' stands at the top"},
        {"{\"limits\": {\"memry\": 1}}",
         "job.json:1:13: unknown member 'memry' in limits; did you mean 'memory'?"},
        {"{\"policy\": \"\"}",
         "job.json:1:12: policy: expected a policy's name or path, got an empty string"},
        {"{\"tree\": 7}", "job.json:1:10: tree: expected a name or a path, got 7"},
        {"{\"output_dir\": []}", "job.json:1:16: output_dir: expected a path, got a list"},
        {"{\"persist_code\": 1}", "job.json:1:18: persist_code: expected true or false, got a number"},
        {"{\"tenant\": \"a/b\"}",
         "job.json:1:12: tenant: expected 1 to 64 letters, digits, '.', '_' or '-', not "
         "beginning with '.'"},
        {"{\"job_id\": \"..\"}",
         "job.json:1:12: job_id: expected 1 to 64 letters, digits, '.', '_' or '-', not "
         "beginning with '.'"},
        {"{\"labels\": {\"a\": 1}}", "job.json:1:18: labels.a: expected a string, got a number"},
        {"{\"seed\": -1}", "job.json:1:10: seed: expected a whole number from 0 to 4294967295, got -1"},
        {"{\"seed\": 4294967296}",
         "job.json:1:10: seed: expected a whole number from 0 to 4294967295, got 4294967296"},
        {"{\"seed\": 0.5}", "job.json:1:10: seed: expected a whole number from 0 to 4294967295, got 0.5"},
        {"{\"seed\": \"1\"}",
         "job.json:1:10: seed: expected a whole number from 0 to 4294967295, got a string"},
        {"{\"code\": \"1\", \"inputs\": {\"x\": \"f\"}, \"vars\": {\"x\": 1}}",
         "job.json:1:46: vars: 'x': the name is given twice among inputs and vars"},
        {"{\"df_paths\": {}, \"inputs\": {}}",
         "job.json:1:18: unknown member 'inputs' in a spec of the older runner's form"},
        {"{\"df_paths\": {}, \"max_figure\": 1}",
         "job.json:1:18: unknown member 'max_figure' in a spec of the older "
         "runner's form; did you mean 'max_figures'?"},
        {"{\"max_output_bytes\": \"1M\"}",
         "job.json:1:22: max_output_bytes: expected a whole number, got a string"},
        {"{\"max_figures\": -1}", "job.json:1:17: max_figures: expected 0 to 1000, got -1"},
        {"{\"code\": \"a\\u0000b\"}", "job.json:1:12: a string must not contain \\u0000"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_job job;
        struct hc_error err = {0};
        if (hc_job_parse(&job, "job.json", rows[i].text, strlen(rows[i].text), &err) == 0)
            fail_msg("accepted: %s", rows[i].text);
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(err.exit, HC_EXIT_DATA);
    }
}

static void names_are_python_identifiers(void **state)
{
    static const struct {
        const char *name;
        bool good;
    } rows[] = {
        {"x", true},
        {"sales_2026", true},
        {"X9", true},
        {"match", true},
        {"print", true},
        {"_x", true},
        {"__x__", false},
        {"9x", false},
        {"", false},
        {"a-b", false},
        {"a.b", false},
        {"a b", false},
        {"class", false},
        {"None", false},
        {"async", false},
        {"\xc3\xa9", true},
        {"\xe6\x95\xb0_1", true},
        {"../x", false},
        {"\xff", false},
        {"a\xe2\x80\xae", false},
        {"\xef\xbb\xbfx", false},
        {"1\xc3\xa9", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static const char *const forms[] = {"{\"code\": \"1\", \"vars\": {\"%s\": 1}}",
                                            "{\"code\": \"1\", \"inputs\": {\"%s\": \"f\"}}",
                                            "{\"code\": \"1\", \"df_paths\": {\"%s\": \"f\"}}"};
        for (size_t k = 0; k < COUNT(forms); k++) {
            char text[128];
            struct hc_job job;
            struct hc_error err;
            (void)snprintf(text, sizeof text, forms[k], rows[i].name);
            bool good = hc_job_parse(&job, "x", text, strlen(text), &err) == 0;
            if (good != rows[i].good)
                fail_msg("%s: %s", text, good ? "accepted" : err.text);
            if (good)
                hc_job_finish(&job);
        }
    }
}

static void a_command_line_adds_to_a_job(void **state)
{
    struct hc_job job = {0};
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_job_add_input(&job, "sales=./q1=2.csv", &err), 0);
    assert_string_equal(job.inputs[0].path, "./q1=2.csv");
    assert_int_equal(job.inputs[0].format, HC_INPUT_CSV);
    assert_int_equal(hc_job_add_var(&job, "n=12345678901234567890123", &err), 0);
    assert_int_equal(hc_job_add_var(&job, "d={\"a\": [1.50]}", &err), 0);
    assert_string_equal(job.vars_text, "{\"n\": 12345678901234567890123, \"d\": {\"a\": [1.50]}}");
    assert_int_equal(hc_job_add_label(&job, "who=me=you", &err), 0);
    assert_string_equal(cJSON_GetObjectItem(job.labels, "who")->valuestring, "me=you");
    const struct hc_option *memory = hc_option_by_flag("memory");
    assert_int_equal(hc_job_add_override(&job, memory, "512M", &err), 0);
    assert_int_equal(hc_job_add_override(&job, memory, "1G", &err), 0);
    assert_int_equal(job.override_count, 1);
    assert_string_equal(override(&job, "limits.memory"), "1G"); /* the later one wins */
    hc_job_finish(&job);
}

typedef int adder(struct hc_job *job, const char *assignment, struct hc_error *err);

static void a_wrong_assignment_is_a_usage_error(void **state)
{
    static const struct {
        adder *add;
        const char *assignment, *error;
    } rows[] = {
        {hc_job_add_input, "sales", "expected NAME=FILE, got 'sales'"},
        {hc_job_add_input, "=f", "expected NAME=FILE, got '=f'"},
        {hc_job_add_input, "a=", "'a': expected a path, got an empty string"},
        {hc_job_add_input, "taken=f", "'taken': the name is given twice among inputs and vars"},
        {hc_job_add_input, "var=f", "'var': the name is given twice among inputs and vars"},
        {hc_job_add_var, "taken=1", "'taken': the name is given twice among inputs and vars"},
        {hc_job_add_var, "var=1", "'var': the name is given twice among inputs and vars"},
        {hc_job_add_var, "x", "expected NAME=JSON, got 'x'"},
        {hc_job_add_var, "x=hello", "x:1:1: expected a JSON value, found 'h'"},
        {hc_job_add_var, "x=", "x:1:1: expected a JSON value, found end of file"},
        {hc_job_add_var, "x=1, \"y\": 2", "x:1:2: expected the end of the document, found ','"},
        {hc_job_add_var, "x=1}", "x:1:2: expected the end of the document, found '}'"},
        {hc_job_add_label, "x", "expected KEY=VALUE, got 'x'"},
        {hc_job_add_label, "x=\xff", "'x': not UTF-8"},
    };
    struct hc_job job = {0};
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_job_add_input(&job, "taken=f", &err), 0);
    assert_int_equal(hc_job_add_var(&job, "var=1", &err), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(rows[i].add(&job, rows[i].assignment, &err), -1);
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(err.exit, HC_EXIT_USAGE);
    }
    assert_int_equal(hc_job_add_override(&job, hc_option_by_flag("pids"), "x", &err), -1);
    assert_int_equal(err.exit, HC_EXIT_USAGE);
    hc_job_finish(&job);
}

static void inputs_are_bounded(void **state)
{
    struct hc_job job = {0};
    struct hc_error err;
    (void)state;
    for (int i = 0; i < HC_MAX_INPUTS; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "in%d=f", i);
        assert_int_equal(hc_job_add_input(&job, text, &err), 0);
    }
    assert_int_equal(hc_job_add_input(&job, "more=f", &err), -1);
    assert_string_equal(err.text, "more than 64 inputs");
    hc_job_finish(&job);
}

static void code_is_checked_whatever_form_it_came_in(void **state)
{
    static const struct {
        const char *code;
        size_t len;
        const char *error; /* NULL: fine */
    } rows[] = {
        {"print(1)\n", 9, NULL},
        {HC_BOM "1", 4, NULL},
        {"# \xc3\xa9\n", 5, NULL},
        {"", 0, NULL},
        {" \t\r\n\n", 5, NULL},
        {HC_BOM "\n", 4, NULL},
        {"a\nb\nc = '\xff'", 12, "code: line 3, column 6: not UTF-8 (byte 0xff)"},
        {"\xc3\xa9\xc3\xa9\xff", 5, "code: line 1, column 3: not UTF-8 (byte 0xff)"},
        {"a\nb\0c", 5, "code: line 2: contains a NUL byte"},
        {"\0", 1, "code: line 1: contains a NUL byte"},
    };
    struct hc_error err;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_job job = {.code = malloc(rows[i].len + 1), .code_len = rows[i].len};
        memcpy(job.code, rows[i].code, rows[i].len);
        job.code[rows[i].len] = '\0';
        assert_int_equal(hc_job_check(&job, &err), rows[i].error ? -1 : 0);
        if (rows[i].error)
            assert_string_equal(err.text, rows[i].error);
        hc_job_finish(&job);
    }
    struct hc_job job = {0};
    assert_int_equal(hc_job_check(&job, &err), -1);
    assert_string_equal(err.text, "there is no code to run");
    job = (struct hc_job){.code = strdup("1"), .code_len = 1, .job_id = strdup("../../etc")};
    assert_int_equal(hc_job_check(&job, &err), -1);
    assert_int_equal(err.exit, HC_EXIT_DATA);
    hc_job_finish(&job);
}

static void an_input_stands_under_its_variables_name(void **state)
{
    static const struct {
        const char *path, *cell;
        enum hc_input_format format;
    } rows[] = {
        {"q1 report.csv", "/input/x.csv", HC_INPUT_CSV},
        {"/a.b/rows", "/input/x", HC_INPUT_PATH},
        {"rows.JSONL", "/input/x.JSONL", HC_INPUT_JSONL},
        {"a.json", "/input/x.json", HC_INPUT_JSON},
        {"a.npy", "/input/x.npy", HC_INPUT_NPY},
        {"a.npz", "/input/x.npz", HC_INPUT_NPZ},
        {"a.hcvalue", "/input/x.hcvalue", HC_INPUT_VALUE},
        {"a.tar.gz", "/input/x.gz", HC_INPUT_PATH},
        {".csv", "/input/x", HC_INPUT_PATH},
        {"a.", "/input/x", HC_INPUT_PATH},
        {"a.b/..", "/input/x", HC_INPUT_PATH},
        {"a.c\nsv", "/input/x", HC_INPUT_PATH},
        {"a.extensions", "/input/x", HC_INPUT_PATH},
        {"a.frame", "/input/x.frame", HC_INPUT_PATH},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[64];
        const struct hc_input in = {.name = (char *)"x", .path = (char *)rows[i].path};
        assert_int_equal(hc_input_cell_path(&in, path, sizeof path), 0);
        assert_string_equal(path, rows[i].cell);
        assert_int_equal(hc_input_format_of(rows[i].path), rows[i].format);
        assert_int_equal(hc_input_cell_path(&in, path, 5), -1);
    }
}

static void an_input_that_is_raw_is_a_path(void **state)
{
    static const struct {
        const char *given, *path, *name, *mark;
        enum hc_input_format format;
    } rows[] = {
        {"x", "a.csv", "x", "", HC_INPUT_CSV},       {"x:raw", "a.csv", "x", ":raw", HC_INPUT_PATH},
        {"x:raw", "a.txt", "x", "", HC_INPUT_PATH},  {"x:raw:raw", "a.csv", "x:raw", ":raw", HC_INPUT_PATH},
        {":raw", "a.csv", ":raw", "", HC_INPUT_CSV}, {"x:RAW", "a.csv", "x:RAW", "", HC_INPUT_CSV},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[HC_JOB_NAME + 2];
        struct hc_input in = {.name = name, .path = (char *)rows[i].path};
        in.format = hc_input_split(rows[i].given, rows[i].path, name);
        assert_int_equal(in.format, rows[i].format);
        assert_string_equal(name, rows[i].name);
        assert_string_equal(hc_input_mark(&in), rows[i].mark);
    }
}

static int read_back(struct hc_handover *h, const struct hc_buf *bytes, size_t len, struct hc_error *err)
{
    return hc_handover_split(h, bytes->data, len, err) < 0 ? -1 : hc_handover_parse(h, err);
}

static void the_handover_carries_the_job_and_its_filters(void **state)
{
    const struct hc_handover_filters filters = {
        .first = {"at first", 8}, .report = {"reported", 8}, .own = {"12345678ABCDEFGH", 16}};
    struct hc_job job;
    struct hc_policy policy;
    struct hc_handover h;
    struct hc_error err;
    hc_autobuf bytes = {0};
    size_t len;
    (void)state;
    parsed(&job,
           "{\"code\": \"\xef\xbb\xbfprint('\xc3\xa9')\\n\", \"inputs\": {\"a\": \"/etc/secret/q.csv\"},"
           " \"vars\": {\"n\": 12345678901234567890123}, \"seed\": 7}");
    hc_policy_init(&policy);
    policy.processes = HC_PROCESSES_FORK;
    assert_int_equal(hc_handover_write(HC_HANDOVER_CELL, &job, &policy, &filters, &bytes, &err), 0);
    assert_int_equal(read_back(&h, &bytes, bytes.len, &err), 0);
    assert_int_equal(h.filters.first.len, 8);
    assert_memory_equal(h.filters.first.data, "at first", 8);
    assert_int_equal(h.filters.report.len, 8);
    assert_memory_equal(h.filters.report.data, "reported", 8);
    assert_int_equal(h.filters.own.len, 16);
    assert_memory_equal(h.filters.own.data, "12345678ABCDEFGH", 16);
    assert_int_equal(((const char *)h.filters.report.data - bytes.data) % 8, 0);
    const struct hc_handover_job *said = &h.job;
    assert_string_equal(said->code, "print('\xc3\xa9')\n");
    assert_string_equal(said->filename, "<cell>");
    assert_string_equal(said->timeout, "60s");
    assert_int_equal(said->input_count, 1);
    assert_string_equal(said->inputs[0].name, "a");
    assert_string_equal(said->inputs[0].path, "/input/a.csv");
    assert_string_equal(said->inputs[0].format, "csv");
    const char *vars = hc_json_source(&h.json, hc_json_member(h.json.root, "vars"), &len);
    assert_memory_equal(vars, job.vars_text, len);
    assert_true(said->has_vars && said->has_seed && said->processes && said->guard);
    assert_false(said->has_given || said->session || said->check || said->learn || said->network);
    assert_int_equal(said->seed, 7);
    assert_int_equal(said->figures, 20);
    assert_int_equal(said->figure_bytes, 16 << 20);
    assert_int_equal(said->value_bytes, 1 << 20);
    assert_int_equal(said->memory, 1 << 30);
    assert_int_equal(said->output, 256 << 20);
    assert_int_equal(said->tmp, 256 << 20);
    assert_null(strstr(bytes.data + sizeof(struct hc_handover_head), "secret")); /* no host path goes in */
    assert_int_equal(h.kind, HC_HANDOVER_CELL);
    assert_non_null(said->rules);
    assert_non_null(said->returns);
    assert_null(said->tools);
    hc_handover_finish(&h);
    hc_job_finish(&job);
}

static void what_a_copy_has_from_its_zygote_is_not_handed_over_again(void **state)
{
    struct hc_job job = {.code = strdup("1"), .code_len = 1};
    struct hc_policy policy;
    struct hc_handover h;
    struct hc_error err;
    const struct hc_handover_filters none = {0};
    (void)state;
    hc_policy_init(&policy);
    for (enum hc_handover_kind kind = HC_HANDOVER_CELL; kind <= HC_HANDOVER_COPY; kind++) {
        hc_autobuf bytes = {0};
        assert_int_equal(hc_handover_write(kind, &job, &policy, &none, &bytes, &err), 0);
        assert_int_equal(read_back(&h, &bytes, bytes.len, &err), 0);
        assert_int_equal(h.kind, kind);
        assert_int_equal(h.job.rules != NULL, kind != HC_HANDOVER_COPY);
        hc_handover_finish(&h);
    }
    hc_job_finish(&job);
}

static void a_zygotes_sample_is_a_job_of_its_policy(void **state)
{
    struct hc_job job = {.code = strdup("1"), .code_len = 1, .session = true};
    struct hc_policy policy;
    struct hc_handover zygote;
    struct hc_error err;
    hc_autobuf bytes = {0};
    const struct hc_handover_filters none = {0};
    (void)state;
    hc_policy_init(&policy);
    assert_int_equal(hc_handover_write(HC_HANDOVER_ZYGOTE, &job, &policy, &none, &bytes, &err), 0);
    assert_int_equal(read_back(&zygote, &bytes, bytes.len, &err), 0);
    char *text = hc_handover_sample(&zygote, "sample()");
    assert_non_null(text);
    struct hc_handover sample = {.text = text, .text_len = strlen(text)};
    assert_int_equal(hc_handover_parse(&sample, &err), 0);
    assert_true(zygote.job.session && !sample.job.session);
    assert_string_equal(sample.job.code, "sample()");
    assert_int_equal(sample.job.memory, zygote.job.memory);
    assert_non_null(sample.job.rules);
    hc_handover_finish(&sample);
    hc_handover_finish(&zygote);
    free(text);
    hc_job_finish(&job);
}

static void only_before_the_policys_own_code_a_copy_waits_without_the_jobs_filter(void **state)
{
    static const struct {
        const char *rules;
        bool early;
    } rows[] = {{"{}", true}, {"{\"prelude\": {}}", true}, {"{\"prelude\": {\"code\": \"1\"}}", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *rules = cJSON_Parse(rows[i].rules);
        assert_int_equal(hc_handover_locks_early(rules), rows[i].early);
        cJSON_Delete(rules);
    }
}

static void a_var_as_deep_as_allowed_can_be_handed_over(void **state)
{
    struct hc_job job = {.code = strdup("1"), .code_len = 1};
    struct hc_policy policy;
    struct hc_handover h;
    struct hc_error err;
    hc_autobuf bytes = {0};
    char text[160] = "x=";
    const struct hc_handover_filters none = {0};
    (void)state;
    memset(text + 2, '[', 62);
    memset(text + 64, ']', 62);
    text[126] = '\0';
    hc_policy_init(&policy);
    assert_int_equal(hc_job_add_var(&job, text, &err), 0);
    assert_int_equal(hc_handover_write(HC_HANDOVER_CELL, &job, &policy, &none, &bytes, &err), 0);
    assert_int_equal(read_back(&h, &bytes, bytes.len, &err), 0);
    hc_handover_finish(&h);
    text[0] = 'y';
    memset(text + 2, '[', 63);
    memset(text + 65, ']', 63);
    assert_int_equal(hc_job_add_var(&job, text, &err), -1);
    hc_job_finish(&job);
}

static void who_is_of_another_version_is_told_so(void **state)
{
    struct hc_job job = {.code = strdup("1"), .code_len = 1};
    struct hc_policy policy;
    struct hc_handover h;
    struct hc_error err;
    hc_autobuf bytes = {0};
    const struct hc_handover_filters none = {0};
    const char other[20] = "99.0.1";
    (void)state;
    hc_policy_init(&policy);
    assert_int_equal(hc_handover_write(HC_HANDOVER_CELL, &job, &policy, &none, &bytes, &err), 0);
    memcpy(bytes.data + offsetof(struct hc_handover_head, version), other, sizeof other);
    assert_int_equal(read_back(&h, &bytes, bytes.len, &err), -1);
    assert_string_equal(err.text, "is of version " HC_VERSION ", and was started by hotcell 99.0.1: install "
                                  "hotcell as a whole, and restart hotcelld");
    hc_job_finish(&job);
}

static void a_damaged_handover_is_refused(void **state)
{
    struct hc_job job = {.code = strdup("1"), .code_len = 1};
    struct hc_policy policy;
    struct hc_handover h;
    struct hc_error err;
    hc_autobuf bytes = {0};
    const struct hc_handover_filters filters = {.report = {"12345678", 8}, .own = {"12345678", 8}},
                                     broken = {.report = {"12345678", 8}, .own = {"1234567", 7}};
    (void)state;
    hc_policy_init(&policy);
    assert_int_equal(hc_handover_write(HC_HANDOVER_CELL, &job, &policy, &filters, &bytes, &err), 0);
    for (size_t len = 0; len < bytes.len; len++)
        assert_int_equal(read_back(&h, &bytes, len, &err), -1);
    for (size_t at = 0; at < sizeof(struct hc_handover_head); at++) {
        bytes.data[at] ^= 0x40;
        assert_int_equal(read_back(&h, &bytes, bytes.len, &err), -1);
        bytes.data[at] ^= 0x40;
    }
    assert_int_equal(hc_handover_write(HC_HANDOVER_CELL, &job, &policy, &broken, &bytes, &err), -1);
    hc_job_finish(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_says_all_about_a_job),
        cmocka_unit_test(a_spec_needs_nothing_but_code),
        cmocka_unit_test(the_older_runners_form_is_taken_as_it_stands),
        cmocka_unit_test(a_wrong_spec_is_refused_with_its_place),
        cmocka_unit_test(names_are_python_identifiers),
        cmocka_unit_test(a_command_line_adds_to_a_job),
        cmocka_unit_test(a_wrong_assignment_is_a_usage_error),
        cmocka_unit_test(inputs_are_bounded),
        cmocka_unit_test(code_is_checked_whatever_form_it_came_in),
        cmocka_unit_test(an_input_stands_under_its_variables_name),
        cmocka_unit_test(an_input_that_is_raw_is_a_path),
        cmocka_unit_test(the_handover_carries_the_job_and_its_filters),
        cmocka_unit_test(what_a_copy_has_from_its_zygote_is_not_handed_over_again),
        cmocka_unit_test(a_zygotes_sample_is_a_job_of_its_policy),
        cmocka_unit_test(only_before_the_policys_own_code_a_copy_waits_without_the_jobs_filter),
        cmocka_unit_test(a_var_as_deep_as_allowed_can_be_handed_over),
        cmocka_unit_test(who_is_of_another_version_is_told_so),
        cmocka_unit_test(a_damaged_handover_is_refused),
    };
    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
