/* hotcelld.conf: what it says, what is refused and where, and the file of tokens. */
#include "daemon/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void parse(struct hc_config *c, const char *text)
{
    struct hc_error err = {0};
    if (hc_config_parse(c, "conf", text, strlen(text), &err) < 0)
        fail_msg("%s", err.text);
}

static void the_tables_are_consistent(void **state)
{
    const struct hc_config_table *tables[] = {&hc_config_options, &hc_quota_options};
    (void)state;
    for (size_t t = 0; t < COUNT(tables); t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            const struct hc_option *row = &tables[t]->rows[i];
            assert_int_equal(row->help[strlen(row->help) - 1], '.');
            for (size_t k = 0; k < i; k++) {
                assert_int_not_equal(tables[t]->rows[k].at, row->at);
                assert_string_not_equal(tables[t]->rows[k].path, row->path);
            }
            if (row->kind != HC_OPT_NAME && row->kind != HC_OPT_CHOICE)
                assert_in_range(row->def, row->min, row->max);
        }
    }
}

static void nothing_said_means_the_defaults(void **state)
{
    struct hc_config c;
    (void)state;
    parse(&c, "{}");
    assert_int_equal(hc_config_socket_mode(&c), 0600);
    assert_int_equal(c.local, HC_LOCAL_OWN);
    assert_int_equal(c.http_body, 64 << 20);
    assert_int_equal(c.quota.weight, 100);
    assert_int_equal(c.quota.window_ms, 3600 * 1000);
    assert_null(c.allowed.policies);
    assert_null(c.allowed.trees);
    assert_true(hc_config_workers(&c) >= 1);
    hc_config_finish(&c);
}

static const char everything[] =
    "{\"socket\": {\"path\": \"/run/x.sock\", \"mode\": \"0660\", \"group\": \"cells\"},\n"
    " \"tenants\": {\"alice\": {\"uids\": [1000, \"2000-2999\"], \"weight\": 300, \"cpu_seconds\": 1.5,\n"
    "                         \"policies\": [\"analysis\"], \"trees\": []},\n"
    "             \"bob\": {\"uids\": [1001], \"running\": 2, \"admin\": true}},\n"
    " \"quotas\": {\"queued\": 7, \"running\": 4, \"memory\": \"2G\", \"policies\": [\"default\", "
    "\"charts\"], \"trees\": [\"base\"]},\n"
    " \"listen\": [{\"address\": \"::1\", \"port\": 8443}], \"tokens\": \"/etc/hotcell/tokens\",\n"
    " \"warm\": {\"memory\": \"1G\", \"cells\": 7, \"age\": \"1m\"},\n"
    " \"retention\": {\"time\": \"48h\", \"bytes\": 0}, \"workers\": 3, \"local_users\": \"none\"}";

static void everything_said_is_taken(void **state)
{
    struct hc_config c;
    (void)state;
    parse(&c, everything);
    assert_string_equal(c.socket_path, "/run/x.sock");
    assert_int_equal(hc_config_socket_mode(&c), 0660);
    assert_int_equal(c.tenant_count, 2);
    /* "quotas" stands behind "tenants" in the file, and holds for them all the same. */
    assert_int_equal(c.tenants[0].quota.queued, 7);
    assert_int_equal(c.tenants[0].quota.running, 4);
    assert_int_equal(c.tenants[0].quota.cpu_ms, 1500);
    assert_int_equal(c.tenants[0].uids[1].last, 2999);
    assert_string_equal(c.tenants[0].allowed.policies[0], "analysis");
    assert_null(c.tenants[0].allowed.policies[1]);
    assert_null(c.tenants[0].allowed.trees[0]);
    assert_int_equal(c.tenants[1].quota.running, 2);
    assert_true(c.tenants[1].admin && !c.tenants[0].admin);
    assert_string_equal(c.tenants[1].allowed.policies[1], "charts");
    assert_string_equal(c.tenants[1].allowed.trees[0], "base");
    assert_int_equal(c.listen[0].port, 8443);
    assert_int_equal(c.warm_memory, INT64_C(1) << 30);
    assert_int_equal(c.warm_cells, 7);
    assert_int_equal(c.warm_age_ms, 60000);
    assert_int_equal(c.warm_idle_ms, 600000);
    assert_int_equal(c.retention_ms, INT64_C(48) * 3600 * 1000);
    assert_int_equal(hc_config_workers(&c), 3);
    hc_config_finish(&c);
}

static void what_is_printed_says_the_same(void **state)
{
    struct hc_config c, again;
    (void)state;
    parse(&c, everything);
    cJSON *first = hc_config_to_json(&c);
    char *text = cJSON_Print(first);
    parse(&again, text);
    cJSON *second = hc_config_to_json(&again);
    assert_true(cJSON_Compare(first, second, true));
    cJSON_Delete(first);
    cJSON_Delete(second);
    free(text);
    hc_config_finish(&c);
    hc_config_finish(&again);
}

static const struct {
    const char *text, *error;
} refusals[] = {
    {"[]", "conf:1:1: expected an object, got a list"},
    {"{\"soket\": {}}", "conf:1:2: unknown member 'soket'; did you mean 'socket'?"},
    {"{\"socket\": \"/x\"}", "conf:1:12: socket: expected an object, got a string"},
    {"{\n \"http\": {\"bodi\": 1}}", "conf:2:11: unknown member 'bodi' in http; did you mean 'body'?"},
    {"{\"http.body\": 1}", "conf:1:2: unknown member 'http.body'"},
    {"{\"http\": {\"body\": 5}}", "conf:1:19: http.body: expected 1K to 16G, got 5"},
    {"{\"socket\": {\"path\": \"x\"}}", "conf:1:21: socket.path: expected an absolute path"},
    {"{\"socket\": {\"mode\": \"0777\"}}", "conf:1:21: socket.mode: expected 0600, 0660 or 0666, got '0777'"},
    {"{\"workers\": \"many\"}", "conf:1:13: workers: expected a whole number, got a string"},
    {"{\"quotas\": {\"uids\": [1]}}", "conf:1:13: unknown member 'uids' in quotas"},
    {"{\"tenants\": {\"a b\": {}}}", "conf:1:14: tenants: expected a name of 1 to 64 letters, digits, '.', "
                                     "'_' or '-', not beginning with '.'"},
    {"{\"tenants\": {\"uid-7\": {}}}",
     "conf:1:14: tenants: 'uid-7' is what a user is called who has no tenant; choose another name, and give "
     "it \"uids\""},
    {"{\"tenants\": {\"a\": {\"admin\": 1}}}", "conf:1:29: admin: expected true or false, got a number"},
    {"{\"quotas\": {\"admin\": true}}", "conf:1:13: unknown member 'admin' in quotas"},
    {"{\"tenants\": {\"a\": {\"wait\": 1}}}", "conf:1:20: unknown member 'wait' in a"},
    {"{\"tenants\": {\"a\": {\"uids\": [1]}, \"b\": {\"uids\": [\"0-5\"]}}}",
     "conf:1:49: uids: tenant 'a' has uid 1 already"},
    {"{\"tenants\": {\"a\": {\"uids\": [\"5-1\"]}}}",
     "conf:1:29: uids: expected a uid such as 1000 or a range such as \"1000-1999\""},
    {"{\"tenants\": {\"a\": {\"uids\": [4294967295]}}}",
     "conf:1:29: uids: expected a uid such as 1000 or a range such as \"1000-1999\""},
    {"{\"quotas\": {\"policies\": [\"../x\"]}}", "conf:1:26: policies: expected the name of a policy "
                                                 "(letters, digits, '.', '_', '-'), got another string"},
    {"{\"tenants\": {\"a\": {\"trees\": [\"/x\"]}}}", "conf:1:30: trees: expected the name of a tree "
                                                      "(letters, digits, '.', '_', '-'), got another string"},
    {"{\"quotas\": {\"trees\": \"base\"}}",
     "conf:1:22: trees: expected a list of names of trees, got a string"},
    {"{\"listen\": [{\"address\": \"127.0.0.1\", \"port\": 80}]}",
     "conf:1:2: listen: needs \"tokens\", the file of those who may connect over the network"},
    {"{\"listen\": [{\"address\": \"localhost\"}]}",
     "conf:1:25: listen: address: expected an IPv4 or IPv6 address such as \"127.0.0.1\""},
    {"{\"queue\": 1, \"queue\": 2}", "conf:1:14: 'queue' is given twice in one object"},
};

static void wrong_files_are_refused_with_place_and_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct hc_config c;
        struct hc_error err = {0};
        if (hc_config_parse(&c, "conf", refusals[i].text, strlen(refusals[i].text), &err) == 0)
            fail_msg("accepted: %s", refusals[i].text);
        assert_string_equal(err.text, refusals[i].error);
        assert_int_equal(err.exit, HC_EXIT_CONFIG);
    }
}

#define DIGEST_A "0000000000000000000000000000000000000000000000000000000000000000"
#define DIGEST_B "00000000000000000000000000000000000000000000000000000000000000ff"

static void tokens_belong_to_tenants(void **state)
{
    static const char text[] = "# of the front end\n\n" DIGEST_B "\tbob\r\n" DIGEST_A " alice # laptop";
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"abc alice\n", "t:1: expected the SHA-256 of a token, 64 digits 0-9 and a-f, and a tenant"},
        {"\n" DIGEST_A "\n", "t:2: expected a tenant after the SHA-256"},
        {DIGEST_A " ali\n", "t:1: there is no such tenant in the configuration"},
        {DIGEST_A " alice x\n", "t:1: expected the end of the line after the tenant"},
        {DIGEST_A " alice\n" DIGEST_B " bob\n" DIGEST_A " bob\n",
         "t:3: the token 00000000... stands on line 1 already"},
    };
    struct hc_config c;
    struct hc_error err = {0};
    (void)state;
    parse(&c, everything);
    assert_int_equal(hc_config_parse_tokens(&c, "t", text, strlen(text), &err), 0);
    assert_int_equal(c.token_count, 2);
    assert_string_equal(c.tokens[0].tenant, "alice");
    assert_string_equal(c.tokens[1].tenant, "bob");
    hc_config_finish(&c);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        parse(&c, everything);
        assert_int_equal(hc_config_parse_tokens(&c, "t", wrong[i].text, strlen(wrong[i].text), &err), -1);
        assert_string_equal(err.text, wrong[i].error);
        hc_config_finish(&c);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The file's name in a message becomes "conf". */
static void cut_name(char *text, const char *name)
{
    char *at = strstr(text, name);
    if (!at)
        return;
    memcpy(at, "conf", 4);
    memmove(at + 4, at + strlen(name), strlen(at + strlen(name)) + 1);
}

static void what_is_named_has_to_be_there(void **state)
{
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"{\"socket\": {\"group\": \"no such group\"}}",
         "configuration: socket.group: there is no group 'no such group'"},
        {"{\"quotas\": {\"policies\": [\"no-such-policy\"]}}",
         "configuration: conf:1:26: policies of quotas: there is no policy 'no-such-policy'"},
        {"{\"tenants\": {\"a\": {\n\"policies\": [\"no-such-policy\"]}}}",
         "configuration: conf:2:14: policies of a: there is no policy 'no-such-policy'"},
        {"{\"tenants\": {\"a\": {\"policy\": \"no-such-policy\"}}}",
         "configuration: conf:1:30: policy of a: there is no policy 'no-such-policy'"},
        {"{\"quotas\": {\"memory\": \"1G\"},\n \"tenants\": {\"a\": {\"max\": {\"memory\": \"2G\"}}}}",
         "configuration: conf:2:38: max.memory of a: 2G for one job, and all of its jobs together may have "
         "1G "
         "(memory)"},
    };
    char conf[] = "/tmp/hotcell-config-XXXXXX";
    struct hc_config c;
    struct hc_error err = {0};
    (void)state;
    assert_int_equal(close(mkstemp(conf)), 0);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        write_file(conf, wrong[i].text);
        assert_int_equal(hc_config_load(conf, &c, &err), -1);
        cut_name(err.text, conf);
        assert_string_equal(err.text, wrong[i].error);
        assert_int_equal(err.exit, HC_EXIT_CONFIG);
    }
    /* A maximum for all may be more than one of them has. */
    write_file(conf,
               "{\"quotas\": {\"max\": {\"memory\": \"2G\"}}, \"tenants\": {\"a\": {\"memory\": \"1G\"}}}");
    assert_int_equal(hc_config_load(conf, &c, &err), 0);
    hc_config_finish(&c);
    assert_int_equal(unlink(conf), 0);
}

static void a_file_is_loaded_with_its_tokens(void **state)
{
    char dir[] = "/tmp/hotcell-config-XXXXXX", conf[64], tokens[64], text[256];
    struct hc_config c;
    struct hc_error err = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(conf, sizeof conf, "%s/conf", dir);
    (void)snprintf(tokens, sizeof tokens, "%s/tokens", dir);
    (void)snprintf(text, sizeof text, "{\"tokens\": \"%s\", \"tenants\": {\"alice\": {}}, \"state\": \"/s\"}",
                   tokens);
    write_file(conf, text);
    assert_int_equal(hc_config_load(conf, &c, &err), -1); /* tokens that are named have to be there */
    assert_int_equal(err.exit, HC_EXIT_CONFIG);
    assert_int_equal(hc_config_load_places(conf, &c, &err), 0);
    assert_string_equal(c.state, "/s");
    hc_config_finish(&c);
    write_file(tokens, DIGEST_A " alice\n");
    assert_int_equal(chmod(tokens, 0660), 0);
    assert_int_equal(hc_config_load(conf, &c, &err), -1);
    assert_non_null(strstr(err.text, "is writable by others than its owner"));
    assert_int_equal(chmod(tokens, 0600), 0);
    assert_int_equal(hc_config_load(conf, &c, &err), 0);
    assert_int_equal(c.token_count, 1);
    assert_string_equal(c.socket_path, "");
    assert_int_equal(hc_config_find_places(&c, &err), 0);
    assert_string_not_equal(c.socket_path, "");
    assert_string_equal(c.state, "/s");
    hc_config_finish(&c);
    assert_int_equal(unlink(tokens) | unlink(conf) | rmdir(dir), 0);
}

static void changes_that_wait_for_the_next_start_are_named(void **state)
{
    (void)state;
    struct hc_config old, fresh;
    struct hc_error err;
    hc_autobuf out = {0};
    static const char before[] = "{\"workers\": 3, \"queue\": 7}",
                      after[] = "{\"workers\": 3, \"queue\": 8, \"warm\": {\"age\": \"5s\"}, \"trees\": "
                                "{\"check\": 0}, \"tokens\": \"/t\", \"listen\": [{\"address\": "
                                "\"127.0.0.1\", \"port\": 1}]}";
    assert_int_equal(hc_config_parse(&old, "c", before, strlen(before), &err), 0);
    assert_int_equal(hc_config_parse(&fresh, "c", after, strlen(after), &err), 0);
    hc_config_fixed_changes(&old, &old, &out);
    assert_int_equal(out.len, 0);
    hc_config_fixed_changes(&old, &fresh, &out);
    assert_string_equal(out.data, "trees.check, warm.age, listen");
    hc_config_finish(&old);
    hc_config_finish(&fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_that_wait_for_the_next_start_are_named),
        cmocka_unit_test(the_tables_are_consistent),
        cmocka_unit_test(nothing_said_means_the_defaults),
        cmocka_unit_test(everything_said_is_taken),
        cmocka_unit_test(what_is_printed_says_the_same),
        cmocka_unit_test(wrong_files_are_refused_with_place_and_reason),
        cmocka_unit_test(tokens_belong_to_tenants),
        cmocka_unit_test(what_is_named_has_to_be_there),
        cmocka_unit_test(a_file_is_loaded_with_its_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
