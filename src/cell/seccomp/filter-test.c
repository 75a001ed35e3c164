/* What the tables say is what the filters answer: each policy's filters are compiled for both machines
 * and run here, as the kernel would, over call numbers and arguments. */
#include "cell/seccomp/filter_proof.h"

#include "cell/policies.h"
#include "policy/syscalls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NUMBERS 1024
#define X32_BIT 0x40000000

/* ---- the three filters of a cell ---- */

struct cell {
    const char *name;
    struct hc_policy *policy;
    bool counted;
    uint32_t arch, audit;
    struct hc_buf filters[4]; /* compiled, by enum hc_filter_kind */
};

/* The kernel takes the answer that allows least; among equals the youngest filter's. */
static uint32_t answer(const struct cell *c, const struct seccomp_data *data)
{
    uint32_t least = SECCOMP_RET_ALLOW;
    for (size_t i = 3; i-- > 0;) {
        uint32_t one = hc_filter_run(&c->filters[i], data);
        if ((int32_t)(one & SECCOMP_RET_ACTION_FULL) < (int32_t)(least & SECCOMP_RET_ACTION_FULL))
            least = one;
    }
    return least;
}

static void compile(struct cell *c)
{
    struct hc_error err;
    for (int kind = HC_FILTER_FIRST; kind <= HC_FILTER_ZYGOTE; kind++) {
        c->filters[kind] = (struct hc_buf){0};
        if (hc_filter_compile((enum hc_filter_kind)kind, c->policy, c->counted, c->arch, &c->filters[kind],
                              &err) < 0)
            fail_msg("%s", err.text);
        assert_true(c->filters[kind].len / sizeof(struct sock_filter) <= BPF_MAXINSNS);
    }
}

static void release(struct cell *c)
{
    for (size_t i = 0; i < 4; i++)
        hc_buf_finish(&c->filters[i]);
}

/* ---- what the tables say ---- */

static bool fits(const struct hc_call_rule *r, const struct seccomp_data *data)
{
    for (size_t i = 0; i < HC_CALL_COMPARISONS && r->cmp[i].mask; i++)
        if ((data->args[r->cmp[i].arg] & r->cmp[i].mask) != r->cmp[i].value)
            return false;
    return true;
}

static uint32_t refused(bool told, int error)
{
    return told ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | (uint32_t)error;
}

static uint32_t by_refusal(const char *call, bool denied)
{
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        if (hc_calls_have(hc_call_refusals[i].calls, call))
            return refused(hc_filter_advice(call) && !denied, hc_call_refusals[i].error);
    return refused(false, ENOSYS);
}

/* 0: no row is about this call. Rows that fit the same arguments must agree. */
static uint32_t by_rule(const struct cell *c, const char *call, const struct seccomp_data *data)
{
    unsigned when = hc_filter_when(HC_FILTER_JOB, c->policy, c->counted);
    uint32_t found = 0;
    bool any = false;
    for (size_t i = 0; i < hc_call_rules_count; i++) {
        const struct hc_call_rule *r = &hc_call_rules[i];
        if (strcmp(r->call, call) != 0 || !(r->when & when))
            continue;
        any = true;
        if (!fits(r, data))
            continue;
        uint32_t says = r->error ? refused(hc_filter_hint(r), r->error) : SECCOMP_RET_ALLOW;
        if (found && found != says)
            fail_msg("two rows about %s contradict each other", call);
        found = says;
    }
    return found ? found : any ? refused(false, ENOSYS) : 0;
}

/* Rows that refuse arguments which other rows allow, and notify the launcher. */
static bool is_taken(const struct cell *c, const char *call, const struct seccomp_data *data)
{
    unsigned when = (hc_syscalls_no_new_code(c->policy->rules) ? (unsigned)HC_NO_NEW_CODE : 0) |
                    (c->policy->session && !hc_policy_has_commands(c->policy) ? (unsigned)HC_IN_SESSION : 0);
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if ((hc_call_rules[i].when & when) && strcmp(hc_call_rules[i].call, call) == 0 &&
            fits(&hc_call_rules[i], data))
            return true;
    return false;
}

static bool in_sets(const struct cell *c, const char *call)
{
    unsigned when = hc_filter_when(HC_FILTER_JOB, c->policy, c->counted);
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if ((hc_call_sets[i].when & when) && hc_calls_have(hc_call_sets[i].calls, call) &&
            hc_syscalls_in_set(c->policy->rules, &hc_call_sets[i], call))
            return true;
    return false;
}

static uint32_t expected(const struct cell *c, const char *call, const struct seccomp_data *data)
{
    if (hc_syscalls_denied(c->policy->rules, call))
        return by_refusal(call, true);
    uint32_t rule = by_rule(c, call, data);
    uint32_t says = in_sets(c, call) ? SECCOMP_RET_ALLOW : rule ? rule : by_refusal(call, false);
    return says == SECCOMP_RET_ALLOW && is_taken(c, call, data) ? SECCOMP_RET_USER_NOTIF : says;
}

/* ---- a zygote's cell ---- */

/* The zygote's filter is the oldest of its cells' filters, and no answer is another for it: the kernel
 * prefers every errno to its notification, and asks the youngest of the filters that want a notification.
 * With only the first filter on there is no listener, and a notification means ENOSYS. */
static void check_below(const struct cell *c, const char *call, const struct seccomp_data *data,
                        uint32_t others)
{
    uint32_t zygote = hc_filter_run(&c->filters[HC_FILTER_ZYGOTE], data);
    uint32_t first = hc_filter_run(&c->filters[HC_FILTER_FIRST], data);
    if (zygote != SECCOMP_RET_ALLOW && zygote != SECCOMP_RET_USER_NOTIF)
        fail_msg("%s: a zygote's filter gives %#x", c->name, zygote);
    if (zygote == SECCOMP_RET_USER_NOTIF && (others == SECCOMP_RET_ALLOW || first == SECCOMP_RET_ALLOW))
        fail_msg("%s: %s is refused to the zygote and not to its cells", c->name, call);
}

/* ---- every number, with arguments worth trying ---- */

static bool check(void *ctx, const char *call, const struct seccomp_data *data)
{
    const struct cell *c = ctx;
    uint32_t says = call ? expected(c, call, data) : refused(false, ENOSYS);
    uint32_t does = answer(c, data);
    if (says != does)
        fail_msg("%s, %s, %s: %s(%#llx, %#llx, %#llx, %#llx): the tables say %#x, the filters %#x", c->name,
                 c->counted ? "counted" : "uncounted", c->arch == SCMP_ARCH_X86_64 ? "x86-64" : "arm64",
                 call ? call : "unnamed", (unsigned long long)data->args[0],
                 (unsigned long long)data->args[1], (unsigned long long)data->args[2],
                 (unsigned long long)data->args[3], says, does);
    check_below(c, call ? call : "unnamed", data, does);
    return true;
}

/* 32-bit calls, x32 and other machines end the process, whatever the number. */
static void check_foreign(const struct cell *c)
{
    static const uint32_t machines[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64,
                                        AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64};
    for (int nr = 0; nr < NUMBERS; nr++) {
        for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
            struct seccomp_data data = {.nr = nr, .arch = machines[i]};
            if (machines[i] != c->audit)
                assert_int_equal(answer(c, &data), SECCOMP_RET_KILL_THREAD);
        }
        struct seccomp_data x32 = {.nr = nr | X32_BIT, .arch = c->audit};
        assert_int_equal(answer(c, &x32), c->arch == SCMP_ARCH_X86_64
                                              ? SECCOMP_RET_KILL_THREAD
                                              : (SECCOMP_RET_ERRNO | (uint32_t)ENOSYS));
    }
}

static void check_cells(const char *name, struct hc_policy *policy)
{
    static const uint32_t machines[][2] = {{SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64},
                                           {SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64}};
    for (size_t m = 0; m < 2; m++)
        for (int counted = 0; counted < 2; counted++) {
            struct cell c = {.name = name,
                             .policy = policy,
                             .counted = counted,
                             .arch = machines[m][0],
                             .audit = machines[m][1]};
            compile(&c);
            (void)hc_filter_samples(c.arch, check, &c);
            check_foreign(&c);
            release(&c);
        }
}

/* ---- policies ---- */

static int read_text(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                     struct hc_error *err)
{
    (void)name;
    (void)from;
    (void)err;
    *file = strdup("test");
    return hc_buf_str(text, ctx);
}

static void check_policy(const char *json, bool session)
{
    struct hc_policy p;
    struct hc_error err;
    char text[512];
    (void)snprintf(text, sizeof text, "%s", json);
    if (hc_policy_load(&p, "test", read_text, text, &err) < 0)
        fail_msg("%s", err.text);
    p.session = session;
    check_cells(json, &p);
    hc_policy_finish(&p);
}

static void check_text(const char *json)
{
    check_policy(json, false);
}

static void shipped_policies(void **state)
{
    (void)state;
    static const char *const names[] = {"default",  "analysis", "charts", "statistics",
                                        "notebook", "none",     "shell"};
    assert_int_equal(setenv("HOTCELL_POLICIES", "policies", 1), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct hc_policy p;
        struct hc_error err;
        if (hc_policy_load(&p, names[i], hc_policies_read, NULL, &err) < 0)
            fail_msg("%s", err.text);
        check_cells(names[i], &p);
        hc_policy_finish(&p);
    }
}

static void network_and_processes(void **state)
{
    (void)state;
    check_text("{\"network\": \"loopback\"}");
    check_text("{\"processes\": \"fork\"}");
    check_text("{\"network\": \"loopback\", \"processes\": \"fork\"}");
    check_text("{\"processes\": \"fork\", \"commands\": {\"allow\": [\"sh\"]}}");
    check_text("{\"processes\": \"fork\", \"commands\": {\"allow\": []}}");
}

static void what_a_policy_changes(void **state)
{
    (void)state;
    check_text("{\"syscalls\": {\"allow\": [\"priorities\", \"pidfd_open\", \"numa\"]}}");
    check_text("{\"syscalls\": {\"allow\": [\"memory_keys\"], \"executable_memory\": \"files\"}}");
    check_text("{\"syscalls\": {\"executable_memory\": \"files\"}}");
    check_text(
        "{\"network\": \"loopback\", \"processes\": \"fork\", \"syscalls\": "
        "{\"deny\": [\"socket\", \"connect\", \"clone\", \"fork\", \"links\", \"ioctl\", \"chmod\"]}}");
    check_text("{\"syscalls\": {\"allow\": [\"splicing\"], \"deny\": [\"tee\", \"vectors\", \"mknodat\"]}}");
}

/* Calls about which a session's launcher is asked each time: fork_permit.h. */
static void sessions(void **state)
{
    (void)state;
    check_policy("{\"network\": \"loopback\", \"syscalls\": {\"executable_memory\": \"files\"}}", true);
    check_policy("{\"syscalls\": {\"deny\": [\"kill\", \"tkill\"]}}", true);
    check_policy("{\"processes\": \"fork\", \"commands\": {\"allow\": [\"*\"]}}", true);
}

/* ---- the tables themselves ---- */

static size_t tables_with(const char *call)
{
    size_t count = 0;
    for (size_t i = 0; i < hc_call_sets_count; i++)
        count += hc_calls_have(hc_call_sets[i].calls, call);
    for (size_t i = 0; i < hc_call_rules_count && count == 0; i++)
        count += strcmp(hc_call_rules[i].call, call) == 0;
    return count + (hc_syscalls_never(call) != NULL);
}

static void every_call_has_a_row(void **state)
{
    (void)state;
    static const uint32_t machines[] = {SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64};
    for (size_t m = 0; m < 2; m++)
        for (int nr = 0; nr < NUMBERS; nr++) {
            char *call = seccomp_syscall_resolve_num_arch(machines[m], nr);
            if (call && tables_with(call) == 0)
                fail_msg("no table says anything about %s", call);
            free(call);
        }
}

/* Calls that Debian 12's libseccomp does not know, and Debian 13's does. */
static const char younger[] = "uretprobe statmount listmount lsm_get_self_attr lsm_set_self_attr "
                              "lsm_list_modules mseal setxattrat getxattrat listxattrat removexattrat";

static void assert_is_call(const char *name)
{
    if (seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR && !hc_calls_have(younger, name))
        fail_msg("%s is no system call", name);
}

static void every_row_is_about_a_call(void **state)
{
    (void)state;
    char call[32];
    for (size_t i = 0; i < hc_call_sets_count; i++)
        for (const char *at = hc_call_sets[i].calls; hc_calls_next(&at, call);)
            assert_is_call(call);
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        for (const char *at = hc_call_refusals[i].calls; hc_calls_next(&at, call);)
            assert_is_call(call);
    for (size_t i = 0; i < hc_call_rules_count; i++)
        assert_is_call(hc_call_rules[i].call);
    for (size_t i = 0; i < hc_zygote_rules_count; i++)
        assert_is_call(hc_zygote_rules[i].call);
    for (size_t i = 0; i < hc_calls_told_count; i++)
        for (const char *at = hc_calls_told[i].calls; hc_calls_next(&at, call);)
            assert_is_call(call);
    for (size_t i = 0; i < hc_call_needs_count; i++)
        for (const char *at = hc_call_needs[i].calls; hc_calls_next(&at, call);)
            assert_true(tables_with(call) > 0);
}

static void every_row_has_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < hc_call_sets_count; i++)
        assert_true(*hc_call_sets[i].why);
    for (size_t i = 0; i < hc_call_rules_count; i++)
        assert_true(*hc_call_rules[i].why);
    for (size_t i = 0; i < hc_zygote_rules_count; i++)
        assert_true(*hc_zygote_rules[i].why && hc_zygote_rules[i].error == 0);
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        assert_true(*hc_call_refusals[i].why);
}

/* ---- while a policy is learnt ---- */

static bool is_asked(void *ctx, const char *call, const struct seccomp_data *data)
{
    const struct cell *c = ctx;
    uint32_t does = answer(c, data);
    if (!call)
        return true;
    if (hc_filter_learns(c->policy, call) && does == SECCOMP_RET_ALLOW)
        fail_msg("%s passes unasked", call);
    if (!hc_filter_learns(c->policy, call) && does != expected(c, call, data))
        fail_msg("%s is not what it is otherwise", call);
    return true;
}

static void learning_asks_about_each_call(void **state)
{
    (void)state;
    static const uint32_t machines[] = {SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64};
    struct hc_policy p;
    hc_policy_init(&p);
    p.network = HC_NETWORK_LOOPBACK;
    p.processes = HC_PROCESSES_FORK;
    p.rules = cJSON_Parse("{\"syscalls\": {\"executable_memory\": \"files\"}}"); /* it is noted, too */
    p.learn = true;
    for (size_t m = 0; m < 2; m++) {
        struct cell c = {.name = "learning", .policy = &p, .arch = machines[m]};
        compile(&c);
        assert_true(hc_filter_samples(c.arch, is_asked, &c));
        release(&c);
    }
    assert_false(
        hc_filter_learns(&p, "no_such_call")); /* so would a call be that only a later libseccomp knows */
    hc_policy_finish(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_policies),       cmocka_unit_test(network_and_processes),
        cmocka_unit_test(what_a_policy_changes),  cmocka_unit_test(sessions),
        cmocka_unit_test(every_call_has_a_row),   cmocka_unit_test(every_row_is_about_a_call),
        cmocka_unit_test(every_row_has_a_reason), cmocka_unit_test(learning_asks_about_each_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
