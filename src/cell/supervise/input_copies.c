#include "cell/supervise/input_copies.h"

#include "cell/supervise/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

int hc_input_copies_add(struct hc_input_copies *c, const char *name, int fd, struct timespec modified,
                        struct hc_error *err)
{
    struct timespec before;
    struct stat st;
    (void)clock_gettime(CLOCK_REALTIME, &before);
    /* Make a copy at least a second old: the program's own writes get the time of the kernel's coarse clock,
     * which may be this moment. */
    before.tv_sec--;
    if (is_later(&modified, &before))
        modified = before;
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, modified};
    if (futimens(fd, times) < 0 || fstat(fd, &st) < 0)
        return hc_fail(err, errno, "set the time of %s", name);
    c->list[c->count++] = (struct hc_input_copy){name, st.st_ino, st.st_size, st.st_mtim, st.st_ctim};
    return 0;
}

static bool is_same(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_intact(const struct hc_input_copy *copy, const struct stat *st)
{
    return st->st_ino == copy->inode && st->st_size == copy->size && S_ISREG(st->st_mode) &&
           is_same(&st->st_mtim, &copy->modified) && is_same(&st->st_ctim, &copy->changed);
}

bool hc_input_copies_have(const struct hc_input_copies *c, const char *path, const struct stat *st)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->list[i].name, path) == 0)
            return is_intact(&c->list[i], st);
    return false;
}

bool hc_input_copies_alone(const struct hc_input_copies *c, int output_fd)
{
    struct stat st;
    for (size_t i = 0; i < c->count; i++)
        if (fstatat(output_fd, c->list[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_intact(&c->list[i], &st))
            return false;
    return hc_watch_fs_files(output_fd) == (int64_t)c->count + 1; /* 1: the root directory */
}
