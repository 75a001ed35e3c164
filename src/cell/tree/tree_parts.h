/* tree_parts.h - private to cell/tree: the index of a tree or a layer, and lists of lines. */
#ifndef HC_CELL_TREE_TREE_PARTS_H
#define HC_CELL_TREE_TREE_PARTS_H

#include "cell/tree.h"

#define HC_INDEX_MAX ((size_t)64 << 20) /* most bytes of an index */

/* A list of lines of text. */
struct hc_entries {
    char **line;       /* the lines; the array and each line are owned */
    size_t count, cap; /* number of lines; lines that there is room for */
};

void hc_entries_finish(struct hc_entries *l);

/* Add `line`, malloc'd, which the list owns from here on; a failure frees it. A NULL line stands for a caller
 * that had no memory for it, and fails with ENOMEM. */
int hc_entries_add(struct hc_entries *l, char *line, struct hc_error *err);

/* Append the index of DIR/root to `out`: the lines of all entries (hc_tree_line), sorted by bytes. Hashes
 * every file. */
int hc_tree_index(int dir, struct hc_buf *out, struct hc_error *err);

/* A shelf of a store: the directories, below the state directory, of its entries of one kind (enum
 * hc_tree_kind) and of their names. */
struct hc_shelf {
    /* Directory of the entries; of the names, links to entries; of links to the entries that names had
     * before. */
    const char *entries, *names, *previous;
    const char *what; /* word for an entry in messages: "tree", "layer" */
};
extern const struct hc_shelf hc_shelves[]; /* indexed by enum hc_tree_kind */

/* Write the path STATE/DIR/NAME into `out`, or STATE/DIR if `name` is empty. */
int hc_shelf_path(char out[PATH_MAX], const char *state, const char *dir, const char *name,
                  struct hc_error *err);

/* Read the link `name` in `dir`, a shelf's `names` or `previous`: `id` gets the ID of the entry that it
 * points at. False: there is no such link. */
bool hc_shelf_read(const char *state, const char *dir, const char *name, char id[HC_SHA256_HEX]);

/* Find an entry by a name, its ID or the first digits of its ID; `id` gets its ID. False: there is none. */
bool hc_shelf_find(const char *state, const struct hc_shelf *shelf, const char *name, char id[HC_SHA256_HEX]);

/* Point a name at an entry, and note in `previous` the entry that the name had before. */
int hc_shelf_point(const struct hc_shelf *shelf, const char *state, const char *name, const char *id,
                   struct hc_error *err);

/* Remove an entry; an interrupted removal leaves nothing that looks like one. */
int hc_shelf_discard(const char *state, const struct hc_shelf *shelf, const char *id, struct hc_error *err);

/* Call `each` for every entry of one store, once for each of its names. */
int hc_shelf_each(const char *state, const struct hc_shelf *shelf, hc_tree_visitor *each, void *ctx,
                  struct hc_error *err);

#endif
