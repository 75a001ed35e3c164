/* The manifest: what stands in it, hostile reports and names, signature and its check. */
#include "manifest/manifest.h"
#include "manifest/report.h"
#include "policy/options.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define HASH         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char key[] = "sixteen bytes ok";

static struct hc_policy policy;

/* A manifest of a job that went well and did nothing. */
static struct hc_manifest plain(void)
{
    struct hc_manifest m = {.job_id = "j1", .policy = &policy, .policy_sha256 = HASH};
    hc_policy_init(&policy);
    (void)strcpy(policy.name, "default");
    (void)strcpy(m.started, "2026-01-31T12:00:00.000Z");
    (void)strcpy(m.finished, "2026-01-31T12:00:01.000Z");
    return m;
}

static void printed(const struct hc_manifest *m, bool sign, struct hc_buf *out, struct hc_json *j)
{
    struct hc_error err;
    if (hc_manifest_print(m, sign ? key : NULL, sign ? strlen(key) : 0, out, &err) < 0)
        fail_msg("%s", err.text);
    if (hc_json_parse(j, "manifest.json", out->data, out->len, &err) < 0)
        fail_msg("%s", err.text);
}

static const cJSON *member(const struct hc_json *j, const char *path)
{
    char name[64];
    const cJSON *node = j->root;
    while (*path) {
        size_t len = strcspn(path, ".");
        (void)snprintf(name, sizeof name, "%.*s", (int)len, path);
        node = cJSON_IsArray(node) ? cJSON_GetArrayItem(node, atoi(name))
                                   : cJSON_GetObjectItemCaseSensitive(node, name);
        path += len + (path[len] == '.');
    }
    return node;
}

/* The member's text as it stands in the manifest. */
static void assert_member(const struct hc_json *j, const char *path, const char *json)
{
    char *text = cJSON_PrintUnformatted(member(j, path));
    if (!text || strcmp(text, json) != 0)
        fail_msg("%s is %s, not %s", path, text ? text : "missing", json);
    free(text);
}

static void what_is_not_there_is_null_or_empty(void **state)
{
    static const struct {
        const char *path, *json;
    } rows[] = {
        {"version", "1"},
        {"job_id", "\"j1\""},
        {"tenant", "null"},
        {"labels", "{}"},
        {"status", "\"ok\""},
        {"exit_code", "0"},
        {"reason", "null"},
        {"partial", "false"},
        {"rejection", "null"},
        {"process", "null"},
        {"stdout", "{\"text\":\"\",\"bytes\":0,\"truncated\":false,\"redactions\":0}"},
        {"guest", "null"},
        {"figures", "[]"},
        {"files", "[]"},
        {"skipped", "{\"entries\":[],\"more\":0}"},
        {"code", "null"},
        {"code_path", "null"},
        {"warnings", "[]"},
        {"denials", "[]"},
        {"usage.memory_peak", "null"},
        {"usage.wall", "null"},
        {"timing", "{\"queue\":0,\"build\":0.0015,\"start\":null,\"run\":null,\"collect\":null}"},
        {"limits.timeout", "60"},
        {"limits.memory", "1073741824"},
        {"limits.cpus", "0"},
        {"limits.enforcement", "\"auto\""},
        {"limits.enforced_by.memory", "null"},
        {"layers", "{}"},
        {"policy", "{\"name\":\"default\",\"sha256\":\"" HASH "\",\"base_sha256\":null}"},
        {"tree", "null"},
        {"inputs", "[]"},
        {"started", "\"2026-01-31T12:00:00.000Z\""},
        {"signature", "null"},
    };
    struct hc_manifest m = plain();
    struct hc_json j;
    hc_autobuf text = {0};
    (void)state;
    m.usage.memory_peak = m.usage.wall_us = m.timing.start_us = m.timing.run_us = m.timing.collect_us = -1;
    m.timing.build_us = 1500;
    printed(&m, false, &text, &j);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_member(&j, rows[i].path, rows[i].json);
    assert_int_equal(text.data[text.len - 1], '\n');
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

static void denials_say_who_vouches_for_them(void **state)
{
    struct hc_manifest m = plain();
    struct hc_json j;
    hc_autobuf text = {0};
    const struct hc_denial told = {
        .by = HC_REFUSER_AUDIT, .rule = "files", .what = "\xff", .line = 3, .count = 2};
    const struct hc_denial seen = {
        .by = HC_REFUSER_SECCOMP, .rule = "execve", .what = "execve", .hint = "no", .count = 1};
    (void)state;
    hc_denials_note(&m.denials, &told, false);
    hc_denials_note(&m.denials, &seen, true);
    printed(&m, false, &text, &j);
    assert_member(&j, "denials.0",
                  "{\"layer\":\"audit\",\"rule\":\"files\",\"what\":\"\xef\xbf\xbd\",\"line\":3,\"count\":2,"
                  "\"hint\":null,\"attested\":false}");
    assert_member(&j, "denials.1",
                  "{\"layer\":\"seccomp\",\"rule\":\"execve\",\"what\":\"execve\",\"line\":null,\"count\":1,"
                  "\"hint\":\"no\",\"attested\":true}");
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

/* In a process that has run other programs only the denials from before this program ran are certain to be
 * its own. */
static void denials_of_a_shared_process_are_not_vouched_for(void **state)
{
    const struct {
        enum hc_refuser by;
        const char *attested;
    } rows[] = {{HC_REFUSER_AST, "true"},
                {HC_REFUSER_RUNTIME, "false"},
                {HC_REFUSER_AUDIT, "false"},
                {HC_REFUSER_SECCOMP, "false"},
                {HC_REFUSER_TOOL, "false"}};
    struct hc_manifest m = plain();
    struct hc_json j;
    hc_autobuf text = {0};
    (void)state;
    m.denials.shared = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct hc_denial d = {.by = rows[i].by, .rule = "rule", .what = "what", .count = 1};
        hc_denials_note(&m.denials, &d, true);
    }
    printed(&m, false, &text, &j);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char member[32];
        (void)snprintf(member, sizeof member, "denials.%zu.attested", i);
        assert_member(&j, member, rows[i].attested);
    }
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

static void every_limit_is_there_in_plain_numbers(void **state)
{
    struct hc_manifest m = plain();
    struct hc_json j;
    hc_autobuf text = {0};
    int limits = 0;
    (void)state;
    policy.limits.timeout_ms = 1500;
    policy.limits.cpus_milli = 250;
    printed(&m, false, &text, &j);
    for (size_t i = 0; i < hc_options_count; i++) {
        if (strncmp(hc_options[i].path, "limits.", 7) != 0)
            continue;
        limits++;
        if (!member(&j, hc_options[i].path))
            fail_msg("no %s", hc_options[i].path);
    }
    assert_int_equal(cJSON_GetArraySize(member(&j, "limits")), limits + 1); /* and enforced_by */
    assert_member(&j, "limits.timeout", "1.5");
    assert_member(&j, "limits.cpus", "0.25");
    hc_json_finish(&j);
}

static void what_was_seen_is_written_down(void **state)
{
    struct hc_manifest m = plain();
    struct hc_json j;
    hc_autobuf text = {0};
    (void)state;
    m.status = HC_STATUS_REJECTED;
    m.exit_code = hc_status_exit(m.status);
    m.tenant = "t";
    m.labels = cJSON_Parse("{\"run\":\"7\"}");
    (void)strcpy(m.reason, "not valid Python");
    m.rejection.set = true;
    (void)strcpy(m.rejection.rule, "syntax");
    (void)strcpy(m.rejection.message, "invalid syntax");
    m.rejection.line = 3;
    m.process.known = m.process.signaled = true;
    m.process.value = SIGKILL;
    (void)hc_buf_add(&m.out.text, "a\xff\0\xc3\xa9\n", 6);
    m.out.bytes = INT64_C(5000000000);
    m.out.truncated = true;
    m.layers[m.layer_count++] = (struct hc_layer){.name = "network", .on = true, .evidence = "only lo"};
    m.tree_name = "scientific";
    (void)strcpy(m.tree_sha256, HASH);
    m.tree_checked = HC_TREE_QUICK;
    m.inputs[m.input_count++] =
        (struct hc_manifest_input){.name = "x", .file = "q\xff.csv", .bytes = 7, .sha256 = HASH};
    m.enforced_by.memory = "cgroup";
    m.usage.cpu_user_us = 1234567;
    m.code_path = strdup("code/run.py");
    printed(&m, false, &text, &j);
    assert_member(&j, "status", "\"rejected\"");
    assert_member(&j, "exit_code", "2");
    assert_member(&j, "tenant", "\"t\"");
    assert_member(&j, "labels", "{\"run\":\"7\"}");
    assert_member(&j, "rejection",
                  "{\"rule\":\"syntax\",\"message\":\"invalid syntax\",\"line\":3,\"column\":null,"
                  "\"hint\":null,\"findings\":[{\"rule\":\"syntax\",\"message\":\"invalid syntax\","
                  "\"what\":null,\"hint\":null,\"line\":3,\"column\":null,\"end_column\":null}],"
                  "\"more\":0}");
    assert_member(&j, "process", "{\"signal\":9,\"name\":\"SIGKILL\"}");
    assert_member(&j, "stdout.text", "\"a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\\n\"");
    assert_member(&j, "stdout.bytes", "5000000000");
    assert_member(&j, "stdout.truncated", "true");
    assert_member(&j, "layers", "{\"network\":{\"on\":true,\"evidence\":\"only lo\"}}");
    assert_member(&j, "tree", "{\"name\":\"scientific\",\"sha256\":\"" HASH "\",\"checked\":\"quick\"}");
    assert_member(&j, "inputs.0",
                  "{\"name\":\"x\",\"file\":\"q\\\\xff.csv\",\"escaped\":true,\"bytes\":7,\"sha256\":\"" HASH
                  "\"}");
    assert_member(&j, "limits.enforced_by.memory", "\"cgroup\"");
    assert_member(&j, "usage.cpu_user", "1.234567");
    assert_member(&j, "code_path", "\"code/run.py\"");
    hc_json_finish(&j);
    cJSON_Delete((cJSON *)m.labels);
    m.labels = NULL;
    hc_manifest_finish(&m);
}

/* What stands in the manifest leads back to the name. */
static void assert_listed_as(const struct hc_json *j, const char *name)
{
    const cJSON *entry = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j->root, "files"), 0);
    char *listed = strdup(cJSON_GetObjectItemCaseSensitive(entry, "path")->valuestring);
    assert_non_null(listed);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entry, "escaped")))
        hc_name_unescape(listed);
    assert_string_equal(listed, name);
    free(listed);
}

static void file_names_are_kept_apart_and_readable(void **state)
{
    static const struct {
        const char *name, *entry;
    } rows[] = {
        {"figures/a b.png", "{\"path\":\"figures/a b.png\","},
        {"back\\slash", "{\"path\":\"back\\\\slash\","},
        {"\xc3\xa9", "{\"path\":\"\xc3\xa9\","},
        {"\xff", "{\"path\":\"\\\\xff\",\"escaped\":true,"},
        {"\\xff\n", "{\"path\":\"\\\\\\\\xff\\\\x0a\",\"escaped\":true,"},
        {"\xc3\xa9\xe2\x82z\x7f", "{\"path\":\"\xc3\xa9\\\\xe2\\\\x82z\\\\x7f\",\"escaped\":true,"},
        {"\033[2J", "{\"path\":\"\\\\x1b[2J\",\"escaped\":true,"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_manifest m = plain();
        struct hc_json j;
        hc_autobuf text = {0};
        m.files = calloc(1, sizeof *m.files);
        m.figures = calloc(1, sizeof *m.figures);
        m.skipped = calloc(1, sizeof *m.skipped);
        m.file_count = m.figure_count = m.skipped_count = 1;
        m.files[0] = (struct hc_artifact){.path = strdup(rows[i].name), .bytes = 1, .sha256 = HASH};
        m.figures[0] = (struct hc_artifact){
            .path = strdup(rows[i].name), .mime = "image/png", .bytes = 1, .sha256 = HASH};
        m.skipped[0] = (struct hc_skipped){.path = strdup(rows[i].name), .reason = "a link"};
        printed(&m, false, &text, &j);
        char entry[256];
        (void)snprintf(entry, sizeof entry, "%s\"bytes\":1,\"sha256\":\"" HASH "\"}", rows[i].entry);
        assert_member(&j, "files.0", entry);
        (void)snprintf(entry, sizeof entry, "%s\"mime\":\"image/png\",\"bytes\":1,\"sha256\":\"" HASH "\"}",
                       rows[i].entry);
        assert_member(&j, "figures.0", entry);
        (void)snprintf(entry, sizeof entry, "%s\"reason\":\"a link\"}", rows[i].entry);
        assert_member(&j, "skipped.entries.0", entry);
        assert_listed_as(&j, rows[i].name);
        hc_json_finish(&j);
        hc_manifest_finish(&m);
    }
}

static void a_report_keeps_its_digits(void **state)
{
    static const char report[] =
        "{\"value\": {\"application/json\": [1e400, 1.50, 123456789012345678901234567890]}, \"displays\": "
        "[{}], "
        "\"figures\": [{\"path\": \"a\", \"mime\": \"b\", \"kind\": \"c\", \"chart\": {}}]}";
    struct hc_manifest m = plain();
    struct hc_json j;
    hc_autobuf text = {0};
    struct hc_error err;
    (void)state;
    m.guest = strdup(report);
    printed(&m, true, &text, &j);
    assert_non_null(strstr(text.data, "[1e400,1.50,123456789012345678901234567890]"));
    assert_int_equal(hc_manifest_verify(&j, key, strlen(key), &err), 0);
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

static void a_hostile_report_is_left_out_and_named(void **state)
{
    static const struct {
        const char *report, *why;
    } rows[] = {
        {"[]", "report:1:1: expected an object, got a list"},
        {"{\"value\": {}", "report:1:13: expected ',' or '}' after a member, found end of file"},
        {"null}, \"status\": \"ok\", \"x\": {", "report:1:5: expected the end of the document, found '}'"},
        {"{\"status\": \"ok\"}", "report:1:2: a member that is not known"},
        {"{\"value\": 1}", "report:1:11: 'value' is not as it must be"},
        {"{\"error\": {\"type\": \"E\"}}", "report:1:11: 'error' is not as it must be"},
        {"{\"error\": {\"type\": \"E\", \"message\": 1, \"traceback\": \"\"}}",
         "report:1:11: 'error' is not as it must be"},
        {"{\"error\": {\"type\": \"E\", \"message\": \"\", \"traceback\": \"\", \"line\": 0}}",
         "report:1:11: 'error' is not as it must be"},
        {"{\"error\": {\"type\": \"E\", \"message\": \"\", \"traceback\": \"\", \"hint\": 1}}",
         "report:1:11: 'error' is not as it must be"},
        {"{\"error\": {\"type\": \"E\", \"message\": \"\", \"traceback\": \"\", \"fix\": \"\"}}",
         "report:1:11: 'error' is not as it must be"},
        {"{\"figures\": [1]}", "report:1:13: 'figures' is not as it must be"},
        {"{\"figures\": [{\"path\": \"a\", \"mime\": \"b\"}]}",
         "report:1:13: 'figures' is not as it must be"},
        {"{\"figures\": [{\"path\": \"a\", \"mime\": \"b\", \"kind\": \"c\", \"chart\": 1}]}",
         "report:1:13: 'figures' is not as it must be"},
        {"{\"figures\": [{\"path\": \"a\", \"mime\": \"b\", \"kind\": \"c\", \"x\": {}}]}",
         "report:1:13: 'figures' is not as it must be"},
        {"{\"displays\": {}}", "report:1:14: 'displays' is not as it must be"},
        {"{\"warnings\": [\"a\"], \"warning_kinds\": [\"other\"]}",
         "report:1:38: 'warning_kinds' is not as it must be"},
        {"{\"warnings\": [\"a\"], \"warning_kinds\": [\"input\", \"input\"]}",
         "report:1:38: 'warning_kinds' has not one kind for each warning"},
        {"{\"warning_kinds\": [\"report\"]}",
         "report:1:19: 'warning_kinds' has not one kind for each warning"},
        {"{\"displays\": [{}, 1]}", "report:1:14: 'displays' is not as it must be"},
        {"{\"columns\": {\"a\": \"b\"}}", "report:1:13: 'columns' is not as it must be"},
        {"{\"warnings\": [null]}", "report:1:14: 'warnings' is not as it must be"},
        {"{\"exit\": 0.5}", "report:1:10: 'exit' is not as it must be"},
        {"{\"exit\": 1e999}", "report:1:10: 'exit' is not as it must be"},
        {"{\"complete\": 1}", "report:1:14: 'complete' is not as it must be"},
        {"{\"returned\": []}", "report:1:14: 'returned' is not as it must be"},
        {"{\"returned\": {\"a\": 1}}", "report:1:14: 'returned' is not as it must be"},
        {"{\"returned\": {\"a\": {\"path\": 1}}}", "report:1:14: 'returned' is not as it must be"},
        {"{\"returned\": {\"a\": {\"owner\": \"x\"}}}", "report:1:14: 'returned' is not as it must be"},
        {"{\"value\": null, \"value\": null}", "report:1:17: 'value' is given twice in one object"},
        {"", "report:1:1: expected a JSON value, found end of file"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_manifest m = plain();
        struct hc_json j;
        hc_autobuf text = {0};
        char warning[256];
        m.guest = strdup(rows[i].report);
        printed(&m, false, &text, &j);
        assert_member(&j, "guest", "null");
        assert_member(&j, "status", "\"ok\"");
        (void)snprintf(warning, sizeof warning, "the report of the guest's process was dropped: %s",
                       rows[i].why);
        assert_string_equal(member(&j, "warnings.0")->valuestring, warning);
        hc_json_finish(&j);
        hc_manifest_finish(&m);
    }
}

/* A reader of the manifest's warnings misses none, and is not misled by one. */
static void warnings_of_a_report_are_among_the_manifests(void **state)
{
    struct hc_manifest m = plain();
    struct hc_json j;
    hc_autobuf text = {0}, report = {0};
    (void)state;
    (void)hc_buf_str(&report, "{\"warnings\":[\"a\\nb\\u001b\"");
    for (int i = 0; i < 60; i++)
        (void)hc_buf_str(&report, ",\"c\"");
    (void)hc_buf_str(&report, "]}");
    m.guest = hc_buf_take(&report);
    printed(&m, false, &text, &j);
    assert_string_equal(member(&j, "warnings.0")->valuestring, "guest: a?b?");
    assert_string_equal(member(&j, "warnings.49")->valuestring, "guest: c");
    assert_string_equal(member(&j, "warnings.50")->valuestring,
                        "guest: more warnings are listed under guest");
    assert_int_equal(cJSON_GetArraySize(member(&j, "warnings")), 51);
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

static void a_report_may_be_as_deep_as_fits(void **state)
{
    char text[256];
    struct hc_error err;
    (void)state;
    for (int deep = 50; deep < 66; deep++) {
        int used = snprintf(text, sizeof text, "{\"value\": {\"application/json\": ");
        memset(text + used, '[', (size_t)deep);
        memset(text + used + deep, ']', (size_t)deep);
        (void)strcpy(text + used + 2 * deep, "}}");
        struct hc_manifest m = plain();
        struct hc_json j;
        hc_autobuf out = {0};
        m.guest = strdup(text);
        printed(&m, true, &out, &j);
        assert_int_equal(hc_manifest_verify(&j, key, strlen(key), &err), 0);
        bool kept = cJSON_IsObject(member(&j, "guest"));
        assert_int_equal(kept, hc_guest_report_check(text, strlen(text), NULL, &err) == 0);
        assert_int_equal(kept, deep <= 54); /* eight around it, the report, value */
        hc_json_finish(&j);
        hc_manifest_finish(&m);
    }
}

/* The signature's check of a manifest in which `from` was replaced by `to`. */
static int verify_changed(const char *text, const char *from, const char *to, const char *with,
                          struct hc_error *err)
{
    hc_autobuf changed = {0};
    struct hc_json j;
    const char *at = strstr(text, from);
    assert_non_null(at);
    (void)hc_buf_add(&changed, text, (size_t)(at - text));
    (void)hc_buf_str(&changed, to);
    (void)hc_buf_str(&changed, at + strlen(from));
    assert_int_equal(hc_json_parse(&j, "manifest.json", changed.data, changed.len, err), 0);
    int rc = hc_manifest_verify(&j, with, strlen(with), err);
    hc_json_finish(&j);
    return rc;
}

/* Python refuses to read longer integers. */
static void a_report_has_no_endless_numbers(void **state)
{
    (void)state;
    for (int digits = 4299; digits < 4302; digits++) {
        char text[4400];
        struct hc_error err;
        int used = snprintf(text, sizeof text, "{\"results\": [");
        memset(text + used, '9', (size_t)digits);
        (void)strcpy(text + used + digits, "]}");
        assert_int_equal(hc_guest_report_check(text, strlen(text), NULL, &err), digits <= 4300 ? 0 : -1);
    }
}

static void a_signature_covers_content_not_spelling(void **state)
{
    struct hc_manifest m = plain();
    struct hc_error err;
    hc_autobuf text = {0};
    static const struct {
        const char *from, *to;
        int exit; /* 0: still good */
    } rows[] = {
        {"\"ok\"", "\"ok\"", 0},
        {"  \"status\"", "\n\t\"status\"", 0},
        {"\"ok\"", "\"\\u006fk\"", 0},
        {"\"ok\"", "\"error\"", HC_EXIT_GUEST},
        {"\"exit_code\": 0", "\"exit_code\": 0.0", HC_EXIT_GUEST},
        {"\"denials\": []", "\"denials\": [1]", HC_EXIT_GUEST},
        {"\"denials\": [],", "", HC_EXIT_GUEST},
        {"\"denials\": []", "\"denials\": [], \"more\": 1", HC_EXIT_GUEST},
        {"\"signature\": {", "\"signature\": {\"x\": 1, ", 0}, /* nothing in the signature is content */
        {"HMAC-SHA256", "none", HC_EXIT_DATA},
        {"\"value\": \"", "\"value\": \"0", HC_EXIT_GUEST},
        {"\"version\": 1", "\"version\": 2", HC_EXIT_DATA},
        {"\"version\": 1", "\"version\": \"1\"", HC_EXIT_DATA},
        {"\"signature\": {", "\"signature\": null, \"other\": {", HC_EXIT_GUEST},
        {"\"signature\": {", "\"other\": {", HC_EXIT_DATA},
    };
    (void)state;
    assert_int_equal(hc_manifest_print(&m, key, strlen(key), &text, &err), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int rc = verify_changed(text.data, rows[i].from, rows[i].to, key, &err);
        if ((rc == 0 ? 0 : err.exit) != rows[i].exit)
            fail_msg("%s -> %s: %d", rows[i].from, rows[i].to, rc == 0 ? 0 : err.exit);
    }
    assert_int_equal(verify_changed(text.data, "\"ok\"", "\"ok\"", "another key", &err), -1);
    assert_int_equal(err.exit, HC_EXIT_GUEST);
    assert_string_equal(err.text,
                        "manifest.json: the signature does not match: another key, or it was changed");
}

static void the_plain_form_says_the_same(void **state)
{
    struct hc_manifest m = plain();
    struct hc_error err;
    hc_autobuf indented = {0}, text = {0}, again = {0};
    (void)state;
    assert_int_equal(hc_manifest_print(&m, key, strlen(key), &indented, &err), 0);
    assert_int_equal(hc_manifest_print_plain(&m, key, strlen(key), &text, &err), 0);
    assert_null(strchr(text.data, '\n'));
    assert_int_equal(hc_manifest_indent(text.data, text.len, &again, &err), 0);
    assert_string_equal(again.data, indented.data);
}

static void an_unsigned_manifest_does_not_verify(void **state)
{
    struct hc_manifest m = plain();
    struct hc_json j;
    struct hc_error err;
    hc_autobuf text = {0};
    (void)state;
    printed(&m, false, &text, &j);
    assert_int_equal(hc_manifest_verify(&j, key, strlen(key), &err), -1);
    assert_string_equal(err.text, "manifest.json: not signed");
    assert_int_equal(err.exit, HC_EXIT_GUEST);
    hc_json_finish(&j);
    static const char *const others[] = {"[]", "{}", "null", "\"version\"", "{\"version\": 1}"};
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(hc_json_parse(&j, "x", others[i], strlen(others[i]), &err), 0);
        assert_int_equal(hc_manifest_verify(&j, key, strlen(key), &err), -1);
        assert_string_equal(err.text, "x:1:1: not a manifest");
        assert_int_equal(err.exit, HC_EXIT_DATA);
        hc_json_finish(&j);
    }
}

static void the_signature_is_what_anybody_can_compute(void **state)
{
    struct hc_manifest m = plain();
    struct hc_json j;
    struct hc_error err;
    hc_autobuf text = {0}, canonical = {0};
    char hex[HC_SHA256_HEX];
    (void)state;
    printed(&m, true, &text, &j);
    assert_int_equal(hc_json_canonical(text.data, text.len, "signature", &canonical, &err), 0);
    hc_hmac_hex(key, strlen(key), canonical.data, canonical.len, hex);
    assert_string_equal(member(&j, "signature.value")->valuestring, hex);
    assert_null(strstr(canonical.data, "signature"));
    hc_json_finish(&j);
}

static void the_older_runner_gets_its_four_keys(void **state)
{
    struct hc_manifest m = plain();
    struct hc_json j;
    struct hc_error err;
    hc_autobuf text = {0};
    (void)state;
    m.exit_code = 1;
    m.out.truncated = true;
    m.figures = calloc(1, sizeof *m.figures);
    m.figures[m.figure_count++] = (struct hc_artifact){.path = strdup("figures/a.png"), .mime = "image/png"};
    m.code_path = strdup("code/run.py");
    assert_int_equal(hc_manifest_print_runner(&m, "/o", &text, &err), 0);
    assert_int_equal(hc_json_parse(&j, "x", text.data, text.len, &err), 0);
    char *all = cJSON_PrintUnformatted(j.root);
    assert_string_equal(
        all, "{\"exit_code\":1,\"figure_paths\":[\"/o/figures/a.png\"],\"code_paths\":[\"/o/code/run.py\"],"
             "\"truncated\":true}");
    free(all);
    hc_json_finish(&j);
    hc_manifest_finish(&m);
}

static void every_status_has_its_exit_status(void **state)
{
    static const struct {
        enum hc_status status;
        const char *name;
        int exit;
    } rows[] = {
        {HC_STATUS_OK, "ok", 0},
        {HC_STATUS_ERROR, "error", 1},
        {HC_STATUS_REJECTED, "rejected", 2},
        {HC_STATUS_TIMEOUT, "timeout", 3},
        {HC_STATUS_CPU, "cpu", 3},
        {HC_STATUS_MEMORY, "memory", 3},
        {HC_STATUS_PIDS, "pids", 3},
        {HC_STATUS_OUTPUT, "output", 3},
        {HC_STATUS_COLLECT, "collect", 3},
        {HC_STATUS_KILLED, "killed", 3},
        {HC_STATUS_LAUNCH_FAILED, "launch_failed", HC_EXIT_INTERNAL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(hc_status_name(rows[i].status), rows[i].name);
        assert_int_equal(hc_status_exit(rows[i].status), rows[i].exit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_null_or_empty),
        cmocka_unit_test(denials_say_who_vouches_for_them),
        cmocka_unit_test(denials_of_a_shared_process_are_not_vouched_for),
        cmocka_unit_test(every_limit_is_there_in_plain_numbers),
        cmocka_unit_test(what_was_seen_is_written_down),
        cmocka_unit_test(file_names_are_kept_apart_and_readable),
        cmocka_unit_test(a_report_keeps_its_digits),
        cmocka_unit_test(a_hostile_report_is_left_out_and_named),
        cmocka_unit_test(warnings_of_a_report_are_among_the_manifests),
        cmocka_unit_test(a_report_may_be_as_deep_as_fits),
        cmocka_unit_test(a_report_has_no_endless_numbers),
        cmocka_unit_test(a_signature_covers_content_not_spelling),
        cmocka_unit_test(the_plain_form_says_the_same),
        cmocka_unit_test(an_unsigned_manifest_does_not_verify),
        cmocka_unit_test(the_signature_is_what_anybody_can_compute),
        cmocka_unit_test(the_older_runner_gets_its_four_keys),
        cmocka_unit_test(every_status_has_its_exit_status),
    };
    return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
