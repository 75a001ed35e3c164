#include "mcp/child/directory.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/owner.h"
#include "cell/steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define WRITTEN   HC_STORE_FILES /* directory of the files that the client wrote */
#define GIVEN     "given"        /* directory of the inputs of runs */
#define TEMPORARY "hotcell-mcp-" /* begins the name of a temporary store */
/* For openat2(2): no way out of the directory by "..", a link or a mount. */
#define CONFINED (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

static struct hc_directory *directory_of(struct hc_store *s)
{
    return hc_owner(s, struct hc_directory, store);
}

/* ---- the directory ---- */

static const char *temporary_place(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

/* Lock a new directory, which says that its server lives. Returns 1 if another server's hc_directory_reap
 * took it for a left-over before it was locked, and removes it: then make another one. */
static int lock_directory(const char *path, int fd)
{
    struct stat ours, there;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? 1 : -1;
    if (fstat(fd, &ours) < 0)
        return -1;
    if (lstat(path, &there) < 0)
        return errno == ENOENT ? 1 : -1;
    return ours.st_ino == there.st_ino && ours.st_dev == there.st_dev ? 0 : 1;
}

/* Make and open a directory, and lock it if it is temporary. Returns 1 if it was removed meanwhile. */
static int make_and_lock(struct hc_directory *d, char *path, bool temporary)
{
    if (!mkdtemp(path))
        return -1;
    hc_autofd fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd >= 0 ? 0 : errno == ENOENT ? 1 : -1;
    if (rc == 0 && temporary)
        rc = lock_directory(path, fd);
    if (rc == 0)
        d->fd = hc_take(&fd);
    int why = errno;
    if (rc < 0)
        (void)rmdir(path);
    errno = why;
    return rc;
}

static int make_directory(struct hc_directory *d, const char *parent, struct hc_error *err)
{
    char path[PATH_MAX];
    const char *in = parent ? parent : temporary_place();
    if (parent && mkdir(parent, 0777) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "make the output directory %s", parent);
    char *whole = realpath(in, NULL);
    int rc = 1;
    for (int tries = 0; rc > 0 && tries < 16; tries++) {
        int n = snprintf(path, sizeof path, "%s/%sXXXXXX", whole ? whole : in, parent ? "mcp-" : TEMPORARY);
        errno = n < (int)sizeof path ? errno : ENAMETOOLONG;
        rc = n < (int)sizeof path ? make_and_lock(d, path, !parent) : -1;
    }
    free(whole);
    if (rc != 0)
        return hc_fail_as(err, HC_EXIT_DATA, rc < 0 ? errno : EBUSY, "make a directory in %s", in);
    d->path = strdup(path);
    return d->path ? 0 : hc_fail(err, ENOMEM, "open %s", path);
}

/* If the directory is a dead server's, return a descriptor that holds its lock; else -1. The caller holds
 * the lock until it has removed the directory, so that a server that has just made it notices. */
static int lock_left_over(int dir, const char *name)
{
    struct stat st;
    if (strncmp(name, TEMPORARY, strlen(TEMPORARY)) != 0)
        return -1;
    hc_autofd fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    bool left = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
    return left ? hc_take(&fd) : -1;
}

int hc_directory_reap(void)
{
    struct hc_error ignored;
    int gone = 0;
    DIR *dir = opendir(temporary_place());
    const struct dirent *e;
    while (dir && (e = readdir(dir))) {
        hc_autofd held = lock_left_over(dirfd(dir), e->d_name);
        if (held >= 0 && hc_remove_results(dirfd(dir), e->d_name, &ignored) == 0)
            gone++;
    }
    if (dir)
        (void)closedir(dir);
    return gone;
}

/* Remove a directory of the store. On failure its files stay, and the user sees them there. */
static void remove_directory(const struct hc_directory *d, const char *name)
{
    struct hc_error ignored;
    (void)hc_remove_results(d->fd, name, &ignored);
}

/* ---- files ---- */

static int open_beneath(const struct hc_directory *d, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .mode = flags & O_CREAT ? 0600 : 0,
                           .resolve = CONFINED};
    return hc_openat2(d->fd, path, &how);
}

static int open_regular(const struct hc_directory *d, const char *path, struct hc_error *err)
{
    struct stat st;
    hc_autofd fd = open_beneath(d, path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: not a regular file", path);
    return hc_take(&fd);
}

static int read_file(const struct hc_store *s, const struct hc_stored *file, int64_t offset, size_t max,
                     struct hc_buf *out, struct hc_error *err)
{
    hc_autofd fd = open_regular(hc_owner(s, const struct hc_directory, store), file->path, err);
    if (fd < 0)
        return -1;
    char chunk[16384];
    while (out->len < max) {
        size_t want = max - out->len < sizeof chunk ? max - out->len : sizeof chunk;
        ssize_t n = pread(fd, chunk, want, offset + (int64_t)out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hc_fail(err, errno, "read %s", file->path);
        if (n == 0)
            break;
        if (hc_buf_add(out, chunk, (size_t)n) < 0)
            return hc_fail(err, ENOMEM, "read %s", file->path);
    }
    return 0;
}

/* Make a new file, whose name no guest has chosen. */
static int create_file(const struct hc_directory *d, const char *path, const void *data, size_t len,
                       struct hc_error *err)
{
    hc_autofd fd = open_beneath(d, path, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return hc_fail(err, errno, "make %s", path);
    return hc_write_all(fd, data, len, err) < 0 ? hc_ctx(err, "%s", path) : 0;
}

static int write_file(struct hc_store *s, const char *name, const void *data, size_t len,
                      struct hc_error *err)
{
    const struct hc_directory *d = directory_of(s);
    char path[HC_STORE_NAME + 16];
    static const char temp[] = WRITTEN "/.new";
    (void)snprintf(path, sizeof path, WRITTEN "/%s", name);
    int rc = create_file(d, temp, data, len, err);
    if (rc == 0 && renameat(d->fd, temp, d->fd, path) < 0)
        rc = hc_fail(err, errno, "write %s", path);
    if (rc < 0)
        (void)unlinkat(d->fd, temp, 0);
    return rc;
}

static int remove_file(struct hc_store *s, const char *path, struct hc_error *err)
{
    return unlinkat(directory_of(s)->fd, path, 0) < 0 && errno != ENOENT
               ? hc_fail(err, errno, "remove %s", path)
               : 0;
}

/* ---- runs ---- */

static void drop_run(struct hc_store *s, const char *run, bool asked)
{
    (void)asked;
    remove_directory(directory_of(s), run);
}

static int begin_run(struct hc_store *s, const char *run, struct hc_error *err)
{
    char given[HC_STORE_RUN + 16];
    (void)snprintf(given, sizeof given, GIVEN "/%s", run);
    return mkdirat(directory_of(s)->fd, given, 0700) == 0 ? 0 : hc_fail(err, errno, "make %s", given);
}

static void given_name(const char *run, const char *name, char out[HC_STORE_NAME + 48])
{
    (void)snprintf(out, HC_STORE_NAME + 48, GIVEN "/%s/%.*s", run, HC_STORE_NAME, name);
}

int hc_directory_add_input(struct hc_directory *d, const char *run, const char *name, const void *data,
                           size_t len, struct hc_error *err)
{
    char path[HC_STORE_NAME + 48];
    given_name(run, name, path);
    return create_file(d, path, data, len, err);
}

/* Give the run a written file, open at `fd`, by a hard link. Nothing changes a written file in place:
 * hc_files_write makes a new file, and inputs are mounted read-only. Results are different: a policy with
 * output.mode "bind" lets a session write to them. False: the file system has no links. */
static bool link_written(const struct hc_directory *d, const char *run, int fd, const char *path)
{
    char given[HC_STORE_RUN + 16], source[40];
    (void)snprintf(given, sizeof given, GIVEN "/%s", run);
    (void)snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    hc_autofd dir = open_beneath(d, given, O_RDONLY | O_DIRECTORY);
    return dir >= 0 && linkat(AT_FDCWD, source, dir, path + strlen(given) + 1, AT_SYMLINK_FOLLOW) == 0;
}

/* A result may grow meanwhile: the copy has at most the bytes that the list says, which the caller has
 * counted. */
static int copy_stored(const struct hc_directory *d, int from, const struct hc_stored *file, const char *path,
                       struct hc_error *err)
{
    hc_autofd to = open_beneath(d, path, O_WRONLY | O_CREAT | O_EXCL);
    if (to < 0)
        return hc_fail(err, errno, "make %s", path);
    for (int64_t left = file->bytes; left > 0;) {
        ssize_t n = sendfile(to, from, NULL, left < 1 << 24 ? (size_t)left : 1 << 24);
        if (n < 0 && errno != EINTR)
            return hc_fail(err, errno, "copy %s", file->path);
        if (n == 0)
            break;
        left -= n > 0 ? n : 0;
    }
    return 0;
}

int hc_directory_add_stored_input(struct hc_directory *d, const char *run, const struct hc_stored *file,
                                  const char *name, struct hc_error *err)
{
    char path[HC_STORE_NAME + 48];
    given_name(run, name, path);
    hc_autofd from = open_regular(d, file->path, err);
    if (from < 0)
        return -1;
    if (strncmp(file->path, WRITTEN "/", strlen(WRITTEN "/")) == 0 && link_written(d, run, from, path))
        return 0;
    return copy_stored(d, from, file, path, err);
}

int hc_directory_input_path(const struct hc_directory *d, const char *run, const char *name, char *out,
                            size_t size)
{
    char given[HC_STORE_NAME + 48];
    given_name(run, name, given);
    int n = snprintf(out, size, "%s/%s", d->path, given);
    return n > 0 && (size_t)n < size ? 0 : -1;
}

int hc_directory_run_path(const struct hc_directory *d, const char *run, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/%s", d->path, run);
    return n > 0 && (size_t)n < size ? 0 : -1;
}

void hc_directory_remove_inputs(struct hc_directory *d, const char *run)
{
    char given[HC_STORE_RUN + 16];
    (void)snprintf(given, sizeof given, GIVEN "/%s", run);
    remove_directory(d, given);
}

/* ---- begin, end ---- */

static const struct hc_store_place place = {
    .begin = begin_run, .read = read_file, .write = write_file, .remove = remove_file, .drop = drop_run};

int hc_directory_open(struct hc_directory *d, const char *parent, int64_t max, struct hc_error *err)
{
    *d = (struct hc_directory){.store = {.place = &place, .max = max}, .fd = -1, .temporary = !parent};
    if (!parent)
        (void)hc_directory_reap();
    if (make_directory(d, parent, err) < 0)
        return -1;
    if (mkdirat(d->fd, WRITTEN, 0700) < 0 || mkdirat(d->fd, GIVEN, 0700) < 0)
        return hc_fail(err, errno, "make directories in %s", d->path);
    return 0;
}

void hc_directory_close(struct hc_directory *d)
{
    for (size_t i = 0; d->temporary && i < d->store.run_count; i++)
        remove_directory(d, d->store.runs[i].name);
    hc_files_finish(&d->store);
    if (d->fd >= 0) {
        remove_directory(d, GIVEN);
        if (d->temporary)
            remove_directory(d, WRITTEN);
        (void)unlinkat(d->fd, WRITTEN, AT_REMOVEDIR); /* fails if the client's files are in it */
    }
    if (d->path)
        (void)rmdir(d->path);
    hc_close_fd(&d->fd);
    free(d->path);
    *d = (struct hc_directory){.fd = -1};
}
