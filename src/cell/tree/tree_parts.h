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

/* Where a store has its entries of one kind, and the names for them, below the state directory. */
struct hc_shelf {
    const char *entries, *names, *previous; /* directories; `previous`: what names meant before they moved */
    const char *what;                       /* what an entry is, for messages */
};
extern const struct hc_shelf hc_shelves[]; /* by enum hc_tree_kind */

/* STATE/DIR/NAME, or STATE/DIR if `name` is empty. */
int hc_shelf_path(char out[PATH_MAX], const char *state, const char *dir, const char *name,
                  struct hc_error *err);

/* The ID that a link of names or of previous names means; false: there is no such link. */
bool hc_shelf_read(const char *state, const char *dir, const char *name, char id[HC_SHA256_HEX]);

/* The ID that a name, an ID or the begin of one means; false: none. */
bool hc_shelf_find(const char *state, const struct hc_shelf *shelf, const char *name, char id[HC_SHA256_HEX]);

/* Point a name at an entry, and note what it meant before. */
int hc_shelf_point(const struct hc_shelf *shelf, const char *state, const char *name, const char *id,
                   struct hc_error *err);

/* Remove an entry; an interrupted removal leaves nothing that looks like one. */
int hc_shelf_discard(const char *state, const struct hc_shelf *shelf, const char *id, struct hc_error *err);

/* Call `each` for every entry of one store, once for each of its names. */
int hc_shelf_each(const char *state, const struct hc_shelf *shelf, hc_tree_visitor *each, void *ctx,
                  struct hc_error *err);

#endif
