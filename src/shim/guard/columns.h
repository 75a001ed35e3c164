/* columns.h - lists the columns of the job's frames that a program uses, as far as its text tells:
 * frame['c'], frame[['c', 'd']], and frame.c unless that is a method or known attribute of a DataFrame.
 * Columns that the program itself has made before are not listed. */
#ifndef HC_SHIM_GUARD_COLUMNS_H
#define HC_SHIM_GUARD_COLUMNS_H

#include "shim/guard/tree.h"

#include "base/buf.h"

/* One use of a column in the program. */
struct hc_access {
    const char *frame;  /* name of the frame; borrowed from the rules */
    const char *column; /* UTF-8, borrowed from the tree */
    int line, at;       /* place of the use: line from 1, offset of a byte in the line from 0 */
    bool made;          /* the program sets the column, and does not read it */
};

struct hc_columns {
    struct hc_access *items; /* the uses; owned */
    size_t count, cap;       /* number of uses; number of those that `items` has room for */
};

/* Adds the columns that one expression or statement uses; `called`: the expression is called. -1: no memory.
 */
int hc_columns_look(struct hc_columns *all, const struct hc_tree_node *node, bool called);

/* Appends {"frame": ["column", ...]}; nothing if no column is used. Sorts `all`. */
void hc_columns_json(struct hc_columns *all, struct hc_buf *out);

void hc_columns_finish(struct hc_columns *all);

#endif
