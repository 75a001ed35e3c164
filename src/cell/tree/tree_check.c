#include "cell/tree_check.h"

#include "base/fd.h"
#include "cell/tree_stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/randombytes.h>
#include <stdint.h>

#define QUICK_SLICE 16 /* random entries that a quick check compares besides those that every run reads */

static int check_quickly(struct hc_stamps *s, struct hc_error *err)
{
    size_t rest = s->count - s->core;
    size_t skip = rest > QUICK_SLICE ? randombytes_uniform((uint32_t)(rest - QUICK_SLICE + 1)) : 0;
    return hc_stamps_check(s, 0, s->core, err) < 0 ? -1
                                                   : hc_stamps_check(s, s->core + skip, QUICK_SLICE, err);
}

static int fail_unstamped(const struct hc_tree *tree, const char *why, struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "tree '%s' cannot be compared with its stamps, as tree_check \"stamps\" asks: %s: "
                      "'hotcell tree verify %s' checks its content, and notes them",
                      tree->name, why, tree->name);
}

static int check_stamps(const struct hc_tree *tree, enum hc_tree_check how, bool asked,
                        enum hc_tree_check *checked, struct hc_error *err)
{
    struct hc_stamps s;
    int rc = hc_stamps_open(&s, tree, how == HC_TREE_STAMPS, err);
    if (rc == 0 && s.map) {
        rc = how == HC_TREE_QUICK ? check_quickly(&s, err) : hc_stamps_check(&s, 0, s.count, err);
        *checked = how;
    } else if (rc == 0 && asked) {
        rc = fail_unstamped(tree, s.why, err);
    }
    hc_stamps_finish(&s);
    return rc;
}

/* Hash all files. Stamps are not renewed, as a run does not write to a store. */
static int check_content(const struct hc_tree *tree, struct hc_error *err)
{
    FILE *nowhere = fopen("/dev/null", "we");
    if (!nowhere)
        return hc_fail(err, errno, "open /dev/null");
    int rc = hc_tree_verify(tree, nowhere, NULL, err);
    (void)fclose(nowhere);
    if (rc <= 0)
        return rc;
    char advice[HC_TREE_ADVICE];
    hc_tree_advice(tree, advice);
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "tree '%s' was changed: 'hotcell tree verify %s' says what differs, %s", tree->name,
                      tree->name, advice);
}

/* A directory whose name is no ID cannot be checked, as its right content is unknown. */
static int check_unknown(const struct hc_tree *tree, enum hc_tree_check asked, struct hc_error *err)
{
    if (asked <= HC_TREE_QUICK)
        return 0;
    return hc_fail_as(
        err, HC_EXIT_UNAVAILABLE, 0,
        "tree '%s' cannot be checked, as tree_check \"%s\" asks: its directory is not called by an "
        "ID, which would say what it should hold ('hotcell tree list' says which trees have one)",
        tree->name, asked == HC_TREE_STAMPS ? "stamps" : "content");
}

static int check_one(const struct hc_tree *tree, enum hc_tree_check asked, bool many,
                     enum hc_tree_check *checked, struct hc_error *err)
{
    enum hc_tree_check how = many && asked == HC_TREE_QUICK ? HC_TREE_STAMPS : asked;
    *checked = HC_TREE_NONE;
    if (how == HC_TREE_NONE)
        return 0;
    if (!tree->id[0])
        return check_unknown(tree, asked, err);
    if (how != HC_TREE_CONTENT)
        return check_stamps(tree, how, asked == HC_TREE_STAMPS, checked, err);
    *checked = how;
    return check_content(tree, err);
}

int hc_tree_check(const struct hc_tree *tree, enum hc_tree_check asked, bool many,
                  enum hc_tree_check *checked, struct hc_error *err)
{
    int rc = check_one(tree, asked, many, checked, err);
    for (size_t i = 0; rc == 0 && i < tree->layer_count; i++) {
        enum hc_tree_check of_layer;
        rc = check_one(&tree->layers[i], asked, many, &of_layer, err);
        *checked = of_layer < *checked ? of_layer : *checked;
    }
    return rc;
}

int hc_tree_check_named(const char *name, enum hc_tree_check asked, bool many, struct hc_error *err)
{
    struct hc_tree tree;
    enum hc_tree_check checked;
    int rc = hc_tree_open(&tree, name, err);
    if (rc == 0)
        rc = hc_tree_check(&tree, asked, many, &checked, err);
    hc_tree_finish(&tree);
    return rc;
}
