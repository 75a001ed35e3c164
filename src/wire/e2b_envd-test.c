/* Calls of E2B's daemon in sandboxes become a session's requests. */
#include "wire/e2b_envd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void paths_are_those_of_a_session(void **state)
{
    static const struct {
        const char *given, *taken;
    } cases[] = {
        {"a", "a"},
        {"./a//b/", "a/b"},
        {"/output", "."},
        {"/output/", "."},
        {"/output/a", "/output/a"},
        {"", "."},
        {".", "."},
        {"/", "/"},
        {"../x", "../x"},
        {"/etc/x", "/etc/x"},
        {"output", "output"},
        {"/home/user", "."},
        {"/home/user//a/", "a"},
        {"/home/users", "/home/users"},
        {"/home/user/../x", "../x"},
        {"~", "."},
        {"~/a", "a"},
        {"~a", "~a"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        hc_autobuf out = {0};
        hc_e2b_path(cases[i].given, &out);
        assert_string_equal(out.data, cases[i].taken);
    }
}

static void calls_are_read(void **state)
{
    struct hc_e2b_call call;
    struct hc_error err = {0};
    static const char good[] =
        "{\"source\": \"a/\", \"destination\": \"/output/b\", \"depth\": 3, \"recursive\": true}";
    static const char *const bad[] = {"[]", "{", "{\"path\": 1}", "{\"depth\": 65}", "{\"depth\": -1}"};
    (void)state;
    assert_int_equal(hc_e2b_take_call(&call, good, strlen(good), &err), 0);
    assert_string_equal(call.path.data, "a");
    assert_string_equal(call.to.data, "/output/b");
    assert_int_equal(call.depth, 3);
    assert_true(call.recursive);
    hc_e2b_call_finish(&call);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(hc_e2b_take_call(&call, bad[i], strlen(bad[i]), &err), -1);
        assert_int_equal(err.exit, HC_EXIT_DATA);
        hc_e2b_call_finish(&call);
    }
}

static void messages_have_their_length(void **state)
{
    hc_autobuf out = {0};
    size_t len = 0;
    (void)state;
    hc_e2b_envelope(0, "{}", 2, &out);
    assert_memory_equal(out.data, "\0\0\0\0\2{}", 7);
    assert_memory_equal(hc_e2b_unwrap(out.data, out.len, &len), "{}", 2);
    assert_int_equal(len, 2);
    assert_null(hc_e2b_unwrap(out.data, 6, &len));
    assert_null(hc_e2b_unwrap("\1\0\0\0\0", 5, &len)); /* compressed */
    assert_null(hc_e2b_unwrap("", 0, &len));
}

static void parts_are_taken_apart(void **state)
{
    static const char body[] =
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"d/a%22.txt\"\r\n\r\n--x\r\n"
        "\r\n--b\r\nContent-Disposition: form-data\r\n\r\n\r\n--b--\r\n";
    struct hc_e2b_part part;
    size_t at = 0;
    (void)state;
    assert_int_equal(hc_e2b_next_part(body, strlen(body), "b", &at, &part), 1);
    assert_string_equal(part.filename, "d/a\".txt");
    assert_int_equal(part.len, 5);
    assert_memory_equal(part.data, "--x\r\n", 5);
    assert_int_equal(hc_e2b_next_part(body, strlen(body), "b", &at, &part), 1);
    assert_string_equal(part.filename, "");
    assert_int_equal(part.len, 0);
    assert_int_equal(hc_e2b_next_part(body, strlen(body), "b", &at, &part), 0);
    for (size_t len = 0; len < strlen(body) - 5;
         len++) { /* a body that is cut short is refused at some point */
        int rc = 1;
        at = 0;
        while ((rc = hc_e2b_next_part(body, len, "b", &at, &part)) > 0)
            ;
        assert_int_equal(rc, -1);
    }
}

static void boundaries_are_found(void **state)
{
    char out[80];
    (void)state;
    assert_true(hc_e2b_boundary("multipart/form-data; boundary=----x1", out));
    assert_string_equal(out, "----x1");
    assert_false(hc_e2b_boundary("application/octet-stream", out));
    assert_false(hc_e2b_boundary("multipart/form-data", out));
    assert_false(hc_e2b_boundary(NULL, out));
}

static void entries_have_whole_paths(void **state)
{
    hc_autobuf in_list = {0}, alone = {0};
    cJSON *listed = cJSON_Parse("{\"name\": \"x\", \"kind\": \"file\", \"bytes\": 3, \"modified\": \"t\"}");
    cJSON *one = cJSON_Parse("{\"path\": \"d/e\", \"kind\": \"directory\"}");
    (void)state;
    hc_e2b_put_entry(listed, "d", &in_list);
    hc_e2b_put_entry(one, NULL, &alone);
    assert_string_equal(
        in_list.data, "{\"name\": \"x\", \"type\": \"FILE_TYPE_FILE\", \"path\": \"/output/d/x\", \"size\": "
                      "\"3\", \"modifiedTime\": \"t\"}");
    assert_string_equal(
        alone.data,
        "{\"name\": \"e\", \"type\": \"FILE_TYPE_DIRECTORY\", \"path\": \"/output/d/e\", \"size\": \"0\"}");
    cJSON_Delete(listed);
    cJSON_Delete(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_those_of_a_session), cmocka_unit_test(calls_are_read),
        cmocka_unit_test(messages_have_their_length),   cmocka_unit_test(parts_are_taken_apart),
        cmocka_unit_test(boundaries_are_found),         cmocka_unit_test(entries_have_whole_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
