/* tree_check.h - check before a job runs in a tree that the tree's files are still those that its ID
 * names. */
#ifndef HC_CELL_TREE_CHECK_H
#define HC_CELL_TREE_CHECK_H

#include "base/error.h"
#include "cell/tree.h"
#include "policy/policy.h"

/* Check a tree and its layers as thoroughly as `asked` says (tree_check of a policy). `many`: the process
 * that starts in the tree serves many jobs (a zygote, a session), so HC_TREE_QUICK compares all stamps. A
 * tree without usable stamps can only be hashed: HC_TREE_QUICK then checks nothing, and HC_TREE_STAMPS fails.
 * `checked` gets the check that was made, the least of them, for the manifest. HC_EXIT_UNAVAILABLE if a file
 * was changed, or the check that was asked for is not possible. */
int hc_tree_check(const struct hc_tree *tree, enum hc_tree_check asked, bool many,
                  enum hc_tree_check *checked, struct hc_error *err);

/* Check the tree that a policy names; `many` as above. */
int hc_tree_check_named(const char *name, enum hc_tree_check asked, bool many, struct hc_error *err);

#endif
