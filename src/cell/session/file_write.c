/* Write files, at once or in parts. */
#include "cell/session/file_requests.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/units.h"
#include "cell/supervise/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_SHARE 2 /* /output may hold 1/2 of limits.memory when a client writes */

/* What the content, or the whole file that begins with it, takes of memory and of /output, by limits that the
 * kernel would hold the program to. `here`: bytes of the file that are in /output. Returns 0, or 1: refused.
 */
int hc_file_check_room(const struct hc_file_request *r, int64_t here, struct hc_error *err)
{
    const struct hc_limits *l = &r->s->policy.limits;
    const int64_t whole = MAX(r->offset + (int64_t)r->len, r->total), more = whole - here;
    struct statvfs fs;
    char text[32];
    if (whole > l->file_bytes) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%.300s: a file may have %s (limits.file)", r->path,
                         hc_format_size(l->file_bytes, text, sizeof text));
        return 1;
    }
    if (r->total >= 0 && fstatvfs(r->s->launch.output_fd, &fs) == 0 &&
        more > (int64_t)fs.f_bavail * (int64_t)fs.f_frsize) {
        errno = ENOSPC;
        return hc_file_refuse_errno(err, r, "write");
    }
    if (!l->memory || hc_watch_fs_bytes(r->s->launch.output_fd) + more <= l->memory / MEMORY_SHARE)
        return 0;
    (void)hc_fail_as(
        err, HC_EXIT_DATA, 0,
        "%.300s: with it, the files in /output would take more than half of the session's memory, "
        "which is %s (limits.memory)",
        r->path, hc_format_size(l->memory, text, sizeof text));
    return 1;
}

/* Write the content at the offset; a failure takes back what was written. */
static int put_content(const struct hc_file_request *r, int fd, struct hc_error *err)
{
    for (size_t done = 0; done < r->len;) {
        ssize_t n = TEMP_FAILURE_RETRY(pwrite(fd, r->data + done, r->len - done, r->offset + (off_t)done));
        if (n < 0) {
            int rc = hc_file_refuse_errno(err, r, "write");
            (void)!ftruncate(fd, r->offset);
            return rc;
        }
        done += (size_t)n;
    }
    return 0;
}

/* Note the file as one that is no result of a program, until a program changes it. */
static int note_file(const struct hc_file_request *r, int fd, struct stat *st, struct hc_error *err)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (hc_input_copies_add(&r->s->launch.copies, r->path, fd, now, err) < 0)
        return -1;
    return fstat(fd, st) < 0 ? hc_fail(err, errno, "stat %.300s", r->path) : 0;
}

/* Make a file without a name: no program can open or list it, and it is gone when it is closed. -1: `errno`.
 */
static int make_nameless(const struct hc_file_request *r)
{
    const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
    int fd = openat(r->s->launch.output_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    hc_launch_become_launcher(own);
    return fd;
}

/* Give the file its name in r->dir. A link cannot replace what has the name; a file that is renamed does. */
static int name_file(const struct hc_file_request *r, int fd)
{
    char from[40], temp[48];
    uint64_t random;
    randombytes_buf(&random, sizeof random);
    (void)snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    (void)snprintf(temp, sizeof temp, ".hotcell-put-%016llx", (unsigned long long)random);
    const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
    int rc = linkat(AT_FDCWD, from, r->dir, temp, AT_SYMLINK_FOLLOW);
    if (rc == 0 && renameat(r->dir, temp, r->dir, r->last) < 0) {
        const int sys = errno;
        (void)unlinkat(r->dir, temp, 0);
        errno = sys;
        rc = -1;
    }
    hc_launch_become_launcher(own);
    return rc;
}

/* Put a complete file into its place, instead of whatever has its name but a directory. */
static int put_into_place(struct hc_file_request *r, int fd, struct stat *st, struct hc_error *err)
{
    int rc = hc_file_open_parent(r, true, err);
    if (rc != 0)
        return rc;
    if (name_file(r, fd) == 0)
        return note_file(r, fd, st, err);
    return errno == EISDIR ? hc_file_refuse(err, r, "is a directory")
                           : hc_file_refuse_errno(err, r, "put into its place");
}

/* Make a new file, which gets its name when it is complete. */
int hc_file_write_new(struct hc_file_request *r, struct stat *st, struct hc_error *err)
{
    hc_autofd fd = make_nameless(r);
    if (fd < 0)
        return hc_file_refuse_errno(err, r, "make");
    int rc = put_content(r, fd, err);
    return rc == 0 ? put_into_place(r, fd, st, err) : rc;
}

/* Refuse an offset at which the content does not go on. Returns 1. */
static int refuse_offset(const struct hc_file_request *r, int64_t here, struct hc_error *err)
{
    char text[120];
    (void)snprintf(text, sizeof text, "offset %lld: the file has %lld bytes, and a part goes behind them",
                   (long long)r->offset, (long long)here);
    return hc_file_refuse(err, r, text);
}

/* Append to a plain file of exactly the bytes that the client has sent before. */
static int write_more(struct hc_file_request *r, struct stat *st, struct hc_error *err)
{
    int rc = hc_file_open_parent(r, false, err);
    if (rc != 0)
        return rc;
    hc_autofd fd = hc_file_open_plain(r, O_WRONLY, st);
    if (fd < 0)
        return hc_file_refuse_errno(err, r, "open");
    if (st->st_nlink != 1)
        return hc_file_refuse(err, r, "the file has another name as well (a hard link)");
    if (st->st_size != r->offset)
        return refuse_offset(r, st->st_size, err);
    const bool ours = hc_input_copies_have(&r->s->launch.copies, r->path, st);
    rc = put_content(r, fd, err);
    if (rc == 0 && ours)
        return note_file(r, fd, st, err);
    return rc == 0 && fstat(fd, st) < 0 ? hc_fail(err, errno, "stat %.300s", r->path) : rc;
}

/* ---- write in parts ---- */

/* Look whether the path can be that of a file before its content comes. */
static int check_place(const struct hc_file_request *r, struct hc_error *err)
{
    struct stat st;
    hc_autofd found = hc_file_open_confined(r->s->launch.output_fd, r->path, O_PATH | O_NOFOLLOW);
    if (found < 0)
        return errno == ENOENT ? 0 : hc_file_refuse_errno(err, r, "open the directory of");
    return fstat(found, &st) == 0 && S_ISDIR(st.st_mode) ? hc_file_refuse(err, r, "is a directory") : 0;
}

static int begin_incoming(const struct hc_file_request *r, struct hc_incoming **in, struct hc_error *err)
{
    int rc = check_place(r, err);
    if (rc != 0)
        return rc;
    const int fd = make_nameless(r);
    if (fd < 0)
        return hc_file_refuse_errno(err, r, "make");
    *in = hc_incoming_add(&r->s->incoming, r->path, fd, r->total);
    if (*in)
        return 0;
    return errno == EBUSY
               ? hc_file_refuse(err, r,
                                "as many files as may come in parts at the same time do so already; send "
                                "the last part of one, or abandon it")
               : hc_fail(err, ENOMEM, "take a file");
}

/* Take a part behind those that have come; the last one puts the file into its place. */
static int add_part(struct hc_file_request *r, struct hc_incoming *in, struct stat *st, struct hc_error *err)
{
    const int64_t end = r->offset + (int64_t)r->len;
    char text[120];
    if (in->total >= 0 && (end > in->total || (!r->more && end < in->total))) {
        (void)snprintf(text, sizeof text, "the parts have %lld bytes, and \"total\" said that they have %lld",
                       (long long)end, (long long)in->total);
        return hc_file_refuse(err, r, text);
    }
    int rc = put_content(r, in->fd, err);
    if (rc != 0)
        return rc;
    in->bytes = end;
    in->touched_us = hc_now_us();
    if (!r->more)
        return put_into_place(r, in->fd, st, err);
    return fstat(in->fd, st) < 0 ? hc_fail(err, errno, "stat %.300s", r->path) : 0;
}

/* Serve one of several parts. A part that fails, but for one at a wrong offset, ends the whole write. */
static int write_part(struct hc_file_request *r, struct hc_incoming *in, struct stat *st,
                      struct hc_error *err)
{
    if (!in && r->offset)
        return hc_file_refuse(
            err, r,
            "no part of it has come before; begin with offset 0 again (a write that gets no part "
            "for 5 minutes is given up)");
    if (in && r->offset != in->bytes)
        return refuse_offset(r, in->bytes, err);
    if (in && r->total < 0)
        r->total = in->total;
    int rc = hc_file_check_room(r, in ? in->bytes : 0, err);
    if (rc == 0 && !in)
        rc = begin_incoming(r, &in, err);
    if (in && rc == 0)
        rc = add_part(r, in, st, err);
    if (rc != 0 || !r->more)
        hc_incoming_drop(in);
    return rc;
}

int hc_file_write(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err)
{
    struct stat st;
    struct hc_incoming *in = hc_incoming_find(&r->s->incoming, r->path);
    if (in && (r->abandons || !r->offset)) {
        hc_incoming_drop(in);
        in = NULL;
    }
    if (r->abandons)
        return 0;
    int rc = 0;
    if (in || r->more)
        rc = write_part(r, in, &st, err);
    else if ((rc = hc_file_check_room(r, r->offset, err)) == 0)
        rc = r->offset ? write_more(r, &st, err) : hc_file_write_new(r, &st, err);
    if (rc != 0)
        return rc;
    (void)hc_buf_str(answer, ", \"file\": ");
    hc_file_print(answer, "path", r->path, &st);
    return 0;
}
