/* Any bytes as a job spec: they are refused, or make a job whose handover can be written and read back with
 * the same variables. */
#include "wire/handover.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_handover(const struct hc_job *job)
{
    const struct hc_handover_filters filters = {.report = {"12345678", 8}, .own = {"12345678", 8}};
    struct hc_policy policy;
    struct hc_handover h;
    struct hc_error err;
    hc_autobuf bytes = {0};
    hc_policy_init(&policy);
    require(hc_overrides_apply(job->overrides, job->override_count, &policy, &err) == 0);
    require(hc_handover_write(HC_HANDOVER_CELL, job, &policy, &filters, &bytes, &err) == 0);
    require(hc_handover_split(&h, bytes.data, bytes.len, &err) == 0);
    require(hc_handover_parse(&h, &err) == 0);
    size_t len;
    const char *vars = hc_json_source(&h.json, cJSON_GetObjectItem(h.json.root, "vars"), &len);
    const char *expected = job->vars_text ? job->vars_text : "{}";
    require(vars && len == strlen(expected) && memcmp(vars, expected, len) == 0);
    hc_handover_finish(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_job job;
    struct hc_error err = {0};
    static int (*const forms[])(struct hc_job *, const char *, const char *, size_t,
                                struct hc_error *) = {hc_job_parse, hc_job_parse_run};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i](&job, "f", (const char *)data, len, &err) < 0) {
            require(err.exit == HC_EXIT_DATA && *err.text);
            continue;
        }
        if (hc_job_check(&job, &err) == 0)
            check_handover(&job);
        hc_job_finish(&job);
    }
    return 0;
}
