/* Redaction: the result is the same wherever the text was cut; what takes too long or is too long is
 * withheld.
 */
#include "policy/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char charts[] =
    "{\"redact\": {\"rules\": ["
    "{\"name\": \"secret\", \"ignore_case\": true, \"replace\": \"\\\\1=<REDACTED>\", \"pattern\": "
    "\"(api[_-]?key|apikey|token|secret|password|passwd|pwd|credential)[\\\\s=:]+\\\\S+\"},"
    "{\"name\": \"url\", \"replace\": \"\\\\1://<REDACTED>@<REDACTED>\", \"pattern\": "
    "\"(postgres|mysql|mongodb|redis)://\\\\S+\"},"
    "{\"name\": \"jwt\", \"replace\": \"<JWT_REDACTED>\", \"pattern\": "
    "\"eyJ[A-Za-z0-9_-]+\\\\.eyJ[A-Za-z0-9_-]+\\\\.[A-Za-z0-9_-]+\"},"
    "{\"name\": \"key\", \"replace\": \"<PRIVATE_KEY_REDACTED>\", \"pattern\": "
    "\"-----BEGIN (?:RSA )?PRIVATE KEY-----[\\\\s\\\\S]*?-----END (?:RSA )?PRIVATE KEY-----\"}],"
    "\"env_lines\": 2, \"max_chars\": 100, \"max_chars_note\": \"[CUT]\"}}";

static struct hc_redactor *make(const char *json)
{
    struct hc_redactor *r = NULL;
    struct hc_error err;
    cJSON *rules = cJSON_Parse(json);
    assert_non_null(rules);
    assert_int_equal(hc_redactor_new(&r, rules, &err), 0);
    cJSON_Delete(rules);
    return r;
}

/* The text in pieces of `step` bytes, the first one of `first`. */
static char *redact(const struct hc_redactor *r, bool shorten, const char *text, size_t len, size_t first,
                    size_t step, bool cut, int64_t *count)
{
    struct hc_buf out = {0};
    struct hc_redaction *x = hc_redaction_new(r, shorten);
    assert_non_null(x);
    hc_redaction_feed(x, text, first, &out);
    for (size_t at = first; at < len; at += step)
        hc_redaction_feed(x, text + at, len - at < step ? len - at : step, &out);
    hc_redaction_finish(x, cut, &out);
    if (count)
        *count = hc_redaction_count(x);
    assert_false(hc_redaction_no_memory(x));
    hc_redaction_free(x);
    char *result = hc_buf_take(&out);
    assert_non_null(result);
    return result;
}

static void check(const struct hc_redactor *r, bool shorten, const char *text, size_t len,
                  const char *expected, int64_t redactions)
{
    for (size_t first = 0; first <= len; first++) {
        int64_t count;
        char *all = redact(r, shorten, text, len, first, len, false, &count);
        assert_string_equal(all, expected);
        assert_int_equal(count, redactions);
        free(all);
    }
    char *bytes = redact(r, shorten, text, len, 0, 1, false, NULL);
    assert_string_equal(bytes, expected);
    free(bytes);
}

static void test_every_cut(void **state)
{
    static const struct {
        const char *text, *expected;
        int64_t count;
    } rows[] = {
        {"plain text\n", "plain text\n", 0},
        {"no newline", "no newline", 0},
        {"my TOKEN: abc def", "my TOKEN=<REDACTED> def", 1},
        {"api-key = x\r\nnext", "api-key=<REDACTED>\r\nnext", 1},
        {"a redis://u:p@h/1 b", "a redis://<REDACTED>@<REDACTED> b", 1},
        {"x eyJhbG.eyJzdW.s1_g y", "x <JWT_REDACTED> y", 1},
        {"x eyJhbG.eyJzdW y", "x eyJhbG.eyJzdW y", 0},
        {"<-----BEGIN RSA PRIVATE KEY-----\nAB\nCD=\n-----END RSA PRIVATE KEY----->",
         "<<PRIVATE_KEY_REDACTED>>", 1},
        {"HOME=/root\nB=2\nC=3\nD=4\nend\nE=5\n", "HOME=<REDACTED>\nB=<REDACTED>\nend\nE=<REDACTED>\n", 5},
        {"  A=1 \r\nB= \nx == 1\n1=2\n", "  A=<REDACTED>\nB= \nx == 1\n1=2\n", 1},
        {"caf\xc3\xa9 \xff\xfe pwd=\xff\xff!\n", "caf\xc3\xa9 \xff\xfe pwd=<REDACTED>\n", 1},
    };
    struct hc_redactor *r = make(charts);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(r, false, rows[i].text, strlen(rows[i].text), rows[i].expected, rows[i].count);
    hc_redactor_free(r);
}

static void test_characters(void **state)
{
    struct hc_redactor *r = make("{\"redact\": {\"max_chars\": 3, \"max_chars_note\": \"[CUT]\"}}");
    (void)state;
    check(r, true, "abc", 3, "abc", 0);
    check(r, true, "abcd", 4, "abc[CUT]", 0);
    check(r, true, "\xe6\xbc\xa2\xe5\xad\x97\xc3\xa9", 8, "\xe6\xbc\xa2\xe5\xad\x97\xc3\xa9", 0);
    check(r, true, "\xe6\xbc\xa2\xe5\xad\x97\xc3\xa9!?", 10, "\xe6\xbc\xa2\xe5\xad\x97\xc3\xa9[CUT]", 0);
    check(r, false, "abcd", 4, "abcd", 0);
    hc_redactor_free(r);
}

static void test_cut_text_keeps_no_half_secret(void **state)
{
    static const char text[] = "x -----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA";
    struct hc_redactor *r = make(charts);
    (void)state;
    char *all = redact(r, false, text, strlen(text), 3, 7, true, NULL);
    assert_string_equal(all, "x <REDACTED>");
    free(all);
    all = redact(r, false, "secret=abc", 10, 3, 7, true, NULL);
    assert_string_equal(all, "secret=<REDACTED>");
    free(all);
    hc_redactor_free(r);
}

static void test_longer_than_the_window(void **state)
{
    static const char begin[] = "a -----BEGIN PRIVATE KEY-----\n", end[] = "\n-----END PRIVATE KEY----- b";
    size_t middle = 300000, len = strlen(begin) + middle + strlen(end);
    char *text = malloc(len + 1);
    struct hc_redactor *r = make(charts);
    (void)state;
    assert_non_null(text);
    memcpy(text, begin, strlen(begin));
    memset(text + strlen(begin), 'M', middle);
    memcpy(text + strlen(begin) + middle, end, strlen(end) + 1);
    static const size_t steps[] = {1000, 4096, 65536, 400000};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char *all = redact(r, false, text, len, 0, steps[i], false, NULL);
        assert_string_equal(all, "a <PRIVATE_KEY_REDACTED> b");
        free(all);
    }
    /* Never ended: nothing of it is shown. */
    char *all = redact(r, false, text, len - strlen(end), 0, 5000, false, NULL);
    assert_null(strstr(all, "MMM"));
    free(all);
    free(text);
    hc_redactor_free(r);
}

static void test_takes_too_long(void **state)
{
    struct hc_redactor *r = make("{\"redact\": {\"rules\": [{\"name\": \"slow\", \"replace\": \"<R>\", "
                                 "\"pattern\": \"(?:x+x+)+y\"}]}}");
    char text[200];
    (void)state;
    memset(text, 'x', 100);
    memcpy(text + 100, "!\nafter\n", 9);
    struct hc_buf out = {0};
    struct hc_redaction *x = hc_redaction_new(r, false);
    hc_redaction_feed(x, text, strlen(text), &out);
    hc_redaction_finish(x, false, &out);
    assert_string_equal(out.data, "<REDACTED>\nafter\n");
    assert_true(hc_redaction_withheld(x));
    assert_int_equal(hc_redaction_count(x), 1);
    hc_redaction_free(x);
    hc_buf_finish(&out);
    hc_redactor_free(r);
}

static void test_look_behind(void **state)
{
    struct hc_redactor *r = make("{\"redact\": {\"rules\": ["
                                 "{\"name\": \"a\", \"replace\": \"<R>\", \"pattern\": \"(?<=id )\\\\d+\"},"
                                 "{\"name\": \"b\", \"replace\": \"<B>\", \"pattern\": \"^begin\\\\b\"}]}}");
    (void)state;
    check(r, false, "begin id 42, 43 id 7 begin", 26, "<B> id <R>, 43 id <R> begin", 3);
    hc_redactor_free(r);
}

static void test_bad_patterns(void **state)
{
    static const struct {
        const char *pattern, *replace, *says;
    } rows[] = {
        {"a(b", "", "redact.rules: 'n': bad pattern at offset 3: missing closing parenthesis"},
        {"a*", "", "redact.rules: 'n': the pattern matches the empty text"},
        {"a", "\\\\1", "redact.rules: 'n': \"replace\" names group 1, the pattern has 0"},
        {"a", "\\\\x", "redact.rules: 'n': expected a digit or \\ behind \\ in \"replace\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[400];
        struct hc_redactor *r;
        struct hc_error err;
        (void)snprintf(
            json, sizeof json,
            "{\"redact\": {\"rules\": [{\"name\": \"n\", \"pattern\": \"%s\", \"replace\": \"%s\"}]}}",
            rows[i].pattern, rows[i].replace);
        cJSON *rules = cJSON_Parse(json);
        assert_int_equal(hc_redactor_new(&r, rules, &err), -1);
        assert_string_equal(err.text, rows[i].says);
        assert_int_equal(err.exit, HC_EXIT_CONFIG);
        cJSON_Delete(rules);
    }
}

static void test_json(void **state)
{
    static const char json[] =
        "{\"a\":[1234567890123456789,\"pwd=x\\ny \\u00e9\",\"\\\"q\"],\"n\":1.50,\"\":null}";
    struct hc_redactor *r = make(charts);
    struct hc_redaction *x = hc_redaction_new(r, false);
    struct hc_buf out = {0};
    (void)state;
    assert_int_equal(hc_redaction_json(x, json, strlen(json), &out), 0);
    assert_string_equal(out.data, "{\"a\":[1234567890123456789,\"pwd=<REDACTED>\\ny \xc3\xa9\",\"\\\"q\"],"
                                  "\"n\":1.50,\"\":null}");
    hc_buf_finish(&out);
    hc_redaction_free(x);
    hc_redactor_free(r);
}

static void test_nothing_to_do(void **state)
{
    struct hc_redactor *r;
    struct hc_error err;
    (void)state;
    assert_int_equal(hc_redactor_new(&r, NULL, &err), 0);
    assert_null(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_cut_text_keeps_no_half_secret),
        cmocka_unit_test(test_longer_than_the_window),
        cmocka_unit_test(test_takes_too_long),
        cmocka_unit_test(test_look_behind),
        cmocka_unit_test(test_bad_patterns),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
