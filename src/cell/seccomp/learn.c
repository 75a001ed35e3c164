#include "cell/seccomp/learn.h"

#include "cell/filter.h"
#include "policy/syscalls.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void record_call(struct hc_learned *l, const char *call, const char *never)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->calls[i].call, call) == 0 && l->calls[i].never == never)
            return;
    if (!l->begun || l->count == HC_LEARN_CALLS_MAX)
        return;
    struct hc_learned_call *new = &l->calls[l->count++];
    (void)snprintf(new->call, sizeof new->call, "%s", call);
    new->never = never;
}

bool hc_learn_used(const struct hc_learned *l, const char *call)
{
    for (size_t i = 0; i < l->count; i++)
        if (!l->calls[i].never && strcmp(l->calls[i].call, call) == 0)
            return true;
    return false;
}

static void record_use(struct hc_learned *l, const char *call, unsigned when)
{
    l->network |= l->begun && when == HC_WITH_SOCKETS;
    l->processes |= l->begun && (when & HC_WITH_FORK);
    record_call(l, call, NULL);
}

/* The row that these arguments match; NULL: no row. */
static const struct hc_call_rule *row_of(const struct hc_learned *l, const char *name,
                                         const struct seccomp_data *call)
{
    /* The filters themselves decide about rows that depend on whether a cgroup counts memory, so take both
     * kinds. Until the job's filter is on, the shim makes calls that only the first filter allows. */
    enum hc_filter_kind kind = l->begun ? HC_FILTER_JOB : HC_FILTER_FIRST;
    unsigned when = hc_filter_when(kind, l->policy, false) | hc_filter_when(kind, l->policy, true);
    for (size_t i = 0; i < hc_call_rules_count; i++) {
        const struct hc_call_rule *r = &hc_call_rules[i];
        if ((r->when & when) && strcmp(r->call, name) == 0 && hc_call_fits(r, call->args))
            return r;
    }
    return NULL;
}

static const struct hc_call_set *set_of(const struct hc_learned *l, const char *name)
{
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        const struct hc_call_set *set = &hc_call_sets[i];
        if (set->when == HC_WITH_COMMANDS && !hc_policy_has_commands(l->policy))
            continue; /* nothing that is learnt makes a program of a tree allowed */
        if ((set->when != HC_IN_FIRST || !l->begun) && hc_calls_have(set->calls, name) &&
            hc_syscalls_in_set(l->policy->rules, set, name))
            return set;
    }
    return NULL;
}

static int refuse_call(struct hc_learned *l, const char *name)
{
    for (size_t i = 0; i < hc_call_refusals_count; i++) {
        const struct hc_call_refusal *r = &hc_call_refusals[i];
        if (!hc_calls_have(r->calls, name))
            continue;
        record_call(l, name, r->why);
        return r->error;
    }
    record_call(l, name, "no table has it");
    return ENOSYS;
}

static int decide(struct hc_learned *l, const char *name, const struct seccomp_data *call)
{
    /* The shim makes this call to set the job's filter; a second such call would be the program's. */
    if (!l->begun && strcmp(name, "seccomp") == 0) {
        l->begun = true;
        return 0;
    }
    /* The launcher is asked about these calls only because they make memory executable; the other filters
     * allow them. */
    if (hc_syscalls_needed(name)) {
        l->makes_code |= l->begun;
        return 0;
    }
    if (hc_filter_is_habit(call))
        return EAFNOSUPPORT;
    const struct hc_call_rule *row = row_of(l, name, call);
    if (row && row->error) {
        record_call(l, name, row->why);
        return row->error;
    }
    const struct hc_call_set *set = row ? NULL : set_of(l, name);
    if (!row && !set)
        return refuse_call(l, name);
    record_use(l, name, row ? row->when : set->when);
    return 0;
}

int hc_learn_call(struct hc_learned *l, const struct seccomp_data *call)
{
    char *name = seccomp_syscall_resolve_num_arch(seccomp_arch_native(), call->nr);
    int error = name ? decide(l, name, call) : ENOSYS;
    free(name);
    return error;
}
