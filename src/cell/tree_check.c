#include "cell/tree_check.h"

#include "base/fd.h"
#include "cell/tree_stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/randombytes.h>
#include <stdint.h>

#define QUICK_SLICE 16 /* entries that a quick check sees beside those of every run; others each time */

static int check_quickly(struct hc_stamps *s, struct hc_error *err)
{
    size_t rest = s->count - s->core;
    size_t skip = rest > QUICK_SLICE ? randombytes_uniform((uint32_t)(rest - QUICK_SLICE + 1)) : 0;
    return hc_stamps_check(s, 0, s->core, err) < 0 ? -1
                                                   : hc_stamps_check(s, s->core + skip, QUICK_SLICE, err);
}

static int check_stamps(const struct hc_tree *tree, enum hc_tree_check how, enum hc_tree_check *checked,
                        struct hc_error *err)
{
    struct hc_stamps s;
    int rc = hc_stamps_open(&s, tree, how == HC_TREE_STAMPS, err);
    if (rc == 0 && s.map) {
        rc = how == HC_TREE_QUICK ? check_quickly(&s, err) : hc_stamps_check(&s, 0, s.count, err);
        *checked = how;
    }
    hc_stamps_finish(&s);
    return rc;
}

/* Hashed is hashed: a run does not write to a store. */
static int check_content(const struct hc_tree *tree, struct hc_error *err)
{
    FILE *nowhere = fopen("/dev/null", "we");
    if (!nowhere)
        return hc_fail(err, errno, "open /dev/null");
    int rc = hc_tree_verify(tree, nowhere, NULL, err);
    (void)fclose(nowhere);
    if (rc <= 0)
        return rc;
    return hc_fail_as(
        err, HC_EXIT_UNAVAILABLE, 0,
        "tree '%s' was changed: 'hotcell tree verify %s' says what differs, 'hotcell tree build' makes "
        "it anew",
        tree->name, tree->name);
}

int hc_tree_check(const struct hc_tree *tree, enum hc_tree_check how, enum hc_tree_check *checked,
                  struct hc_error *err)
{
    *checked = HC_TREE_NONE;
    if (how == HC_TREE_NONE ||
        !tree->id[0]) /* a directory that is not called by an ID: what should it hold? */
        return 0;
    if (how != HC_TREE_CONTENT)
        return check_stamps(tree, how, checked, err);
    *checked = how;
    return check_content(tree, err);
}

enum hc_tree_check hc_tree_check_of_many(const struct hc_policy *policy)
{
    return policy->tree_check == HC_TREE_QUICK ? HC_TREE_STAMPS : (enum hc_tree_check)policy->tree_check;
}

int hc_tree_check_named(const char *name, enum hc_tree_check how, struct hc_error *err)
{
    struct hc_tree tree;
    enum hc_tree_check checked;
    int rc = hc_tree_open(&tree, name, err);
    if (rc == 0)
        rc = hc_tree_check(&tree, how, &checked, err);
    hc_tree_finish(&tree);
    return rc;
}
