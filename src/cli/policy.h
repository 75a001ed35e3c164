/* policy.h - the subcommands of "hotcell policy" that have files of their own. */
#ifndef HC_CLI_POLICY_H
#define HC_CLI_POLICY_H

#include "policy/policy.h"

/* Print for people what the policy allows; print how two policies differ. Each prints to standard output and
 * returns the exit status. */
int hc_policy_explain(const struct hc_policy *p);
int hc_policy_diff(const struct hc_policy *a, const struct hc_policy *b); /* 0: equal, 1: they differ */
/* Load the policy of that name, compile its code and look at its directories. Returns the exit status. */
int hc_policy_check(const char *name);
/* "policy list": name all policies that are found; argv[0] is "list". Returns the exit status. */
int hc_policy_list(int argc, char **argv);
/* "policy learn" and "policy show": argv[0] is "learn", or "show". They return the exit status. */
int hc_policy_learn(int argc, char **argv);
int hc_policy_show(int argc, char **argv);

#endif
