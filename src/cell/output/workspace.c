/* Copy a directory of the host for a program. */
#include "cell/workspace.h"

#include "base/fd.h"
#include "base/units.h"
#include "cell/output/pump.h"
#include "cell/output/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* The copying that goes on. */
struct copier {
    struct hc_walk walk; /* first member: the callbacks get its address */
    struct hc_copying *c;
    int to[HC_WALK_DEPTH + 1]; /* directories of the copy that are being filled, by depth; owned */
};

void hc_originals_finish(struct hc_originals *o)
{
    for (size_t i = 0; i < o->count; i++)
        free(o->list[i].path);
    free(o->list);
    *o = (struct hc_originals){0};
}

static int add_original(struct hc_originals *o, const char *path, const struct hc_entry_state *state,
                        struct hc_error *err)
{
    if (o->count == o->room) {
        size_t room = o->room ? 2 * o->room : 64;
        struct hc_original *grown = reallocarray(o->list, room, sizeof *grown);
        if (!grown)
            return hc_fail(err, ENOMEM, "list files");
        o->list = grown;
        o->room = room;
    }
    char *copy = strdup(path);
    if (!copy)
        return hc_fail(err, ENOMEM, "list files");
    o->list[o->count++] = (struct hc_original){.path = copy, .state = *state};
    return 0;
}

static const char *bytes_limit(const struct hc_copying *c)
{
    return c->bytes_limit ? c->bytes_limit : "limits.output, --output-size";
}

static mode_t mode_of_copy(const struct hc_copying *c, const struct stat *st)
{
    if (!c->plain_modes)
        return st->st_mode & 0777;
    return S_ISDIR(st->st_mode) || (st->st_mode & 0111) ? 0755 : 0644;
}

/* What to say if the copy cannot be written: mostly that its file system is full. */
static int fail_to_write(const struct copier *k, struct hc_error *err)
{
    int error = errno;
    char text[32];
    if (error == ENOSPC && !k->c->bytes_limit)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s': the copy would be larger than %s (%s)", k->walk.path,
                          hc_format_size(k->c->most_bytes, text, sizeof text), bytes_limit(k->c));
    return hc_fail(err, error, "copy '%s'", k->walk.path);
}

static int leave_out(struct copier *k, const char *path, const char *reason, struct hc_error *err)
{
    return hc_left_add(k->c->left, path, reason, err);
}

static int count_file(struct copier *k, struct hc_error *err)
{
    bool late = hc_deadline_passed(k->c->until);
    if (late && k->c->until->cancelled)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s': the job was cancelled while it was copied",
                          k->walk.path);
    if (late)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s': there was no time to copy it (limits.collect_time)",
                          k->walk.path);
    if (++k->c->files <= k->c->most_files)
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s': more than %lld files to copy (%s)", k->walk.path,
                      (long long)k->c->most_files,
                      k->c->files_limit ? k->c->files_limit : "limits.output_files, --output-files");
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int fail_changed(const struct copier *k, struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s' changed while it was copied: try again", k->walk.path);
}

/* Copy from one open file to another, and note what was copied. */
static int copy_content(struct copier *k, int from, int to, const struct stat *st, struct hc_error *err)
{
    char text[32];
    struct stat now;
    struct hc_pump p = {.from = from,
                        .to = to,
                        .sparse = st->st_blocks * 512 < st->st_size,
                        .max = k->c->most_bytes - k->c->bytes,
                        .deadline = k->c->until};
    int rc = hc_pump(&p, err);
    if (rc < 0 && !p.source_failed && err->sys == ENOSPC)
        rc = HC_PUMPED_TOO_LARGE;
    if (rc < 0)
        return p.source_failed ? hc_fail_as(err, HC_EXIT_DATA, err->sys, "read '%s'", k->walk.path) : -1;
    if (rc == HC_PUMPED_TOO_LARGE)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "'%s': more than %s to copy (%s)", k->walk.path,
                          hc_format_size(k->c->most_bytes, text, sizeof text), bytes_limit(k->c));
    if (rc == HC_PUMPED_STOPPED)
        return count_file(k, err) < 0 ? -1 : fail_changed(k, err);
    if (fstat(from, &now) < 0 || !is_same_file(st, &now) || p.bytes != st->st_size)
        return fail_changed(k, err);
    k->c->bytes += p.bytes;
    struct hc_entry_state state = {.kind = HC_KIND_FILE, .mode = st->st_mode & 0777, .bytes = p.bytes};
    hc_hash_hex(&p.hash, state.sha256);
    return add_original(k->c->of, k->walk.path, &state, err);
}

static int copy_file(struct copier *k, int dir, const char *name, struct hc_error *err)
{
    struct stat st;
    int there = k->to[k->walk.depth];
    hc_autofd from = hc_walk_open(dir, name, O_RDONLY);
    if (from < 0 && (errno == EACCES || errno == EPERM || errno == EXDEV))
        return leave_out(k, k->walk.path, errno == EXDEV ? "in another file system" : "not readable", err);
    if (from < 0 || fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
        return fail_changed(k, err);
    hc_autofd to = openat(there, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return fail_to_write(k, err);
    if (copy_content(k, from, to, &st, err) < 0)
        return -1;
    const struct timespec times[] = {st.st_atim, st.st_mtim};
    return fchmod(to, mode_of_copy(k->c, &st)) < 0 || futimens(to, times) < 0 ? fail_to_write(k, err) : 0;
}

static int copy_link(struct copier *k, int dir, const char *name, struct hc_error *err)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(dir, name, target, sizeof target);
    if (n < 0 || n == sizeof target)
        return fail_changed(k, err);
    target[n] = '\0';
    if (symlinkat(target, k->to[k->walk.depth], name) < 0)
        return fail_to_write(k, err);
    struct hc_entry_state state = {.kind = HC_KIND_LINK, .bytes = n};
    hc_sha256_hex(target, (size_t)n, state.sha256);
    return add_original(k->c->of, k->walk.path, &state, err);
}

/* `fd`: the directory, -1: it could not be opened, for the reason in errno. */
static int begin_dir(struct copier *k, const char *name, const struct stat *st, int fd, struct hc_error *err)
{
    int error = errno, depth = k->walk.depth;
    if (fd < 0 && (error == EACCES || error == EPERM || error == EXDEV))
        return leave_out(k, k->walk.path, error == EXDEV ? "another file system" : "not readable", err);
    if (fd < 0)
        return fail_changed(k, err);
    if (mkdirat(k->to[depth], name, 0700) < 0)
        return fail_to_write(k, err);
    k->to[depth + 1] = openat(k->to[depth], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (k->to[depth + 1] < 0)
        return fail_to_write(k, err);
    const struct hc_entry_state state = {.kind = HC_KIND_DIRECTORY, .mode = st->st_mode & 0777};
    return add_original(k->c->of, k->walk.path, &state, err) < 0 ? -1 : 1;
}

static int copy_entry(struct hc_walk *w, int dir, const char *name, const struct stat *st, int fd,
                      struct hc_error *err)
{
    struct copier *k = (struct copier *)w;
    int opening = errno;
    if (count_file(k, err) < 0)
        return -1;
    errno = opening;
    switch (st->st_mode & S_IFMT) {
    case S_IFREG:
        return copy_file(k, dir, name, err);
    case S_IFDIR:
        return begin_dir(k, name, st, fd, err);
    case S_IFLNK:
        return copy_link(k, dir, name, err);
    case S_IFIFO:
        return leave_out(k, w->path, "named pipe", err);
    case S_IFSOCK:
        return leave_out(k, w->path, "socket", err);
    default:
        return leave_out(k, w->path, "device", err);
    }
}

/* The mode comes last: a directory may be one that its owner cannot write to. */
static int end_dir(struct hc_walk *w, int dir, const char *name, const struct stat *st, struct hc_error *err)
{
    (void)dir, (void)name; /* of the original */
    struct copier *k = (struct copier *)w;
    hc_autofd fd = hc_take(&k->to[w->depth + 1]);
    const struct timespec times[] = {st->st_atim, st->st_mtim};
    return futimens(fd, times) < 0 || fchmod(fd, mode_of_copy(k->c, st)) < 0 ? fail_to_write(k, err) : 0;
}

static int fail_unread(struct hc_walk *w, const char *path, struct hc_error *err)
{
    (void)w;
    return errno == ENAMETOOLONG
               ? hc_fail_as(err, HC_EXIT_DATA, 0,
                            "'%.200s...': its path is too long or too deep to be copied", path)
               : hc_fail_as(err, HC_EXIT_DATA, errno, "'%s' changed while it was copied", *path ? path : ".");
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct hc_original *)a)->path, ((const struct hc_original *)b)->path);
}

int hc_workspace_copy(struct hc_copying *c, struct hc_error *err)
{
    struct copier k = {.walk = {.visit = copy_entry, .leave = end_dir, .unread = fail_unread}, .c = c};
    hc_autofd from = hc_walk_open(c->from_fd, ".", O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < sizeof k.to / sizeof *k.to; i++)
        k.to[i] = -1;
    if (from < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "open it");
    k.to[0] = fcntl(c->to_fd, F_DUPFD_CLOEXEC, 0);
    int rc = k.to[0] < 0 ? hc_fail(err, errno, "open the copy") : hc_walk(&k.walk, from, err);
    for (size_t i = 0; i < sizeof k.to / sizeof *k.to; i++)
        hc_close_fd(&k.to[i]);
    if (c->of->count)
        qsort(c->of->list, c->of->count, sizeof *c->of->list, by_path);
    return rc;
}
