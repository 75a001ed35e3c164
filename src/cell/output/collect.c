#include "cell/collect.h"

#include "base/array.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "cell/output/pump.h"
#include "inside/weak.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/random.h>
#include <sys/stat.h>

#define MAX_DEPTH      16  /* most directories above a collected file */
#define MAX_SKIPPED    200 /* most skipped files in the manifest */
#define ASIDE_ATTEMPTS 8   /* most random names tried for a file that is renamed */
/* For openat2(2): no way out of the directory by "..", a link or a mount. */
#define CONFINED (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

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

/* Make and open the directory `name` in `dir_taken`, which is closed. The names come from a guest, and
 * another user may change the destination meanwhile: so enter one name at a time, and refuse links. */
static int enter_dir(int dir_taken, const char *name, struct hc_error *err)
{
    hc_autofd dir = dir_taken;
    if (mkdirat(dir, name, 0777) < 0 && errno != EEXIST)
        return hc_fail(err, errno, "make the directory %s", name);
    int fd = open_confined(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    return fd >= 0 ? fd : hc_fail(err, errno, "open the directory %s", name);
}

/* The default place, hotcell-output/JOB_ID, below a current directory that may belong to any user: make
 * and enter one name at a time, refuse links, and refuse a directory that is not ours. */
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

static int open_writable(const struct hc_dest *d, struct hc_error *err)
{
    hc_autofd fd = d->named ? open_named(d, err) : open_default(d, err);
    if (fd < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "output directory %s: not writable", d->path);
    return hc_take(&fd);
}

/* Make and open a temporary directory because the default one could not be opened, as `err` says. -1: this
 * one cannot be opened either; `err` is unchanged. */
static int open_instead(struct hc_dest *d, const struct hc_error *err)
{
    char path[PATH_MAX];
    const char *place = getenv("TMPDIR");
    int n = snprintf(path, sizeof path, "%s/hotcell-output-XXXXXX", place && *place ? place : "/tmp");
    hc_autofd fd = n > 0 && n < (int)sizeof path && mkdtemp(path)
                       ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                       : -1;
    struct stat st;
    /* Where $TMPDIR has no sticky bit, another user may have put a directory in the place of ours. */
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 077)
        return -1;
    memcpy(d->path, path, sizeof path);
    (void)snprintf(d->temporary_reason, sizeof d->temporary_reason, "%.255s", err->text);
    return hc_take(&fd);
}

int hc_dest_open(struct hc_dest *d, struct hc_error *err)
{
    if (d->fd >= 0)
        return 0;
    hc_autofd fd = open_writable(d, err);
    if (fd < 0 && !d->named && d->else_temporary)
        fd = open_instead(d, err);
    if (fd < 0)
        return -1;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return hc_fail(err, errno, "stat %s", d->path);
    d->mode = st.st_mode & 07777;
    d->fd = hc_take(&fd);
    return 0;
}

/* Open the directory of the file `path`, made if missing; *last points at the last part of `path`. */
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
    /* A file without a name vanishes if this process is killed. Not every file system has them. */
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

static int link_file(const struct hc_dest_file *o, const char *name)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", o->fd);
    return linkat(AT_FDCWD, path, o->dir, name, AT_SYMLINK_FOLLOW);
}

/* Only rename replaces a file, so a file that replaces another needs a temporary name. */
static int give_final_name(struct hc_dest_file *o)
{
    if (!o->temp[0]) {
        if (link_file(o, o->name) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
        choose_temp(o);
        if (link_file(o, o->temp) < 0)
            return -1;
    }
    return renameat(o->dir, o->temp, o->dir, o->name);
}

int hc_dest_commit(struct hc_dest_file *o, const char *path, struct hc_error *err)
{
    if (give_final_name(o) < 0) {
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

/* Whether the errno is caused by the file itself, or by a process that changes the directory in bind mode:
 * then the file is skipped. Any other error is the host's: the output would be incomplete, so collecting
 * fails. */
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

/* The state of one collection. */
struct walk {
    struct hc_collect *c;        /* borrowed */
    int64_t entries, bytes;      /* number of entries listed, and bytes collected, so far */
    struct hc_deadline deadline; /* limits.collect_time, or soon after a cancellation */
};

static const char too_large[] = "larger than the limit";
static const char own_name[] = "the name is hotcell's own";
static const char too_much[] = "more bytes in all than the limit";

static int skip(struct walk *w, const char *path, const char *reason, struct hc_error *err);

/* Skip a file that could not be read, or fail, depending on errno. */
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
    struct hc_skipped *grown = hc_array_grow(m->skipped, m->skipped_count, sizeof *grown);
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

/* The MIME type of a figure, and its position among the figures. NULL: the file is no figure. A figure is a
 * file in the policy's directory for figures whose content the interpreter has announced as drawn. A file
 * that the program itself has written there, or over a figure, is a plain file. */
static const char *figure_mime(const struct walk *w, int fd, const char *path, const char *sha256, int *order)
{
    char begins[HC_FIGURE_BEGINS];
    const char *folder = hc_rules_text(w->c->policy->rules, "figures", "directory", "figures");
    const char *mime = hc_figure_mime(folder, path);
    *order = mime ? hc_figure_list_find(w->c->drawn, path, sha256) : -1;
    ssize_t len = *order < 0 ? -1 : pread(fd, begins, sizeof begins, 0);
    return len > 0 && hc_figure_begins(mime, begins, (size_t)len) ? mime : NULL;
}

static int list_file(struct walk *w, int fd, const char *path, int64_t bytes,
                     const char sha256[HC_SHA256_HEX], struct hc_error *err)
{
    struct hc_manifest *m = w->c->manifest;
    int order;
    const char *mime = figure_mime(w, fd, path, sha256, &order);
    struct hc_artifact **list = mime ? &m->figures : &m->files;
    size_t *count = mime ? &m->figure_count : &m->file_count;
    struct hc_artifact *grown = hc_array_grow(*list, *count, sizeof *grown);
    char *copy = strdup(path);
    if (grown)
        *list = grown;
    if (!grown || !copy) {
        free(copy);
        return hc_fail(err, ENOMEM, "list the output");
    }
    struct hc_artifact *a = &grown[(*count)++];
    *a = (struct hc_artifact){.path = copy, .mime = mime, .order = order, .bytes = bytes};
    memcpy(a->sha256, sha256, HC_SHA256_HEX);
    return 0;
}

/* The most bytes that the next file may have, and the reason for skipping a larger one. */
struct room {
    int64_t bytes;       /* most bytes of the file */
    const char *refusal; /* why a larger file is skipped, static */
};

/* In a capped /output the size of the file system bounds all files together. Holes take no space there, so
 * they are bounded here. */
static struct room room_left(const struct walk *w)
{
    const struct hc_limits *l = &w->c->policy->limits;
    struct room file = {l->file_bytes, too_large};
    struct room all = w->c->in_place ? (struct room){l->collect_bytes - w->bytes, too_much}
                                     : (struct room){l->output_bytes - w->bytes, too_large};
    return file.bytes <= all.bytes ? file : all;
}

static int skip_larger(struct walk *w, const char *path, struct room room, struct hc_error *err)
{
    if (room.refusal == too_much && w->c->ended == HC_COLLECTED_ALL)
        w->c->ended = HC_COLLECTED_BYTES;
    return skip(w, path, room.refusal, err);
}

/* Skip a file because the deadline has passed. */
static int skip_late(struct walk *w, const char *path, struct hc_error *err)
{
    bool cancelled = w->deadline.cancelled;
    w->c->ended = cancelled ? HC_COLLECTED_CANCELLED : HC_COLLECTED_TIME;
    return skip(w, path,
                cancelled ? "the job was cancelled before it was collected"
                          : "there was no time left to collect it",
                err);
}

static int begin_copy(struct walk *w, struct hc_dest_file *o, const char *path, struct hc_error *err)
{
    *o = (struct hc_dest_file){.dir = -1, .fd = -1};
    if (w->c->in_place || hc_dest_begin(o, w->c->dest, path, 0666, err) == 0)
        return 0;
    hc_dest_abandon(o);
    return -1;
}

static int collect_file(struct walk *w, int fd, const struct stat *st, const char *path, struct hc_error *err)
{
    struct hc_collect *c = w->c;
    const struct room room = room_left(w);
    struct hc_dest_file o;
    if (st->st_size > room.bytes)
        return skip_larger(w, path, room, err);
    if (begin_copy(w, &o, path, err) < 0) {
        const char *refusal = c->dest->fd >= 0 ? hc_dest_refusal(err) : NULL;
        return refusal ? skip(w, path, refusal, err) : -1;
    }
    struct hc_pump p = {.from = fd,
                        .to = o.fd,
                        .sparse = st->st_blocks * 512 < st->st_size,
                        .max = room.bytes,
                        .deadline = &w->deadline};
    int rc = hc_pump(&p, err);
    w->bytes += p.bytes;
    if (rc != HC_PUMPED_WHOLE)
        hc_dest_abandon(&o);
    if (rc == HC_PUMPED_TOO_LARGE)
        return skip_larger(w, path, room, err);
    if (rc == HC_PUMPED_STOPPED)
        return skip_late(w, path, err);
    if (rc < 0 && p.source_failed && files_own_fault(err->sys))
        return skip(w, path, "could not be read", err);
    if (rc < 0)
        return hc_ctx(err, "%s/%s", c->dest->path, path);
    if (!c->in_place && hc_dest_commit(&o, path, err) < 0)
        return hc_dest_refusal(err) ? skip(w, path, hc_dest_refusal(err), err) : -1;
    char sha256[HC_SHA256_HEX];
    hc_hash_hex(&p.hash, sha256);
    return list_file(w, fd, path, p.bytes, sha256, err);
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

/* Names of files that the launcher writes: a guest's file of such a name could be mistaken for hotcell's. */
static const char *const own_names[] = {"manifest.json", "_sandbox_result.json"};
static const char *const own_beginnings[] = {".hotcell-", "code/run_"};

static bool is_own_name(const char *path)
{
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++)
        if (strcmp(path, own_names[i]) == 0)
            return true;
    return false;
}

static bool is_reserved(const char *path)
{
    if (is_own_name(path))
        return true;
    for (size_t i = 0; i < sizeof own_beginnings / sizeof *own_beginnings; i++)
        if (strncmp(path, own_beginnings[i], strlen(own_beginnings[i])) == 0)
            return true;
    return false;
}

bool hc_collect_reserves(const char *name, const struct hc_policy *policy)
{
    return is_reserved(name) || strcmp(name, "code") == 0 ||
           strcmp(name, hc_rules_text(policy->rules, "figures", "directory", "figures")) == 0;
}

/* Is it the directory for changes in copies of directories, which the launcher makes after collecting? */
static bool is_for_changes(const struct walk *w, const char *path)
{
    const char *rest = strncmp(path, "changes-", strlen("changes-")) == 0 ? path + strlen("changes-") : NULL;
    return rest && w->c->manifest->dir_count && strcmp(rest, w->c->manifest->job_id) == 0;
}

/* Whether set_aside_reserved() renames the file at the end. */
static bool set_aside_later(const char *path)
{
    return is_own_name(path) || strncmp(path, "code/", strlen("code/")) == 0;
}

static bool is_unchanged(const struct walk *w, const struct stat *st)
{
    return (w->c->in_place || w->c->changed_only) &&
           (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec < w->c->since_ns;
}

/* Rename `name` in `dir` to a random name, which the guest cannot occupy before. */
static int rename_aside(int dir, const char *name)
{
    char aside[256];
    uint64_t random;
    for (int attempt = 0; attempt < ASIDE_ATTEMPTS; attempt++) {
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        (void)snprintf(aside, sizeof aside, "guest-%016llx-%.200s", (unsigned long long)random, name);
        if (renameat2(dir, name, dir, aside, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* In bind mode: rename a guest's file that has a name of hotcell's own. It is renamed through the user's
 * own mount of the directory: in the cell's idmapped mount a writer needs a mapped id. 1: it could not be
 * renamed, and is not listed. */
static int set_aside(struct walk *w, const char *path, struct hc_error *err)
{
    const char *slash = strchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[64];
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    hc_autofd dir = open_confined(w->c->dest->fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (dir < 0 || rename_aside(dir, name) < 0)
        return 1;
    return skip(w, path, "the name is hotcell's own: renamed to guest-...", err);
}

static int skip_reserved(struct walk *w, const char *path, struct hc_error *err)
{
    int rc = set_aside(w, path, err);
    if (rc <= 0)
        return rc;
    w->c->reserved_name_left = true;
    return skip(w, path, own_name, err);
}

static int walk_dir(struct walk *w, int dir_fd_taken, const char *path, int depth, struct hc_error *err);

static int collect_entry(struct walk *w, int dir, const char *name, const char *path, int depth,
                         struct hc_error *err)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return skip_unread(w, path, "could not be examined", err);
    /* Reserved names are handled first, whatever the file's kind. Some are renamed after the walk, even if
     * that ends early. */
    if (w->c->in_place && is_reserved(path) && !is_unchanged(w, &st))
        return set_aside_later(path) ? 0 : skip_reserved(w, path, err);
    if (is_for_changes(w, path))
        return skip(w, path, own_name, err);
    const char *refused = kind_refused(&st);
    if (refused)
        return skip(w, path, refused, err);
    if (S_ISDIR(st.st_mode)) {
        if (is_reserved(path))
            return skip(w, path, own_name, err);
        if (depth >= MAX_DEPTH)
            return skip(w, path, "directories nested too deep", err);
        int fd = open_confined(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK, 0);
        return fd < 0 ? skip_unread(w, path, "could not be opened", err)
                      : walk_dir(w, fd, path, depth + 1, err);
    }
    if (is_unchanged(w, &st) || (w->c->was_there && w->c->was_there(w->c->ctx, path, &st)))
        return 0;
    if (is_reserved(path))
        return skip(w, path, own_name, err);
    hc_autofd fd = open_confined(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    struct stat now;
    if (fd < 0)
        return skip_unread(w, path, "could not be opened", err);
    /* In bind mode other processes may change the directory: check the file that was really opened. */
    if (fstat(fd, &now) < 0)
        return skip_unread(w, path, "could not be examined", err);
    if (!S_ISREG(now.st_mode) || now.st_nlink != 1 || now.st_ino != st.st_ino)
        return skip(w, path, "changed while it was collected", err);
    return collect_file(w, fd, &now, path, err);
}

/* ---- directories ---- */

/* Names in a directory, in order. */
struct names {
    char **list;  /* owned, as is each name */
    size_t count; /* names in `list` */
};

static void names_finish(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->list[i]);
    free(n->list);
}

static int add_name(struct names *n, const char *name, struct hc_error *err)
{
    char **grown = hc_array_grow(n->list, n->count, sizeof *grown);
    if (!grown)
        return hc_fail(err, ENOMEM, "list the output");
    n->list = grown;
    n->list[n->count] = strdup(name);
    if (!n->list[n->count])
        return hc_fail(err, ENOMEM, "list the output");
    n->count++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool join(char out[PATH_MAX], const char *path, const char *name)
{
    return snprintf(out, PATH_MAX, "%s%s%s", path, *path ? "/" : "", name) < PATH_MAX;
}

/* Add a name of a directory, up to limits.output_files; further names are skipped and not stored. */
static int add_entry(struct walk *w, struct names *n, const char *path, const char *name,
                     struct hc_error *err)
{
    char child[PATH_MAX];
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (++w->entries <= w->c->policy->limits.output_files)
        return add_name(n, name, err);
    return skip(w, join(child, path, name) ? child : path, "more files than the limit", err);
}

static int read_names(struct walk *w, DIR *dir, const char *path, struct names *n, struct hc_error *err)
{
    int rc = 0;
    while (rc == 0) {
        if (hc_deadline_passed(&w->deadline))
            return skip_late(w, *path ? path : ".", err);
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry && errno)
            return skip_unread(w, *path ? path : ".", "could not be listed", err);
        if (!entry)
            break;
        rc = add_entry(w, n, path, entry->d_name, err);
    }
    return rc;
}

static int list_dir(struct walk *w, int dir, const char *path, struct names *n, struct hc_error *err)
{
    hc_autofd fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream)
        return skip_unread(w, *path ? path : ".", "could not be listed", err);
    (void)hc_take(&fd); /* owned by the stream now */
    int rc = read_names(w, stream, path, n, err);
    (void)closedir(stream);
    if (n->count)
        qsort(n->list, n->count, sizeof *n->list, by_name);
    return rc;
}

static int walk_dir(struct walk *w, int dir_fd_taken, const char *path, int depth, struct hc_error *err)
{
    hc_autofd dir = dir_fd_taken;
    struct names names = {0};
    int rc = list_dir(w, dir, path, &names, err);
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        char child[PATH_MAX];
        if (!join(child, path, names.list[i]))
            rc = skip(w, path, "a path in it is too long", err);
        else
            rc = hc_deadline_passed(&w->deadline) ? skip_late(w, child, err)
                                                  : collect_entry(w, dir, names.list[i], child, depth, err);
    }
    names_finish(&names);
    return rc;
}

/* Reset the mode of /output, which the guest may have changed. In bind mode it is the user's directory,
 * and gets back its old mode: a guest must neither open it to other users nor lock the user out. */
static int reset_mode(const struct hc_collect *c, struct hc_error *err)
{
    int fd = c->in_place ? c->dest->fd : c->from_fd;
    mode_t mode = c->in_place ? c->dest->mode : 0700;
    struct stat st;
    if (fstat(fd, &st) < 0 || ((st.st_mode & 07777) != mode && fchmod(fd, mode) < 0))
        return hc_fail(err, errno, "set the mode of the output directory back");
    return 0;
}

#define CODE_ENTRIES 65536 /* most entries of code/ that are looked at one by one */

/* Rename the guest's files in code/. 1: the directory has too many entries. 2: a file could not be
 * renamed. */
static int set_aside_in(struct walk *w, DIR *code, struct hc_error *err)
{
    struct stat st;
    char path[300];
    int rc = 0;
    for (int seen = 0; rc == 0; seen++) {
        const struct dirent *e = readdir(code);
        if (!e || seen == CODE_ENTRIES)
            return e ? 1 : 0;
        (void)snprintf(path, sizeof path, "code/%s", e->d_name);
        if (is_reserved(path) && fstatat(dirfd(code), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            !is_unchanged(w, &st))
            rc = 2 * set_aside(w, path, err);
    }
    return rc;
}

/* Rename the guest's files that look like programs saved by hotcell. If code/ cannot be read or written,
 * or holds too many files, rename the whole directory, with the user's own files in it: no file is lost. */
static int set_aside_code(struct walk *w, struct hc_error *err)
{
    struct stat st;
    int dir = w->c->dest->fd;
    if (fstatat(dir, "code", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    int fd = open_confined(dir, "code", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    DIR *code = fd < 0 ? NULL : fdopendir(fd);
    int rc = code ? set_aside_in(w, code, err) : 1;
    if (code)
        (void)closedir(code);
    else
        hc_close_fd(&fd);
    return rc == 2 || (rc == 1 && !is_unchanged(w, &st)) ? skip_reserved(w, "code", err) : MIN(rc, 0);
}

/* In bind mode, rename reserved files that the walk did not reach, because it ended early or could not
 * enter a directory. */
static int set_aside_reserved(struct walk *w, struct hc_error *err)
{
    struct stat st;
    int rc = 0, dir = w->c->dest->fd;
    if (!w->c->in_place)
        return 0;
    for (size_t i = 0; rc == 0 && i < sizeof own_names / sizeof *own_names; i++)
        if (fstatat(dir, own_names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && !is_unchanged(w, &st))
            rc = skip_reserved(w, own_names[i], err);
    return rc < 0 ? -1 : set_aside_code(w, err);
}

static int as_drawn(const void *a, const void *b)
{
    return ((const struct hc_artifact *)a)->order - ((const struct hc_artifact *)b)->order;
}

int hc_collect(struct hc_collect *c, struct hc_error *err)
{
    struct walk w = {.c = c};
    hc_deadline_start(&w.deadline, c->cancel_fd,
                      hc_weak(HC_WEAK_COLLECTING) ? INT32_MAX : c->policy->limits.collect_ms);
    if (reset_mode(c, err) < 0)
        return -1;
    int fd = openat(c->from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return hc_fail(err, errno, "open the cell's output");
    int rc = walk_dir(&w, fd, "", 0, err);
    if (c->manifest->figure_count)
        qsort(c->manifest->figures, c->manifest->figure_count, sizeof *c->manifest->figures, as_drawn);
    if (rc == 0)
        rc = set_aside_reserved(&w, err);
    return rc < 0 ? hc_ctx(err, "keep the output") : 0;
}
