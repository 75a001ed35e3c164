/* tree.h - the store of trees: content-addressed directories that cells use as their root.
 *
 * STATE/trees/ID/{root/, index, meta.json, stamps} and STATE/names/NAME -> ../trees/ID. ID is the SHA-256 of
 * the index; the index has one line per entry of root: type, mode, size, SHA-256 or link target, path; so an
 * ID says what every byte of a tree is, and a directory may be copied to another store. An entry of trees/ is
 * complete or it is not there: builds happen in STATE/trees/.new-* and are renamed into place.
 *
 * A layer is the same with modules and programs in its root/, in STATE/layers/ID and STATE/layer-names: it is
 * mounted in the cell at HC_LAYERS_PLACE/NAME, and Python looks for modules there after the tree's own. Its
 * console scripts are in HC_LAYER_PROGRAMS, a recipe's programs in HC_LAYER_LOCAL.
 * The text "TREE+LAYER+LAYER" names a tree with layers, and messages call a layer "+LAYER". */
#ifndef HC_CELL_TREE_H
#define HC_CELL_TREE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum hc_tree_kind { HC_KIND_TREE, HC_KIND_LAYER };

struct hc_tree {
    int root_fd;            /* descriptor of the tree's root/, O_PATH; owned */
    char path[PATH_MAX];    /* path of the tree's root/ */
    char name[256];         /* as the caller of hc_tree_open gave it, without layers; of a layer "+NAME" */
    char id[HC_SHA256_HEX]; /* SHA-256 of the index */
    char abi[8];            /* version of the tree's Python, such as "3.12"; of a layer empty */
    struct hc_tree *layers; /* the tree's layers, in the order in which they were named; owned; NULL: none */
    int lock_fd; /* descriptor of the tree's directory with a shared lock (hc_tree_hold); owned; -1: none */
    size_t layer_count; /* number of `layers` */
};

/* Find a tree by name, by ID or a prefix of at least 8 digits, or by path if it holds a slash; except with a
 * path, "+LAYER" after it opens layers too. Ordinary users see root's trees too. After a failure nothing is
 * open. HC_EXIT_UNAVAILABLE if there is none; the error names the command that
 * builds it. */
int hc_tree_open(struct hc_tree *t, const char *name, struct hc_error *err);
void hc_tree_finish(struct hc_tree *t);

/* Check that the tree and layers that a job names are in a store. HC_EXIT_DATA if not: the error lists the
 * names of trees, and no command, as the job's sender may be elsewhere. A path is not looked at. */
int hc_tree_check_there(const char *name, struct hc_error *err);

/* Find one layer in the same way, by its name without '+' or by its ID. */
int hc_layer_open(struct hc_tree *t, const char *name, struct hc_error *err);

/* Hold a tree and its layers until hc_tree_finish: hc_tree_prune removes nothing that is held.
 * HC_EXIT_UNAVAILABLE if one has been removed. */
int hc_tree_hold(struct hc_tree *t, struct hc_error *err);

/* Read meta.json, which the builder wrote beside root/. Returns its JSON, owned by the caller; NULL: it
 * cannot be read. */
cJSON *hc_tree_meta(const struct hc_tree *t);

/* Bytes of all files of a tree and its layers together, as their builders noted them; -1: unknown. */
int64_t hc_tree_bytes(const struct hc_tree *t);

/* Write a clause for messages, with the command that rebuilds the tree: "'hotcell tree build base' makes
 * it anew". It names the recipe that the tree was built from, if the builder's note beside the tree can be
 * read. */
#define HC_TREE_ADVICE 200 /* bytes of such a clause, with its NUL */
void hc_tree_advice(const struct hc_tree *t, char out[HC_TREE_ADVICE]);

/* 0 if `name` is a valid name for a tree or a layer, else -1 (HC_EXIT_USAGE). */
int hc_tree_check_name(const char *name, struct hc_error *err);

/* Index STAGING/root, make it an entry of the store under its ID, and point NAME at it. A tree of that ID
 * that is in the store already stays, unless its files were changed: then it is replaced. STAGING is gone
 * afterwards. */
int hc_tree_adopt(enum hc_tree_kind kind, const char *staging, const char *name, char id[HC_SHA256_HEX],
                  struct hc_error *err);

/* Make a fresh staging directory .new-XXXXXX among the entries of that kind; `staging` gets its path. It is
 * locked for as long as `*lock_fd`, which the caller owns, is open; staging directories without a lock are
 * removed first. hc_tree_discard removes one. */
int hc_tree_stage(enum hc_tree_kind kind, char staging[PATH_MAX], int *lock_fd, struct hc_error *err);
void hc_tree_discard(const char *staging);

/* Compare every entry with the index, and the index with the ID. Each difference is one line on `out`. 0
 * if there is none, 1 if there are, -1 on error. Without a difference the tree gets new stamps
 * (tree_stamps.h); `unstamped` says why it could not get them, and is empty if it did. `unstamped` NULL:
 * write no stamps. */
int hc_tree_verify(const struct hc_tree *t, FILE *out, struct hc_error *unstamped, struct hc_error *err);

/* The line of one entry in the index: its type, mode, size, SHA-256 or link target, and path, "f 0644 1234
 * SHA256 path\n"; owned by the caller. `name` is the entry's name in the directory `dir`, and `st` its
 * lstat. */
struct stat;
int hc_tree_line(int dir, const char *name, const char *path, const struct stat *st, char **line,
                 struct hc_error *err);

/* Remove a name, and the tree itself once it has no name left. `name` may also be the ID of a tree without
 * a name. */
int hc_tree_remove(enum hc_tree_kind kind, const char *name, struct hc_error *err);

/* Point a name at the entry that it named before it was last changed; `id` gets the ID of that entry.
 * HC_EXIT_DATA if there is no such tree. */
int hc_tree_rollback(enum hc_tree_kind kind, const char *name, char id[HC_SHA256_HEX], struct hc_error *err);

/* Look for entries of this user's store that nothing needs: they have no name, no name could be rolled back
 * to them (with `previous` this does not save an entry), and no process holds them. `report` is called for
 * each entry; its `why` says why the entry is kept. NULL: nothing needs it, and with `remove` it has been
 * removed. */
typedef void hc_tree_pruned(void *ctx, const char *id, const char *why);
int hc_tree_prune(enum hc_tree_kind kind, bool previous, bool remove, hc_tree_pruned *report, void *ctx,
                  struct hc_error *err);

/* Call `each` for every tree, or every layer, of this user's store and of root's. `name` is "" for a tree
 * without a name. */
typedef void hc_tree_visitor(void *ctx, const char *name, const char *id, const char *path);
int hc_tree_each(enum hc_tree_kind kind, hc_tree_visitor *each, void *ctx, struct hc_error *err);

#endif
