/* syscalls.h - the section "syscalls" of a policy: what it adds to the calls that every program has, and what
 * it takes away. Names are those of the tables in calls.h: of a set, or of one call. */
#ifndef HC_POLICY_SYSCALLS_H
#define HC_POLICY_SYSCALLS_H

#include "json/json.h"
#include "policy/calls.h"

#include <stdbool.h>

/* Is `call` one of `calls`, which are separated by blanks? */
bool hc_calls_have(const char *calls, const char *call);

/* Walk such a list: the next call of *at, which moves on, as a text in `out`; false at the end. */
bool hc_calls_next(const char **at, char out[32]);

/* Do these arguments, as a filter sees them, have what a row compares with? */
bool hc_call_fits(const struct hc_call_rule *row, const unsigned long long args[6]);

/* May a policy name this in "allow" or in "deny"? If not, `why` says so in a sentence. */
bool hc_syscalls_may_allow(const char *name, char *why, size_t size);
bool hc_syscalls_may_deny(const char *name, char *why, size_t size);

/* With these rules (policy/rules.h; NULL: none), does a program have this call of the set, unless it is
 * denied?
 */
bool hc_syscalls_in_set(const cJSON *rules, const struct hc_call_set *set, const char *call);

/* Is it taken away, by its own name or by a set's? */
bool hc_syscalls_denied(const cJSON *rules, const char *call);

/* Is memory executable only where it is a file's? */
bool hc_syscalls_no_new_code(const cJSON *rules);

/* Can the interpreter not do without it? */
bool hc_syscalls_needed(const char *call);

/* Why no policy can allow this call; NULL: no table says so. */
const char *hc_syscalls_never(const char *call);

#endif
