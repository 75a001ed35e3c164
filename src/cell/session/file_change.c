/* Remove and move files, and make directories. */
#include "cell/session/file_requests.h"

#include "base/clock.h"
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEPTH 64 /* deepest directories that are removed with what is in them */

static int remove_all(const struct hc_file_request *r, int dir, const char *name, int depth);

/* Remove what is in a directory. -1: `errno`. */
static int empty_directory(const struct hc_file_request *r, int dir, int depth)
{
    const int copy = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    int rc = stream ? 0 : -1;
    if (!stream && copy >= 0)
        (void)close(copy);
    for (const struct dirent *e; rc == 0 && (e = readdir(stream));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = remove_all(r, dir, e->d_name, depth);
    }
    const int sys = errno;
    if (stream)
        (void)closedir(stream);
    errno = sys;
    return rc;
}

/* Remove a file, a link itself, or a directory with all that is in it. -1: `errno`. */
static int remove_all(const struct hc_file_request *r, int dir, const char *name, int depth)
{
    if (hc_now_us() >= r->until_us) {
        errno = ETIMEDOUT;
        return -1;
    }
    if (unlinkat(dir, name, 0) == 0)
        return 0;
    if (errno != EISDIR || unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return errno == EISDIR ? 0 : -1;
    if (errno != ENOTEMPTY)
        return -1;
    if (depth == MOST_DEPTH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    hc_autofd inner = hc_file_open_confined(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (inner < 0 || empty_directory(r, inner, depth + 1) < 0)
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR);
}

/* Remove a file, a link itself, or an empty directory; with "all" any directory. */
int hc_file_remove(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err)
{
    (void)answer;
    int rc = hc_file_open_parent(r, false, err);
    if (rc != 0)
        return rc;
    if (r->all)
        return remove_all(r, r->dir, r->last, 0) < 0 ? hc_file_refuse_errno(err, r, "remove") : 0;
    if (unlinkat(r->dir, r->last, 0) == 0)
        return 0;
    if (errno == EISDIR && unlinkat(r->dir, r->last, AT_REMOVEDIR) == 0)
        return 0;
    return errno == ENOTEMPTY ? hc_file_refuse(err, r, "the directory is not empty")
                              : hc_file_refuse_errno(err, r, "remove");
}

/* Make a directory, and what is missing of the directory that it is in. */
int hc_file_make_directory(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err)
{
    int rc = hc_file_open_parent(r, true, err);
    if (rc != 0)
        return rc;
    const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
    rc = mkdirat(r->dir, r->last, 0700);
    hc_launch_become_launcher(own);
    if (rc < 0 && errno == EEXIST) {
        (void)hc_file_refuse(err, r, "is there already");
        err->sys = EEXIST;
        return 1;
    }
    return rc < 0 ? hc_file_refuse_errno(err, r, "make") : hc_file_stat(r, answer, err);
}

/* Give a file or a directory another name, in the place of an older file of that name. */
int hc_file_move(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err)
{
    struct hc_file_request to = {.s = r->s, .path = r->to, .dir = -1};
    int rc = hc_file_open_parent(r, false, err);
    if (rc == 0)
        rc = hc_file_open_parent(&to, true, err);
    if (rc == 0) {
        const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
        rc = renameat(r->dir, r->last, to.dir, to.last);
        hc_launch_become_launcher(own);
        rc = rc < 0 ? hc_file_refuse_errno(err, r, "move") : hc_file_stat(&to, answer, err);
    }
    hc_file_request_finish(&to);
    return rc;
}
