/* Cached policies are found again for the same job, and never when a file or an option differs. */
#include "cell/warm/policy_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char shelf[] = "/tmp/hotcell-known-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s/%s.json", shelf, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static int make_shelf(void **state)
{
    (void)state;
    return mkdtemp(shelf) ? setenv("HOTCELL_POLICIES", shelf, 1) : -1;
}

static int remove_shelf(void **state)
{
    static const char *const names[] = {"base", "mine"};
    char path[96];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s.json", shelf, names[i]);
        (void)unlink(path);
    }
    return rmdir(shelf);
}

static struct hc_cached_policy *find(struct hc_policy_cache *l, const char *spec)
{
    struct hc_job job;
    struct hc_error err;
    struct hc_cached_policy *k;
    if (hc_job_parse(&job, "spec", spec, strlen(spec), &err) < 0 ||
        hc_policy_cache_find(l, &job, NULL, &k, &err) < 0)
        fail_msg("%s: %s", spec, err.text);
    hc_job_finish(&job);
    hc_policy_cache_drop(k); /* the cache has its own reference */
    return k;
}

static void forget(struct hc_policy_cache *l)
{
    for (size_t i = 0; i < HC_POLICY_CACHE_MAX; i++) {
        hc_policy_cache_drop(l->rows[i]);
        l->rows[i] = NULL;
    }
}

#define MINE "\"code\": \"1\", \"policy\": \"mine\""

static void a_policy_is_known_to_the_next_job(void **state)
{
    static struct hc_policy_cache l;
    (void)state;
    put("base", "{\"limits\": {\"timeout\": \"7s\"}}");
    put("mine", "{\"extends\": \"base\"}");
    struct hc_cached_policy *k = find(&l, "{" MINE "}");
    assert_int_equal(k->policy.limits.timeout_ms, 7000);
    assert_ptr_equal(find(&l, "{\"code\": \"2\", \"policy\": \"mine\", \"vars\": {\"a\": 1}}"), k);
    forget(&l);
}

static void whatever_differs_is_another_policy(void **state)
{
    static const char *const specs[] = {
        "{" MINE "}",
        "{" MINE ", \"limits\": {\"timeout\": \"3s\"}}",
        "{" MINE ", \"limits\": {\"timeout\": \"4s\"}}",
        "{" MINE ", \"limits\": {\"timeout\": \"3s\", \"pids\": 9}}",
        "{" MINE ", \"tenant\": \"a\"}",
        "{" MINE ", \"tenant\": \"b\"}",
        "{\"code\": \"1\", \"policy\": \"base\"}",
    };
    const size_t count = sizeof specs / sizeof *specs;
    static struct hc_policy_cache l;
    struct hc_cached_policy *seen[sizeof specs / sizeof *specs];
    (void)state;
    put("base", "{}");
    put("mine", "{\"extends\": \"base\"}");
    for (size_t i = 0; i < count; i++)
        seen[i] = find(&l, specs[i]);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(find(&l, specs[i]), seen[i]);
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(seen[i], seen[j]);
    }
    assert_string_not_equal(seen[0]->policy_hash, seen[1]->policy_hash);
    assert_string_equal(seen[0]->policy_hash, seen[4]->policy_hash);
    assert_string_not_equal(seen[4]->warm_key, seen[5]->warm_key);
    forget(&l);
}

static void a_file_that_has_changed_counts_at_once(void **state)
{
    static struct hc_policy_cache l;
    (void)state;
    put("base", "{\"limits\": {\"timeout\": \"7s\"}}");
    put("mine", "{\"extends\": \"base\"}");
    assert_int_equal(find(&l, "{" MINE "}")->policy.limits.timeout_ms, 7000);
    put("base", "{\"limits\": {\"timeout\": \"8s\"}}");
    assert_int_equal(find(&l, "{" MINE "}")->policy.limits.timeout_ms, 8000);
    put("mine", "{}");
    assert_int_not_equal(find(&l, "{" MINE "}")->policy.limits.timeout_ms, 8000);
    forget(&l);
}

static void a_policy_that_is_wrong_now_is_refused(void **state)
{
    static struct hc_policy_cache l;
    struct hc_job job;
    struct hc_error err;
    struct hc_cached_policy *k;
    static const char spec[] = "{" MINE "}";
    (void)state;
    put("mine", "{}");
    (void)find(&l, spec);
    put("mine", "{\"limits\": 3}");
    assert_int_equal(hc_job_parse(&job, "spec", spec, sizeof spec - 1, &err), 0);
    assert_int_equal(hc_policy_cache_find(&l, &job, NULL, &k, &err), -1);
    assert_int_equal(err.exit, HC_EXIT_CONFIG);
    hc_job_finish(&job);
    forget(&l);
}

static void tools_are_looked_at_with_each_job(void **state)
{
    static struct hc_policy_cache l;
    struct hc_job job;
    struct hc_error err;
    struct hc_cached_policy *k;
    static const char taken[] = "{" MINE ", \"vars\": {\"tools\": 1}}";
    (void)state;
    put("mine", "{\"tools\": {\"t\": {\"command\": [\"/bin/true\"]}}}");
    k = find(&l, "{" MINE "}");
    assert_int_equal(hc_job_parse(&job, "spec", taken, sizeof taken - 1, &err), 0);
    assert_int_equal(hc_policy_cache_find(&l, &job, NULL, &k, &err), -1);
    assert_int_equal(err.exit, HC_EXIT_DATA);
    hc_job_finish(&job);
    forget(&l);
}

static void more_than_fit_drive_out_what_was_not_asked_for_the_longest(void **state)
{
    static struct hc_policy_cache l;
    char spec[96];
    (void)state;
    put("mine", "{}");
    struct hc_cached_policy *first =
        hc_policy_cache_hold(find(&l, "{" MINE ", \"limits\": {\"pids\": 100}}"));
    for (int i = 1; i <= HC_POLICY_CACHE_MAX; i++) {
        (void)snprintf(spec, sizeof spec, "{" MINE ", \"limits\": {\"pids\": %d}}", 100 + i);
        assert_int_equal(find(&l, spec)->policy.limits.pids, 100 + i);
        if (i < HC_POLICY_CACHE_MAX)
            assert_ptr_equal(find(&l, "{" MINE ", \"limits\": {\"pids\": 100}}"), first);
    }
    assert_ptr_equal(find(&l, "{" MINE ", \"limits\": {\"pids\": 100}}"), first);
    (void)snprintf(spec, sizeof spec, "{" MINE ", \"limits\": {\"pids\": %d}}", 101);
    assert_int_equal(find(&l, spec)->policy.limits.pids, 101); /* not from the cache */
    hc_policy_cache_drop(first);
    forget(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_is_known_to_the_next_job),
        cmocka_unit_test(whatever_differs_is_another_policy),
        cmocka_unit_test(a_file_that_has_changed_counts_at_once),
        cmocka_unit_test(a_policy_that_is_wrong_now_is_refused),
        cmocka_unit_test(tools_are_looked_at_with_each_job),
        cmocka_unit_test(more_than_fit_drive_out_what_was_not_asked_for_the_longest),
    };
    return cmocka_run_group_tests(tests, make_shelf, remove_shelf);
}
