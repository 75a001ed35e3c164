#include "cell/tools/tool_paths.h"

#include "base/fd.h"
#include "base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make a path absolute without resolving it. -1 if it is too long or there is no home. */
static int make_absolute(const char *path, char out[PATH_MAX])
{
    char here[PATH_MAX] = "";
    const char *home = getenv("HOME");
    bool at_home = path[0] == '~' && (path[1] == '/' || !path[1]);
    if (at_home ? !home || home[0] != '/' : path[0] == '~')
        return -1; /* "~user" is not supported */
    if (path[0] != '/' && !at_home && !getcwd(here, sizeof here))
        return -1;
    int n = at_home          ? snprintf(out, PATH_MAX, "%s%s", home, path + 1)
            : path[0] == '/' ? snprintf(out, PATH_MAX, "%s", path)
            : *path          ? snprintf(out, PATH_MAX, "%s/%s", here, path)
                             : -1;
    return n > 0 && n < PATH_MAX ? 0 : -1;
}

/* The rest of `path` after the directory `dir`; NULL if `path` does not begin with `dir`. */
static const char *rest_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);
    while (len && dir[len - 1] == '/')
        len--;
    if (strncmp(path, dir, len) != 0 || (path[len] && path[len] != '/'))
        return NULL;
    path += len + strspn(path + len, "/");
    return *path ? path : ".";
}

static int open_below(int dir, const char *path, uint64_t flags)
{
    struct open_how how = {
        .flags = flags | O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return hc_openat2(dir, path, &how);
}

/* The kernel's path of an open file, with `last` appended. Owned by the caller. */
static char *name_of(int fd, const char *last, struct hc_error *err)
{
    char link[40], place[PATH_MAX], *out = NULL;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, place, sizeof place - 1);
    if (n <= 0 || n == (ssize_t)sizeof place - 1) {
        (void)hc_fail_as(err, HC_EXIT_DATA, n < 0 ? errno : ENAMETOOLONG, "where it leads cannot be told");
        return NULL;
    }
    place[n] = '\0';
    if (asprintf(&out, "%s%s%s", strcmp(place, "/") == 0 && last ? "" : place, last ? "/" : "",
                 last ? last : "") < 0) {
        (void)hc_fail(err, ENOMEM, "path");
        return NULL;
    }
    return out;
}

/* Resolve a path whose last part does not exist yet, but whose directory does. */
static char *resolve_new(int dir, const char *rest, struct hc_error *err)
{
    char parent[PATH_MAX];
    (void)snprintf(parent, sizeof parent, "%s", rest);
    size_t len = strlen(parent);
    while (len && parent[len - 1] == '/')
        parent[--len] = '\0';
    char *slash = strrchr(parent, '/'), *last = slash ? slash + 1 : parent;
    if (slash)
        *slash = '\0';
    hc_autofd fd = open_below(dir, slash ? parent : ".", O_DIRECTORY);
    if (fd < 0 || strcmp(last, "..") == 0 || strcmp(last, ".") == 0) {
        (void)hc_fail_as(err, HC_EXIT_DATA, fd < 0 ? errno : EINVAL, "its directory cannot be reached");
        return NULL;
    }
    return name_of(fd, last, err);
}

static char *resolve_below(const char *dir, const char *rest, struct hc_error *err)
{
    hc_autofd base = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (base < 0) {
        (void)hc_fail_as(err, HC_EXIT_DATA, errno, "%.200s", dir);
        return NULL;
    }
    hc_autofd fd = open_below(base, rest, 0);
    if (fd >= 0)
        return name_of(fd, NULL, err);
    if (errno == ENOENT)
        return resolve_new(base, rest, err);
    if (errno == ELOOP)
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "a symbolic link is on its way, and none is followed");
    else if (errno == EXDEV)
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "it leaves %.200s", dir);
    else
        (void)hc_fail_as(err, HC_EXIT_DATA, errno, "it cannot be reached");
    return NULL;
}

static int refuse_place(const struct hc_tool_path *path, const char *value, struct hc_error *err)
{
    char list[400] = "";
    for (char **dir = path->below; *dir; dir++) {
        size_t len = strlen(list);
        (void)snprintf(list + len, sizeof list - len, "%s%s", len ? " or " : "", *dir);
    }
    return hc_fail_as(err, HC_EXIT_DATA, 0, "expected a path below %s, got '%.120s'", list, value);
}

int hc_tool_path_resolve(void *ctx, const struct hc_tool_path *path, const char *value, char **out,
                         struct hc_error *err)
{
    char wanted[PATH_MAX], dir[PATH_MAX], real[PATH_MAX];
    (void)ctx;
    if (make_absolute(value, wanted) < 0)
        return refuse_place(path, value, err);
    for (char **below = path->below; *below; below++) {
        if (make_absolute(*below, dir) < 0 || !realpath(dir, real))
            continue; /* a directory that does not exist has no files */
        const char *rest = rest_below(wanted, real);
        if (!rest) /* compare with the directory as the policy names it, which may be a symbolic link */
            rest = rest_below(wanted, dir);
        if (!rest)
            continue;
        *out = resolve_below(real, rest, err);
        return *out ? 0 : -1;
    }
    return refuse_place(path, value, err);
}
