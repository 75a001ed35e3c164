/* Find what a program changed in the copy of a directory. The cell is dead, or a session is between runs. A
 * guest has chosen the names, modes and sizes of the copy, and commands that go on beside the runs may change
 * it meanwhile: then each entry is listed as it was at some time, and no link that takes its place is
 * followed. */
#include "cell/workspace.h"

#include "base/fd.h"
#include "cell/output/pump.h"
#include "cell/output/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PATHS ((size_t)8 << 20) /* most bytes of the paths in the lists of a job, as JSON has them */

struct comparer {
    struct hc_walk walk; /* first member: the callbacks get its address */
    struct hc_comparing *c;
};

static int skip(struct comparer *k, const char *reason, struct hc_error *err)
{
    return hc_left_add(&k->c->found->skipped, k->walk.path, reason, err);
}

static int end_early(struct comparer *k, const char *reason, struct hc_error *err)
{
    k->c->found->incomplete = true;
    return skip(k, reason, err);
}

static int by_path(const void *path, const void *original)
{
    return strcmp(path, ((const struct hc_original *)original)->path);
}

static struct hc_original *find_original(const struct hc_originals *of, const char *path)
{
    return of->count ? bsearch(path, of->list, of->count, sizeof *of->list, by_path) : NULL;
}

/* ---- contents ---- */

static bool is_unreadable(const struct stat *st)
{
    const mode_t needed = S_ISDIR(st->st_mode) ? S_IRUSR | S_IXUSR : S_IRUSR;
    return (st->st_mode & needed) != needed;
}

/* The guest may have taken its own right to read; the owner can give it back. */
static void make_readable(int dir, const char *name, const struct stat *st)
{
    const mode_t needed = S_ISDIR(st->st_mode) ? S_IRUSR | S_IXUSR : S_IRUSR;
    if (is_unreadable(st))
        (void)!fchmodat(dir, name, (st->st_mode | needed) & 07777, AT_SYMLINK_NOFOLLOW);
}

/* Undo make_readable in a copy that is only listed. */
static void restore_mode(const struct comparer *k, int dir, const char *name, const struct stat *st)
{
    if (!k->c->dest && is_unreadable(st))
        (void)!fchmodat(dir, name, st->st_mode & 07777, AT_SYMLINK_NOFOLLOW);
}

/* Hash the file, and copy it if `o` is not NULL. Returns what hc_pump does. */
static int read_content(struct comparer *k, int fd, const struct stat *st, const struct hc_dest_file *o,
                        struct hc_entry_state *now, struct hc_error *err)
{
    struct hc_pump p = {.from = fd,
                        .to = o ? o->fd : -1,
                        .sparse = st->st_blocks * 512 < st->st_size,
                        .max = k->c->most_bytes,
                        .deadline = k->c->until};
    int rc = hc_pump(&p, err);
    if (rc == HC_PUMPED_WHOLE) {
        now->bytes = p.bytes;
        hc_hash_hex(&p.hash, now->sha256);
    }
    return rc;
}

/* Hash a new content that is only listed. 1: it was skipped. */
static int list_content(struct comparer *k, int fd, const struct stat *st, struct hc_entry_state *now,
                        struct hc_error *err)
{
    int rc = read_content(k, fd, st, NULL, now, err);
    if (rc == HC_PUMPED_TOO_LARGE)
        return skip(k, "more bytes in all than the limit", err) < 0 ? -1 : 1;
    if (rc == HC_PUMPED_STOPPED)
        return end_early(k, "not reached in time", err) < 0 ? -1 : 1;
    if (rc == HC_PUMPED_WHOLE)
        k->c->most_bytes -= now->bytes;
    return rc;
}

/* Write the new content below the directory for results. 1: it was skipped. */
static int keep_content(struct comparer *k, int fd, const struct stat *st, struct hc_entry_state *now,
                        struct hc_error *err)
{
    char path[PATH_MAX];
    struct hc_dest_file o;
    int n = snprintf(path, sizeof path, "%s/%s", k->c->found->directory, k->walk.path);
    if (n < 0 || n >= (int)sizeof path)
        return skip(k, "its path is too long", err) < 0 ? -1 : 1;
    int rc = hc_dest_begin(&o, k->c->dest, path, 0666, err);
    if (rc == 0)
        rc = read_content(k, fd, st, &o, now, err);
    if (rc == HC_PUMPED_WHOLE && hc_dest_commit(&o, path, err) == 0) {
        k->c->most_bytes -= now->bytes;
        return 0;
    }
    hc_dest_abandon(&o);
    if (rc == HC_PUMPED_TOO_LARGE)
        return skip(k, "more bytes in all than the limit", err) < 0 ? -1 : 1;
    if (rc == HC_PUMPED_STOPPED)
        return end_early(k, "not reached in time", err) < 0 ? -1 : 1;
    const char *refusal = k->c->dest->fd >= 0 ? hc_dest_refusal(err) : NULL;
    return refusal ? (skip(k, refusal, err) < 0 ? -1 : 1) : -1;
}

/* A guest chooses the names: no limit of its memory counts the list, which the launcher holds. A byte that is
 * not printed as it is takes up to six. */
static size_t printed_bytes(const char *path)
{
    size_t bytes = 0;
    for (const char *at = path; *at; at++)
        bytes += *at > ' ' && *at < 0x7f && *at != '\\' && *at != '"' ? 1 : 6;
    return bytes;
}

static int add_path(struct comparer *k, const char *path, enum hc_change_kind change,
                    const struct hc_entry_state *was, const struct hc_entry_state *now, struct hc_error *err)
{
    size_t bytes = printed_bytes(path);
    if (bytes < MOST_PATHS - k->c->path_bytes) {
        k->c->path_bytes += bytes;
        return hc_changes_add(k->c->found, path, change, was, now, err);
    }
    k->c->path_bytes = MOST_PATHS;
    return hc_left_add(&k->c->found->skipped, path, "the paths of all changes are longer than 8 MiB", err);
}

static int add(struct comparer *k, enum hc_change_kind change, const struct hc_entry_state *was,
               const struct hc_entry_state *now, struct hc_error *err)
{
    return add_path(k, k->walk.path, change, was, now, err);
}

static bool is_same_state(const struct hc_entry_state *a, const struct hc_entry_state *b)
{
    return a->kind == b->kind && a->bytes == b->bytes && strcmp(a->sha256, b->sha256) == 0;
}

/* Add the change from `was` (NULL: nothing) to `now`, which is of another kind or new, or differs. */
static int add_difference(struct comparer *k, const struct hc_entry_state *was,
                          const struct hc_entry_state *now, struct hc_error *err)
{
    if (was && was->kind != now->kind)
        return add(k, HC_REMOVED, was, NULL, err) < 0 ? -1 : add(k, HC_ADDED, NULL, now, err);
    if (!was)
        return add(k, HC_ADDED, NULL, now, err);
    if (!is_same_state(was, now))
        return add(k, HC_CHANGED, was, now, err);
    return was->mode != now->mode ? add(k, HC_MODE, was, now, err) : 0;
}

static int compare_file(struct comparer *k, int dir, const char *name, const struct stat *st,
                        const struct hc_entry_state *was, struct hc_error *err)
{
    struct hc_entry_state now = {.kind = HC_KIND_FILE, .mode = st->st_mode & 0777};
    if (st->st_nlink != 1)
        return skip(k, "hard link: more than one name", err);
    make_readable(dir, name, st);
    hc_autofd fd = hc_walk_open(dir, name, O_RDONLY);
    restore_mode(k, dir, name, st);
    if (fd < 0)
        return skip(k, "could not be opened", err);
    if (was && was->kind == HC_KIND_FILE && was->bytes == st->st_size) {
        int rc = read_content(k, fd, st, NULL, &now, err);
        if (rc == HC_PUMPED_STOPPED)
            return end_early(k, "not reached in time", err);
        if (rc < 0)
            return -1;
        if (rc == HC_PUMPED_WHOLE && is_same_state(was, &now))
            return add_difference(k, was, &now, err);
    }
    int rc = k->c->dest ? keep_content(k, fd, st, &now, err) : list_content(k, fd, st, &now, err);
    return rc ? (rc < 0 ? -1 : 0) : add_difference(k, was, &now, err);
}

/* A program makes no links in a copy (Landlock); where it could, they stay in the copy, as they may lead
 * anywhere on the host. */
static int compare_link(struct comparer *k, int dir, const char *name, const struct hc_entry_state *was,
                        struct hc_error *err)
{
    char target[PATH_MAX];
    struct hc_entry_state now = {.kind = HC_KIND_LINK};
    ssize_t n = readlinkat(dir, name, target, sizeof target);
    now.bytes = n;
    if (n >= 0)
        hc_sha256_hex(target, (size_t)n, now.sha256);
    return n >= 0 && was && is_same_state(was, &now) ? 0 : skip(k, "symbolic link", err);
}

static int compare_dir(struct comparer *k, int dir, const char *name, const struct stat *st,
                       const struct hc_entry_state *was, struct hc_error *err)
{
    const struct hc_entry_state now = {.kind = HC_KIND_DIRECTORY, .mode = st->st_mode & 0777};
    make_readable(dir, name, st);
    return add_difference(k, was, &now, err) < 0 ? -1 : 1;
}

static int compare_entry(struct hc_walk *w, int dir, const char *name, const struct stat *st, int fd,
                         struct hc_error *err)
{
    struct comparer *k = (struct comparer *)w;
    (void)fd; /* opened by the walk, once it can be read */
    if (hc_deadline_passed(k->c->until)) {
        k->c->found->incomplete = true;
        return hc_left_add(&k->c->found->skipped, w->path, "not reached in time", err);
    }
    struct hc_original *original = find_original(k->c->of, w->path);
    const struct hc_entry_state *was = original ? &original->state : NULL;
    if (original)
        original->seen = true;
    switch (st->st_mode & S_IFMT) {
    case S_IFREG:
        return compare_file(k, dir, name, st, was, err);
    case S_IFDIR:
        return compare_dir(k, dir, name, st, was, err);
    case S_IFLNK:
        return compare_link(k, dir, name, was, err);
    default:
        return skip(k, "named pipe, socket or device", err);
    }
}

static int leave_dir(struct hc_walk *w, int dir, const char *name, const struct stat *st,
                     struct hc_error *err)
{
    (void)err;
    restore_mode((struct comparer *)w, dir, name, st);
    return 0;
}

static int note_unread(struct hc_walk *w, const char *path, struct hc_error *err)
{
    struct comparer *k = (struct comparer *)w;
    k->c->found->incomplete = true;
    return hc_left_add(&k->c->found->skipped, *path ? path : ".", "could not be read, or nested too deep",
                       err);
}

/* The last first: if the list gets full, it has what was in a directory rather than the directory. */
static int add_removed(struct comparer *k, struct hc_error *err)
{
    const struct hc_comparing *c = k->c;
    for (size_t i = c->of->count; i-- > 0 && !c->found->incomplete;) {
        const struct hc_original *o = &c->of->list[i];
        if (!o->seen && add_path(k, o->path, HC_REMOVED, &o->state, NULL, err) < 0)
            return -1;
    }
    return 0;
}

int hc_workspace_compare(struct hc_comparing *c, struct hc_error *err)
{
    struct comparer k = {.walk = {.visit = compare_entry, .leave = leave_dir, .unread = note_unread}, .c = c};
    struct stat st;
    if (fstatat(c->root_fd, c->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return hc_fail(err, errno, "find the copy");
    make_readable(c->root_fd, c->name, &st);
    hc_autofd root = hc_walk_open(c->root_fd, c->name, O_RDONLY | O_DIRECTORY);
    if (root < 0)
        return hc_fail(err, errno, "open the copy");
    for (size_t i = 0; i < c->of->count; i++)
        c->of->list[i].seen = false; /* an earlier listing has seen them */
    int rc = hc_walk(&k.walk, root, err);
    restore_mode(&k, c->root_fd, c->name, &st);
    if (rc < 0 || add_removed(&k, err) < 0)
        return -1;
    hc_changes_sort(c->found);
    return 0;
}
