/* tree_check.h - whether a tree is still what its ID says, before something runs in it. */
#ifndef HC_CELL_TREE_CHECK_H
#define HC_CELL_TREE_CHECK_H

#include "base/error.h"
#include "cell/tree.h"
#include "spec/policy.h"

/* Check as much as `how` says. A tree without stamps that fit its place can only be hashed: HC_TREE_QUICK and
 * HC_TREE_STAMPS come to HC_TREE_NONE then. `checked` is what was done, for the manifest. HC_EXIT_UNAVAILABLE
 * if something was changed. */
int hc_tree_check(const struct hc_tree *tree, enum hc_tree_check how, enum hc_tree_check *checked,
                  struct hc_error *err);

/* The same for what is kept for many jobs, and worth more: at least HC_TREE_STAMPS, unless the policy says
 * HC_TREE_NONE. */
enum hc_tree_check hc_tree_check_of_many(const struct hc_policy *policy);

/* For many jobs, of the tree that a policy names. */
int hc_tree_check_named(const char *name, enum hc_tree_check how, struct hc_error *err);

#endif
