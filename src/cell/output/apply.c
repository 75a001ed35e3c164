/* Apply what a program changed in the copy of a directory to the directory itself. Other processes may change
 * the directory meanwhile, and other users' files may be in it. */
#include "cell/workspace.h"

#include "base/fd.h"
#include "cell/output/pump.h"
#include "cell/output/walk.h"
#include "cell/seal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define STAGE       ".hotcell-commit-" /* what a directory for new contents, beside the old ones, begins with */
#define MARKER      ".made-"           /* what the name of the file begins with that marks such a directory */
#define MARKER_SIZE (sizeof MARKER + HC_SHA256_HEX)
#define FOREVER     ((int64_t)1 << 40) /* ms */

/* A change's path in the directory, when it was checked. */
struct hc_seen {
    bool there;     /* something has this path */
    bool done;      /* it is already as the program left it */
    struct stat st; /* of what is there */
};

void hc_applying_finish(struct hc_applying *a)
{
    free(a->seen);
    a->seen = NULL;
}

static void conflict(struct hc_applying *a, const char *path, const char *why)
{
    a->conflicts++;
    a->conflict(a->ctx, path, why);
}

/* Open the directory that the path is in; *name: the path's last part. -1 with errno. */
static int open_parent(int root, const char *path, const char **name)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    (void)snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return hc_walk_open(root, parent, O_PATH | O_DIRECTORY);
}

/* ---- what is there ---- */

static int hash_file(int fd, int to, struct hc_entry_state *s, struct hc_error *err)
{
    struct hc_deadline until;
    hc_deadline_start(&until, -1, FOREVER);
    struct hc_pump p = {.from = fd, .to = to, .max = INT64_MAX, .deadline = &until};
    if (hc_pump(&p, err) != HC_PUMPED_WHOLE)
        return -1;
    s->bytes = p.bytes;
    hc_hash_hex(&p.hash, s->sha256);
    return 0;
}

static bool is_as(const struct hc_entry_state *a, const struct hc_entry_state *b)
{
    return a->kind == b->kind && (a->kind == HC_KIND_LINK || a->mode == b->mode) && a->bytes == b->bytes &&
           strcmp(a->sha256, b->sha256) == 0;
}

/* The state of an entry; -1: it is none of the kinds that are copied, or cannot be read. */
static int read_state(int dir, const char *name, const struct stat *st, struct hc_entry_state *s)
{
    char target[PATH_MAX];
    struct hc_error ignored;
    *s = (struct hc_entry_state){.mode = st->st_mode & 0777};
    if (S_ISDIR(st->st_mode)) {
        s->kind = HC_KIND_DIRECTORY;
        return 0;
    }
    if (S_ISREG(st->st_mode)) {
        hc_autofd fd = hc_walk_open(dir, name, O_RDONLY);
        return fd < 0 ? -1 : hash_file(fd, -1, s, &ignored);
    }
    ssize_t n = S_ISLNK(st->st_mode) ? readlinkat(dir, name, target, sizeof target) : -1;
    if (n < 0)
        return -1;
    *s = (struct hc_entry_state){.kind = HC_KIND_LINK, .bytes = n};
    hc_sha256_hex(target, (size_t)n, s->sha256);
    return 0;
}

static size_t removed_count(const struct hc_changes *c)
{
    size_t n = 0;
    while (n < c->count && c->list[n].change == HC_REMOVED)
        n++;
    return n;
}

static int backwards(const void *path, const void *change)
{
    return -strcmp(path, ((const struct hc_change *)change)->path);
}

static bool is_removed(const struct hc_applying *a, const char *path)
{
    return a->of->count && bsearch(path, a->of->list, removed_count(a->of), sizeof *a->of->list, backwards);
}

static int forwards(const void *path, const void *change)
{
    return strcmp(path, ((const struct hc_change *)change)->path);
}

/* The change by which the program made something of this path; NULL: it has not. */
static const struct hc_change *find_added(const struct hc_applying *a, const char *path)
{
    size_t removed = removed_count(a->of);
    const struct hc_change *c =
        removed < a->of->count
            ? bsearch(path, a->of->list + removed, a->of->count - removed, sizeof *a->of->list, forwards)
            : NULL;
    return c && c->change == HC_ADDED ? c : NULL;
}

static bool is_added_dir(const struct hc_applying *a, const char *path)
{
    const struct hc_change *c = find_added(a, path);
    return c && c->now.kind == HC_KIND_DIRECTORY;
}

/* Has an earlier commit, which may not have come to its end, already put there what the program left in the
 * place of what it removed? A directory gets its mode last. */
static bool is_replaced(const struct hc_applying *a, const struct hc_change *c,
                        const struct hc_entry_state *there)
{
    const struct hc_change *added = c->change == HC_REMOVED ? find_added(a, c->path) : NULL;
    if (!added || there->kind == c->was.kind)
        return false;
    return (there->kind == HC_KIND_DIRECTORY && added->now.kind == HC_KIND_DIRECTORY) ||
           is_as(there, &added->now);
}

/* Is there something in the directory that was not in the copy, and so was not removed by the program? */
static bool has_others(const struct hc_applying *a, int dir, const char *name, const char *path)
{
    char child[PATH_MAX];
    hc_autofd fd = hc_walk_open(dir, name, O_RDONLY | O_DIRECTORY);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    bool others = !names;
    if (names)
        (void)hc_take(&fd); /* owned by the stream now */
    for (const struct dirent *e; !others && (e = readdir(names));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        int n = snprintf(child, sizeof child, "%s/%s", path, e->d_name);
        others = n >= (int)sizeof child || !is_removed(a, child);
    }
    if (names)
        (void)closedir(names);
    return others;
}

/* Is it a file that has neither the old nor the new content, by its size? */
static bool has_other_size(const struct hc_change *c, const struct stat *st)
{
    return S_ISREG(st->st_mode) && c->change != HC_ADDED && c->was.kind == HC_KIND_FILE &&
           st->st_size != c->was.bytes && (c->change != HC_CHANGED || st->st_size != c->now.bytes);
}

/* Why the change cannot be applied to what is there; NULL: it can, or *done. */
static const char *find_conflict(const struct hc_applying *a, const struct hc_change *c, struct hc_seen *seen,
                                 int dir, const char *name)
{
    struct hc_entry_state state;
    const bool is_there = seen->there;
    if (!is_there) {
        seen->done = c->change == HC_REMOVED;
        return c->change == HC_ADDED || seen->done ? NULL : "it is gone";
    }
    if (has_other_size(c, &seen->st)) /* no need to read it */
        return "it has changed since it was copied";
    if (read_state(dir, name, &seen->st, &state) < 0)
        return "it cannot be read, or is no file any more";
    if (c->change == HC_ADDED && is_removed(a, c->path) && state.kind != c->now.kind)
        return NULL; /* what is there goes first, and was looked at as such */
    seen->done = c->change == HC_REMOVED ? is_replaced(a, c, &state) : is_as(&state, &c->now);
    if (seen->done)
        return NULL;
    if (c->change == HC_ADDED && state.kind == HC_KIND_DIRECTORY && c->now.kind == HC_KIND_DIRECTORY)
        return NULL; /* one more directory that may stay */
    if (c->change == HC_ADDED)
        return "something else has that name";
    if (!is_as(&state, &c->was))
        return "it has changed since it was copied";
    if (c->change == HC_REMOVED && state.kind == HC_KIND_DIRECTORY && has_others(a, dir, name, c->path))
        return "there is something in it that the copy did not have";
    if (geteuid() != 0 && seen->st.st_uid != geteuid() && c->change != HC_REMOVED)
        return "it belongs to another user";
    return NULL;
}

/* Can the new content be read, and is it what the list says? */
static bool is_kept(const struct hc_applying *a, const struct hc_change *c)
{
    struct hc_entry_state s = {.kind = HC_KIND_FILE, .mode = c->now.mode};
    struct hc_error ignored;
    hc_autofd fd = a->kept_fd < 0 ? -1 : hc_walk_open(a->kept_fd, c->path, O_RDONLY);
    return fd >= 0 && hash_file(fd, -1, &s, &ignored) == 0 && is_as(&s, &c->now);
}

static bool needs_content(const struct hc_change *c)
{
    return (c->change == HC_ADDED || c->change == HC_CHANGED) && c->now.kind == HC_KIND_FILE;
}

/* The directory of a path could not be opened, with this errno: why that is a conflict; NULL: it is none, as
 * the program made or removed that directory itself. */
static const char *find_lost_parent(const struct hc_applying *a, const struct hc_change *c, int error)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(c->path, '/');
    (void)snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - c->path) : 0, c->path);
    switch (error) {
    case ENOENT:
        return c->change != HC_ADDED || is_added_dir(a, parent) ? NULL : "its directory is gone";
    case ENOTDIR:
        return is_removed(a, parent) || is_added_dir(a, parent) ? NULL : "its directory is none any more";
    case ELOOP:
    case EXDEV:
        return "a symbolic link or another file system is on the way";
    default:
        return "its directory cannot be opened";
    }
}

static void check_change(struct hc_applying *a, size_t i)
{
    const struct hc_change *c = &a->of->list[i];
    struct hc_seen *seen = &a->seen[i];
    const char *name, *why = NULL;
    if ((c->change != HC_REMOVED && c->now.kind == HC_KIND_LINK) ||
        (c->change == HC_MODE && c->was.kind == HC_KIND_LINK)) {
        conflict(a, c->path, "links are not applied");
        return;
    }
    hc_autofd dir = open_parent(a->host_fd, c->path, &name);
    if (dir < 0)
        why = find_lost_parent(a, c, errno);
    seen->there = dir >= 0 && fstatat(dir, name, &seen->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!why)
        why = find_conflict(a, c, seen, dir, name);
    if (!why && !seen->done && dir >= 0 && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) < 0)
        why = "its directory cannot be written to";
    if (!why && !seen->done && needs_content(c) && !is_kept(a, c))
        why = "its new content among the results is not what the program left";
    if (why)
        conflict(a, c->path, why);
}

int hc_workspace_check(struct hc_applying *a, struct hc_error *err)
{
    hc_applying_finish(a);
    a->conflicts = 0;
    a->seen = calloc(a->of->count + 1, sizeof *a->seen);
    if (!a->seen)
        return hc_fail(err, ENOMEM, "check changes");
    for (size_t i = 0; i < a->of->count; i++)
        check_change(a, i);
    return 0;
}

/* ---- applying ---- */

static void stage_name(char out[24], size_t i)
{
    (void)snprintf(out, 24, "%zu", i);
}

/* Write the new content into the stage, with the mode that it will have. Where root replaces another user's
 * file, that user keeps it. */
static int stage_file(struct hc_applying *a, int stage, size_t i, struct hc_error *err)
{
    char name[24];
    const struct hc_change *c = &a->of->list[i];
    const struct hc_seen *seen = &a->seen[i];
    struct hc_entry_state s = {.kind = HC_KIND_FILE, .mode = c->now.mode};
    stage_name(name, i);
    hc_autofd from = hc_walk_open(a->kept_fd, c->path, O_RDONLY);
    hc_autofd to =
        from < 0 ? -1 : openat(stage, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "write the new '%s'", c->path);
    if (hash_file(from, to, &s, err) < 0)
        return hc_ctx(err, "write the new '%s'", c->path);
    if (!is_as(&s, &c->now))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the new '%s' has changed among the results", c->path);
    if (c->change == HC_CHANGED && (seen->st.st_uid != geteuid() || seen->st.st_gid != getegid()) &&
        fchown(to, geteuid() == 0 ? seen->st.st_uid : (uid_t)-1, seen->st.st_gid) < 0 && geteuid() == 0)
        return hc_fail(err, errno, "give the new '%s' its owner", c->path);
    return fchmod(to, c->now.mode) < 0 ? hc_fail(err, errno, "set the mode of the new '%s'", c->path) : 0;
}

/* A directory changes while the commit fills it. */
static bool is_same_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
           a->st_uid == b->st_uid;
}

static bool is_what_was_checked(const struct stat *a, const struct stat *b)
{
    return is_same_one(a, b) && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* After a file was moved into the stage: is it what the check has seen? */
static bool moved_right_one(const struct hc_applying *a, int stage, size_t i)
{
    char name[24];
    struct stat st;
    stage_name(name, i);
    return fstatat(stage, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_what_was_checked(&st, &a->seen[i].st);
}

static int fail_late(struct hc_applying *a, size_t i, int sys, struct hc_error *err)
{
    const char *path = a->of->list[i].path;
    switch (sys) {
    case 0:
    case ENOENT:
    case EEXIST:
    case ENOTEMPTY:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
        conflict(a, path, "somebody changed it just now; nothing after it was applied");
        return 1;
    case EINVAL:
        return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s': its file system cannot exchange files at once", path);
    default:
        return hc_fail(err, sys, "apply '%s'", path);
    }
}

/* What was moved into the stage could not be put back: it stays there, under a name that empty_stage leaves.
 */
static int keep_aside(struct hc_applying *a, int stage, size_t i)
{
    char staged[24], kept[32], why[160];
    stage_name(staged, i);
    (void)snprintf(kept, sizeof kept, "kept-%s", staged);
    (void)renameat2(stage, staged, stage, kept, RENAME_NOREPLACE);
    (void)snprintf(why, sizeof why,
                   "somebody changed it just now; what was there is %s/%s; nothing after it was applied",
                   a->stage_name, kept);
    conflict(a, a->of->list[i].path, why);
    return 1;
}

static int remove_one(struct hc_applying *a, int stage, size_t i, int dir, const char *name,
                      struct hc_error *err)
{
    char aside[24];
    stage_name(aside, i);
    if (a->of->list[i].was.kind == HC_KIND_DIRECTORY)
        return unlinkat(dir, name, AT_REMOVEDIR) < 0 ? fail_late(a, i, errno, err) : 0;
    if (renameat2(dir, name, stage, aside, RENAME_NOREPLACE) < 0)
        return fail_late(a, i, errno, err);
    if (moved_right_one(a, stage, i))
        return 0;
    return renameat2(stage, aside, dir, name, RENAME_NOREPLACE) < 0 ? keep_aside(a, stage, i)
                                                                    : fail_late(a, i, 0, err);
}

/* Make the directory where nobody else can exchange it, and note which one it is: it gets its mode later. */
static int add_dir(struct hc_applying *a, int stage, size_t i, int dir, const char *name,
                   struct hc_error *err)
{
    char staged[24];
    struct stat parent, *made = &a->seen[i].st;
    stage_name(staged, i);
    if (a->seen[i].there && S_ISDIR(made->st_mode))
        return 0; /* set_mode looks whether it is still that one */
    if (mkdirat(stage, staged, 0700) < 0)
        return hc_fail(err, errno, "make the new '%s'", a->of->list[i].path);
    hc_autofd fd = hc_walk_open(stage, staged, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || fstat(dir, &parent) < 0)
        return hc_fail(err, errno, "make the new '%s'", a->of->list[i].path);
    /* As mkdir has it in a directory whose files get its group. */
    if ((parent.st_mode & S_ISGID) && fchown(fd, (uid_t)-1, parent.st_gid) == 0)
        (void)fchmod(fd, S_ISGID | 0700);
    if (fstat(fd, made) < 0)
        return hc_fail(err, errno, "make the new '%s'", a->of->list[i].path);
    return renameat2(stage, staged, dir, name, RENAME_NOREPLACE) < 0 ? fail_late(a, i, errno, err) : 0;
}

static int add_one(struct hc_applying *a, int stage, size_t i, int dir, const char *name,
                   struct hc_error *err)
{
    char staged[24];
    stage_name(staged, i);
    if (a->of->list[i].now.kind == HC_KIND_FILE)
        return renameat2(stage, staged, dir, name, RENAME_NOREPLACE) < 0 ? fail_late(a, i, errno, err) : 0;
    return add_dir(a, stage, i, dir, name, err);
}

/* The old file takes the new one's place in the stage, so it can be looked at, and put back. */
static int change_one(struct hc_applying *a, int stage, size_t i, int dir, const char *name,
                      struct hc_error *err)
{
    char staged[24];
    struct stat ours, back;
    stage_name(staged, i);
    if (fstatat(stage, staged, &ours, AT_SYMLINK_NOFOLLOW) < 0 ||
        renameat2(stage, staged, dir, name, RENAME_EXCHANGE) < 0)
        return fail_late(a, i, errno, err);
    if (moved_right_one(a, stage, i))
        return 0;
    if (renameat2(stage, staged, dir, name, RENAME_EXCHANGE) < 0 &&
        renameat2(stage, staged, dir, name, RENAME_NOREPLACE) < 0)
        return keep_aside(a, stage, i);
    bool is_ours =
        fstatat(stage, staged, &back, AT_SYMLINK_NOFOLLOW) < 0 || is_what_was_checked(&ours, &back);
    return is_ours ? fail_late(a, i, 0, err) : keep_aside(a, stage, i);
}

static int set_mode(struct hc_applying *a, size_t i, int dir, const char *name, struct hc_error *err)
{
    char path[40];
    struct stat st;
    const struct hc_change *c = &a->of->list[i];
    hc_autofd fd = hc_walk_open(dir, name, O_PATH);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail_late(a, i, errno, err);
    if (!(S_ISDIR(st.st_mode) ? is_same_one : is_what_was_checked)(&st, &a->seen[i].st))
        return fail_late(a, i, 0,
                         err); /* it has another one's name, whose mode is not the program's to set */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    mode_t kept = S_ISDIR(st.st_mode) ? st.st_mode & (S_ISGID | S_ISVTX) : 0;
    return chmod(path, kept | c->now.mode) < 0 ? hc_fail(err, errno, "set the mode of '%s'", c->path) : 0;
}

static bool sets_mode_last(const struct hc_change *c)
{
    return c->change == HC_MODE || (c->change == HC_ADDED && c->now.kind == HC_KIND_DIRECTORY);
}

/* 0: applied. 1: it became a conflict. */
static int apply_one(struct hc_applying *a, int stage, size_t i, bool last, struct hc_error *err)
{
    const char *name;
    const struct hc_change *c = &a->of->list[i];
    hc_autofd dir = open_parent(a->host_fd, c->path, &name);
    if (dir < 0)
        return fail_late(a, i, errno, err);
    if (last)
        return set_mode(a, i, dir, name, err);
    switch (c->change) {
    case HC_REMOVED:
        return remove_one(a, stage, i, dir, name, err);
    case HC_ADDED:
        return add_one(a, stage, i, dir, name, err);
    case HC_CHANGED:
        return change_one(a, stage, i, dir, name, err);
    default:
        return 0;
    }
}

static int apply_all(struct hc_applying *a, int stage, struct hc_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < a->of->count; i++) {
        if (!a->seen[i].done)
            rc = apply_one(a, stage, i, false, err);
        a->applied += rc == 0 && !a->seen[i].done;
        a->already += rc == 0 && a->seen[i].done;
    }
    /* Modes come last, those of directories after what is in them. */
    for (size_t i = a->of->count; rc == 0 && i-- > 0;)
        if (!a->seen[i].done && sets_mode_last(&a->of->list[i]))
            rc = apply_one(a, stage, i, true, err);
    return rc < 0 ? -1 : 0;
}

static int stage_all(struct hc_applying *a, int stage, struct hc_error *err)
{
    for (size_t i = 0; i < a->of->count; i++)
        if (needs_content(&a->of->list[i]) && !a->seen[i].done && stage_file(a, stage, i, err) < 0)
            return -1;
    return syncfs(stage) < 0 ? hc_fail(err, errno, "write new contents") : 0;
}

/* ---- the stage ---- */

/* The name of the file that tells a stage from any other directory of the caller's: others cannot know it. */
static int marker_name(int stage, char out[MARKER_SIZE], struct hc_error *err)
{
    struct stat st;
    char seal[HC_SHA256_HEX];
    if (fstat(stage, &st) < 0)
        return hc_fail(err, errno, "stat the stage");
    const struct hc_sealed sealed = {.what = "stage", .path = "", .st = &st, .sha256 = ""};
    if (hc_seal(&sealed, seal, err) < 0)
        return -1;
    (void)snprintf(out, MARKER_SIZE, MARKER "%s", seal);
    return 0;
}

static DIR *read_names(int dir)
{
    hc_autofd fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    if (names)
        (void)hc_take(&fd); /* owned by the stream now */
    return names;
}

static bool is_empty(int dir)
{
    DIR *names = read_names(dir);
    bool empty = names;
    for (const struct dirent *e; empty && (e = readdir(names));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (names)
        (void)closedir(names);
    return empty;
}

/* A directory of the caller's to which nobody else comes. -1: it is none. */
static int open_private(int dir, const char *name)
{
    struct stat st;
    hc_autofd fd = hc_walk_open(dir, name, O_RDONLY | O_DIRECTORY);
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077) ? hc_take(&fd)
                                                                                           : -1;
}

/* Make the directory for new contents, a->stage_name. -1: it could not be made. */
static int make_stage(struct hc_applying *a, struct hc_error *err)
{
    uint64_t random;
    char marker[MARKER_SIZE];
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return hc_fail(err, errno, "getrandom");
    (void)snprintf(a->stage_name, sizeof a->stage_name, STAGE "%016llx", (unsigned long long)random);
    if (mkdirat(a->host_fd, a->stage_name, 0700) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "make %s in the directory", a->stage_name);
    hc_autofd stage = open_private(a->host_fd, a->stage_name);
    if (stage < 0 || !is_empty(stage))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "somebody has exchanged %s in the directory", a->stage_name);
    if (marker_name(stage, marker, err) < 0)
        return -1;
    hc_autofd made = openat(stage, marker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return made < 0 ? hc_fail(err, errno, "mark %s", a->stage_name) : hc_take(&stage);
}

/* The number of names that were removed. */
static size_t remove_numbered(int stage, DIR *names)
{
    size_t removed = 0;
    for (const struct dirent *e; (e = readdir(names));)
        if (strspn(e->d_name, "0123456789") == strlen(e->d_name))
            removed += unlinkat(stage, e->d_name, 0) == 0 || unlinkat(stage, e->d_name, AT_REMOVEDIR) == 0;
    return removed;
}

/* Remove what stage_name() has named, and then the marker; what else is there stays. */
static void empty_stage(int stage, const char *marker)
{
    DIR *names = read_names(stage);
    while (names && remove_numbered(stage, names)) /* a file system may leave out names while others go */
        rewinddir(names);
    if (names)
        (void)closedir(names);
    (void)unlinkat(stage, marker, 0);
}

/* If the name leads to something else meanwhile, no more than an empty directory is removed. */
static int remove_stage(int dir, const char *name, int stage, struct hc_error *err)
{
    char marker[MARKER_SIZE];
    if (marker_name(stage, marker, err) < 0)
        return -1;
    if (faccessat(stage, marker, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        empty_stage(stage, marker);
    (void)unlinkat(dir, name, AT_REMOVEDIR);
    return 0;
}

/* Remove what a killed commit has left. The caller of hc_workspace_apply sees to it that no other is at work.
 */
static int remove_stages(int dir, struct hc_error *err)
{
    DIR *names = read_names(dir);
    int rc = names ? 0 : hc_fail(err, errno, "read the directory");
    for (const struct dirent *e; rc == 0 && (e = readdir(names));) {
        hc_autofd stage = strncmp(e->d_name, STAGE, strlen(STAGE)) == 0 ? open_private(dir, e->d_name) : -1;
        if (stage >= 0)
            rc = remove_stage(dir, e->d_name, stage, err);
    }
    if (names)
        (void)closedir(names);
    return rc;
}

int hc_workspace_apply(struct hc_applying *a, struct hc_error *err)
{
    struct hc_error removing;
    if (remove_stages(a->host_fd, err) < 0)
        return -1;
    hc_autofd stage = make_stage(a, err);
    if (stage < 0)
        return -1;
    int rc = stage_all(a, stage, err);
    if (rc == 0)
        rc = apply_all(a, stage, err);
    if (remove_stage(a->host_fd, a->stage_name, stage, &removing) < 0 && rc == 0) {
        *err = removing;
        rc = -1;
    }
    return rc;
}

/* ---- removing ---- */

static int unlink_entry(struct hc_walk *w, int dir, const char *name, const struct stat *st, int fd,
                        struct hc_error *err)
{
    (void)fd;
    if (S_ISDIR(st->st_mode))
        return 1;
    return unlinkat(dir, name, 0) < 0 ? hc_fail(err, errno, "remove %s", w->path) : 0;
}

static int unlink_dir(struct hc_walk *w, int dir, const char *name, const struct stat *st,
                      struct hc_error *err)
{
    (void)st;
    return unlinkat(dir, name, AT_REMOVEDIR) < 0 ? hc_fail(err, errno, "remove %s", w->path) : 0;
}

static int fail_unread(struct hc_walk *w, const char *path, struct hc_error *err)
{
    (void)w;
    return hc_fail(err, errno, "read %s", path);
}

int hc_workspace_remove(int dir, const char *name, struct hc_error *err)
{
    struct hc_walk w = {.visit = unlink_entry, .leave = unlink_dir, .unread = fail_unread};
    hc_autofd fd = hc_walk_open(dir, name, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "open %s", name);
    if (hc_walk(&w, fd, err) < 0)
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR) < 0 ? hc_fail(err, errno, "remove %s", name) : 0;
}
