/* card.h - what the writer of a program should know of the cell that it will run in. */
#ifndef HC_CELL_CARD_H
#define HC_CELL_CARD_H

#include "base/buf.h"
#include "policy/policy.h"

#include <stdio.h>

/* On `out`, as text or as JSON. HC_EXIT_UNAVAILABLE if the policy's tree is not there. */
int hc_card_print(const struct hc_policy *p, bool json, FILE *out, struct hc_error *err);

/* Words of `text` in lines of at most 100 columns: the first begins with `first`, the others with as many
 * blanks. */
void hc_print_wrapped(FILE *out, const char *first, const char *text);

/* Append the strings of a list as "a, b, c"; with `more` > 0 at most so many, and how many there are more. */
void hc_join_names(struct hc_buf *out, const cJSON *list, int more);

#endif
