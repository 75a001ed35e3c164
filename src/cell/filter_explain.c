/* What the filters do, for people: all that a policy allows, and what one refused call was. */
#include "cell/filter.h"

#include "spec/calls.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

const char *hc_filter_hint(const char *call)
{
    size_t len = strlen(call);
    for (size_t i = 0; i < hc_calls_told_count; i++)
        for (const char *at = hc_calls_told[i].calls; *at; at += strspn(at, " ")) {
            size_t word = strcspn(at, " ");
            if (word == len && memcmp(at, call, len) == 0)
                return hc_calls_told[i].hint;
            at += word;
        }
    return NULL;
}

static bool decided_elsewhere(const char *call, unsigned when)
{
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if ((hc_call_rules[i].when & when) && strcmp(hc_call_rules[i].call, call) == 0)
            return true;
    size_t len = strlen(call);
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        if (!(hc_call_sets[i].when & when))
            continue;
        for (const char *at = strstr(hc_call_sets[i].calls, call); at; at = strstr(at + 1, call))
            if ((at == hc_call_sets[i].calls || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
                return true;
    }
    return false;
}

void hc_filter_each(const struct hc_policy *policy, bool counted, hc_filter_visitor *each, void *ctx)
{
    unsigned when = hc_filter_when(HC_FILTER_JOB, policy, counted);
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if (hc_call_sets[i].when & when)
            each(ctx, &(struct hc_filter_row){.name = hc_call_sets[i].name,
                                              .calls = hc_call_sets[i].calls,
                                              .why = hc_call_sets[i].why});
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if (hc_call_rules[i].when & when)
            each(ctx, &(struct hc_filter_row){.name = hc_call_rules[i].call,
                                              .by_arguments = hc_call_rules[i].cmp[0].mask != 0,
                                              .error = hc_call_rules[i].error,
                                              .why = hc_call_rules[i].why});
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        if (!decided_elsewhere(hc_call_refusals[i].call, when))
            each(ctx, &(struct hc_filter_row){.name = hc_call_refusals[i].call,
                                              .error = hc_call_refusals[i].error,
                                              .why = hc_call_refusals[i].why});
}

/* ---- what a refused call was ---- */

static bool is_set_so(const struct seccomp_data *call, unsigned arg, uint64_t mask, uint64_t value)
{
    return (call->args[arg] & mask) == value;
}

static bool fits(const struct hc_call_rule *r, const struct seccomp_data *call)
{
    for (size_t i = 0; i < 2 && r->cmp[i].mask; i++)
        if (!is_set_so(call, r->cmp[i].arg, r->cmp[i].mask, r->cmp[i].value))
            return false;
    return true;
}

static void say_what(const char *name, const struct seccomp_data *call, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "%s", name);
    const char *before = "(";
    for (size_t i = 0; i < hc_call_words_count; i++) {
        const struct hc_call_word *w = &hc_call_words[i];
        if (strcmp(w->call, name) != 0 || !is_set_so(call, w->arg, w->mask, w->value))
            continue;
        if (at < size)
            at += (size_t)snprintf(out + at, size - at, "%s%s", before, w->name);
        before = ", ";
    }
    if (*before == ',' && at < size)
        (void)snprintf(out + at, size - at, ")");
}

static bool is_call(const char *name, const struct seccomp_data *call)
{
    return hc_filter_hint(name) && seccomp_syscall_resolve_name(name) == call->nr;
}

static int describe(const char *name, int error, const struct seccomp_data *call, struct hc_denial *out)
{
    *out = (struct hc_denial){.by = HC_REFUSER_SECCOMP, .count = 1};
    const char *hint = hc_filter_hint(name);
    (void)snprintf(out->rule, sizeof out->rule, "%s", name);
    (void)snprintf(out->hint, sizeof out->hint, "%s", hint ? hint : "");
    say_what(name, call, out->what, sizeof out->what);
    return error;
}

/* The C library looks for a name service cache, over a socket of just this kind, whenever it is asked for a
 * user's or a host's name (nscd; tarfile and uuid do). It goes on without. */
bool hc_filter_is_habit(const struct seccomp_data *call)
{
    return is_call("socket", call) && is_set_so(call, 0, HC_WORD_MASK, AF_UNIX) &&
           is_set_so(call, 1, HC_WORD_MASK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int hc_filter_explain(const struct seccomp_data *call, struct hc_denial *out)
{
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if (hc_call_rules[i].error && is_call(hc_call_rules[i].call, call) && fits(&hc_call_rules[i], call))
            return describe(hc_call_rules[i].call, hc_call_rules[i].error, call, out);
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        if (is_call(hc_call_refusals[i].call, call))
            return describe(hc_call_refusals[i].call, hc_call_refusals[i].error, call, out);
    return describe("unknown", ENOSYS, call, out);
}
