/* Say what the tables of calls mean for a filter: which rows make it, all calls that a policy allows, and
 * what one refused call was. */
#include "cell/filter.h"

#include "policy/syscalls.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

unsigned hc_filter_when(enum hc_filter_kind kind, const struct hc_policy *p, bool counted)
{
    unsigned when = HC_IN_JOB | (counted ? HC_COUNTED : HC_UNCOUNTED);
    bool first = kind == HC_FILTER_FIRST || kind == HC_FILTER_ZYGOTE;
    if (first)
        when |= HC_IN_FIRST;
    if (p->processes == HC_PROCESSES_FORK)
        when |= HC_WITH_FORK;
    else if (!first)
        when |= HC_NO_FORK;
    if (hc_policy_has_commands(p))
        when |= HC_WITH_COMMANDS;
    if (p->network == HC_NETWORK_LOOPBACK)
        when |= HC_WITH_SOCKETS;
    /* Commands signal each other. What they do to the waiting copies of their own session is their loss. */
    if (kind == HC_FILTER_REPORT && p->session && !hc_policy_has_commands(p))
        when |= HC_IN_SESSION;
    if (kind == HC_FILTER_REPORT && (p->learn || hc_syscalls_no_new_code(p->rules)))
        when |= HC_NO_NEW_CODE;
    return when | HC_OPTIONAL | (counted ? HC_OPTIONAL_COUNTED : 0);
}

const char *hc_filter_advice(const char *call)
{
    for (size_t i = 0; i < hc_calls_told_count; i++)
        if (hc_calls_have(hc_calls_told[i].calls, call))
            return hc_calls_told[i].hint;
    return NULL;
}

const char *hc_filter_hint(const struct hc_call_rule *row)
{
    return row->hint ? row->hint : hc_filter_advice(row->call);
}

/* Filters answer calls of no table by their default action; a later libseccomp may know such calls. */
static bool is_in_tables(const char *call)
{
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if (hc_calls_have(hc_call_sets[i].calls, call))
            return true;
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if (strcmp(hc_call_rules[i].call, call) == 0)
            return true;
    return hc_syscalls_never(call) != NULL;
}

bool hc_filter_learns(const struct hc_policy *policy, const char *call)
{
    /* The interpreter's process sends the listener by sendmsg: until then the launcher can answer no call. */
    bool brings_listener = strcmp(call, "sendmsg") == 0;
    return policy->learn && is_in_tables(call) && !hc_syscalls_needed(call) && !brings_listener;
}

/* ---- what a policy allows ---- */

/* The state of hc_filter_each. */
struct visit {
    const struct hc_policy *policy; /* borrowed */
    unsigned when;                  /* enum hc_call_when bits of the filters that are described */
    hc_filter_visitor *each;        /* the caller's function */
    void *ctx;                      /* for `each` */
};

/* Visit a set of calls, unless the policy allows none of them. */
static void list_set(const struct visit *l, const struct hc_call_set *set)
{
    hc_autobuf allowed = {0};
    hc_autobuf denied = {0};
    char call[32];
    for (const char *at = set->calls; hc_calls_next(&at, call);) {
        struct hc_buf *to = hc_syscalls_denied(l->policy->rules, call) ? &denied : &allowed;
        if (hc_syscalls_in_set(l->policy->rules, set, call))
            (void)hc_buf_fmt(to, "%s%s", to->len ? " " : "", call);
    }
    if (allowed.len || denied.len)
        l->each(l->ctx, &(struct hc_filter_row){.name = set->name,
                                                .calls = allowed.len ? allowed.data : "",
                                                .denied = denied.len ? denied.data : NULL,
                                                .optional = set->when & HC_ANY_OPTIONAL,
                                                .why = set->why});
}

static void list_rule(const struct visit *l, const struct hc_call_rule *r)
{
    bool denied = hc_syscalls_denied(l->policy->rules, r->call);
    if (denied && r->error)
        return;
    l->each(l->ctx, &(struct hc_filter_row){.name = r->call,
                                            .denied = denied ? r->call : NULL,
                                            .which = r->which,
                                            .error = r->error,
                                            .why = r->why});
}

static bool is_in_other_row(const struct visit *l, const char *call)
{
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if ((hc_call_rules[i].when & l->when) && strcmp(hc_call_rules[i].call, call) == 0)
            return true;
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if ((hc_call_sets[i].when & l->when) && hc_calls_have(hc_call_sets[i].calls, call) &&
            hc_syscalls_in_set(l->policy->rules, &hc_call_sets[i], call))
            return true;
    return false;
}

static void list_refusal(const struct visit *l, const struct hc_call_refusal *r)
{
    hc_autobuf calls = {0};
    char call[32];
    for (const char *at = r->calls; hc_calls_next(&at, call);)
        if (!is_in_other_row(l, call))
            (void)hc_buf_fmt(&calls, "%s%s", calls.len ? " " : "", call);
    if (calls.len)
        l->each(l->ctx,
                &(struct hc_filter_row){.name = "", .calls = calls.data, .error = r->error, .why = r->why});
}

void hc_filter_each(const struct hc_policy *policy, bool counted, hc_filter_visitor *each, void *ctx)
{
    unsigned when =
        hc_filter_when(HC_FILTER_JOB, policy, counted) | hc_filter_when(HC_FILTER_REPORT, policy, counted);
    const struct visit l = {policy, when, each, ctx};
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if (hc_call_sets[i].when & when)
            list_set(&l, &hc_call_sets[i]);
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if (hc_call_rules[i].when & when)
            list_rule(&l, &hc_call_rules[i]);
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        list_refusal(&l, &hc_call_refusals[i]);
}

/* ---- what a refused call was ---- */

static bool argument_matches(const struct seccomp_data *call, unsigned arg, uint64_t mask, uint64_t value)
{
    return (call->args[arg] & mask) == value;
}

static void describe_call(const char *name, const struct seccomp_data *call, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "%s", name);
    const char *before = "(";
    for (size_t i = 0; i < hc_call_words_count; i++) {
        const struct hc_call_word *w = &hc_call_words[i];
        if (strcmp(w->call, name) != 0 || !argument_matches(call, w->arg, w->mask, w->value))
            continue;
        if (at < size)
            at += (size_t)snprintf(out + at, size - at, "%s%s", before, w->name);
        before = ", ";
    }
    if (*before == ',' && at < size)
        (void)snprintf(out + at, size - at, ")");
}

static int fill_denial(const char *name, int error, const char *hint, const struct seccomp_data *call,
                       struct hc_denial *out)
{
    *out = (struct hc_denial){.by = HC_REFUSER_SECCOMP, .count = 1};
    (void)snprintf(out->rule, sizeof out->rule, "%s", name);
    (void)snprintf(out->hint, sizeof out->hint, "%s", hint ? hint : "");
    describe_call(name, call, out->what, sizeof out->what);
    return error;
}

/* The C library opens a socket of just this kind to the name service cache (nscd) whenever a program looks
 * up a user's or host's name, as tarfile and uuid do. It goes on without one. */
bool hc_filter_is_habit(const struct seccomp_data *call)
{
    return call->nr == seccomp_syscall_resolve_name("socket") &&
           argument_matches(call, 0, HC_WORD_MASK, AF_UNIX) &&
           argument_matches(call, 1, HC_WORD_MASK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static int explain(const char *name, const struct seccomp_data *call, struct hc_denial *out)
{
    for (size_t i = 0; i < hc_call_rules_count; i++) {
        const struct hc_call_rule *r = &hc_call_rules[i];
        if (r->error && strcmp(r->call, name) == 0 && hc_filter_hint(r) && hc_call_fits(r, call->args))
            return fill_denial(name, r->error, hc_filter_hint(r), call, out);
    }
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        if (hc_calls_have(hc_call_refusals[i].calls, name))
            return fill_denial(name, hc_call_refusals[i].error, hc_filter_advice(name), call, out);
    return fill_denial(name, ENOSYS, NULL, call, out);
}

int hc_filter_explain(const struct seccomp_data *call, struct hc_denial *out)
{
    char *name = seccomp_syscall_resolve_num_arch(seccomp_arch_native(), call->nr);
    int error = explain(name ? name : "unknown", call, out);
    free(name);
    return error;
}
