/* tree_parts.h - private to cell/tree: the index of a tree or a layer, and lists of lines. */
#ifndef HC_CELL_TREE_TREE_PARTS_H
#define HC_CELL_TREE_TREE_PARTS_H

#include "cell/tree.h"

#define HC_INDEX_MAX ((size_t)64 << 20) /* most bytes of an index */

/* A list of texts. */
struct hc_entries {
    char **line;       /* owned, as is each line */
    size_t count, cap; /* number of lines; lines that there is room for */
};

void hc_entries_finish(struct hc_entries *l);

/* Add `line`, which the list owns from here on, also after a failure. NULL: no memory. */
int hc_entries_add(struct hc_entries *l, char *line, struct hc_error *err);

/* Append the index of DIR/root to `out`: the lines of all entries (hc_tree_line), sorted by bytes. Hashes
 * every file. */
int hc_tree_index(int dir, struct hc_buf *out, struct hc_error *err);

#endif
