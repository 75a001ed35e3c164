/* Directories of the host in which a program writes: the mount itself is in the cell, so what the host has
 * there must be nothing but files, directories and links. */
#include "cell/launch/launch.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "cell/output/pump.h"
#include "cell/output/walk.h"

#include <errno.h>
#include <fcntl.h>

struct look {
    struct hc_walk walk; /* first member: the callbacks get its address */
    struct hc_deadline until;
};

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO:
        return "a named pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return NULL;
    }
}

static int look_at(struct hc_walk *w, int dir, const char *name, const struct stat *st, int fd,
                   struct hc_error *err)
{
    (void)dir, (void)name;
    const char *kind = kind_of(st->st_mode);
    if (kind)
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "'%s' is %s, which would lead the program to the host: a directory with the mode rw "
            "has none",
            w->path, kind);
    if (hc_deadline_passed(&((struct look *)w)->until))
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "there was no time to look at all of it (limits.collect_time)");
    return fd >= 0; /* what the launcher cannot enter, the guest cannot either */
}

static int fail_unread(struct hc_walk *w, const char *path, struct hc_error *err)
{
    (void)w;
    return errno == ENOENT || errno == EACCES
               ? 0
               : hc_fail_as(err, HC_EXIT_DATA, errno, "'%.200s' cannot be looked at", *path ? path : ".");
}

int hc_launch_check_shared(const struct hc_launch *l, const struct hc_source *s, struct hc_error *err)
{
    struct look k = {.walk = {.visit = look_at, .unread = fail_unread}};
    if (hc_landlock_abi() < 1)
        return hc_fail_as(
            err, HC_EXIT_UNAVAILABLE, 0,
            "%s: the mode rw needs a kernel with Landlock, which keeps programs from making links", s->path);
    hc_deadline_start(&k.until, l->run->cancel_fd, l->run->policy->limits.collect_ms);
    hc_autofd fd = hc_walk_open(s->fd, ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "open %s", s->path);
    return hc_walk(&k.walk, fd, err) < 0 ? hc_ctx(err, "%.200s", s->path) : 0;
}
