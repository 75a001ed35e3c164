#include "policy/syscalls.h"

#include "json/names.h"
#include "policy/rules.h"

#include <stdio.h>
#include <string.h>

#define MOST_NAMES 512 /* names of sets and calls that a suggestion is chosen from */

bool hc_calls_next(const char **at, char out[32])
{
    *at += strspn(*at, " ");
    size_t len = strcspn(*at, " ");
    (void)snprintf(out, 32, "%.*s", (int)len, *at);
    *at += len;
    return len > 0;
}

bool hc_calls_have(const char *calls, const char *call)
{
    size_t len = strlen(call);
    for (const char *at = calls; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, call, len) == 0)
            return true;
        at += word;
    }
    return false;
}

bool hc_call_fits(const struct hc_call_rule *row, const unsigned long long args[6])
{
    for (size_t i = 0; i < HC_CALL_COMPARISONS && row->cmp[i].mask; i++)
        if ((args[row->cmp[i].arg] & row->cmp[i].mask) != row->cmp[i].value)
            return false;
    return true;
}

static const struct hc_call_set *find_set(const char *name)
{
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if (strcmp(hc_call_sets[i].name, name) == 0)
            return &hc_call_sets[i];
    return NULL;
}

static bool has_rule(const char *call)
{
    for (size_t i = 0; i < hc_call_rules_count; i++)
        if (strcmp(hc_call_rules[i].call, call) == 0)
            return true;
    return false;
}

const char *hc_syscalls_never(const char *call)
{
    for (size_t i = 0; i < hc_call_refusals_count; i++)
        if (hc_calls_have(hc_call_refusals[i].calls, call))
            return hc_call_refusals[i].why;
    return NULL;
}

static const char *need_of(const char *call)
{
    for (size_t i = 0; i < hc_call_needs_count; i++)
        if (hc_calls_have(hc_call_needs[i].calls, call))
            return hc_call_needs[i].why;
    return NULL;
}

bool hc_syscalls_needed(const char *call)
{
    return need_of(call) != NULL;
}

/* Refuse a name that no table has. With `optional` the suggestion is a set or call that a policy may allow,
 * else one that it may deny. */
static bool refuse_unknown_name(const char *name, bool optional, char *why, size_t size)
{
    static const char *known[MOST_NAMES + 1];
    size_t count = 0;
    for (size_t i = 0; i < hc_call_sets_count && count < MOST_NAMES; i++)
        if (!optional || hc_call_sets[i].when & HC_ANY_OPTIONAL)
            known[count++] = hc_call_sets[i].name;
    known[count] = NULL;
    char hint[160];
    hc_nearest(name, known, hint, sizeof hint);
    (void)snprintf(why, size, "no set of system calls and no call is called '%.40s'%s", name, hint);
    return false;
}

/* Writes the names of the optional sets into `out`, for the message about another name. */
static void list_optional(char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        if (!(hc_call_sets[i].when & HC_ANY_OPTIONAL))
            continue;
        int n = snprintf(out + used, size - used, "%s%s", used ? ", " : "", hc_call_sets[i].name);
        used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
    }
}

bool hc_syscalls_may_allow(const char *name, char *why, size_t size)
{
    const struct hc_call_set *own = find_set(name);
    bool always = own && !(own->when & HC_ANY_OPTIONAL);
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        const struct hc_call_set *s = &hc_call_sets[i];
        if (s == own || hc_calls_have(s->calls, name)) {
            if (s->when & HC_ANY_OPTIONAL)
                return true;
            always |= (s->when & HC_IN_JOB) != 0;
        }
    }
    if ((own && own->when == HC_WITH_SOCKETS) || (!own && hc_calls_have(find_set("sockets")->calls, name)) ||
        strcmp(name, "socket") == 0) {
        (void)snprintf(why, size, "'%.40s' comes with \"network\": \"loopback\"", name);
        return false;
    }
    if (strcmp(name, "fork") == 0 || strcmp(name, "vfork") == 0) {
        (void)snprintf(why, size, "'%.40s' comes with \"processes\": \"fork\"", name);
        return false;
    }
    if (always || (!own && has_rule(name))) {
        (void)snprintf(why, size, "'%.40s' is allowed already%s", name,
                       has_rule(name) ? ", for the arguments that \"policy explain\" lists" : "");
        return false;
    }
    const char *never = hc_syscalls_never(name);
    if (!never)
        return refuse_unknown_name(name, true, why, size);
    char optional[160];
    list_optional(optional, sizeof optional);
    (void)snprintf(why, size, "no policy can allow '%.40s': %s; what can be allowed are the sets %s", name,
                   never, optional);
    return false;
}

bool hc_syscalls_may_deny(const char *name, char *why, size_t size)
{
    const struct hc_call_set *set = find_set(name);
    const char *calls = set ? set->calls : name;
    char call[32];
    for (const char *at = calls; hc_calls_next(&at, call);) {
        const char *need = need_of(call);
        if (!need)
            continue;
        (void)snprintf(why, size, "'%.40s' cannot be denied: %s%s%s", name, set ? call : "", set ? ": " : "",
                       need);
        return false;
    }
    if (set || has_rule(name))
        return true;
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if (hc_calls_have(hc_call_sets[i].calls, name))
            return true;
    if (!hc_syscalls_never(name))
        return refuse_unknown_name(name, false, why, size);
    (void)snprintf(why, size, "'%.40s' is refused already, under every policy", name);
    return false;
}

static bool policy_lists(const cJSON *rules, const char *key, const char *name)
{
    const cJSON *list = hc_rules_get(rules, "syscalls", key), *item;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
            return true;
    }
    return false;
}

bool hc_syscalls_denied(const cJSON *rules, const char *call)
{
    if (!hc_rules_get(rules, "syscalls", "deny"))
        return false;
    if (policy_lists(rules, "deny", call))
        return true;
    for (size_t i = 0; i < hc_call_sets_count; i++)
        if (hc_calls_have(hc_call_sets[i].calls, call) && policy_lists(rules, "deny", hc_call_sets[i].name))
            return true;
    return false;
}

bool hc_syscalls_in_set(const cJSON *rules, const struct hc_call_set *set, const char *call)
{
    return !(set->when & HC_ANY_OPTIONAL) || policy_lists(rules, "allow", set->name) ||
           policy_lists(rules, "allow", call);
}

bool hc_syscalls_no_new_code(const cJSON *rules)
{
    return strcmp(hc_rules_text(rules, "syscalls", "executable_memory", "any"), "files") == 0;
}
