/* changes.h - what a program changed in the copy of a directory: as a list in memory, and as JSON in a
 * manifest and in the file that `hotcell workspace` reads. */
#ifndef HC_MANIFEST_CHANGES_H
#define HC_MANIFEST_CHANGES_H

#include "base/error.h"
#include "base/hash.h"
#include "json/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What an entry of a directory is. */
enum hc_kind { HC_KIND_FILE, HC_KIND_DIRECTORY, HC_KIND_LINK, HC_KINDS };

/* A file, a directory or a symbolic link as it was at one time. */
struct hc_entry_state {
    enum hc_kind kind;          /* kind of the entry */
    mode_t mode;                /* its permissions, the bits of 0777; of a link 0 */
    int64_t bytes;              /* size of a file, or of a link's target; of a directory 0 */
    char sha256[HC_SHA256_HEX]; /* SHA-256 of the content, or of the link's target; empty for a directory */
};

/* An entry is new; has another kind or content; is gone; has only other permissions. */
enum hc_change_kind { HC_ADDED, HC_CHANGED, HC_REMOVED, HC_MODE, HC_CHANGE_KINDS };

struct hc_change {
    char *path;                 /* path of the entry, relative to the directory, raw bytes; owned */
    enum hc_change_kind change; /* kind of the entry's change */
    /* The entry before and after the change; of an added entry only `now` is set, of a removed one only
     * `was`. */
    struct hc_entry_state was, now;
};

/* An entry of the directory, or of its copy, that was left out. */
struct hc_left {
    char *path;         /* path of the entry, relative to the directory, raw bytes; owned */
    const char *reason; /* why it was left out, a phrase; static */
};

#define HC_MOST_LEFT 200 /* most entries of a struct hc_left_list */

struct hc_left_list {
    struct hc_left *list; /* the entries; owned */
    size_t count;         /* used entries of `list`, at most HC_MOST_LEFT */
    int64_t more;         /* number of further entries that are not in the list */
};

struct hc_changes {
    /* The changes; owned. Sorted: removed entries first, each behind those that were in it; then the others
     * by path. */
    struct hc_change *list;
    size_t count, room;           /* used entries of `list`; entries that there is room for */
    struct hc_left_list skipped;  /* changes that could not be kept */
    struct hc_left_list left_out; /* entries of the directory itself: what its copy never had */
    bool incomplete; /* the search ended early: there may be other changes, and no removed file is listed */
    char *directory; /* directory of the new contents, below the output directory; owned; NULL: none */
    char list_sha256[HC_SHA256_HEX]; /* SHA-256 of the file with the list, `directory` with ".json" */
    char seal[HC_SHA256_HEX]; /* seal of the directory and list_sha256 (cell/seal.h); empty: there is none */
};

void hc_changes_free(struct hc_changes *c); /* frees the struct as well; NULL is fine */

/* Add a change; `path` is copied; `was` and `now` may be NULL, see struct hc_change. -1: no memory. */
int hc_changes_add(struct hc_changes *c, const char *path, enum hc_change_kind change,
                   const struct hc_entry_state *was, const struct hc_entry_state *now, struct hc_error *err);
void hc_changes_sort(struct hc_changes *c); /* puts the list in the order of hc_changes.list */
/* Add an entry that was left out, or, with HC_MOST_LEFT in the list, only count it; `path` is copied. -1: no
 * memory. */
int hc_left_add(struct hc_left_list *l, const char *path, const char *reason, struct hc_error *err);
/* The number of changes of this kind. */
int64_t hc_changes_count(const struct hc_changes *c, enum hc_change_kind change);

const char *hc_change_name(enum hc_change_kind change); /* "added", "changed", "removed", "mode" */
const char *hc_kind_name(enum hc_kind kind);            /* "file", "directory", "link" */

/* The member `changes` of a manifest's directory, with at most `most` changes; the caller owns it. NULL: no
 * memory. */
cJSON *hc_changes_print(const struct hc_changes *c, size_t most);

/* Read an object that hc_changes_print has made of all changes. The caller frees *out with hc_changes_free.
 * HC_EXIT_DATA: the object is no such list, or a path leads out of the directory. */
int hc_changes_read(const cJSON *object, struct hc_changes **out, struct hc_error *err);

#endif
