/* trees.h - whether the trees in the store are what they were when they were built: all of each is looked at
 * before the daemon begins, and then in turn by a process of its own, which notes on a board what was
 * changed. The board is memory that this process alone can write; all others read. */
#ifndef HC_DAEMON_PROCESS_TREES_H
#define HC_DAEMON_PROCESS_TREES_H

#include "base/error.h"
#include "base/hash.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HC_TREES_MOST 64

struct hc_tree_row {
    char name[72]; /* "": it has none */
    char id[HC_SHA256_HEX];
    char text[sizeof((struct hc_error *)0)->text]; /* what was changed; of use only with the next */
    _Atomic bool changed;
};

struct hc_tree_board {
    _Atomic uint32_t news;    /* how often a tree was found changed, or was put right */
    _Atomic uint32_t changed; /* rows of which that holds now */
    struct hc_tree_row rows[HC_TREES_MOST];
};

struct hc_trees {
    const struct hc_tree_board *board; /* mapped for reading */
    int fd;                            /* owned; it can be written by: of the manager alone; -1: elsewhere */
};

/* In the manager, before there are children: make the board, and compare every entry of every tree with its
 * stamp. HC_EXIT_UNAVAILABLE if one was changed. */
int hc_trees_open(struct hc_trees *t, struct hc_error *err);
void hc_trees_finish(struct hc_trees *t);

/* Look at every entry once in this time (ms), and at others each second. Never returns. */
_Noreturn void hc_trees_main(struct hc_trees *t, int64_t round_ms);

/* The row of this tree, if it was changed; else NULL. Free of system calls. */
const struct hc_tree_row *hc_trees_find_changed(const struct hc_trees *t, const char *id);

/* HC_EXIT_UNAVAILABLE if the tree of that name was changed. As long as none was, that is one look at memory.
 */
int hc_trees_check(const struct hc_trees *t, const char *name, struct hc_error *err);

#endif
