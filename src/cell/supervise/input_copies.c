#include "cell/supervise/input_copies.h"

#include "cell/supervise/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

void hc_input_copies_finish(struct hc_input_copies *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->list[i].name);
    free(c->list);
    *c = (struct hc_input_copies){0};
}

/* The entry of this name, or a new one. NULL: there is no memory for it. */
static struct hc_input_copy *entry_for(struct hc_input_copies *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->list[i].name, name) == 0)
            return &c->list[i];
    struct hc_input_copy *grown = realloc(c->list, (c->count + 1) * sizeof *grown);
    char *copy = strdup(name);
    if (grown)
        c->list = grown;
    if (!grown || !copy) {
        free(copy);
        return NULL;
    }
    grown[c->count] = (struct hc_input_copy){.name = copy};
    return &grown[c->count++];
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
    if (c->count >= HC_INPUT_COPIES)
        return 0;
    struct hc_input_copy *copy = entry_for(c, name);
    if (!copy)
        return hc_fail(err, ENOMEM, "note %s", name);
    *copy = (struct hc_input_copy){copy->name, st.st_ino, st.st_size, st.st_mtim, st.st_ctim};
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
        if (c->list[i].inode == st->st_ino && strcmp(c->list[i].name, path) == 0)
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
