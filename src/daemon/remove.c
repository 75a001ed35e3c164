#include "daemon/worker.h"

#include "base/fd.h"
#include "inside/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 32 /* results of cells are not deeper */

static int open_dir(int dir_fd, const char *name)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    return hc_openat2(dir_fd, name, &how);
}

static int remove_in(int dir_taken, int depth)
{
    DIR *dir = fdopendir(dir_taken);
    if (!dir) {
        (void)close(dir_taken);
        return -1;
    }
    int rc = 0;
    for (const struct dirent *e; rc == 0 && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(dir), e->d_name, 0) == 0 || errno == ENOENT)
            continue;
        int sub = errno == EISDIR && depth < MAX_DEPTH ? open_dir(dirfd(dir), e->d_name) : -1;
        if (sub < 0 || remove_in(sub, depth + 1) < 0 || unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) < 0)
            rc = -1;
    }
    int saved = errno;
    (void)closedir(dir);
    errno = saved;
    return rc;
}

int hc_remove_tree(int dir_fd, const char *name, struct hc_error *err)
{
    int fd = open_dir(dir_fd, name);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || remove_in(fd, 0) < 0 || unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
        return hc_fail(err, errno, "remove %s", name);
    return 0;
}
