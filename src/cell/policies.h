/* policies.h - find policy files: a hc_policy_reader over the places that hotcell(1) names. */
#ifndef HC_CELL_POLICIES_H
#define HC_CELL_POLICIES_H

#include "policy/policy.h"

/* Read the policy file of a name. A name with a slash is a path, relative to the current directory, or for
 * "extends" to the file that holds the "extends". Any other name is NAME.json in $HOTCELL_POLICIES, the
 * user's configuration, /etc/hotcell/policies and the policies that ship with hotcell, in this order. */
hc_policy_reader hc_policies_read;

/* List the names of all policies in these places, sorted and NULL-terminated. The caller frees the list
 * with hc_policies_free. */
int hc_policies_list(char ***names, struct hc_error *err);
void hc_policies_free(char **names);

#endif
