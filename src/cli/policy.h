/* policy.h - what the subcommands of "hotcell policy" share. */
#ifndef HC_CLI_POLICY_H
#define HC_CLI_POLICY_H

#include "base/buf.h"
#include "base/error.h"
#include "spec/policy.h"

#include <stdio.h>

/* Each prints on standard output and returns the exit status. */
int hc_policy_explain(const struct hc_policy *p);
int hc_policy_diff(const struct hc_policy *a, const struct hc_policy *b); /* 0: equal, 1: they differ */
/* argv[0] is "learn". */
int hc_policy_learn(int argc, char **argv);
/* What the writer of a program should know, on `out`. */
int hc_policy_card(const struct hc_policy *p, bool json, FILE *out, struct hc_error *err);

/* Words of `text` in lines of at most 100 columns: the first begins with `first`, the others with as many
 * blanks. */
void hc_print_wrapped(FILE *out, const char *first, const char *text);

/* Append the strings of a list as "a, b, c"; with `more` > 0 at most so many, and how many there are more. */
void hc_join_names(struct hc_buf *out, const cJSON *list, int more);

#endif
