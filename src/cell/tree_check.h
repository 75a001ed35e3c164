/* tree_check.h - whether a tree is still what its ID says, before something runs in it. */
#ifndef HC_CELL_TREE_CHECK_H
#define HC_CELL_TREE_CHECK_H

#include "base/error.h"
#include "cell/tree.h"
#include "policy/policy.h"

/* Check as much as a policy's tree_check asks. `many`: what starts is kept for many jobs, and worth more: for
 * HC_TREE_QUICK all stamps are compared. A tree without stamps that fit its place can only be hashed:
 * HC_TREE_QUICK comes to nothing then, and HC_TREE_STAMPS is refused. `checked` is what was done, for the
 * manifest. HC_EXIT_UNAVAILABLE if something was changed, or what is asked cannot be had. */
int hc_tree_check(const struct hc_tree *tree, enum hc_tree_check asked, bool many,
                  enum hc_tree_check *checked, struct hc_error *err);

/* For many jobs, of the tree that a policy names. */
int hc_tree_check_named(const char *name, enum hc_tree_check asked, struct hc_error *err);

#endif
