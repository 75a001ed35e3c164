/* tree_stamps.h - what tells without reading a tree's files that nobody changed them: of each entry the
 * inode, owner, mode, size and times, as they were when the entry's content was hashed. Whoever writes to a
 * file, or replaces it, changes its ctime or its inode, and utime(2) does not set a ctime back.
 *
 * They are in TREE/stamps, beside root/, where no cell sees them. The index stays the only truth: an entry
 * whose stamp does not fit is hashed, and is a changed one if the index says otherwise. So relabelling,
 * another hard link or a file that was restored do not make a tree a changed one; checking only takes longer.
 *
 * Who may write in TREE may write stamps: they tell of mistakes, of programs that write where they should
 * not, and of who may write to a file of root/ alone. */
#ifndef HC_CELL_TREE_STAMPS_H
#define HC_CELL_TREE_STAMPS_H

#include "base/buf.h"
#include "base/error.h"
#include "cell/tree.h"

#include <stdint.h>
#include <sys/stat.h>

/* The stamps of one tree, mapped. */
struct hc_stamps {
    const struct hc_tree *tree; /* borrowed */
    const void *map;            /* owned; NULL: there are none that fit the place */
    size_t size, count;         /* bytes of the map; entries, those that every run reads first */
    size_t core;                /* records, from the first on, that a quick check always compares */
    const char *why;            /* without a map: why there are none */
    struct hc_buf index;        /* owned; read when a stamp does not fit */
    size_t hashed;              /* entries whose stamp did not fit, with the content that they should have */
};

/* Open them. Without any, or with those of a tree that was copied from elsewhere, `map` stays NULL. `whole`:
 * check also that nothing of the stamps themselves was damaged. */
int hc_stamps_open(struct hc_stamps *s, const struct hc_tree *tree, bool whole, struct hc_error *err);
void hc_stamps_finish(struct hc_stamps *s);

/* A hash of what they say; others have another. */
const char *hc_stamps_sum(const struct hc_stamps *s);

/* Compare `count` entries from number `first` on. HC_EXIT_UNAVAILABLE, and a sentence that names the tree,
 * the entry, the change and what to do, if one was changed. */
int hc_stamps_check(struct hc_stamps *s, size_t first, size_t count, struct hc_error *err);

/* Look at all entries of DIR/root that this index names, before somebody hashes them; and keep what was seen
 * once they have proved to be right, as DIR/stamps of the tree `id`. */
int hc_stamps_take(int dir, const char *index, struct hc_buf *out, struct hc_error *err);
int hc_stamps_keep(int dir, const char *id, struct hc_buf *taken, struct hc_error *err);

#endif
