/* What a request may say, and what two readers could take for two things. */
#include "daemon/http/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hc_error err;

/* Lines "Name: value" with "\n" between them. */
static int take(const char *lines, const char *version)
{
    struct hc_head head = {0};
    char *text = strdup(lines), *rest = text, *line;
    int rc = 0;
    memset(&err, 0, sizeof err);
    while (rc == 0 && (line = strsep(&rest, "\n"))) {
        char *value = strstr(line, ": ");
        if (value)
            *value = '\0';
        rc = hc_head_take(&head, line, value ? value + 2 : "", &err);
    }
    free(text);
    return rc < 0 ? rc : hc_head_end(&head, version, NULL, &err);
}

/* A head as libmicrohttpd leaves it in memory: "|" is a zero byte. `lines` of it are told of, each as
 * "NAME:VALUE". */
static int take_raw(const char *raw, size_t lines)
{
    static char text[256];
    struct hc_head head;
    size_t len = strlen(raw);
    memset(&err, 0, sizeof err);
    memcpy(text, raw, len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = raw[i] == '|' ? '\0' : raw[i];
    const char *version = strstr(raw, "HTTP/") - raw + text, *at = version;
    int rc = hc_head_begin(&head, text + strlen(text) + 1, version, &err);
    for (size_t i = 0; rc == 0 && i < lines; i++) {
        for (at += strlen(at); !*at;)
            at++;
        char *colon = strchr(at, ':');
        *colon = '\0';
        rc = hc_head_take(&head, at, colon + 1, &err);
        at = colon + 1;
    }
    return rc < 0 ? rc : hc_head_end(&head, "HTTP/1.0", text + len, &err);
}

static void heads_have_nothing_between_their_lines(void **state)
{
    static const struct {
        const char *raw;
        size_t lines;
        int rc;
    } rows[] = {
        {"/x|HTTP/1.1||Host:a||X:b||||", 2, 0}, /* \r\n */
        {"/x|HTTP/1.1|Host:a|X:b||", 2, 0},     /* \n */
        {"/x|HTTP/1.1||Host:||||", 1, 0},
        {"/x|HTTP/1.1||||", 0, 0},
        {"/x|y|HTTP/1.1||||", 0, -1},
        {"/x||HTTP/1.1||||", 0, -1},
        {"/x|HTTP/1.1|z||||", 0, -1},
        {"/x|HTTP/1.1||Host:a|b||||", 1, -1},
        {"/x|HTTP/1.1||Host:a||| b||||", 1, -1}, /* folded: the text is elsewhere */
        {"/x|HTTP/1.1||Host:a||b||X:c||||", 1, -1},
        {"/x|HTTP/1.1||Host:a|||||", 1, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (take_raw(rows[i].raw, rows[i].lines) != rows[i].rc)
            fail_msg("%s: %s", rows[i].raw, err.text);
}

static void heads_mean_one_thing_or_are_refused(void **state)
{
    static const struct {
        const char *lines, *says; /* NULL: it is sound */
    } rows[] = {
        {"Host: x", NULL},
        {"Host: x\nContent-Length: 2\nX-Y_z.~: \tanything, \xc3\xa9 even", NULL},
        {"Host: x\nTransfer-Encoding: Chunked", NULL},
        {"Host: x\nAccept: a\nAccept: b\nPrefer: a\nPrefer: b", NULL},
        {"Accept: a", "expected a line Host"},
        {"Host: x\nhost: x", "Host: stands twice"},
        {"Host: x\nContent-Length: 2\ncontent-length: 2", "Content-Length: stands twice"},
        {"Host: x\nAuthorization: a\nAuthorization: b", "Authorization: stands twice"},
        {"Host: x\nIdempotency-Key: a\nidempotency-key: b", "Idempotency-Key: stands twice"},
        {"Host: x\nContent-Length: 2\nTransfer-Encoding: chunked", "expected one of them"},
        {"Host: x\nTransfer-Encoding: chunked\nContent-Length: 2", "expected one of them"},
        {"Host: x\nTransfer-Encoding: gzip, chunked", "Transfer-Encoding: expected chunked"},
        {"Host: x\nContent-Length : 2", "before its colon"},
        {"Host: x\nX\tY: 2", "before its colon"},
        {"Host: x\n: 2", "before its colon"},
        {"Host: x\nX: a\rContent-Length: 2", "X: has a control character"},
        {"Host: x\nX: a\x7f", "X: has a control character"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int rc = take(rows[i].lines, "HTTP/1.1");
        if (rows[i].says ? rc == 0 || !strstr(err.text, rows[i].says) : rc < 0)
            fail_msg("%s: %s", rows[i].lines, err.text);
    }
    assert_int_equal(take("Accept: a", "HTTP/1.0"), 0);
}

static void words_of_a_list(void **state)
{
    (void)state;
    assert_true(hc_has_word("respond-async", "respond-async"));
    assert_true(hc_has_word("wait=5, Respond-Async;a=b", "respond-async"));
    assert_true(hc_has_word("text/html;q=1 , application/x-ndjson", "application/x-ndjson"));
    assert_false(hc_has_word("respond-asynchronously", "respond-async"));
    assert_false(hc_has_word("a;respond-async", "respond-async"));
    assert_false(hc_has_word(NULL, "respond-async"));
    assert_false(hc_has_word(",, ,;", "respond-async"));
}

static void paths_fit_patterns_piece_by_piece(void **state)
{
    static const struct {
        const char *pattern, *path, *id, *rest; /* id "-": it does not fit */
    } rows[] = {
        {"/v1/jobs", "/v1/jobs", NULL, NULL},
        {"/v1/jobs", "/v1/jobs/", "-", NULL},
        {"/v1/jobs", "/v1/job", "-", NULL},
        {"/v1/jobs", "v1/jobs", "-", NULL},
        {"/v1/jobs", "", "-", NULL},
        {"/v1/jobs/{id}", "/v1/jobs/a.b", "a.b", NULL},
        {"/v1/jobs/{id}", "/v1/jobs/", "-", NULL},
        {"/v1/jobs/{id}", "/v1/jobs/a/b", "-", NULL},
        {"/v1/jobs/{id}/files/{rest}", "/v1/jobs/a/files/b/../c", "a", "b/../c"},
        {"/v1/jobs/{id}/files/{rest}", "/v1/jobs/a/files//c", "a", "/c"},
        {"/v1/jobs/{id}/files/{rest}", "/v1/jobs/a/files/", "-", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hc_path_parts parts;
        const char *id = rows[i].id, *rest = rows[i].rest;
        bool fits = hc_path_fits(rows[i].pattern, rows[i].path, &parts);
        if (id && *id == '-')
            assert_false(fits);
        else if (!fits || !parts.id != !id || !parts.rest != !rest ||
                 (id && (strlen(id) != parts.id_len || strncmp(id, parts.id, parts.id_len) != 0)) ||
                 (rest && strcmp(rest, parts.rest) != 0))
            fail_msg("%s as %s", rows[i].path, rows[i].pattern);
    }
}

static void ranges_are_parts_of_a_file(void **state)
{
    static const struct {
        const char *header;
        uint64_t size;
        enum hc_range range;
        uint64_t first, len; /* of a part */
    } rows[] = {
        {NULL, 10, HC_RANGE_ALL, 0, 0},
        {"bytes=0-3", 10, HC_RANGE_PART, 0, 4},
        {"Bytes=4-", 10, HC_RANGE_PART, 4, 6},
        {"bytes=-3", 10, HC_RANGE_PART, 7, 3},
        {"bytes=-30", 10, HC_RANGE_PART, 0, 10},
        {"bytes=9-99", 10, HC_RANGE_PART, 9, 1},
        {"bytes=0-9", 10, HC_RANGE_PART, 0, 10},
        {"bytes=10-", 10, HC_RANGE_NONE, 0, 0},
        {"bytes=0-", 0, HC_RANGE_NONE, 0, 0},
        {"bytes=-0", 10, HC_RANGE_NONE, 0, 0},
        {"bytes=-1", 0, HC_RANGE_NONE, 0, 0},
        {"bytes=999999999999999999-", 10, HC_RANGE_NONE, 0, 0},
        {"bytes=9999999999999999999-", 10, HC_RANGE_ALL, 0, 0}, /* no file is so long */
        {"bytes=3-2", 10, HC_RANGE_ALL, 0, 0},
        {"bytes=0-1,3-4", 10, HC_RANGE_ALL, 0, 0},
        {"bytes=-", 10, HC_RANGE_ALL, 0, 0},
        {"bytes=a-b", 10, HC_RANGE_ALL, 0, 0},
        {"bytes= 0-1", 10, HC_RANGE_ALL, 0, 0},
        {"lines=0-1", 10, HC_RANGE_ALL, 0, 0},
        {"", 10, HC_RANGE_ALL, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t first = 0, len = 0;
        enum hc_range range = hc_range_read(rows[i].header, rows[i].size, &first, &len);
        if (range != rows[i].range || first != rows[i].first || len != rows[i].len)
            fail_msg("%s of %d: %d, %d at %d", rows[i].header, (int)rows[i].size, range, (int)len,
                     (int)first);
    }
}

static void a_body_is_an_object_or_has_one_member(void **state)
{
    static const struct {
        const char *text, *member, *source; /* NULL: it is refused */
    } rows[] = {
        {"{\"a\": 1}", NULL, "{\"a\": 1}"},
        {"{\"name\": \"x\"}", "name", "\"x\""},
        {"{\"name\": {\"b\": []}}", "name", "{\"b\": []}"},
        {"[]", NULL, NULL},
        {"{\"name\": 1, \"more\": 2}", "name", NULL},
        {"{\"other\": 1}", "name", NULL},
        {"{}", "name", NULL},
        {"\"name\"", "name", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hc_json j;
        size_t len = 0;
        assert_int_equal(hc_json_parse(&j, "request", rows[i].text, strlen(rows[i].text), &err), 0);
        const char *source = hc_request_member(&j, rows[i].member, &len, &err);
        if (!source != !rows[i].source ||
            (source && (strlen(rows[i].source) != len || strncmp(source, rows[i].source, len) != 0)))
            fail_msg("%s: %.*s", rows[i].text, (int)len, source ? source : "");
        hc_json_finish(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_mean_one_thing_or_are_refused),
        cmocka_unit_test(heads_have_nothing_between_their_lines),
        cmocka_unit_test(words_of_a_list),
        cmocka_unit_test(paths_fit_patterns_piece_by_piece),
        cmocka_unit_test(ranges_are_parts_of_a_file),
        cmocka_unit_test(a_body_is_an_object_or_has_one_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
