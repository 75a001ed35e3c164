#include "mcp/store.h"

#include "base/array.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "cell/steps.h"
#include "json/names.h"
#include "mcp/mime.h"

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

#define WRITTEN   "files"        /* directory of the files that the client wrote */
#define GIVEN     "given"        /* directory of the inputs of runs */
#define TEMPORARY "hotcell-mcp-" /* begins the name of a temporary store */
/* For openat2(2): no way out of the directory by "..", a link or a mount. */
#define CONFINED (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* ---- the directory ---- */

static const char *temporary_place(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

/* Lock a new directory, which says that its server lives. Returns 1 if another server's hc_store_reap took
 * it for a left-over before it was locked, and removes it: then make another one. */
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
static int make_and_lock(struct hc_store *s, char *path, bool temporary)
{
    if (!mkdtemp(path))
        return -1;
    hc_autofd fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd >= 0 ? 0 : errno == ENOENT ? 1 : -1;
    if (rc == 0 && temporary)
        rc = lock_directory(path, fd);
    if (rc == 0)
        s->fd = hc_take(&fd);
    int why = errno;
    if (rc < 0)
        (void)rmdir(path);
    errno = why;
    return rc;
}

static int make_directory(struct hc_store *s, const char *parent, struct hc_error *err)
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
        rc = n < (int)sizeof path ? make_and_lock(s, path, !parent) : -1;
    }
    free(whole);
    if (rc != 0)
        return hc_fail_as(err, HC_EXIT_DATA, rc < 0 ? errno : EBUSY, "make a directory in %s", in);
    s->path = strdup(path);
    return s->path ? 0 : hc_fail(err, ENOMEM, "open %s", path);
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

int hc_store_reap(void)
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

int hc_store_open(struct hc_store *s, const char *parent, int64_t max, struct hc_error *err)
{
    *s = (struct hc_store){.fd = -1, .max = max, .temporary = !parent};
    if (!parent)
        (void)hc_store_reap();
    if (make_directory(s, parent, err) < 0)
        return -1;
    if (mkdirat(s->fd, WRITTEN, 0700) < 0 || mkdirat(s->fd, GIVEN, 0700) < 0)
        return hc_fail(err, errno, "make directories in %s", s->path);
    return 0;
}

void hc_stored_finish(struct hc_stored_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        free(run->files[i].path);
    free(run->files);
    *run = (struct hc_stored_run){0};
}

/* Remove a directory of the store. On failure its files stay, and the user sees them there. */
static void remove_directory(const struct hc_store *s, const char *name)
{
    struct hc_error ignored;
    (void)hc_remove_results(s->fd, name, &ignored);
}

void hc_store_close(struct hc_store *s)
{
    for (size_t i = 0; i < s->run_count; i++) {
        if (s->temporary)
            remove_directory(s, s->runs[i].name);
        hc_stored_finish(&s->runs[i]);
    }
    hc_stored_finish(&s->written);
    if (s->fd >= 0) {
        remove_directory(s, GIVEN);
        if (s->temporary)
            remove_directory(s, WRITTEN);
        (void)unlinkat(s->fd, WRITTEN, AT_REMOVEDIR); /* fails if the client's files are in it */
    }
    if (s->path)
        (void)rmdir(s->path);
    hc_close_fd(&s->fd);
    free(s->path);
    *s = (struct hc_store){.fd = -1};
}

/* ---- lists ---- */

/* Add a file. Takes the path, also on failure. */
static int list_file(struct hc_stored_run *run, char *path_taken, int64_t bytes)
{
    struct hc_stored *grown = path_taken ? hc_array_grow(run->files, run->count, sizeof *run->files) : NULL;
    if (!grown) {
        free(path_taken);
        return -1;
    }
    run->files = grown;
    run->files[run->count++] =
        (struct hc_stored){.path = path_taken, .mime = hc_mime_of(path_taken), .bytes = bytes};
    run->bytes += bytes;
    return 0;
}

void hc_stored_init(struct hc_stored_run *run, const char *name)
{
    *run = (struct hc_stored_run){.open = false};
    (void)snprintf(run->name, sizeof run->name, "%s", name);
}

int hc_stored_list(struct hc_stored_run *run, const char *path, int64_t bytes)
{
    char *whole = NULL;
    if (asprintf(&whole, "%s/%s", run->name, path) < 0)
        return -1;
    return list_file(run, whole, bytes);
}

static const struct hc_stored *find_in(const struct hc_stored_run *run, const char *path)
{
    for (size_t i = 0; i < run->count; i++)
        if (strcmp(run->files[i].path, path) == 0)
            return &run->files[i];
    return NULL;
}

const struct hc_stored_run *hc_store_find_run(const struct hc_store *s, const char *name)
{
    if (strcmp(name, WRITTEN) == 0)
        return &s->written;
    for (size_t i = 0; i < s->run_count; i++)
        if (strcmp(s->runs[i].name, name) == 0)
            return &s->runs[i];
    return NULL;
}

const struct hc_stored *hc_store_find(const struct hc_store *s, const char *path)
{
    const struct hc_stored *found = find_in(&s->written, path);
    for (size_t i = 0; !found && i < s->run_count; i++)
        found = find_in(&s->runs[i], path);
    return found;
}

/* ---- files ---- */

static int open_beneath(const struct hc_store *s, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .mode = flags & O_CREAT ? 0600 : 0,
                           .resolve = CONFINED};
    return hc_openat2(s->fd, path, &how);
}

static int open_regular(const struct hc_store *s, const char *path, struct hc_error *err)
{
    struct stat st;
    hc_autofd fd = open_beneath(s, path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: not a regular file", path);
    return hc_take(&fd);
}

int hc_store_read(const struct hc_store *s, const struct hc_stored *file, int64_t offset, size_t max,
                  struct hc_buf *out, struct hc_error *err)
{
    hc_autofd fd = open_regular(s, file->path, err);
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
static int create_file(const struct hc_store *s, const char *path, const void *data, size_t len,
                       struct hc_error *err)
{
    hc_autofd fd = open_beneath(s, path, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return hc_fail(err, errno, "make %s", path);
    return hc_write_all(fd, data, len, err) < 0 ? hc_ctx(err, "%s", path) : 0;
}

const char *hc_store_bad_name(const char *name)
{
    return hc_is_id(name, HC_STORE_NAME) ? NULL
                                         : "expected a plain file name of at most 80 letters, digits, '.', "
                                           "'_' and '-', not beginning with '.'";
}

static int64_t bytes_of(const struct hc_store *s, const char *name, size_t *index)
{
    for (*index = 0; *index < s->written.count; (*index)++)
        if (strcmp(s->written.files[*index].path + strlen(WRITTEN "/"), name) == 0)
            return s->written.files[*index].bytes;
    return 0;
}

const char *hc_store_no_room(const struct hc_store *s, const char *name, size_t len)
{
    size_t index;
    int64_t others = s->written.bytes - bytes_of(s, name, &index);
    if (index == s->written.count && s->written.count >= HC_STORE_WRITTEN)
        return "there are 256 files already: remove some with remove_file";
    if (others + (int64_t)len > HC_STORE_WRITTEN_BYTES)
        return "all files together may have 256 MiB: remove some with remove_file";
    return NULL;
}

static void unlist(struct hc_store *s, size_t index)
{
    struct hc_stored *file = &s->written.files[index];
    s->written.bytes -= file->bytes;
    free(file->path);
    s->written.count--;
    memmove(file, file + 1, (s->written.count - index) * sizeof *file);
}

int hc_store_write(struct hc_store *s, const char *name, const void *data, size_t len, struct hc_error *err)
{
    char path[HC_STORE_NAME + 16];
    static const char temp[] = WRITTEN "/.new";
    size_t index;
    (void)snprintf(path, sizeof path, WRITTEN "/%s", name);
    int rc = create_file(s, temp, data, len, err);
    if (rc == 0 && renameat(s->fd, temp, s->fd, path) < 0)
        rc = hc_fail(err, errno, "write %s", path);
    if (rc < 0) {
        (void)unlinkat(s->fd, temp, 0);
        return -1;
    }
    (void)bytes_of(s, name, &index);
    if (index < s->written.count)
        unlist(s, index);
    return list_file(&s->written, strdup(path), (int64_t)len) < 0 ? hc_fail(err, ENOMEM, "%s", path) : 0;
}

/* ---- runs ---- */

static void drop_run(struct hc_store *s, size_t index)
{
    remove_directory(s, s->runs[index].name);
    hc_stored_finish(&s->runs[index]);
    s->run_count--;
    memmove(&s->runs[index], &s->runs[index + 1], (s->run_count - index) * sizeof *s->runs);
}

int hc_store_remove(struct hc_store *s, const char *path, struct hc_error *err)
{
    for (size_t i = 0; i < s->written.count; i++) {
        if (strcmp(s->written.files[i].path, path) != 0)
            continue;
        if (unlinkat(s->fd, path, 0) < 0 && errno != ENOENT)
            return hc_fail(err, errno, "remove %s", path);
        unlist(s, i);
        return 0;
    }
    const struct hc_stored_run *run = hc_store_find_run(s, path);
    if (!run || run == &s->written)
        return 1;
    if (run->open)
        return 2;
    drop_run(s, (size_t)(run - s->runs));
    return 0;
}

int hc_store_begin(struct hc_store *s, bool session, char name[HC_STORE_RUN], struct hc_error *err)
{
    char given[HC_STORE_RUN + 16];
    if (session)
        (void)snprintf(name, HC_STORE_RUN, "session-%d", ++s->sessions_begun);
    else
        (void)snprintf(name, HC_STORE_RUN, "run-%d", ++s->runs_begun);
    (void)snprintf(given, sizeof given, GIVEN "/%s", name);
    return mkdirat(s->fd, given, 0700) == 0 ? 0 : hc_fail(err, errno, "make %s", given);
}

static void given_name(const char *run, const char *name, char out[HC_STORE_NAME + 48])
{
    (void)snprintf(out, HC_STORE_NAME + 48, GIVEN "/%s/%.*s", run, HC_STORE_NAME, name);
}

int hc_store_add_input(struct hc_store *s, const char *run, const char *name, const void *data, size_t len,
                       struct hc_error *err)
{
    char path[HC_STORE_NAME + 48];
    given_name(run, name, path);
    return create_file(s, path, data, len, err);
}

/* Give the run a written file, open at `fd`, by a hard link. Nothing changes a written file in place:
 * hc_store_write makes a new file, and inputs are mounted read-only. Results are different: a policy with
 * output.mode "bind" lets a session write to them. False: the file system has no links. */
static bool link_written(const struct hc_store *s, const char *run, int fd, const char *path)
{
    char given[HC_STORE_RUN + 16], source[40];
    (void)snprintf(given, sizeof given, GIVEN "/%s", run);
    (void)snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    hc_autofd dir = open_beneath(s, given, O_RDONLY | O_DIRECTORY);
    return dir >= 0 && linkat(AT_FDCWD, source, dir, path + strlen(given) + 1, AT_SYMLINK_FOLLOW) == 0;
}

/* A result may grow meanwhile: the copy has at most the bytes that the list says, which the caller has
 * counted. */
static int copy_stored(const struct hc_store *s, int from, const struct hc_stored *file, const char *path,
                       struct hc_error *err)
{
    hc_autofd to = open_beneath(s, path, O_WRONLY | O_CREAT | O_EXCL);
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

int hc_store_add_stored_input(struct hc_store *s, const char *run, const struct hc_stored *file,
                              const char *name, struct hc_error *err)
{
    char path[HC_STORE_NAME + 48];
    given_name(run, name, path);
    hc_autofd from = open_regular(s, file->path, err);
    if (from < 0)
        return -1;
    if (strncmp(file->path, WRITTEN "/", strlen(WRITTEN "/")) == 0 && link_written(s, run, from, path))
        return 0;
    return copy_stored(s, from, file, path, err);
}

int hc_store_input_path(const struct hc_store *s, const char *run, const char *name, char *out, size_t size)
{
    char given[HC_STORE_NAME + 48];
    given_name(run, name, given);
    int n = snprintf(out, size, "%s/%s", s->path, given);
    return n > 0 && (size_t)n < size ? 0 : -1;
}

int hc_store_run_path(const struct hc_store *s, const char *run, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/%s", s->path, run);
    return n > 0 && (size_t)n < size ? 0 : -1;
}

void hc_store_remove_inputs(struct hc_store *s, const char *run)
{
    char given[HC_STORE_RUN + 16];
    (void)snprintf(given, sizeof given, GIVEN "/%s", run);
    remove_directory(s, given);
}

/* Remove the oldest run that is not open, except `kept`. False: there is none. */
static bool drop_oldest(struct hc_store *s, const char *kept)
{
    for (size_t i = 0; i < s->run_count; i++)
        if (!s->runs[i].open && strcmp(s->runs[i].name, kept) != 0) {
            drop_run(s, i);
            return true;
        }
    return false;
}

static void trim(struct hc_store *s, const char *kept)
{
    int64_t sum;
    do {
        sum = 0;
        for (size_t i = 0; i < s->run_count; i++)
            sum += s->runs[i].bytes;
    } while (sum > s->max && drop_oldest(s, kept));
}

static void merge(struct hc_stored_run *run, struct hc_stored_run *taken)
{
    for (size_t i = 0; i < taken->count; i++) {
        struct hc_stored *there = NULL;
        for (size_t k = 0; k < run->count && !there; k++)
            if (strcmp(run->files[k].path, taken->files[i].path) == 0)
                there = &run->files[k];
        if (there) {
            run->bytes += taken->files[i].bytes - there->bytes;
            there->bytes = taken->files[i].bytes;
        } else {
            (void)list_file(run, taken->files[i].path, taken->files[i].bytes);
            taken->files[i].path = NULL;
        }
    }
    hc_stored_finish(taken);
}

void hc_store_keep(struct hc_store *s, struct hc_stored_run *taken, bool open)
{
    struct hc_stored_run *run = NULL;
    char name[HC_STORE_RUN];
    (void)snprintf(name, sizeof name, "%s", taken->name);
    for (size_t i = 0; i < s->run_count && !run; i++)
        if (strcmp(s->runs[i].name, name) == 0)
            run = &s->runs[i];
    if (run) {
        merge(run, taken);
        run->open = open;
    } else if (s->run_count < HC_STORE_RUNS || drop_oldest(s, name)) {
        s->runs[s->run_count] = *taken;
        s->runs[s->run_count++].open = open;
        *taken = (struct hc_stored_run){.open = false};
    } else {
        hc_stored_finish(taken); /* not reached: there are fewer sessions than places */
    }
    trim(s, name);
}
