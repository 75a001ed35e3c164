/* tree_stamps.h - check that a tree's files are unchanged without reading them. A stamp holds an entry's
 * inode, owner, mode, size and times as they were when its content was hashed. A process that writes to a
 * file, or replaces it, changes its ctime or its inode, and utime(2) does not set a ctime back.
 *
 * The stamps are in TREE/stamps, beside root/, where no cell sees them. The index decides: an entry whose
 * stamp differs is hashed, and counts as changed only if its hash differs from the index. So relabelling,
 * another hard link or a restored file do not make a tree a changed one; checking only takes longer.
 *
 * A user who may write in TREE may write stamps: they reveal mistakes, programs that write where they
 * should not, and users who may write only to a file of root/. */
#ifndef HC_CELL_TREE_STAMPS_H
#define HC_CELL_TREE_STAMPS_H

#include "base/buf.h"
#include "base/error.h"
#include "cell/tree.h"

#include <stdint.h>
#include <sys/stat.h>

/* The stamps of one tree, mapped. */
struct hc_stamps {
    const struct hc_tree *tree; /* the tree; borrowed */
    const void *map;            /* the stamps' file, owned; NULL: there are no usable stamps */
    /* Bytes of the map; number of stamps: those of files that every run reads come first. */
    size_t size, count;
    size_t core;         /* number of stamps, from the first on, that a quick check always compares */
    const char *why;     /* if `map` is NULL: why there are no usable stamps; static */
    struct hc_buf index; /* the tree's index, owned; read when the first stamp differs */
    size_t hashed;       /* number of entries whose stamp differed but whose content was right */
};

/* Open a tree's stamps. If there are none, or the tree was copied from elsewhere, `map` stays NULL.
 * `whole`: also check that the stamps' file is undamaged. */
int hc_stamps_open(struct hc_stamps *s, const struct hc_tree *tree, bool whole, struct hc_error *err);
void hc_stamps_finish(struct hc_stamps *s);

/* A hash over all stamps of `s`, as hex text that is valid as long as `s`: other stamps have another hash. */
const char *hc_stamps_sum(const struct hc_stamps *s);

/* Compare `count` entries from number `first` on. HC_EXIT_UNAVAILABLE, and a sentence that names the tree,
 * the entry, the change and what to do, if one was changed. */
int hc_stamps_check(struct hc_stamps *s, size_t first, size_t count, struct hc_error *err);

/* Two steps around the hashing of a tree's files. hc_stamps_take, before it, collects the stamps of all
 * entries of DIR/root that `index` names; hc_stamps_keep, once the hashes proved right, writes them as
 * DIR/stamps of the tree `id`. */
int hc_stamps_take(int dir, const char *index, struct hc_buf *out, struct hc_error *err);
int hc_stamps_keep(int dir, const char *id, struct hc_buf *taken, struct hc_error *err);

#endif
