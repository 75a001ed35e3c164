/* columns.h - which columns of the job's frames a program uses, as far as its text tells: frame['c'],
 * frame[['c', 'd']], and frame.c where that is no method or known attribute of a DataFrame. Columns that the
 * program itself has made by then are not counted. */
#ifndef HC_SHIM_GUARD_COLUMNS_H
#define HC_SHIM_GUARD_COLUMNS_H

#include "shim/guard/tree.h"

#include "base/buf.h"

struct hc_access {
    const char *frame;  /* from the rules */
    const char *column; /* UTF-8, lives as long as the tree */
    int line, at;       /* at: byte column */
    bool made;          /* set by the program, not read */
};

struct hc_columns {
    struct hc_access *items; /* owned */
    size_t count, cap;
};

/* Note what one expression or statement uses; `called` says that the expression is called. -1: no memory. */
int hc_columns_look(struct hc_columns *all, const struct hc_tree_node *node, bool called);

/* {"frame": ["column", ...]}; nothing if no column is used. */
void hc_columns_json(struct hc_columns *all, struct hc_buf *out);

void hc_columns_finish(struct hc_columns *all);

#endif
