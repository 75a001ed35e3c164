/* E2B's requests become a session's, and a session's events become E2B's lines. */
#include "wire/e2b.h"

#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct hc_e2b_rules rules = {"box", "plots shell"};

static void sandboxes_become_sessions(void **state)
{
    static const struct {
        const char *text, *spec; /* NULL: refused */
        int64_t seconds;
        const char *why;
    } cases[] = {
        {"", "{\"policy\":\"box\"}", 300, NULL},
        {"{\"templateID\": \"shell\", \"timeout\": 5}", "{\"policy\":\"shell\"}", 5, NULL},
        {"{\"templateID\": \"code-interpreter-v1\", \"secure\": true, \"network\": null, \"autoPause\": "
         "false}",
         "{\"policy\":\"box\"}", 300, NULL},
        {"{\"metadata\": {\"a\": \"b\"}, \"envVars\": {\"A\": \"1\"}}",
         "{\"policy\":\"box\",\"env\":{\"A\":\"1\"},\"labels\":{\"a\":\"b\"}}", 300, NULL},
        {"{\"volumeMounts\": [{\"name\": \"v\", \"path\": \"/d\"}]}",
         "{\"policy\":\"box\",\"volumes\":[{\"name\":\"v\",\"place\":\"/d\"}]}", 300, NULL},
        {"{\"templateID\": \"plot\"}", NULL, 0, "template 'plot' not found: there are base and plots shell"},
        {"{\"autoPause\": true}", NULL, 0, "autoPause: a sandbox whose time is over is ended here"},
        {"{\"autoResume\": {\"enabled\": true}}", NULL, 0, "autoResume: "},
        {"{\"timeout\": -1}", NULL, 0, "request:1:13: timeout: expected 0 to 604800 seconds"},
        {"[]", NULL, 0, "body: expected an object, got a list"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hc_error err = {0};
        hc_autobuf spec = {0};
        int64_t seconds = 0;
        int rc = hc_e2b_spec(&rules, cases[i].text, strlen(cases[i].text), &spec, &seconds, &err);
        if (cases[i].spec) {
            assert_int_equal(rc, 0);
            assert_string_equal(spec.data, cases[i].spec);
            assert_int_equal(seconds, cases[i].seconds);
        } else {
            assert_int_equal(rc, -1);
            assert_non_null(strstr(err.text, cases[i].why));
        }
    }
}

static void code_becomes_a_run(void **state)
{
    static const struct {
        const char *text, *line, *why;
    } cases[] = {
        {"{\"code\": \"1\", \"context_id\": null}", "{\"run\":{\"code\":\"1\"}}", NULL},
        {"{\"code\": \"1\", \"context_id\": \"ctx\", \"env_vars\": {\"A\": \"b\"}}",
         "{\"run\":{\"code\":\"1\",\"env\":{\"A\":\"b\"}}}", NULL},
        {"{\"code\": \"ls\", \"language\": \"bash\"}", "{\"run\":{\"command\":[\"bash\",\"-c\",\"ls\"]}}",
         NULL},
        {"{\"code\": \"1\", \"language\": \"r\"}", NULL, "language 'r' not found"},
        {"{\"code\": \"1\", \"context_id\": \"other\"}", NULL, "Context other not found"},
        {"{}", NULL, "code: expected a string, got nothing"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hc_error err = {0};
        hc_autobuf line = {0};
        const char *context;
        const struct hc_e2b_contexts only = {.first = "ctx"};
        int rc = hc_e2b_execute(&only, cases[i].text, strlen(cases[i].text), &context, &line, &err);
        assert_int_equal(rc, cases[i].line ? 0 : -1);
        if (cases[i].line)
            assert_string_equal(line.data, cases[i].line);
        else
            assert_non_null(strstr(err.text, cases[i].why));
    }
}

static void code_goes_to_its_context(void **state)
{
    static const struct {
        const char *text, *line, *context;
    } cases[] = {
        {"{\"code\": \"1\"}", "{\"run\":{\"code\":\"1\"}}", "main"},
        {"{\"code\": \"1\", \"context_id\": \"ctx\"}", "{\"run\":{\"code\":\"1\"}}", "main"},
        {"{\"code\": \"1\", \"context_id\": \"b\"}", "{\"run\":{\"context\":\"b\",\"code\":\"1\"}}", "b"},
        {"{\"code\": \"1\", \"context_id\": \"c\"}", NULL, NULL},
        {"{\"code\": \"1\", \"context_id\": \"main\"}", NULL,
         NULL}, /* the first has the sandbox's ID alone */
    };
    cJSON *items = cJSON_Parse(
        "[{\"name\": \"main\", \"workdir\": \"/output\"}, {\"name\": \"b\", \"workdir\": \"/tmp\"}]");
    const struct hc_e2b_contexts contexts = {.first = "ctx", .items = items};
    hc_autobuf shown = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hc_error err = {0};
        hc_autobuf line = {0};
        const char *context;
        int rc = hc_e2b_execute(&contexts, cases[i].text, strlen(cases[i].text), &context, &line, &err);
        assert_int_equal(rc, cases[i].line ? 0 : -1);
        if (cases[i].line) {
            assert_string_equal(line.data, cases[i].line);
            assert_string_equal(context, cases[i].context);
        }
    }
    hc_e2b_put_context(items->child, "ctx", &shown);
    hc_e2b_put_context(items->child->next, "ctx", &shown);
    assert_string_equal(shown.data, "{\"id\": \"ctx\", \"language\": \"python\", \"cwd\": \"/output\"}"
                                    "{\"id\": \"b\", \"language\": \"python\", \"cwd\": \"/tmp\"}");
    cJSON_Delete(items);
}

static void contexts_begin_in_directories(void **state)
{
    static const struct {
        const char *text, *line; /* NULL: refused */
    } cases[] = {
        {"{}", "{\"new_context\": {\"workdir\": \"/output\"}}"},
        {"{\"cwd\": \"/home/user/d\", \"language\": \"python\"}",
         "{\"new_context\": {\"workdir\": \"/output/d\"}}"},
        {"{\"cwd\": \"/tmp\"}", "{\"new_context\": {\"workdir\": \"/tmp\"}}"},
        {"{\"language\": \"r\"}", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hc_error err = {0};
        hc_autobuf line = {0};
        assert_int_equal(hc_e2b_new_context(cases[i].text, strlen(cases[i].text), &line, &err),
                         cases[i].line ? 0 : -1);
        if (cases[i].line)
            assert_string_equal(line.data, cases[i].line);
    }
}

static void labels_are_compared_decoded(void **state)
{
    static const struct {
        const char *wanted;
        bool fits;
    } cases[] = {
        {"", true},      {"a=b", true},   {"a=b&who=one%2520two%2526", true},
        {"a=c", false},  {"b", false},    {"a=b&b=", false},
        {"a=%2", false}, {"&&a=b", true},
    };
    (void)state;
    cJSON *labels = cJSON_Parse("{\"a\": \"b\", \"who\": \"one two&\"}");
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(hc_e2b_labels_fit(labels, cases[i].wanted), cases[i].fits);
    assert_false(hc_e2b_labels_fit(NULL, "a=b"));
    cJSON_Delete(labels);
}

static bool figure(void *owner, const char *path, struct hc_buf *out)
{
    (void)owner;
    return strcmp(path, "there.png") == 0 && hc_buf_str(out, "aGk=") == 0;
}

#define TRACE "Traceback (most recent call last):\\nE: x\\n"

static void events_become_lines(void **state)
{
    static const struct {
        const char *events[3]; /* up to NULL */
        const char *lines;     /* what begins the lines */
    } cases[] = {
        {{"{\"event\": \"stdout\", \"text\": \"a\\n\"}"},
         "{\"type\":\"stdout\",\"text\":\"a\\n\",\"timestamp\":\"now\"}\n"},
        {{"{\"event\": \"stderr\", \"data\": \"//4hAA==\"}"},
         "{\"type\":\"stderr\",\"text\":\"\xef\xbf\xbd\xef\xbf\xbd! \",\"timestamp\":\"now\"}\n"},
        {{"{\"event\": \"stderr\", \"text\": \"w\\n" TRACE "\"}",
          "{\"event\": \"result\", \"run\": 1, \"manifest\": {\"status\": \"error\", \"guest\": {\"error\": "
          "{\"type\": \"E\", \"message\": \"x\", \"traceback\": \"" TRACE "\"}}}}"},
         "{\"type\":\"stderr\",\"text\":\"w\\n\",\"timestamp\":\"now\"}\n"
         "{\"type\":\"error\",\"name\":\"E\",\"value\":\"x\",\"traceback\":\"" TRACE "\"}\n"
         "{\"type\": \"number_of_executions\", \"execution_count\": 1}\n"},
        {{"{\"event\": \"stderr\", \"text\": \"" TRACE "\"}", "{\"event\": \"stdout\", \"text\": \"b\"}"},
         "{\"type\":\"stderr\",\"text\":\"" TRACE "\",\"timestamp\":\"now\"}\n{\"type\":\"stdout\""},
        {{"{\"event\": \"result\", \"manifest\": {\"status\": \"ok\", \"figures\": [{\"path\": "
          "\"there.png\", "
          "\"mime\": \"image/png\"}, {\"path\": \"gone.png\", \"mime\": \"image/png\"}], \"guest\": "
          "{\"figures\": [{\"path\": \"there.png\", \"chart\": {\"type\": \"bar\"}}], \"value\": "
          "{\"text/plain\": \"'t'\", \"application/json\": \"t\", \"image/unknown\": \"x\"}}}}"},
         "{\"type\": \"result\", \"png\": \"aGk=\", \"chart\": {\"type\":\"bar\"}, \"is_main_result\": "
         "false}\n"
         "{\"type\":\"result\",\"text\":\"t\",\"is_main_result\":true}\n"},
        {{"{\"event\": \"result\", \"manifest\": {\"status\": \"ok\", \"guest\": {\"value\": "
          "{\"application/vnd.dataresource+json\": {\"data\": [{\"index\": 0, \"a\": 1}, {\"index\": 1, "
          "\"a\": null}]}}}}}"},
         "{\"type\":\"result\",\"data\":{\"a\":[1,null]},\"is_main_result\":true}\n"},
        {{"{\"event\": \"result\", \"manifest\": {\"status\": \"memory\", \"reason\": \"too much\"}}"},
         "{\"type\":\"error\",\"name\":\"memory\",\"value\":\"too much\",\"traceback\":\"too much\"}\n"},
        {{"{\"event\": \"result\", \"run\": 2, \"manifest\": {\"status\": \"ok\", \"warnings\": "
          "[\"line 1: left out\", \"cut\"]}}"},
         "{\"type\":\"stderr\",\"text\":\"hotcell: line 1: left out\\n\",\"timestamp\":\"now\"}\n"
         "{\"type\":\"stderr\",\"text\":\"hotcell: cut\\n\",\"timestamp\":\"now\"}\n"
         "{\"type\": \"number_of_executions\", \"execution_count\": 2}\n"},
        {{"{\"event\": \"result\", \"run\": 3, \"state\": \"rolled back to run 2\", \"manifest\": "
          "{\"status\": \"ok\"}}"},
         "{\"type\":\"stderr\",\"text\":\"hotcell: the run is undone: the variables were rolled back to run "
         "2\\n\",\"timestamp\":\"now\"}\n"
         "{\"type\": \"number_of_executions\", \"execution_count\": 3}\n"},
        {{"{\"event\": \"problem\", \"problem\": {\"detail\": \"no\"}}"},
         "{\"type\":\"error\",\"name\":\"SandboxError\",\"value\":\"no\",\"traceback\":\"\"}\n"},
        {{"no JSON", "{\"event\": \"figure\"}"}, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hc_e2b_events e = {.now = "now", .figure = figure};
        hc_autobuf out = {0};
        for (size_t k = 0; k < 3 && cases[i].events[k]; k++)
            hc_e2b_event(&e, cases[i].events[k], strlen(cases[i].events[k]), &out);
        hc_e2b_events_finish(&e);
        assert_false(out.failed);
        const char *got = out.data ? out.data : "";
        assert_int_equal(strncmp(got, cases[i].lines, strlen(cases[i].lines)), 0);
        assert_true(*cases[i].lines || !*got);
    }
}

/* Text and traceback are the program's: of one letter, each place of the text begins like the traceback. The
 * test ends within a moment only if not all of these are compared. */
static void long_tracebacks_are_left_out(void **state)
{
    enum { HELD = 900000, PART = 450000 };
    (void)state;
    struct hc_e2b_events e = {.now = "now", .figure = figure};
    char *text = test_malloc(HELD), *part = test_malloc(PART);
    hc_autobuf event = {0}, out = {0};
    memset(text, 'a', HELD - 1);
    memset(part, 'a', PART - 1);
    text[HELD - 1] = part[PART - 1] = '\0';
    (void)hc_buf_fmt(&event,
                     "{\"event\": \"stderr\", \"text\": \"Traceback (most recent call last):\\n%sb\"}", text);
    hc_e2b_event(&e, event.data, event.len, &out);
    assert_int_equal(out.len, 0);
    hc_buf_clear(&event);
    (void)hc_buf_fmt(&event,
                     "{\"event\": \"result\", \"manifest\": {\"status\": \"error\", \"guest\": {\"error\": "
                     "{\"type\": \"E\", "
                     "\"message\": \"x\", \"traceback\": \"%s\"}}}}",
                     part);
    hc_e2b_event(&e, event.data, event.len, &out);
    hc_e2b_events_finish(&e);
    assert_false(out.failed);
    assert_non_null(strstr(out.data, "\"type\":\"stderr\",\"text\":\"Traceback"));
    test_free(text);
    test_free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sandboxes_become_sessions),    cmocka_unit_test(code_becomes_a_run),
        cmocka_unit_test(code_goes_to_its_context),     cmocka_unit_test(contexts_begin_in_directories),
        cmocka_unit_test(labels_are_compared_decoded),  cmocka_unit_test(events_become_lines),
        cmocka_unit_test(long_tracebacks_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
