/* trees.h - check whether the trees in the store are what they were when they were built. All entries of each
 * tree are looked at before the daemon begins, and then in turn by a process of its own, which notes on a
 * board which trees were changed. The board is memory that this process alone can write; all others read it.
 */
#ifndef HC_DAEMON_PROCESS_TREES_H
#define HC_DAEMON_PROCESS_TREES_H

#include "base/error.h"
#include "base/hash.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HC_TREES_MOST 256 /* most trees and layers on the board; further ones are not watched */

/* A tree under one of its names, or a layer, "+NAME". */
struct hc_tree_row {
    char name[72];          /* "": the tree has no name; "+": the layer has none */
    char id[HC_SHA256_HEX]; /* the tree's ID; "": the row is free */
    /* Which file was changed, and how; valid while `changed`. */
    char text[sizeof((struct hc_error *)0)->text];
    _Atomic bool changed; /* the tree is not what was built: no job is run in it */
};

struct hc_tree_board {
    _Atomic uint32_t
        news; /* number of times that a tree was changed, put right or removed, or a name moved */
    _Atomic uint32_t changed;               /* number of rows that are `changed` now */
    struct hc_tree_row rows[HC_TREES_MOST]; /* in no order */
};

/* The board as one process has it. */
struct hc_trees {
    const struct hc_tree_board *board; /* mapped for reading; owned */
    int fd; /* memfd through which the board can be written; owned; -1: this process does not have it */
};

/* Make the board, and compare every entry of every tree with its stamp; called in the manager, before it has
 * children. HC_EXIT_UNAVAILABLE if a tree was changed. */
int hc_trees_open(struct hc_trees *t, struct hc_error *err);
void hc_trees_finish(struct hc_trees *t);

/* Each second look at a part of every tree's entries, so that each entry is looked at once in `round_ms`
 * milliseconds. Never returns. */
_Noreturn void hc_trees_main(struct hc_trees *t, int64_t round_ms);

/* The row of the tree or layer with this ID, if it was changed; else NULL. Makes no system call. */
const struct hc_tree_row *hc_trees_find_changed(const struct hc_trees *t, const char *id);

/* Does `name`, a tree with its layers, still mean these IDs: the tree's, then those of its layers? False if
 * one of them has been removed. */
bool hc_trees_still_means(const char *name, const char *const *ids, size_t count);

/* Check the tree of this name, as a policy has it, with its layers. HC_EXIT_UNAVAILABLE if one of them was
 * changed. While no tree is changed, this only reads memory. */
int hc_trees_check(const struct hc_trees *t, const char *name, struct hc_error *err);

#endif
