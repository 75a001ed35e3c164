/* Responses as a conversation: what comes in pieces of one byte, and what comes out. */
#include "wire/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* 0: whole; 1: more is expected; -1: refused. */
static int read_all(struct hc_answer *a, const char *text, size_t piece, struct hc_error *err)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len; at += piece)
        if (hc_answer_feed(a, text + at, len - at < piece ? len - at : piece, err) < 0)
            return -1;
    return a->state == HC_ANSWER_DONE ? 0 : 1;
}

#define HEAD "HTTP/1.1 200 OK\r\n"

static void answers_are_read_in_any_pieces(void **state)
{
    static const struct {
        const char *text;
        int end, status;
        const char *body, *type;
    } rows[] = {
        {HEAD "Content-Length: 5\r\n\r\nhello", 0, 200, "hello", ""},
        {HEAD "content-length:5 \r\nCONTENT-type: text/plain; charset=utf-8\r\n\r\nhello and more", 0, 200,
         "hello", "text/plain"},
        {HEAD "Content-Length: 0\r\n\r\n", 0, 200, "", ""},
        {"HTTP/1.1 204 No Content\r\n\r\n", 0, 204, "", ""},
        {"HTTP/1.1 100 Continue\r\n\r\n" HEAD "Content-Length: 2\r\n\r\nok", 0, 200, "ok", ""},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", 0, 200,
         "hello0123456789", ""},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer: y\r\n\r\n", 0, 200, "x", ""},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", 1, 200, "hel", ""},
        {HEAD "Content-Length: 6\r\n\r\nhello", 1, 200, "hello", ""},
        {HEAD "\r\nto the end", 1, 200, "to the end", ""},
        {"HTTP/1.1 200 OK\nContent-Length: 1\n\nx", 0, 200, "x", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t piece = 1; piece < 40; piece += 6) {
            struct hc_answer a = {0};
            struct hc_error err = {0};
            assert_int_equal(read_all(&a, rows[i].text, piece, &err), rows[i].end);
            assert_int_equal(a.status, rows[i].status);
            assert_string_equal(a.type, rows[i].type);
            assert_string_equal(a.body.data ? a.body.data : "", rows[i].body);
            hc_answer_finish(&a);
        }
}

static void what_is_no_answer_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"SSH-2.0-OpenSSH\r\n\r\n", "expected HTTP/1.1"},
        {"HTTP/2 200\r\n\r\n", "expected HTTP/1.1"},
        {"HTTP/1.1 20 OK\r\n\r\n", "three digits"},
        {"HTTP/1.1 2000 OK\r\n\r\n", "three digits"},
        {HEAD "no colon\r\n\r\n", "without a name"},
        {HEAD "Content-Length: -1\r\n\r\n", "Content-Length"},
        {HEAD "Content-Length: 9999999999999999\r\n\r\n", "Content-Length"},
        {HEAD "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "twice"},
        {HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n", "not 'chunked'"},
        {HEAD "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "size of a chunk"},
        {HEAD "Transfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n", "size of a chunk"},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", "longer than it said"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_answer a = {0};
        struct hc_error err = {0};
        assert_int_equal(read_all(&a, rows[i].text, 7, &err), -1);
        assert_non_null(strstr(err.text, rows[i].why));
        hc_answer_finish(&a);
    }
}

static void heads_and_bodies_are_bounded(void **state)
{
    struct hc_answer a = {0};
    struct hc_error err = {0};
    char line[1001];
    (void)state;
    memset(line, 'x', sizeof line);
    int rc = 0;
    for (int i = 0; i < 100 && rc == 0; i++)
        rc = hc_answer_feed(&a, line, sizeof line, &err);
    assert_int_equal(rc, -1);
    hc_answer_finish(&a);
    a.body.max = 10;
    assert_int_equal(read_all(&a, HEAD "\r\n0123456789x", 100, &err), -1);
    hc_answer_finish(&a);
}

static void the_end_of_the_connection_ends_only_a_body_without_length(void **state)
{
    struct hc_answer a = {0};
    struct hc_error err = {0};
    (void)state;
    assert_int_equal(read_all(&a, HEAD "Location: /v1/jobs/x\r\n\r\nall", 100, &err), 1);
    assert_int_equal(hc_answer_end(&a, &err), 0);
    assert_string_equal(a.location, "/v1/jobs/x");
    hc_answer_finish(&a);
    assert_int_equal(read_all(&a, HEAD "Content-Length: 9\r\n\r\nall", 100, &err), 1);
    assert_int_equal(hc_answer_end(&a, &err), -1);
    hc_answer_finish(&a);
    assert_int_equal(hc_answer_end(&a, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_read_in_any_pieces),
        cmocka_unit_test(what_is_no_answer_is_refused),
        cmocka_unit_test(heads_and_bodies_are_bounded),
        cmocka_unit_test(the_end_of_the_connection_ends_only_a_body_without_length),
    };
    return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
