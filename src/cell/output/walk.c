#include "cell/output/walk.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

int hc_walk_open(int dir, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                           .resolve = HC_CONFINED};
    if (flags & O_PATH)
        how.flags &= ~(unsigned long long)(O_NONBLOCK | O_NOCTTY); /* which the kernel refuses with it */
    if (flags & O_PATH)
        return hc_openat2(dir, name, &how);
    how.flags |= O_NOATIME;
    int fd = hc_openat2(dir, name, &how);
    if (fd >= 0 || errno != EPERM)
        return fd;
    how.flags &= ~(unsigned long long)O_NOATIME; /* only the owner may leave the access time as it is */
    return hc_openat2(dir, name, &how);
}

static int walk_dir(struct hc_walk *w, int dir, size_t len, struct hc_error *err);

static int visit_dir(struct hc_walk *w, int dir, const char *name, const struct stat *st, size_t len,
                     struct hc_error *err)
{
    struct stat now;
    hc_autofd fd = hc_walk_open(dir, name, O_RDONLY | O_DIRECTORY);
    if (fd >= 0 && (fstat(fd, &now) < 0 || now.st_ino != st->st_ino || now.st_dev != st->st_dev)) {
        hc_close_fd(&fd); /* it was exchanged between the two calls */
        errno = ESTALE;
    }
    int rc = w->visit(w, dir, name, st, fd, err);
    if (rc <= 0)
        return rc;
    if (fd < 0 && (fd = hc_walk_open(dir, name, O_RDONLY | O_DIRECTORY)) < 0)
        return w->unread(w, w->path, err);
    w->depth++;
    rc = walk_dir(w, fd, len, err);
    w->depth--;
    w->path[len] = '\0';
    return rc == 0 && w->leave ? w->leave(w, dir, name, st, err) : rc;
}

static int visit_name(struct hc_walk *w, int dir, const char *name, size_t len, struct hc_error *err)
{
    struct stat st;
    size_t slash = len ? 1 : 0, n = strlen(name);
    if (len + slash + n >= sizeof w->path || w->depth >= HC_WALK_DEPTH) {
        errno = ENAMETOOLONG;
        return w->unread(w, w->path, err);
    }
    if (slash)
        w->path[len] = '/';
    memcpy(w->path + len + slash, name, n + 1);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return w->unread(w, w->path, err);
    return S_ISDIR(st.st_mode)                        ? visit_dir(w, dir, name, &st, len + slash + n, err)
           : w->visit(w, dir, name, &st, -1, err) < 0 ? -1
                                                      : 0;
}

static int walk_names(struct hc_walk *w, DIR *names, int dir, size_t len, struct hc_error *err)
{
    int rc = 0;
    while (rc == 0) {
        errno = 0;
        const struct dirent *e = readdir(names);
        w->path[len] = '\0';
        if (!e)
            return errno ? w->unread(w, w->path, err) : 0;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = visit_name(w, dir, e->d_name, len, err);
    }
    w->path[len] = '\0';
    return rc;
}

static int walk_dir(struct hc_walk *w, int dir, size_t len, struct hc_error *err)
{
    hc_autofd own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = own < 0 ? NULL : fdopendir(own);
    if (!names)
        return w->unread(w, w->path, err);
    (void)hc_take(&own); /* owned by the stream now */
    int rc = walk_names(w, names, dir, len, err);
    (void)closedir(names);
    return rc;
}

int hc_walk(struct hc_walk *w, int root, struct hc_error *err)
{
    w->path[0] = '\0';
    w->depth = 0;
    return walk_dir(w, root, 0, err);
}
