/* Which of two values is tighter, for every row of the option table; and what a sender may ask for by that.
 */
#include "policy/tighten.h"

#include "job/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_option_says_what_is_tighter(void **state)
{
    (void)state;
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        bool number = opt->at >= offsetof(struct hc_policy, limits) &&
                      opt->at < offsetof(struct hc_policy, limits) + sizeof(struct hc_limits);
        if (opt->tighter == HC_TIGHTER_UNSAID)
            fail_msg("%s: say what is tighter", opt->path);
        assert_int_equal(opt->tighter == HC_TIGHTER_LISTED, opt->kind == HC_OPT_NAME);
        if (opt->kind == HC_OPT_CHOICE)
            assert_int_equal(opt->tighter, HC_TIGHTER_SAME);
        else if (opt->kind != HC_OPT_NAME)
            assert_true(number && opt->tighter != HC_TIGHTER_SAME);
        /* Where 0 is no limit, more than any number is less than it. */
        if (opt->tighter == HC_TIGHTER_LESS_NOT_NONE)
            assert_non_null(strstr(opt->help, "; 0: "));
        if (opt->tighter == HC_TIGHTER_LESS)
            assert_null(strstr(opt->help, "; 0: "));
    }
    assert_true(hc_options_count <= 64); /* bits of struct hc_ceiling */
}

static int read_text(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                     struct hc_error *err)
{
    (void)from, (void)err;
    *file = strdup(name);
    return hc_buf_str(text, ctx);
}

static int load_text(struct hc_policy *p, const char *text, struct hc_error *err)
{
    return hc_policy_load(p, "strict", read_text, (void *)text, err);
}

/* What is said of a request under a policy for a tenant; "": it is taken. */
static const char *verdict(const char *policy, const char *maxima, const char *request)
{
    static char said[1024];
    struct hc_policy p;
    struct hc_limits max;
    struct hc_ceiling c;
    struct hc_error err = {0};
    struct hc_job job;
    struct hc_uploads uploads;
    struct hc_json json;
    hc_maxima_init(&max);
    assert_int_equal(load_text(&p, policy, &err), 0);
    assert_int_equal(hc_json_parse(&json, "max", maxima, strlen(maxima), &err), 0);
    assert_int_equal(hc_maxima_read(&max, "max", &json, json.root, &err), 0);
    assert_int_equal(hc_job_parse_upload(&job, &uploads, false, "request", request, strlen(request), &err),
                     0);
    hc_ceiling_make(&c, &p, &max, "carol");
    (void)snprintf(said, sizeof said, "%s",
                   hc_ceiling_check(&c, job.overrides, job.override_count, &err) < 0 ? err.text : "");
    hc_json_finish(&json);
    hc_job_finish(&job);
    hc_uploads_finish(&uploads);
    hc_policy_finish(&p);
    return said;
}

#define REQUEST(limits) "{\"code\": \"1\", \"limits\": {" limits "}}"

static const struct {
    const char *policy, *maxima, *request, *said;
} verdicts[] = {
    {"{}", "{}", REQUEST(""), ""},
    {"{}", "{}", REQUEST("\"timeout\": \"60s\", \"memory\": \"1G\", \"pids\": 2"), ""},
    {"{}", "{}", REQUEST("\"timeout\": \"61s\""),
     "limits.timeout: 61s is asked for, and the policy 'strict' allows 60s"},
    {"{\"limits\": {\"timeout\": \"5s\", \"pids\": 4, \"enforcement\": \"cgroup\"}}", "{}",
     REQUEST("\"timeout\": \"24h\", \"memory\": \"1G\", \"pids\": 100, \"enforcement\": \"rlimits\""),
     "limits.timeout: 24h is asked for, and the policy 'strict' allows 5s; limits.pids: 100 is asked for, "
     "and the "
     "policy 'strict' allows 4; limits.enforcement: rlimits is asked for, and the policy 'strict' allows "
     "cgroup"},
    {"{}", "{}", REQUEST("\"enforcement\": \"cgroup\""),
     "limits.enforcement: cgroup is asked for, and the policy 'strict' allows auto"},
    {"{}", "{}", REQUEST("\"enforcement\": \"auto\""), ""},
    {"{\"limits\": {\"max\": {\"timeout\": \"1h\"}}}", "{}", REQUEST("\"timeout\": \"1h\""), ""},
    {"{\"limits\": {\"max\": {\"timeout\": \"1h\"}}}", "{}",
     REQUEST("\"timeout\": \"1h\", \"memory\": \"2G\""),
     "limits.memory: 2G is asked for, and the policy 'strict' allows 1G"},
    {"{\"limits\": {\"max\": {\"timeout\": \"1h\"}}}", "{\"timeout\": \"2m\"}",
     REQUEST("\"timeout\": \"121s\""),
     "limits.timeout: 121s is asked for, and the tenant 'carol' allows 120s"},
    {"{}", "{\"timeout\": \"2m\"}", REQUEST("\"timeout\": \"61s\""),
     "limits.timeout: 61s is asked for, and the policy 'strict' allows 60s"},
    /* No limit at all is more than any. */
    {"{\"limits\": {\"cpu\": \"5s\"}}", "{}", REQUEST("\"cpu\": 0"),
     "limits.cpu: 0s is asked for, and the policy 'strict' allows 5s"},
    {"{\"limits\": {\"cpu\": \"5s\"}}", "{}", REQUEST("\"cpu\": \"4s\""), ""},
    {"{}", "{}", REQUEST("\"cpu\": \"4s\", \"cpus\": 3, \"io_read\": \"1G\""), ""},
    {"{}", "{\"cpus\": 2}", REQUEST("\"cpus\": 0"),
     "limits.cpus: 0 is asked for, and the tenant 'carol' allows 2"},
    {"{\"limits\": {\"cpu\": \"5s\", \"max\": {\"cpu\": 0}}}", "{}", REQUEST("\"cpu\": \"1h\""), ""},
    /* What a harder limit bounds is anyone's choice. */
    {"{\"limits\": {\"memory_soft\": 0}}", "{}", REQUEST("\"memory_soft\": \"1T\""), ""},
    /* A job is killed at limits.timeout and limits.grace together, so both have their maximum. */
    {"{}", "{}", REQUEST("\"grace\": 0"), ""},
    {"{}", "{}", REQUEST("\"grace\": \"2s\""),
     "limits.grace: 2s is asked for, and the policy 'strict' allows 1s"},
    {"{\"limits\": {\"max\": {\"grace\": \"5s\"}}}", "{}", REQUEST("\"grace\": \"5s\""), ""},
    {"{\"limits\": {\"max\": {\"grace\": \"5s\"}}}", "{\"grace\": \"3s\"}", REQUEST("\"grace\": \"5s\""),
     "limits.grace: 5s is asked for, and the tenant 'carol' allows 3s"},
};

static void a_sender_may_only_tighten(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        assert_string_equal(verdict(verdicts[i].policy, verdicts[i].maxima, verdicts[i].request),
                            verdicts[i].said);
}

static int64_t *limit_at(struct hc_policy *p, const struct hc_option *opt)
{
    return (int64_t *)(void *)((char *)p + opt->at);
}

/* Whatever a limit is and may be: the least that there can be is taken, and one more than the maximum is not.
 */
static void every_limit_of_a_policy_bounds_its_senders(void **state)
{
    (void)state;
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        struct hc_policy p;
        struct hc_limits none;
        struct hc_ceiling c;
        struct hc_excess list[64];
        if (opt->tighter != HC_TIGHTER_LESS && opt->tighter != HC_TIGHTER_LESS_NOT_NONE)
            continue;
        hc_policy_init(&p);
        hc_maxima_init(&none);
        *limit_at(&p, opt) = opt->min + 1;
        hc_ceiling_make(&c, &p, &none, "");
        for (int more = -1; more <= 1; more++) {
            struct hc_job job = {0};
            struct hc_policy asked;
            struct hc_error err;
            char text[64];
            hc_policy_init(&asked);
            *limit_at(&asked, opt) = opt->min + 1 + more;
            hc_option_format(&asked, opt, text, sizeof text);
            assert_int_equal(hc_job_add_override(&job, opt, text, &err), 0);
            bool none_at_all = opt->tighter == HC_TIGHTER_LESS_NOT_NONE && opt->min + 1 + more == 0;
            assert_int_equal(hc_ceiling_compare(&c, job.overrides, job.override_count, list),
                             more > 0 || none_at_all ? 1 : 0);
            hc_job_finish(&job);
        }
    }
}

static void a_tenants_maxima_lower_what_the_policy_gives(void **state)
{
    (void)state;
    struct hc_policy p;
    struct hc_limits max;
    hc_policy_init(&p);
    hc_maxima_init(&max);
    max.memory = 64 << 20;
    max.timeout_ms = INT64_C(3600000);
    max.cpus_milli = 1500;
    hc_policy_lower(&p, &max);
    assert_int_equal(p.limits.memory, 64 << 20);
    assert_int_equal(p.limits.timeout_ms, 60000);
    assert_int_equal(p.limits.cpus_milli, 1500); /* no limit before */
    assert_int_equal(p.limits.pids, 64);
}

static const struct {
    const char *policy, *said;
} mistakes[] = {
    {"{\"limits\": {\"timeout\": \"5s\", \"max\": {\"timeout\": \"4s\"}}}",
     "strict: limits.max.timeout: 4s, and limits.timeout itself is 5s"},
    {"{\"limits\": {\"max\": {\"cpu\": \"1h\"}}}", "strict: limits.max.cpu: 1h, and limits.cpu itself is 0s"},
    {"{\"limits\": {\"max\": {\"enforcement\": \"rlimits\"}}}",
     "strict:1:21: limits.max: there is no maximum of limits.enforcement, which requests cannot raise"},
    {"{\"limits\": {\"max\": {\"memroy\": 1}}}",
     "strict:1:21: unknown member 'memroy' in limits.max; did you mean 'memory'?"},
    {"{\"limits\": {\"max\": {\"memory\": 1}}}", "strict:1:31: limits.max.memory: expected 32M to 1T, got 1"},
    {"{\"limits\": {\"max\": 5}}", "strict:1:20: limits.max: expected an object, got a number"},
};

static void mistakes_in_maxima_are_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct hc_policy p;
        struct hc_error err = {0};
        assert_int_equal(load_text(&p, mistakes[i].policy, &err), -1);
        assert_string_equal(err.text, mistakes[i].said);
    }
}

static void maxima_are_printed_as_they_are_read_and_not_with_what_is_in_force(void **state)
{
    (void)state;
    struct hc_policy p;
    struct hc_error err;
    const struct hc_job job = {0};
    const char *text = "{\"limits\": {\"max\": {\"memory\": \"2G\", \"timeout\": 90}}}";
    assert_int_equal(load_text(&p, text, &err), 0);
    cJSON *json = hc_policy_to_json(&p);
    const cJSON *limits = cJSON_GetObjectItemCaseSensitive(json, "limits");
    char *max = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(limits, "max"));
    assert_string_equal(max, "{\"timeout\":\"90s\",\"memory\":\"2G\"}");
    cJSON_free(max);
    cJSON_Delete(json);
    assert_int_equal(hc_job_apply(&job, &p, &err), 0);
    json = hc_policy_to_json(&p);
    assert_null(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "limits"), "max"));
    cJSON_Delete(json);
    hc_policy_finish(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_says_what_is_tighter),
        cmocka_unit_test(a_sender_may_only_tighten),
        cmocka_unit_test(every_limit_of_a_policy_bounds_its_senders),
        cmocka_unit_test(a_tenants_maxima_lower_what_the_policy_gives),
        cmocka_unit_test(mistakes_in_maxima_are_said),
        cmocka_unit_test(maxima_are_printed_as_they_are_read_and_not_with_what_is_in_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
