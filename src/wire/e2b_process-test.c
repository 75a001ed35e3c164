/* Calls about processes in E2B's sandboxes become requests about commands, and their events messages. */
#include "wire/e2b_process.h"

#include "wire/e2b_envd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void starts_become_commands(void **state)
{
    static const struct {
        const char *text, *spec, *why; /* spec NULL: refused */
        bool keeps_stdin;
    } cases[] = {
        {"{\"process\": {\"cmd\": \"/bin/bash\", \"args\": [\"-c\", \"ls\"]}, \"stdin\": false}",
         "{\"command\":[\"/bin/bash\",\"-c\",\"ls\"]}", NULL, false},
        {"{\"process\": {\"cmd\": \"ls\", \"cwd\": \"d/\", \"envs\": {\"A\": \"1\"}}}",
         "{\"workdir\":\"/output/d\",\"env\":{\"A\":\"1\"},\"command\":[\"ls\"]}", NULL, true},
        {"{\"process\": {\"cmd\": \"ls\", \"cwd\": \"/output\"}}",
         "{\"workdir\":\"/output\",\"command\":[\"ls\"]}", NULL, true},
        {"{\"process\": {\"cmd\": \"ls\", \"cwd\": \"/tmp/\"}}",
         "{\"workdir\":\"/tmp\",\"command\":[\"ls\"]}", NULL, true},
        {"{\"process\": {\"cmd\": \"ls\"}, \"pty\": {\"size\": {}}}", NULL, "pty: there are no terminals",
         false},
        {"{\"process\": {}}", NULL, "process.cmd: expected a string", false},
        {"{}", NULL, "process: expected an object, got nothing", false},
        {"{\"process\": {\"cmd\": \"ls\", \"args\": [1]}}", NULL, "process.args: expected strings", false},
        {"{\"process\": {\"cmd\": \"ls\", \"envs\": {\"A\": 1}}}", NULL, "process.envs: expected strings",
         false},
        {"{\"process\": {\"cmd\": \"ls\", \"cwd\": 1}}", NULL, "process.cwd: expected a string", false},
        {"[]", NULL, "body: expected an object", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hc_e2b_start start;
        struct hc_error err = {0};
        int rc = hc_e2b_take_start(&start, cases[i].text, strlen(cases[i].text), &err);
        assert_int_equal(rc, cases[i].spec ? 0 : -1);
        if (cases[i].spec) {
            assert_string_equal(start.spec.data, cases[i].spec);
            assert_int_equal(start.keeps_stdin, cases[i].keeps_stdin);
        } else
            assert_non_null(strstr(err.text, cases[i].why));
        hc_e2b_start_finish(&start);
    }
}

static void calls_are_about_one_process(void **state)
{
    static const struct {
        const char *text, *members, *why; /* members NULL: refused */
    } cases[] = {
        {"{\"process\": {\"pid\": 7}}", "{}", NULL},
        {"{\"process\": {\"pid\": 7}, \"input\": {\"stdin\": \"aGk=\"}}", "{\"data\":\"aGk=\"}", NULL},
        {"{\"process\": {\"pid\": 7}, \"signal\": \"SIGNAL_SIGKILL\"}", "{\"signal\":\"KILL\"}", NULL},
        {"{\"process\": {\"pid\": 7}, \"signal\": 15}", "{\"signal\":\"TERM\"}", NULL},
        {"{\"process\": {\"pid\": 7}, \"signal\": \"SIGNAL_SIGSTOP\"}", NULL, "signal: expected"},
        {"{\"process\": {\"pid\": 7}, \"input\": {\"pty\": \"aGk=\"}}", NULL, "input.stdin: expected base64"},
        {"{\"process\": {\"tag\": \"t\"}}", NULL, "process.tag: "},
        {"{\"process\": {\"pid\": -1}}", NULL, "process: expected"},
        {"{}", NULL, "process: expected"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hc_e2b_about about;
        struct hc_error err = {0};
        int rc = hc_e2b_take_about(&about, cases[i].text, strlen(cases[i].text), &err);
        assert_int_equal(rc, cases[i].members ? 0 : -1);
        char *text = cJSON_PrintUnformatted(about.members);
        if (cases[i].members)
            assert_string_equal(text, cases[i].members);
        else
            assert_non_null(strstr(err.text, cases[i].why));
        cJSON_free(text);
        cJSON_Delete(about.members);
    }
}

static void events_become_messages(void **state)
{
    static const struct {
        const char *event, *json; /* json: of the first message; "": there is none */
        bool last;
    } cases[] = {
        {"{\"event\": \"stdout\", \"text\": \"hi\"}", "{\"event\": {\"data\": {\"stdout\": \"aGk=\"}}}",
         false},
        {"{\"event\": \"stderr\", \"data\": \"/w==\"}", "{\"event\": {\"data\": {\"stderr\": \"/w==\"}}}",
         false},
        {"{\"event\": \"exited\", \"process\": {\"exit\": 0}, \"reason\": null}",
         "{\"event\": {\"end\": {\"exitCode\": 0, \"exited\": true, \"status\": \"exit status 0\"}}}", true},
        {"{\"event\": \"exited\", \"process\": {\"exit\": 3}}",
         "{\"event\": {\"end\": {\"exitCode\": 3, \"exited\": true, \"status\": \"exit status 3\", "
         "\"error\": \"exit status 3\"}}}",
         true},
        {"{\"event\": \"exited\", \"process\": {\"signal\": 9, \"name\": \"SIGKILL\"}, \"reason\": "
         "\"killed\"}",
         "{\"event\": {\"end\": {\"exitCode\": -1, \"exited\": false, \"status\": \"signal: SIGKILL\", "
         "\"error\": \"killed\"}}}",
         true},
        {"{\"event\": \"cut\", \"stream\": \"stderr\"}",
         "{\"event\": {\"data\": {\"stderr\": "
         "\"aG90Y2VsbDogdGhlIHJlc3Qgb2Ygc3RkZXJyIGlzIGxlZnQgb3V0OiBhYm91dCBhIG1lZ2FieXRlIG9m"
         "IG91dHB1dCBpcyBrZXB0IG9mIGEgY29tbWFuZAo=\"}}}",
         false},
        {"{\"event\": \"started\"}", "", false},
        {"no JSON", "", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        hc_autobuf out = {0};
        const size_t len = strlen(cases[i].json);
        assert_int_equal(hc_e2b_process_event(cases[i].event, strlen(cases[i].event), &out), cases[i].last);
        assert_false(out.failed);
        assert_int_equal(out.len > 0, len > 0);
        if (len) {
            assert_true(out.len >= len + 5);
            assert_memory_equal(out.data + 5, cases[i].json, len);
            assert_int_equal(out.len, len + 5 + (cases[i].last ? 7 : 0));
        }
    }
}

static void processes_are_listed(void **state)
{
    hc_autobuf out = {0}, bad = {0};
    (void)state;
    hc_e2b_put_process(7, "[\"sh\",\"-c\",\"ls\"]", &out);
    assert_string_equal(
        out.data, "{\"pid\": 7, \"config\": {\"cmd\": \"sh\", \"args\": [\"-c\",\"ls\"], \"envs\": {}}}");
    hc_e2b_put_process(7, "", &bad);
    assert_string_equal(bad.data, "{\"pid\": 7, \"config\": {\"cmd\": \"\", \"args\": [], \"envs\": {}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_become_commands),
        cmocka_unit_test(calls_are_about_one_process),
        cmocka_unit_test(events_become_messages),
        cmocka_unit_test(processes_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
