/* What a policy's redaction does to the texts of a manifest that quote the program. */
#include "manifest/redact_manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char RULES[] =
    "{\"redact\": {\"rules\": [{\"name\": \"own\", \"pattern\": \"SECRET[0-9]+\", \"replace\": \"-\"}]}}";

static void every_text_that_a_program_can_choose_is_redacted(void **state)
{
    struct hc_redactor *redactor;
    struct hc_error err;
    cJSON *rules = cJSON_Parse(RULES);
    struct hc_manifest m = {.reason = "SECRET1", .warnings = {"see SECRET2"}, .warning_count = 1};
    struct hc_denial denial = {.by = HC_REFUSER_RUNTIME, .count = 1};
    (void)state;
    assert_int_equal(hc_redactor_new(&redactor, rules, &err), 0);
#define HC_DENIAL_TEXT(member, ...) (void)snprintf(denial.member, sizeof denial.member, "a SECRET3 " #member);
#include "manifest/denial.def"
    hc_denials_note(&m.denials, &denial, false);
    m.guest = strdup("{\"value\": \"SECRET4\"}");
    m.rejection.findings = cJSON_Parse("[{\"what\": \"SECRET5\", \"line\": 5}]");
    assert_int_equal(hc_manifest_redact(&m, redactor), 0);
    assert_string_equal(m.reason, "-");
    assert_string_equal(m.warnings[0], "see -");
    assert_int_equal(m.denials.count, 1);
#define HC_DENIAL_TEXT(member, ...) assert_string_equal(m.denials.items[0].member, "a - " #member);
#include "manifest/denial.def"
    assert_string_equal(m.guest, "{\"value\": \"-\"}");
    char *findings = cJSON_PrintUnformatted(m.rejection.findings);
    assert_string_equal(findings, "[{\"what\":\"-\",\"line\":5}]");
    cJSON_free(findings);
    hc_manifest_finish(&m);
    hc_redactor_free(redactor);
    cJSON_Delete(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_text_that_a_program_can_choose_is_redacted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
