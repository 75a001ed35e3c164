#include "cell/collect.h"

#include "base/fd.h"
#include "inside/kernel.h"
#include "spec/figure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DEPTH   16
#define MAX_SKIPPED 200
#define CONFINED    (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

static int open_confined(int dir, const char *name, int flags, mode_t mode)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC, .mode = mode, .resolve = CONFINED};
    return hc_openat2(dir, name, &how);
}

/* ---- the destination ---- */

void hc_dest_finish(struct hc_dest *d)
{
    hc_close_fd(&d->fd);
}

/* Make and open the directory `name` of `dir`, which is closed. The names come from a guest, and the
 * destination may hold anything, or belong to somebody who changes it under us: one name at a time, and links
 * are refused. */
static int enter_dir(int dir_taken, const char *name, struct hc_error *err)
{
    hc_autofd dir = dir_taken;
    if (mkdirat(dir, name, 0777) < 0 && errno != EEXIST)
        return hc_fail(err, errno, "make the directory %s", name);
    int fd = open_confined(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    return fd >= 0 ? fd : hc_fail(err, errno, "open the directory %s", name);
}

/* The default place, hotcell-output/JOB_ID, below a current directory that may be anybody's: made and entered
 * one name at a time, links refused, and only if it is ours. */
static int open_default(const struct hc_dest *d, struct hc_error *err)
{
    char parts[PATH_MAX];
    (void)snprintf(parts, sizeof parts, "%s", d->path);
    int dir = openat(d->at > 0 ? d->at : AT_FDCWD, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return hc_fail(err, errno, "open the current directory");
    char *rest = parts;
    for (char *part; dir >= 0 && (part = strsep(&rest, "/"));)
        dir = enter_dir(dir, part, err);
    struct stat st;
    if (dir >= 0 && (fstat(dir, &st) < 0 || st.st_uid != geteuid())) {
        (void)close(dir);
        return hc_fail(err, 0, "%s belongs to somebody else: give -o DIR", d->path);
    }
    return dir;
}

static int open_named(const struct hc_dest *d, struct hc_error *err)
{
    if (mkdir(d->path, 0777) < 0 && errno != EEXIST)
        return hc_fail(err, errno, "make the output directory %s", d->path);
    int fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd : hc_fail(err, errno, "output directory %s", d->path);
}

int hc_dest_open(struct hc_dest *d, struct hc_error *err)
{
    if (d->fd >= 0)
        return 0;
    hc_autofd fd = d->named ? open_named(d, err) : open_default(d, err);
    if (fd < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "output directory %s: not writable", d->path);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return hc_fail(err, errno, "stat %s", d->path);
    d->mode = st.st_mode & 07777;
    d->fd = hc_take(&fd);
    return 0;
}

/* The directory that `path` is in, made if missing; *last points at the last part. */
static int open_parent(int root, const char *path, const char **last, struct hc_error *err)
{
    char parts[PATH_MAX];
    (void)snprintf(parts, sizeof parts, "%s", path);
    int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);
    if (dir < 0)
        return hc_fail(err, errno, "open the output directory");
    char *part = parts;
    for (char *slash; dir >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
        *slash = '\0';
        dir = enter_dir(dir, part, err);
    }
    *last = path + (part - parts);
    return dir;
}

static void choose_temp(struct hc_dest_file *o)
{
    static unsigned counter;
    (void)snprintf(o->temp, sizeof o->temp, ".hotcell-%d-%u", getpid(), counter++);
}

int hc_dest_begin(struct hc_dest_file *o, struct hc_dest *d, const char *path, mode_t mode,
                  struct hc_error *err)
{
    *o = (struct hc_dest_file){.dir = -1, .fd = -1};
    if (hc_dest_open(d, err) < 0)
        return -1;
    o->dir = open_parent(d->fd, path, &o->name, err);
    if (o->dir < 0)
        return -1;
    /* Nothing of it is left if we are killed. Not every file system has such files. */
    o->fd = openat(o->dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    if (o->fd < 0) {
        choose_temp(o);
        o->fd = openat(o->dir, o->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    }
    return o->fd < 0 ? hc_fail(err, errno, "write %s/%s", d->path, path) : 0;
}

void hc_dest_abandon(struct hc_dest_file *o)
{
    if (o->fd >= 0 && o->temp[0])
        (void)unlinkat(o->dir, o->temp, 0);
    hc_close_fd(&o->fd);
    hc_close_fd(&o->dir);
}

static int give_name(const struct hc_dest_file *o, const char *name)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", o->fd);
    return linkat(AT_FDCWD, path, o->dir, name, AT_SYMLINK_FOLLOW);
}

/* Only renaming replaces a file, so one that takes another's place needs a name for a moment. */
static int put_in_place(struct hc_dest_file *o)
{
    if (!o->temp[0]) {
        if (give_name(o, o->name) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
        choose_temp(o);
        if (give_name(o, o->temp) < 0)
            return -1;
    }
    return renameat(o->dir, o->temp, o->dir, o->name);
}

int hc_dest_commit(struct hc_dest_file *o, const char *path, struct hc_error *err)
{
    if (put_in_place(o) < 0) {
        (void)hc_fail(err, errno, "put %s in its place", path);
        hc_dest_abandon(o);
        return -1;
    }
    hc_close_fd(&o->fd);
    hc_close_fd(&o->dir);
    return 0;
}

const char *hc_dest_refusal(const struct hc_error *err)
{
    switch (err->sys) {
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case EXDEV:
        return "something else has that name in the output directory";
    case EACCES:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
    case EILSEQ:
    case EINVAL:
        return "the output directory does not take it";
    default:
        return NULL;
    }
}

int hc_dest_write(struct hc_dest *d, const char *name, const void *data, size_t len, struct hc_error *err)
{
    struct hc_dest_file o;
    if (hc_dest_begin(&o, d, name, d->shared ? 0640 : 0600, err) < 0) {
        hc_dest_abandon(&o);
        return -1;
    }
    if (hc_write_all(o.fd, data, len, err) < 0) {
        hc_dest_abandon(&o);
        return hc_ctx(err, "%s/%s", d->path, name);
    }
    return hc_dest_commit(&o, name, err);
}

int hc_dest_make_dir(struct hc_dest *d, const char *name, struct hc_error *err)
{
    if (hc_dest_open(d, err) < 0)
        return -1;
    if (mkdirat(d->fd, name, d->shared ? 0750 : 0700) < 0 && errno != EEXIST)
        return hc_fail(err, errno, "make the directory %s/%s", d->path, name);
    return 0;
}

/* Whether it is the file's own fault, or of who changes the directory in bind mode, that it cannot be looked
 * at. For any other reason the host is in trouble: the output is not complete without the file, and nobody
 * may think so. */
static bool files_own_fault(int sys)
{
    switch (sys) {
    case EACCES:
    case EAGAIN:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENODEV:
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
    case EOVERFLOW:
    case EPERM:
    case ESTALE:
    case ETXTBSY:
    case EXDEV:
        return true;
    default:
        return false;
    }
}

/* ---- the walk ---- */

struct walk {
    struct hc_collect *c;
    int64_t entries, bytes; /* seen and read so far */
};

static int skip(struct walk *w, const char *path, const char *reason, struct hc_error *err);

/* What could not be looked at, for the reason in errno. */
static int skip_unread(struct walk *w, const char *path, const char *reason, struct hc_error *err)
{
    int sys = errno;
    return files_own_fault(sys) ? skip(w, path, reason, err) : hc_fail(err, sys, "%s %s", path, reason);
}

static int skip(struct walk *w, const char *path, const char *reason, struct hc_error *err)
{
    struct hc_manifest *m = w->c->manifest;
    if (m->skipped_count >= MAX_SKIPPED) {
        m->skipped_more++;
        return 0;
    }
    struct hc_skipped *grown = realloc(m->skipped, (m->skipped_count + 1) * sizeof *grown);
    char *copy = strdup(path);
    if (grown)
        m->skipped = grown;
    if (!grown || !copy) {
        free(copy);
        return hc_fail(err, ENOMEM, "list the output");
    }
    m->skipped[m->skipped_count++] = (struct hc_skipped){.path = copy, .reason = reason};
    return 0;
}

static int list_file(struct walk *w, const char *path, int64_t bytes, const char sha256[HC_SHA256_HEX],
                     struct hc_error *err)
{
    struct hc_manifest *m = w->c->manifest;
    /* Figures are what the harness, or the program, put into the policy's directory for them. */
    const char *folder = hc_rules_text(w->c->policy->rules, "figures", "directory", "figures");
    const char *mime = hc_figure_mime(folder, path);
    struct hc_artifact **list = mime ? &m->figures : &m->files;
    size_t *count = mime ? &m->figure_count : &m->file_count;
    struct hc_artifact *grown = realloc(*list, (*count + 1) * sizeof *grown);
    char *copy = strdup(path);
    if (grown)
        *list = grown;
    if (!grown || !copy) {
        free(copy);
        return hc_fail(err, ENOMEM, "list the output");
    }
    struct hc_artifact *a = &grown[(*count)++];
    *a = (struct hc_artifact){.path = copy, .mime = mime, .bytes = bytes};
    memcpy(a->sha256, sha256, HC_SHA256_HEX);
    return 0;
}

/* Hash, and copy unless `to` is -1. What counts is the bytes that are read, whatever fstat promised. 1: too
 * large. */
static int pump(int from, int to, int64_t max, int64_t *bytes, char sha256[HC_SHA256_HEX],
                bool *source_failed, struct hc_error *err)
{
    struct hc_hash h;
    hc_hash_init(&h);
    static char chunk[1 << 16];
    *bytes = 0;
    for (;;) {
        ssize_t n = read(from, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            *source_failed = true;
            return hc_fail(err, errno, "read");
        }
        if (n == 0)
            break;
        *bytes += n;
        if (*bytes > max)
            return 1;
        hc_hash_add(&h, chunk, (size_t)n);
        if (to >= 0 && hc_write_all(to, chunk, (size_t)n, err) < 0)
            return -1;
    }
    hc_hash_hex(&h, sha256);
    return 0;
}

static int take_file(struct walk *w, int fd, const char *path, struct hc_error *err)
{
    struct hc_collect *c = w->c;
    const struct hc_limits *l = &c->policy->limits;
    int64_t room = c->in_place ? INT64_MAX : l->output_bytes - w->bytes;
    int64_t max = l->file_bytes < room ? l->file_bytes : room;
    struct hc_dest_file o = {.dir = -1, .fd = -1};
    if (!c->in_place && hc_dest_begin(&o, c->dest, path, 0666, err) < 0) {
        hc_dest_abandon(&o);
        const char *refusal = c->dest->fd >= 0 ? hc_dest_refusal(err) : NULL;
        return refusal ? skip(w, path, refusal, err) : -1;
    }
    int64_t bytes = 0;
    char sha256[HC_SHA256_HEX];
    bool source_failed = false;
    int rc = pump(fd, o.fd, max, &bytes, sha256, &source_failed, err);
    w->bytes += bytes;
    if (rc != 0)
        hc_dest_abandon(&o);
    if (rc == 1)
        return skip(w, path, "larger than the limit", err);
    if (rc < 0 && source_failed && files_own_fault(err->sys))
        return skip(w, path, "could not be read", err);
    if (rc < 0)
        return hc_ctx(err, "%s/%s", c->dest->path, path);
    if (!c->in_place && hc_dest_commit(&o, path, err) < 0)
        return hc_dest_refusal(err) ? skip(w, path, hc_dest_refusal(err), err) : -1;
    return list_file(w, path, bytes, sha256, err);
}

static const char *kind_refused(const struct stat *st)
{
    switch (st->st_mode & S_IFMT) {
    case S_IFREG:
        return st->st_nlink == 1 ? NULL : "hard link: more than one name";
    case S_IFDIR:
        return NULL;
    case S_IFLNK:
        return "symbolic link";
    case S_IFIFO:
        return "named pipe";
    case S_IFSOCK:
        return "socket";
    default:
        return "device";
    }
}

/* Names that the launcher itself writes: a guest's file under one of them would be taken for the real thing.
 */
static bool reserved(const char *path)
{
    return strcmp(path, "manifest.json") == 0 || strcmp(path, "_sandbox_result.json") == 0 ||
           strncmp(path, ".hotcell-", 9) == 0;
}

static bool unchanged(const struct walk *w, const struct stat *st)
{
    return (w->c->in_place || w->c->changed_only) &&
           (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec < w->c->since_ns;
}

/* In bind mode it stands where ours is to go. Renamed through the user's own view of the directory: in the
 * cell's, files belong to the guest, and who writes must have an id there. */
static int skip_reserved(struct walk *w, const char *path, const struct stat *st, struct hc_error *err)
{
    char aside[64];
    if (!w->c->in_place || unchanged(w, st))
        return skip(w, path, "the name is hotcell's own", err);
    (void)snprintf(aside, sizeof aside, "guest-%d-%.40s", getpid(), path);
    int dir = w->c->dest->fd;
    if (renameat2(dir, path, dir, aside, RENAME_NOREPLACE) < 0)
        return skip(w, path, "the name is hotcell's own", err);
    return skip(w, path, "the name is hotcell's own: renamed to guest-...", err);
}

static int walk_dir(struct walk *w, int dir_fd_taken, const char *path, int depth, struct hc_error *err);

static int visit(struct walk *w, int dir, const char *name, const char *path, int depth, struct hc_error *err)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return skip_unread(w, path, "could not be examined", err);
    const char *refused = kind_refused(&st);
    if (refused)
        return skip(w, path, refused, err);
    if (S_ISDIR(st.st_mode)) {
        if (reserved(path))
            return skip_reserved(w, path, &st, err);
        if (depth >= MAX_DEPTH)
            return skip(w, path, "directories nested too deep", err);
        int fd = open_confined(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK, 0);
        return fd < 0 ? skip_unread(w, path, "could not be opened", err)
                      : walk_dir(w, fd, path, depth + 1, err);
    }
    if (unchanged(w, &st))
        return 0;
    if (reserved(path))
        return skip_reserved(w, path, &st, err);
    hc_autofd fd = open_confined(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    struct stat now;
    if (fd < 0)
        return skip_unread(w, path, "could not be opened", err);
    /* In bind mode the directory is shared with whoever else uses it: look again at what was really opened.
     */
    if (fstat(fd, &now) < 0)
        return skip_unread(w, path, "could not be examined", err);
    if (!S_ISREG(now.st_mode) || now.st_nlink != 1 || now.st_ino != st.st_ino)
        return skip(w, path, "changed while it was collected", err);
    return take_file(w, fd, path, err);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_dots(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int walk_dir(struct walk *w, int dir_fd_taken, const char *path, int depth, struct hc_error *err)
{
    hc_autofd dir = dir_fd_taken;
    struct dirent **list = NULL;
    /* The inode cap of the capped mode bounds this list; in bind mode the file system does. */
    int n = scandirat(dir, ".", &list, not_dots, by_name);
    if (n < 0)
        return skip_unread(w, *path ? path : ".", "could not be listed", err);
    int rc = 0;
    for (int i = 0; i < n; i++) {
        char child[PATH_MAX];
        bool fits =
            snprintf(child, sizeof child, "%s%s%s", path, *path ? "/" : "", list[i]->d_name) < PATH_MAX;
        if (rc == 0 && !fits)
            rc = skip(w, path, "a path in it is too long", err);
        else if (rc == 0 && ++w->entries > w->c->policy->limits.output_files)
            rc = skip(w, child, "more files than the limit", err);
        else if (rc == 0)
            rc = visit(w, dir, list[i]->d_name, child, depth, err);
        free(list[i]);
    }
    free(list);
    return rc;
}

/* The guest owns /output, and may have closed it. In bind mode it is the user's directory, and keeps the mode
 * that the user gave it: a guest shall neither open it to others nor lock the user out. */
static int take_back(const struct hc_collect *c, struct hc_error *err)
{
    int fd = c->in_place ? c->dest->fd : c->from_fd;
    mode_t mode = c->in_place ? c->dest->mode : 0700;
    struct stat st;
    if (fstat(fd, &st) < 0 || ((st.st_mode & 07777) != mode && fchmod(fd, mode) < 0))
        return hc_fail(err, errno, "set the mode of the output directory back");
    return 0;
}

int hc_collect(struct hc_collect *c, struct hc_error *err)
{
    struct walk w = {.c = c};
    if (take_back(c, err) < 0)
        return -1;
    int fd = openat(c->from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return hc_fail(err, errno, "open the cell's output");
    return walk_dir(&w, fd, "", 0, err) < 0 ? hc_ctx(err, "keep the output") : 0;
}
