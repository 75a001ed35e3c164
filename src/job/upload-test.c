#include "job/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void takes_content_instead_of_paths(void **state)
{
    (void)state;
    static const char text[] =
        "{\"code\": \"1\", \"inputs\": {\"df\": {\"file\": \"sales.csv\", \"text\": \"a,b\\n\"}, "
        "\"raw\": {\"data\": \"AAEC\\n/w==\"}}}";
    struct hc_job job;
    struct hc_uploads up;
    struct hc_error err = {0};
    assert_int_equal(hc_job_parse_upload(&job, &up, false, "request", text, strlen(text), &err), 0);
    assert_int_equal(up.count, 2);
    assert_string_equal(job.inputs[0].path, "sales.csv");
    assert_int_equal(job.inputs[0].format, HC_INPUT_CSV);
    assert_int_equal(up.list[0].len, 4);
    assert_string_equal(job.inputs[1].path, "raw");
    assert_int_equal(up.list[1].len, 4);
    assert_memory_equal(up.list[1].data, "\0\1\2\xff", 4);
    hc_uploads_finish(&up);
    hc_job_finish(&job);
}

static void says_where_a_request_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\"code\": \"1\", \"inputs\": {\"a\": \"/etc/passwd\"}}",
         "request:1:31: inputs.a: expected an object with \"text\", \"data\" or \"upload\", got a string"},
        {"{\"code\": \"1\", \"inputs\": {\"a\": {\"file\": \"../x\", \"text\": \"\"}}}",
         "request:1:40: inputs.a.file: expected a file's name that does not begin with a dot"},
        {"{\"code\": \"1\", \"inputs\": {\"a\": {\"file\": \"x/y\", \"text\": \"\"}}}",
         "request:1:40: inputs.a.file: expected a name without slashes and control characters"},
        {"{\"code\": \"1\", \"inputs\": {\"a\": {\"data\": \"?\"}}}",
         "request:1:40: inputs.a.data: expected base64"},
        {"{\"code\": \"1\", \"inputs\": {\"a\": {\"upload\": \"../x\"}}}",
         "request:1:42: inputs.a.upload: expected the id of an upload"},
        {"{\"code\": \"1\", \"inputs\": {\"a\": {}}}",
         "request:1:31: inputs.a: expected one of \"text\", \"data\" and \"upload\""},
        {"{\"code\": \"1\",\n \"policy\": \"./mine\"}", "request:2:12: policy: expected a name, got a path"},
        {"{\"code\": \"1\", \"tree\": \"/\"}", "request:1:23: tree: expected a name, got a path"},
        {"{\"code\": \"1\", \"output_dir\": \"x\"}", "request:1:15: 'output_dir' is not the sender's to say"},
        {"{\"code\": \"1\", \"dirs\": [{\"host\": \"/\"}]}",
         "request:1:15: 'dirs' is not the sender's to say"},
        {"{\"code\": \"1\", \"df_paths\": {}}", "request:1:15: unknown member 'df_paths'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hc_job job;
        struct hc_uploads up;
        struct hc_error err = {0};
        assert_int_equal(
            hc_job_parse_upload(&job, &up, false, "request", rows[i].text, strlen(rows[i].text), &err), -1);
        assert_string_equal(err.text, rows[i].says);
        assert_int_equal(err.exit, HC_EXIT_DATA);
    }
}

static void inputs_of_a_run_are_for_its_interpreter(void **state)
{
    (void)state;
    static const char text[] =
        "{\"code\": \"1\", \"inputs\": {\"df\": {\"file\": \"sales.csv\", \"text\": \"a,b\\n\"}, "
        "\"arr\": {\"file\": \"x.NPY\", \"data\": \"AAEC\"}, \"p:raw\": {\"file\": \"p.csv\", \"text\": "
        "\"\"}}}";
    struct hc_job job;
    struct hc_error err = {0};
    assert_int_equal(hc_job_parse_run(&job, "run", text, strlen(text), &err), 0);
    assert_int_equal(job.input_count, 0);
    assert_string_equal(
        job.given,
        "[{\"name\":\"df\",\"format\":\"csv\",\"file\":{\"file\": \"sales.csv\", \"text\": \"a,b\\n\"}},"
        "{\"name\":\"arr\",\"format\":\"npy\",\"file\":{\"file\": \"x.NPY\", \"data\": \"AAEC\"}},"
        "{\"name\":\"p\",\"format\":\"path\",\"file\":{\"file\": \"p.csv\", \"text\": \"\"}}]");
    hc_job_finish(&job);
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\"code\": \"1\", \"inputs\": {\"a\": \"/etc/passwd\"}}",
         "run:1:31: inputs.a: expected an object with \"text\", \"data\" or \"upload\", got a string"},
        {"{\"code\": \"1\", \"inputs\": {\"a\": {\"upload\": \"x\"}}}",
         "run:1:31: inputs.a.upload: it is for jobs, and for sessions as they begin"},
        {"{\"code\": \"1\", \"interactive\": true, \"stdin\": \"x\"}",
         "run:1:1: expected either 'stdin' or 'interactive', and not both"},
        {"{\"code\": \"1\", \"inputs\": {\"a\": {\"file\": \"x.csv\", \"text\": \"\"}}, \"vars\": {\"a\": "
         "1}}",
         "run:1:72: vars: 'a': the name is given twice among inputs and vars"},
        {"{\"code\": \"1\",\n \"tenant\": \"a\"}",
         "run:2:2: 'tenant' is for a session as a whole: give it when the session is begun"},
        {"{\"code\": \"1\", \"limits\": {\"timeout\": 1, \"memory\": \"1G\"}}",
         "run:1:40: 'limits.memory' is for a session as a whole: give it when the session is begun"},
        {"{\"code\": \"1\", \"df_paths\": {}}", "run:1:15: unknown member 'df_paths'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(hc_job_parse_run(&job, "run", rows[i].text, strlen(rows[i].text), &err), -1);
        assert_string_equal(err.text, rows[i].says);
        assert_int_equal(err.exit, HC_EXIT_DATA);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_content_instead_of_paths),
        cmocka_unit_test(says_where_a_request_is_wrong),
        cmocka_unit_test(inputs_of_a_run_are_for_its_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
