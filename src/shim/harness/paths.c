#include "shim/harness/paths.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 8 /* most links in a row that are followed at a path's end */

/* Splits a path at its last slash, trailing ones left out: "a/b//" is "a" and "b". -1: it is too long. */
static int split_path(const char *path, char *parent, char *name)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    size_t start = len;
    while (start && path[start - 1] != '/')
        start--;
    if (len >= PATH_MAX || len - start > NAME_MAX)
        return -1;
    (void)snprintf(name, NAME_MAX + 1, "%.*s", (int)(len - start), path + start);
    (void)snprintf(parent, PATH_MAX, "%.*s", start ? (int)start : 1, start ? path : ".");
    return 0;
}

static int join_path(char *out, const char *parent, const char *name)
{
    const char *slash = strcmp(parent, "/") == 0 ? "" : "/";
    return snprintf(out, PATH_MAX, "%s%s%s", parent, slash, name) < PATH_MAX ? 0 : -1;
}

static int resolve_in_parent(const char *path, char *out)
{
    char parent[PATH_MAX], name[NAME_MAX + 1], resolved[PATH_MAX];
    if (split_path(path, parent, name) < 0)
        return -1;
    if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0 || !*name)
        return realpath(path, out) ? 0 : -1;
    return realpath(parent, resolved) ? join_path(out, resolved, name) : -1;
}

/* The path that a link without a target names. -1: `path` is no link. */
static int link_target(const char *path, char *out)
{
    char target[PATH_MAX], parent[PATH_MAX], name[NAME_MAX + 1];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return -1;
    target[n] = '\0';
    if (target[0] == '/')
        return snprintf(out, PATH_MAX, "%s", target) < PATH_MAX ? 0 : -1;
    return split_path(path, parent, name) < 0 ? -1 : join_path(out, parent, target);
}

int hc_path_resolve(const char *path, bool follow, char *out)
{
    char at[PATH_MAX], next[PATH_MAX];
    if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at)
        return -1;
    if (!follow)
        return resolve_in_parent(at, out);
    for (int i = 0; i < MAX_LINKS; i++) {
        if (realpath(at, out))
            return 0;
        if (errno != ENOENT || link_target(at, next) < 0)
            return resolve_in_parent(at, out);
        memcpy(at, next, sizeof at);
    }
    return -1;
}

/* ---- the path of a directory that is open ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Finds the name of the directory `child` in `parent`. */
static int find_name(int parent, const struct stat *child, char name[static NAME_MAX + 1])
{
    int fd = fcntl(parent, F_DUPFD_CLOEXEC, 0);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list) {
        hc_close_fd(&fd);
        return -1;
    }
    int rc = -1;
    for (const struct dirent *e; rc < 0 && (e = readdir(list));) {
        struct stat st;
        bool here = e->d_name[0] == '.' && (!e->d_name[1] || strcmp(e->d_name, "..") == 0);
        /* Every entry needs fstatat, as readdir gives for a mount point the inode of the covered directory.
         */
        if (!here && fstatat(parent, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&st, child)) {
            (void)snprintf(name, NAME_MAX + 1, "%s", e->d_name);
            rc = 0;
        }
    }
    closedir(list);
    return rc;
}

/* Goes upwards step by step, as getcwd(3) did before there was a system call for it: a cell has no
 * /proc/self/fd. */
int hc_path_of_dir(int fd, char *out)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    char path[PATH_MAX], name[NAME_MAX + 1];
    size_t at = sizeof path - 1; /* index of the part found so far, which goes to the end of `path` */
    path[at] = '\0';
    hc_autofd dir = openat(fd, ".", flags);
    for (struct stat st, above; dir >= 0 && fstat(dir, &st) == 0;) {
        hc_autofd up = openat(dir, "..", flags);
        if (up < 0 || fstat(up, &above) < 0)
            return -1;
        if (is_same(&st, &above)) { /* the root */
            (void)snprintf(out, PATH_MAX, "%s", path + at);
            return 0;
        }
        if (find_name(up, &st, name) < 0 || strlen(name) + 1 > at)
            return -1;
        at -= strlen(name) + 1;
        path[at] = '/';
        memcpy(path + at + 1, name, strlen(name));
        hc_close_fd(&dir);
        dir = hc_take(&up);
    }
    return -1;
}

bool hc_path_is_below(const char *resolved, const char *dir)
{
    size_t len = strlen(dir);
    while (len && dir[len - 1] == '/')
        len--;
    return strncmp(resolved, dir, len) == 0 && (resolved[len] == '/' || resolved[len] == '\0');
}

bool hc_path_is_in(const char *resolved, const char *dir)
{
    char real[PATH_MAX];
    return hc_path_is_below(resolved, dir) || (realpath(dir, real) && hc_path_is_below(resolved, real));
}

/* ---- paths that need not be resolved ---- */

/* The cell's own directories, which are empty when the program begins. Only /output may be a directory of the
 * host with links in it; the kernel follows no links on these mounts. */
static bool links; /* there may be links below /output and /tmp */

void hc_path_expect_links(void)
{
    links = true;
}

/* Is the path absolute, and without "", "." and ".." between its slashes? */
static bool is_plain(const char *path)
{
    for (const char *at = path; *at == '/';) {
        size_t len = strcspn(++at, "/");
        if (len == 0 || (at[0] == '.' && (len == 1 || (len == 2 && at[1] == '.'))))
            return false;
        at += len;
        if (!*at)
            return true;
    }
    return false;
}

int hc_path_by_text(const char *path, char *out)
{
    char at[PATH_MAX];
    if (links)
        return -1;
    bool whole = path[0] == '/';
    if (!whole && (!getcwd(at, sizeof at) || join_path(out, at, path) < 0))
        return -1;
    if (whole && snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
        return -1;
    return is_plain(out) && (hc_path_is_below(out, "/output") || hc_path_is_below(out, "/tmp")) ? 0 : -1;
}

void hc_path_guess(const char *path, char *out)
{
    char at[PATH_MAX], resolved[PATH_MAX];
    size_t len = strlen(path);
    if (len >= sizeof at)
        len = sizeof at - 1;
    for (;;) {
        (void)snprintf(at, sizeof at, "%.*s", len ? (int)len : 1, len ? path : path[0] == '/' ? "/" : ".");
        if (realpath(at, resolved))
            break;
        if (!len) { /* the working directory was removed */
            (void)snprintf(resolved, sizeof resolved, "/");
            break;
        }
        while (len && path[len - 1] == '/')
            len--;
        while (len && path[len - 1] != '/')
            len--;
    }
    while (path[len] == '/')
        len++;
    if (join_path(out, resolved, path + len) < 0)
        out[PATH_MAX - 1] = '\0'; /* cut: no file with so long a path can be opened */
}
