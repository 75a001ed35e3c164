/* syscalls.h - the section "syscalls" of a policy: the system calls that it adds to those that every program
 * has, and those that it takes away. A name in it is the name of a set in calls.h, or of one call. */
#ifndef HC_POLICY_SYSCALLS_H
#define HC_POLICY_SYSCALLS_H

#include "json/json.h"
#include "policy/calls.h"

#include <stdbool.h>

/* Is `call` one of `calls`, which are separated by blanks? */
bool hc_calls_have(const char *calls, const char *call);

/* Copies the next name of the list *at to `out` and moves *at behind it; false at the end of the list. */
bool hc_calls_next(const char **at, char out[32]);

/* Do the arguments of a call, as a filter sees them, satisfy all comparisons of the row? */
bool hc_call_fits(const struct hc_call_rule *row, const unsigned long long args[6]);

/* May a policy have this name in "allow", or in "deny"? If not, `why` gets a sentence that says why. */
bool hc_syscalls_may_allow(const char *name, char *why, size_t size);
bool hc_syscalls_may_deny(const char *name, char *why, size_t size);

/* Does a program under these rules (rules.h; NULL: none) have this call of the set, before "deny" is looked
 * at? */
bool hc_syscalls_in_set(const cJSON *rules, const struct hc_call_set *set, const char *call);

/* Does "deny" have this call, by its own name or by the name of its set? */
bool hc_syscalls_denied(const cJSON *rules, const char *call);

/* Do the rules allow executable memory for mapped files alone (syscalls.executable_memory: "files")? */
bool hc_syscalls_no_new_code(const cJSON *rules);

/* Does the interpreter need this call, so that no policy can deny it? */
bool hc_syscalls_needed(const char *call);

/* The reason why no policy can allow this call; NULL: no table has one. */
const char *hc_syscalls_never(const char *call);

#endif
