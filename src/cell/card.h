/* card.h - what the writer of a program should know of the cell that it will run in. */
#ifndef HC_CELL_CARD_H
#define HC_CELL_CARD_H

#include "base/buf.h"
#include "policy/policy.h"

#include <stdio.h>

/* Write the card of the policy `p` on `out`, as JSON or else as text. HC_EXIT_UNAVAILABLE if the policy's
 * tree is not there. */
int hc_card_print(const struct hc_policy *p, bool json, FILE *out, struct hc_error *err);

/* What a client should know of a session under the policy `p`, as data: {"policy", "tree", "limits"}. Owned
 * by the caller; NULL: no memory. */
cJSON *hc_card_of_session(const struct hc_policy *p);

/* Print `text` broken into lines of at most 100 columns: the first line begins with `first`, the others
 * with as many blanks as `first` is long. */
void hc_print_wrapped(FILE *out, const char *first, const char *text);

/* Append the strings of the JSON array `list` as "a, b, c". If `most` > 0, append only the first `most`
 * strings, and then the number of those left out. */
void hc_join_names(struct hc_buf *out, const cJSON *list, int most);

#endif
