#include "shim/copyable.h"

#include "base/fd.h"
#include "inside/plan.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAPPINGS    "/proc/self/maps"
#define DESCRIPTORS "/proc/self/fd"

/* Is the file in the tree, which is mounted read-only, so that no process can write to it? */
static bool is_of_tree(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 || strncmp(path, "/etc/", 5) == 0;
}

static int refuse_policy_code(struct hc_error *err, const char *what, const char *path)
{
    return hc_fail_as(err, HC_EXIT_CONFIG, 0, "warm: the imports or the code have %s%s%s", what,
                      *path ? ": " : "", path);
}

/* Requires that there is one thread. A copy has only the thread that forks: work of other threads would stay
 * unfinished in it. */
static int check_threads(struct hc_error *err)
{
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return hc_fail(err, errno, "count threads");
    int count = 0;
    for (const struct dirent *e; (e = readdir(tasks));)
        count += e->d_name[0] != '.';
    closedir(tasks);
    return count == 1
               ? 0
               : hc_fail_as(err, HC_EXIT_CONFIG, 0,
                            "warm: the imports or the code have started threads (%d), which cannot be copied",
                            count - 1);
}

/* Shared memory that is writable, or is not a file of the tree, would be a channel between copies. iconv
 * shares a read-only mapping of a file of the tree. */
static int check_memory(struct hc_error *err)
{
    FILE *maps = fopen(MAPPINGS, "re");
    if (!maps)
        return hc_fail(err, errno, "open " MAPPINGS);
    char line[PATH_MAX + 128], flags[8] = "", path[PATH_MAX];
    bool shared = false;
    while (!shared && fgets(line, sizeof line, maps)) {
        *path = '\0';
        shared = sscanf(line, "%*s %7s %*s %*s %*s %4095s", flags, path) < 1 ||
                 (flags[3] == 's' && (flags[1] == 'w' || !is_of_tree(path)));
    }
    (void)fclose(maps);
    return shared ? refuse_policy_code(err, "made memory that its copies would share", path) : 0;
}

static int keep_file(struct hc_open_files *out, int fd, struct hc_error *err)
{
    char link[32], path[PATH_MAX];
    (void)snprintf(link, sizeof link, DESCRIPTORS "/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    int flags = fcntl(fd, F_GETFL);
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (n < 0 || flags < 0)
        return hc_fail(err, errno, "look at descriptor %d", fd);
    path[n] = '\0';
    if ((flags & O_ACCMODE) != O_RDONLY || at < 0 || !is_of_tree(path))
        return refuse_policy_code(err, "left open what cells cannot have", path);
    struct hc_open_file *list = realloc(out->list, (out->count + 1) * sizeof *list);
    char *copy = strdup(path);
    if (list)
        out->list = list;
    if (!list || !copy) {
        free(copy);
        return hc_fail(err, ENOMEM, "open files");
    }
    out->list[out->count++] = (struct hc_open_file){.fd = fd, .at = at, .path = copy};
    return 0;
}

static int keep_files(struct hc_open_files *out, struct hc_error *err)
{
    DIR *dir = opendir(DESCRIPTORS);
    if (!dir)
        return hc_fail(err, errno, "read " DESCRIPTORS);
    int rc = 0;
    for (const struct dirent *e; rc == 0 && (e = readdir(dir));) {
        int fd = (int)strtol(e->d_name, NULL, 10);
        if (fd > HC_FD_SHIM && fd != dirfd(dir))
            rc = keep_file(out, fd, err);
    }
    closedir(dir);
    return rc;
}

int hc_copyable_reserve(struct hc_error *err)
{
    for (int fd = HC_FD_CONTROL + 1; fd <= HC_FD_SHIM; fd++)
        if (dup3(STDIN_FILENO, fd, O_CLOEXEC) < 0)
            return hc_fail(err, errno, "reserve descriptor %d", fd);
    return 0;
}

/* sqlite3_randomness(), on which random() and randomblob() of SQL draw; NULL: SQLite is not loaded. */
static void (*sqlite_randomness)(int count, void *out);

/* Looks for SQLite by its usual name, which a copy of the library that Python brings itself does not have. */
static void find_randomness(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NOLOAD);
    if (library)
        *(void **)&sqlite_randomness = dlsym(library, "sqlite3_randomness");
}

int hc_copyable(struct hc_open_files *out, struct hc_error *err)
{
    find_randomness();
    return check_threads(err) < 0 || check_memory(err) < 0 ? -1 : keep_files(out, err);
}

int hc_copyable_reopen(const struct hc_open_files *files, struct hc_error *err)
{
    for (const struct hc_open_file *f = files->list; f < files->list + files->count; f++) {
        /* takes the lowest free number: a reserved one (hc_copyable_reserve), which no listed file has */
        hc_autofd fd = open(f->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || lseek(fd, f->at, SEEK_SET) < 0 || dup3(fd, f->fd, O_CLOEXEC) < 0)
            return hc_fail(err, errno, "open %s anew", f->path);
    }
    return 0;
}

void hc_copyable_reseed(void)
{
    if (sqlite_randomness)
        sqlite_randomness(0, NULL); /* the next use takes a new seed */
}

void hc_renew_rseq(void)
{
    char *area = (char *)__builtin_thread_pointer() + __rseq_offset;
    if (__rseq_size)
        (void)syscall(SYS_rseq, area, sizeof(struct rseq), 0, RSEQ_SIG);
}
