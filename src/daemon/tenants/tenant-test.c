/* Who a caller is, what is left to him, and what a reload changes. */
#include "daemon/tenants/tenant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hc_error err;

static void parse(struct hc_config *c, const char *text, const char *tokens)
{
    if (hc_config_parse(c, "conf", text, strlen(text), &err) < 0 ||
        hc_config_parse_tokens(c, "tokens", tokens, strlen(tokens), &err) < 0)
        fail_msg("%s", err.text);
}

static struct hc_tenants *tenants_of(const char *text, const char *tokens)
{
    struct hc_config c;
    struct hc_tenants *t;
    parse(&c, text, tokens);
    assert_int_equal(hc_tenants_create(&t, &c, &err), 0);
    hc_config_finish(&c);
    return t;
}

static void reload(struct hc_tenants *t, const char *text)
{
    struct hc_config c;
    parse(&c, text, "");
    assert_int_equal(hc_tenants_reload(t, &c, &err), 0);
    hc_config_finish(&c);
}

static void a_uid_is_its_tenant_or_one_of_its_own(void **state)
{
    struct hc_tenants *t =
        tenants_of("{\"tenants\": {\"alice\": {\"uids\": [7, \"1000-1009\"], \"weight\": 5}},"
                   " \"quotas\": {\"weight\": 9, \"policies\": [\"default\"], \"trees\": [\"base\"]}}",
                   "");
    (void)state;
    assert_string_equal(hc_tenant_of_uid(t, 7)->name, "alice");
    assert_string_equal(hc_tenant_of_uid(t, 1009)->name, "alice");
    struct hc_tenant *own = hc_tenant_of_uid(t, 1010);
    assert_string_equal(own->name, "uid-1010");
    assert_int_equal(own->quota.weight, 9);
    assert_true(hc_tenant_may_use(own, "default"));
    assert_false(hc_tenant_may_use(own, "none"));
    assert_true(hc_tenant_may_use_tree(own, "base"));
    assert_false(hc_tenant_may_use_tree(own, "scientific"));
    assert_ptr_equal(hc_tenant_of_uid(t, 1010), own);
    assert_ptr_equal(hc_tenant_at(t, 1), own);
    assert_null(hc_tenant_at(t, 2));
    hc_tenants_destroy(t);
}

static void users_without_a_tenant_can_be_nobody(void **state)
{
    struct hc_tenants *t =
        tenants_of("{\"local_users\": \"none\", \"tenants\": {\"a\": {\"uids\": [7]}}}", "");
    (void)state;
    assert_non_null(hc_tenant_of_uid(t, 7));
    assert_null(hc_tenant_of_uid(t, 8));
    hc_tenants_destroy(t);
}

static void a_token_is_its_tenants(void **state)
{
    char sha256[HC_SHA256_HEX], line[128];
    (void)state;
    hc_sha256_hex("secret", 6, sha256);
    (void)snprintf(line, sizeof line, "%s bob\n", sha256);
    struct hc_tenants *t = tenants_of("{\"tenants\": {\"alice\": {}, \"bob\": {}}}", line);
    assert_string_equal(hc_tenant_of_token(t, "secret", 6)->name, "bob");
    assert_null(hc_tenant_of_token(t, "secret2", 7));
    assert_null(hc_tenant_of_token(t, "", 0));
    assert_null(hc_tenant_of_token(t, sha256, 64)); /* the file's content opens nothing */
    reload(t, "{\"tenants\": {\"alice\": {}, \"bob\": {}}}");
    assert_null(hc_tenant_of_token(t, "secret", 6));
    hc_tenants_destroy(t);
}

/* A tenant is alone if no other is configured, no other has come, and no other can come. */
static void others_are_there_if_they_may_come(void **state)
{
    static const struct {
        const char *config;
        bool open, many;
    } rows[] = {
        {"{}", false, false},
        {"{\"tenants\": {\"a\": {\"uids\": [1]}}}", false, false},
        {"{\"tenants\": {\"a\": {\"uids\": [1]}, \"b\": {\"uids\": [2]}}}", false, true},
        {"{}", true, true},
        {"{\"local_users\": \"none\", \"tenants\": {\"a\": {}}}", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hc_tenants *t = tenants_of(rows[i].config, "");
        assert_int_equal(hc_tenants_are_many(t, rows[i].open), rows[i].many);
        hc_tenants_destroy(t);
    }
    struct hc_tenants *t = tenants_of("{}", "");
    assert_non_null(hc_tenant_of_uid(t, 1));
    assert_false(hc_tenants_are_many(t, false));
    assert_non_null(hc_tenant_of_uid(t, 2));
    assert_true(hc_tenants_are_many(t, false));
    reload(t, "{\"local_users\": \"none\", \"tenants\": {\"a\": {}}}"); /* both are removed */
    assert_false(hc_tenants_are_many(t, false));
    hc_tenants_destroy(t);
}

static void a_reload_changes_rules_and_keeps_counters(void **state)
{
    struct hc_tenants *t =
        tenants_of("{\"tenants\": {\"a\": {\"uids\": [1], \"running\": 2}, \"b\": {\"uids\": [2]}}}", "");
    struct hc_tenant *a = hc_tenant_of_uid(t, 1), *own = hc_tenant_of_uid(t, 9);
    struct hc_usage used = {.cpu_us = 5000000, .bytes = 10};
    struct hc_refusal why;
    (void)state;
    a->running = 1;
    hc_tenant_charge(a, &used, 1000);
    reload(t, "{\"tenants\": {\"a\": {\"uids\": [2], \"running\": 3, \"cpu_seconds\": 5, \"window\": \"1m\","
              " \"policies\": []}}, \"quotas\": {\"queued\": 3}}");
    assert_ptr_equal(hc_tenant_of_uid(t, 2), a);
    assert_string_equal(hc_tenant_of_uid(t, 1)->name, "uid-1");
    assert_int_equal(a->quota.running, 3);
    assert_int_equal(a->running, 1);
    assert_int_equal(a->stored_bytes, 10);
    assert_false(hc_tenant_may_use(a, "default"));
    assert_int_equal(own->quota.queued, 3);
    /* What was used before counts in a window of another width too. */
    assert_false(hc_tenant_has_budget(a, 1000, &why));
    assert_string_equal(why.quota, "cpu_seconds");
    assert_true(hc_tenant_has_budget(a, 1000 + 62000, &why));
    assert_true(hc_tenant_by_name(t, "b")->removed);
    assert_false(own->removed);
    reload(t, "{\"tenants\": {\"b\": {}}, \"local_users\": \"none\"}");
    assert_false(hc_tenant_by_name(t, "b")->removed);
    assert_true(own->removed && a->removed);
    hc_tenants_destroy(t);
}

static void a_window_forgets_what_is_older_and_nothing_earlier(void **state)
{
    enum { WIDTH = 64000, SLOT = WIDTH / HC_WINDOW_SLOTS };
    const int64_t start = INT64_C(1800000000123);
    struct hc_window w;
    (void)state;
    hc_window_init(&w, WIDTH);
    hc_window_add(&w, start, 10);
    hc_window_add(&w, start + WIDTH / 2, 5);
    assert_int_equal(hc_window_sum(&w, start + WIDTH - 1), 15);
    assert_int_equal(hc_window_sum(&w, start + WIDTH), 15);
    int64_t wait = hc_window_wait(&w, start + WIDTH, 11);
    assert_in_range(wait, 1, SLOT);
    assert_int_equal(hc_window_sum(&w, start + WIDTH + wait - 1), 15);
    assert_int_equal(hc_window_sum(&w, start + WIDTH + wait), 5);
    assert_int_equal(hc_window_wait(&w, start + WIDTH + wait, 6), 0);
    /* A clock that was set back still counts what it can. */
    hc_window_add(&w, start + WIDTH / 2, 2);
    hc_window_add(&w, start - 10 * WIDTH, 100);
    assert_int_equal(hc_window_sum(&w, start + WIDTH + wait), 7);
    assert_int_equal(hc_window_sum(&w, start + 10 * WIDTH), 0);
    /* Use from before the clock began, as of a host that was started a moment ago. */
    hc_window_init(&w, WIDTH);
    hc_window_add(&w, -WIDTH / 2 - 1, 3);
    hc_window_add(&w, -2 * WIDTH, 100);
    hc_window_add(&w, 5, 1);
    assert_int_equal(hc_window_sum(&w, WIDTH / 2 - 1), 4);
    assert_int_equal(hc_window_wait(&w, 5, 4), WIDTH / 2 - 5);
    assert_int_equal(hc_window_sum(&w, WIDTH / 2), 1);
}

static void quotas_of_use_say_when_to_come_back(void **state)
{
    struct hc_tenants *t = tenants_of("{\"tenants\": {\"a\": {\"uids\": [1], \"cpu_seconds\": 2,"
                                      " \"gb_seconds\": 1.5, \"window\": \"64s\", \"stored_bytes\": 100}}}",
                                      "");
    struct hc_tenant *a = hc_tenant_of_uid(t, 1);
    struct hc_refusal why;
    struct hc_usage cpu = {.cpu_us = 1999999}, memory = {.kib_s = hc_kib_seconds(INT64_C(3) << 29, 1000)},
                    bytes = {.bytes = 100};
    (void)state;
    hc_tenant_charge(a, &cpu, 0);
    assert_true(hc_tenant_has_budget(a, 0, &why));
    hc_tenant_charge(a, &(struct hc_usage){.cpu_us = 1}, 500);
    assert_false(hc_tenant_has_budget(a, 1000, &why));
    assert_string_equal(why.quota, "cpu_seconds");
    assert_int_equal(why.retry_ms, 65000 - 1000);
    assert_true(hc_tenant_has_budget(a, 65000, &why));
    hc_tenant_charge(a, &memory, 65000);
    assert_false(hc_tenant_has_time(a, 65000, &why));
    assert_string_equal(why.quota, "gb_seconds");
    hc_tenant_charge(a, &bytes, 65000);
    assert_true(hc_tenant_has_time(a, 200000, &why));
    assert_false(hc_tenant_has_budget(a, 200000, &why));
    assert_string_equal(why.quota, "stored_bytes");
    assert_int_equal(why.retry_ms, -1);
    hc_tenants_destroy(t);
}

static void memory_times_time_is_rounded_up_and_never_overflows(void **state)
{
    (void)state;
    assert_int_equal(hc_kib_seconds(INT64_C(1) << 30, 1000), HC_KIB_S_PER_GB);
    assert_int_equal(hc_kib_seconds(1, 1), 1);
    assert_int_equal(hc_kib_seconds(0, 1000), 0);
    assert_int_equal(hc_kib_seconds(-1, 1000), 0);
    assert_int_equal(hc_kib_seconds(INT64_MAX, INT64_MAX), INT64_C(1) << 62);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uid_is_its_tenant_or_one_of_its_own),
        cmocka_unit_test(users_without_a_tenant_can_be_nobody),
        cmocka_unit_test(a_token_is_its_tenants),
        cmocka_unit_test(others_are_there_if_they_may_come),
        cmocka_unit_test(a_reload_changes_rules_and_keeps_counters),
        cmocka_unit_test(a_window_forgets_what_is_older_and_nothing_earlier),
        cmocka_unit_test(quotas_of_use_say_when_to_come_back),
        cmocka_unit_test(memory_times_time_is_rounded_up_and_never_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
