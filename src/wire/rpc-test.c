/* JSON-RPC: what is a message, what is refused with which code, and lines in pieces. */
#include "wire/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void requests_and_notifications(void **state)
{
    (void)state;
    static const struct {
        const char *text, *id, *method;
        enum hc_rpc_kind kind;
        bool params;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "1", "ping", HC_RPC_REQUEST, false},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0020\\\"b\",\"method\":\"m\",\"params\":{}}", "\"a\\u0020\\\"b\"",
         "m", HC_RPC_REQUEST, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":-9007199254740993,\"method\":\"m\"}", "-9007199254740993", "m",
         HC_RPC_REQUEST, false},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "null",
         "notifications/initialized", HC_RPC_NOTIFICATION, false},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", "null", NULL, HC_RPC_RESPONSE, false},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", "null", NULL, HC_RPC_RESPONSE, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hc_rpc m;
        struct hc_error err;
        int code;
        assert_int_equal(hc_rpc_parse(&m, rows[i].text, strlen(rows[i].text), &code, &err), 0);
        assert_int_equal(m.kind, rows[i].kind);
        assert_string_equal(m.id, rows[i].id);
        assert_int_equal(m.params != NULL, rows[i].params);
        if (rows[i].method)
            assert_string_equal(m.method, rows[i].method);
        else
            assert_null(m.method);
        hc_rpc_finish(&m);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *id, *says;
        int code;
    } rows[] = {
        {"{\"jsonrpc\":", "null", "message:1:", HC_RPC_PARSE_ERROR},
        {"garbage", "null", "message:1:1", HC_RPC_PARSE_ERROR},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"m\"}", "null", "twice", HC_RPC_PARSE_ERROR},
        {"[]", "null", "batches", HC_RPC_INVALID_REQUEST},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}]", "null", "batches", HC_RPC_INVALID_REQUEST},
        {"3", "null", "an object", HC_RPC_INVALID_REQUEST},
        {"{}", "null", "jsonrpc", HC_RPC_INVALID_REQUEST},
        {"{\"id\":4,\"method\":\"m\"}", "4", "jsonrpc", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"m\"}", "4", "jsonrpc", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":4}", "4", "method", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":5}", "4", "method", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", "null", "id:", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", "null", "id:", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", "null", "id:", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", "null", "id:", HC_RPC_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"params\":[1]}", "4", "params: expected an object",
         HC_RPC_INVALID_PARAMS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hc_rpc m;
        struct hc_error err;
        int code;
        assert_int_equal(hc_rpc_parse(&m, rows[i].text, strlen(rows[i].text), &code, &err), -1);
        assert_int_equal(code, rows[i].code);
        assert_string_equal(m.id, rows[i].id);
        assert_non_null(strstr(err.text, rows[i].says));
        hc_rpc_finish(&m);
    }
}

static void a_long_id_is_refused(void **state)
{
    (void)state;
    char text[HC_RPC_ID_MAX + 64];
    struct hc_rpc m;
    struct hc_error err;
    int code;
    for (int more = 0; more < 2; more++) {
        int len = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"m\"}",
                           HC_RPC_ID_MAX - 2 + more, 1);
        assert_int_equal(hc_rpc_parse(&m, text, (size_t)len, &code, &err), more ? -1 : 0);
        hc_rpc_finish(&m);
    }
}

static void lines_in_pieces(void **state)
{
    (void)state;
    static const char all[] = "one\r\n\n  \ntwo\nmuch too long a line\nthree\nfour";
    for (size_t piece = 1; piece < sizeof all; piece++) {
        struct hc_rpc_lines l = {.max = 8};
        char seen[64] = "";
        for (size_t at = 0; at < sizeof all - 1; at += piece) {
            size_t left = sizeof all - 1 - at, len;
            const char *text;
            hc_rpc_feed(&l, all + at, left < piece ? left : piece);
            for (enum hc_rpc_line got; (got = hc_rpc_next(&l, &text, &len)) != HC_RPC_MORE;) {
                if (got == HC_RPC_LINE)
                    (void)strncat(seen, text, len);
                (void)strcat(seen, got == HC_RPC_LINE ? "|" : "LONG|");
            }
        }
        assert_string_equal(seen, "one\r|two|LONG|three|");
        hc_rpc_lines_finish(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_notifications),
        cmocka_unit_test(refusals),
        cmocka_unit_test(a_long_id_is_refused),
        cmocka_unit_test(lines_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
