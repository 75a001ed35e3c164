#include "cell/session/session_files.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cell/session/session_parts.h"
#include "cell/supervise/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define MOST_READ    ((int64_t)8 << 20) /* most bytes of a file in one answer */
#define MOST_LISTED  ((size_t)1 << 20)  /* most bytes about the entries of a directory in one answer */
#define MOST_DEPTH   64                 /* deepest directories that are removed with what is in them */
#define MOST_MS      10000        /* longest that a directory is listed, or removed with what is in it */
#define MOST_TEXT    "10 seconds" /* MOST_MS, for people */
#define MEMORY_SHARE 2            /* /output may hold 1/2 of limits.memory when a client writes */
/* For openat2(2): no way out of /output by "..", a link or a mount. */
#define CONFINED (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* A request about files. */
struct request {
    struct hc_session *s; /* borrowed */
    bool writes, reads;   /* it is write_file; it is read_file */
    bool lists;           /* it is list_files */
    bool moves, removes;  /* it is move_file; it is remove_file */
    bool all;             /* remove a directory with all that is in it */
    const char *to;       /* where it is moved to, as `path`; borrowed; NULL: nowhere */
    const char *after;    /* list names after this one; borrowed; NULL: from the first on */
    int64_t until_us;     /* when a list or a removal is given up: commands may go on filling the directory */
    const char *path;     /* below /output, "." for /output itself; borrowed */
    const char *last;     /* its last part */
    int dir;              /* directory of the last part, owned; -1: not open */
    int64_t offset;       /* where reading or writing begins */
    int64_t total;        /* bytes of the whole file that comes in parts; -1: the client has not said */
    bool more, abandons;  /* further parts follow; no further part follows, and the file is given up */
    int64_t bytes;        /* most bytes to read */
    char *data;           /* what to write; owned; NULL: nothing */
    size_t len;           /* bytes of `data` */
};

static void request_finish(struct request *r)
{
    hc_close_fd(&r->dir);
    free(r->data);
}

/* Refuse the request. Returns 1. */
static int refuse(struct hc_error *err, const struct request *r, const char *why)
{
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%.300s: %s", r->path, why);
    return 1;
}

/* Refuse the request because of errno. Returns 1, or -1 if the host has no memory or descriptors left. */
static int refuse_errno(struct hc_error *err, const struct request *r, const char *doing)
{
    const int sys = errno;
    switch (sys) {
    case ENOSPC:
    case EDQUOT:
        return refuse(err, r, "there is no room left in /output (limits.output, limits.output_files)");
    case ENOENT:
        (void)refuse(err, r, "there is no such file in the session (list_files names them)");
        err->sys = sys;
        return 1;
    case ETIMEDOUT:
        return refuse(err, r, "took more than " MOST_TEXT "; what was removed until then is gone: ask again");
    case ELOOP:
    case EXDEV:
        return refuse(err, r, "a part of the path is a symbolic link, and none is followed");
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return hc_fail(err, sys, "%s %.300s", doing, r->path);
    default:
        (void)hc_fail_as(err, HC_EXIT_DATA, sys, "%s %.300s", doing, r->path);
        return 1;
    }
}

/* ---- what is asked for ---- */

static int take_count(const cJSON *member, int64_t *out, struct hc_error *err)
{
    const double n = cJSON_IsNumber(member) ? member->valuedouble : -1;
    if (n < 0 || n > 9e15 || n != (double)(int64_t)n)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a whole number from 0 on", member->string);
    *out = (int64_t)n;
    return 0;
}

static int take_content(struct request *r, const cJSON *member, struct hc_error *err)
{
    const char *text = cJSON_GetStringValue(member), *end = NULL;
    if (!text)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a string, got %s", member->string,
                          hc_json_kind(member));
    if (r->data)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected either \"text\" or \"data\"");
    const size_t len = strlen(text);
    char *data = malloc(len + 1);
    if (!data)
        return hc_fail(err, ENOMEM, "take a file");
    r->len = len;
    if (strcmp(member->string, "text") == 0) {
        memcpy(data, text, len);
    } else if (sodium_base642bin((unsigned char *)data, len + 1, text, len, "\r\n", &r->len, &end,
                                 sodium_base64_VARIANT_ORIGINAL) != 0 ||
               end != text + len) {
        free(data);
        return hc_fail_as(err, HC_EXIT_DATA, 0, "data: expected base64");
    }
    r->data = data;
    return 0;
}

static int take_string(const char **out, const cJSON *member, struct hc_error *err)
{
    *out = cJSON_GetStringValue(member);
    return *out ? 0
                : hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a string, got %s", member->string,
                             hc_json_kind(member));
}

static int take_flag(bool *out, const cJSON *member, struct hc_error *err)
{
    *out = cJSON_IsTrue(member);
    return cJSON_IsBool(member) ? 0
                                : hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected true or false, got %s",
                                             member->string, hc_json_kind(member));
}

static int take_member(struct request *r, const cJSON *member, struct hc_error *err)
{
    const char *name = member->string;
    if (strcmp(name, "path") == 0)
        return take_string(&r->path, member, err);
    if (r->lists && strcmp(name, "after") == 0)
        return take_string(&r->after, member, err);
    if ((r->writes || r->reads) && strcmp(name, "offset") == 0)
        return take_count(member, &r->offset, err);
    if (r->reads && strcmp(name, "bytes") == 0)
        return take_count(member, &r->bytes, err);
    if (r->writes && (strcmp(name, "text") == 0 || strcmp(name, "data") == 0))
        return take_content(r, member, err);
    if (r->writes && strcmp(name, "total") == 0)
        return take_count(member, &r->total, err);
    if (r->moves && strcmp(name, "to") == 0)
        return take_string(&r->to, member, err);
    if (r->removes && strcmp(name, "all") == 0)
        return take_flag(&r->all, member, err);
    if (r->writes && strcmp(name, "more") == 0)
        return take_flag(&r->more, member, err);
    if (r->writes && strcmp(name, "abandon") == 0)
        return take_flag(&r->abandons, member, err);
    return hc_fail_as(err, HC_EXIT_DATA, 0, "unknown member '%.64s'; expected path%s", name,
                      r->writes    ? ", offset, total, more, abandon, and text or data"
                      : r->reads   ? ", offset, bytes"
                      : r->lists   ? ", after"
                      : r->moves   ? ", to"
                      : r->removes ? ", all"
                                   : "");
}

/* Take the path relative to /output: a program knows its files by their whole path, too. */
static const char *below_output(const char *path)
{
    static const char root[] = "/output";
    if (strncmp(path, root, sizeof root - 1) == 0 && (!path[sizeof root - 1] || path[sizeof root - 1] == '/'))
        path += sizeof root - 1 + (path[sizeof root - 1] == '/');
    return *path ? path : ".";
}

/* Why the path is refused; NULL: it is good. The kernel holds it below /output in any case. */
static const char *bad_path(const char *path)
{
    if (*path == '/')
        return "expected a path below the session's working directory, /output";
    if (strlen(path) >= PATH_MAX)
        return "the path is too long";
    for (const char *part = path; part;) {
        const size_t len = strcspn(part, "/");
        if (len == 0 || (len == 1 && *part == '.') || (len == 2 && strncmp(part, "..", 2) == 0))
            return "expected a path without empty parts, \".\" and \"..\"";
        if (len > NAME_MAX)
            return "a part of the path is too long";
        part = part[len] ? part + len + 1 : NULL;
    }
    return NULL;
}

static int take_request(struct request *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *member;
    if (!cJSON_IsObject(node))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected an object, got %s", hc_json_kind(node));
    r->bytes = MOST_READ;
    r->total = -1;
    r->writes = strcmp(node->string, "write_file") == 0;
    r->reads = strcmp(node->string, "read_file") == 0;
    r->lists = strcmp(node->string, "list_files") == 0;
    r->moves = strcmp(node->string, "move_file") == 0;
    r->removes = strcmp(node->string, "remove_file") == 0;
    cJSON_ArrayForEach(member, node) if (take_member(r, member, err) < 0) return -1;
    if (!r->path && r->lists)
        r->path = ".";
    if (!r->path)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "path: expected the path of a file");
    if (r->writes && !r->data && !r->abandons)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected either \"text\" or \"data\"");
    r->path = below_output(r->path);
    if (r->moves && !r->to)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "to: expected the new path of the file");
    r->to = r->to ? below_output(r->to) : NULL;
    const char *bad = r->lists && strcmp(r->path, ".") == 0 ? NULL : bad_path(r->path);
    if (!bad && r->to && (bad = bad_path(r->to)))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "to: %s", bad);
    return bad ? hc_fail_as(err, HC_EXIT_DATA, 0, "path: %s", bad) : 0;
}

/* ---- opening ---- */

static int open_confined(int dir, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC, .resolve = CONFINED};
    return hc_openat2(dir, name, &how);
}

static int make_dir(const struct request *r, int outer, const char *name)
{
    const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
    int rc = mkdirat(outer, name, 0700);
    hc_launch_become_launcher(own);
    return rc < 0 && errno != EEXIST ? -1 : 0;
}

/* Open the directory of the file, at r->dir; with `make`, make what is missing of it. */
static int open_parent(struct request *r, bool make, struct hc_error *err)
{
    char parts[PATH_MAX];
    (void)snprintf(parts, sizeof parts, "%s", r->path);
    r->dir = open_confined(r->s->launch.output_fd, ".", O_RDONLY | O_DIRECTORY);
    char *part = parts;
    for (char *slash; r->dir >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
        *slash = '\0';
        hc_autofd outer = hc_take(&r->dir);
        if (make && make_dir(r, outer, part) < 0)
            return refuse_errno(err, r, "make the directory of");
        r->dir = open_confined(outer, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    }
    if (r->dir < 0)
        return refuse_errno(err, r, "open the directory of");
    r->last = r->path + (part - parts);
    return 0;
}

/* Open the plain file that the request is about; `*st` is its own. Nothing else is opened: opening a pipe
 * could wait, and a device could do anything. -1: `errno`. */
static int open_plain(const struct request *r, int flags, struct stat *st)
{
    char path[40];
    hc_autofd found = open_confined(r->dir, r->last, O_PATH | O_NOFOLLOW);
    if (found < 0 || fstat(found, st) < 0)
        return -1;
    if (!S_ISREG(st->st_mode)) {
        errno = S_ISDIR(st->st_mode) ? EISDIR : S_ISLNK(st->st_mode) ? ELOOP : EINVAL;
        return -1;
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", found);
    return flags == O_RDONLY ? hc_open_quietly(AT_FDCWD, path, O_NONBLOCK)
                             : open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

static const char *kind_of(const struct stat *st)
{
    return S_ISREG(st->st_mode)   ? "file"
           : S_ISDIR(st->st_mode) ? "directory"
           : S_ISLNK(st->st_mode) ? "link"
                                  : "other";
}

/* Append {MEMBER: `name`, "kind", "bytes", "modified"}. */
static void print_file(struct hc_buf *out, const char *member, const char *name, const struct stat *st)
{
    char time[40];
    (void)hc_buf_fmt(out, "{\"%s\": ", member);
    hc_json_quote(out, name, strlen(name));
    (void)hc_buf_fmt(
        out, ", \"kind\": \"%s\", \"bytes\": %lld, \"modified\": \"%s\"}", kind_of(st),
        S_ISREG(st->st_mode) ? (long long)st->st_size : 0LL,
        hc_format_time((int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000, true, time));
}

/* ---- write ---- */

/* What the content, or the whole file that begins with it, takes of memory and of /output, by limits that the
 * kernel would hold the program to. `here`: bytes of the file that are in /output. Returns 0, or 1: refused.
 */
static int check_room(const struct request *r, int64_t here, struct hc_error *err)
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
        return refuse_errno(err, r, "write");
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
static int put_content(const struct request *r, int fd, struct hc_error *err)
{
    for (size_t done = 0; done < r->len;) {
        ssize_t n = TEMP_FAILURE_RETRY(pwrite(fd, r->data + done, r->len - done, r->offset + (off_t)done));
        if (n < 0) {
            int rc = refuse_errno(err, r, "write");
            (void)!ftruncate(fd, r->offset);
            return rc;
        }
        done += (size_t)n;
    }
    return 0;
}

/* Note the file as one that is no result of a program, until a program changes it. */
static int note_file(const struct request *r, int fd, struct stat *st, struct hc_error *err)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (hc_input_copies_add(&r->s->launch.copies, r->path, fd, now, err) < 0)
        return -1;
    return fstat(fd, st) < 0 ? hc_fail(err, errno, "stat %.300s", r->path) : 0;
}

/* Make a file without a name: no program can open or list it, and it is gone when it is closed. -1: `errno`.
 */
static int make_nameless(const struct request *r)
{
    const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
    int fd = openat(r->s->launch.output_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    hc_launch_become_launcher(own);
    return fd;
}

/* Give the file its name in r->dir. A link cannot replace what has the name; a file that is renamed does. */
static int name_file(const struct request *r, int fd)
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
static int put_into_place(struct request *r, int fd, struct stat *st, struct hc_error *err)
{
    int rc = open_parent(r, true, err);
    if (rc != 0)
        return rc;
    if (name_file(r, fd) == 0)
        return note_file(r, fd, st, err);
    return errno == EISDIR ? refuse(err, r, "is a directory") : refuse_errno(err, r, "put into its place");
}

/* Make a new file, which gets its name when it is complete. */
static int write_new(struct request *r, struct stat *st, struct hc_error *err)
{
    hc_autofd fd = make_nameless(r);
    if (fd < 0)
        return refuse_errno(err, r, "make");
    int rc = put_content(r, fd, err);
    return rc == 0 ? put_into_place(r, fd, st, err) : rc;
}

/* Refuse an offset at which the content does not go on. Returns 1. */
static int refuse_offset(const struct request *r, int64_t here, struct hc_error *err)
{
    char text[120];
    (void)snprintf(text, sizeof text, "offset %lld: the file has %lld bytes, and a part goes behind them",
                   (long long)r->offset, (long long)here);
    return refuse(err, r, text);
}

/* Append to a plain file of exactly the bytes that the client has sent before. */
static int write_more(struct request *r, struct stat *st, struct hc_error *err)
{
    int rc = open_parent(r, false, err);
    if (rc != 0)
        return rc;
    hc_autofd fd = open_plain(r, O_WRONLY, st);
    if (fd < 0)
        return refuse_errno(err, r, "open");
    if (st->st_nlink != 1)
        return refuse(err, r, "the file has another name as well (a hard link)");
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
static int check_place(const struct request *r, struct hc_error *err)
{
    struct stat st;
    hc_autofd found = open_confined(r->s->launch.output_fd, r->path, O_PATH | O_NOFOLLOW);
    if (found < 0)
        return errno == ENOENT ? 0 : refuse_errno(err, r, "open the directory of");
    return fstat(found, &st) == 0 && S_ISDIR(st.st_mode) ? refuse(err, r, "is a directory") : 0;
}

static int begin_incoming(const struct request *r, struct hc_incoming **in, struct hc_error *err)
{
    int rc = check_place(r, err);
    if (rc != 0)
        return rc;
    const int fd = make_nameless(r);
    if (fd < 0)
        return refuse_errno(err, r, "make");
    *in = hc_incoming_add(&r->s->incoming, r->path, fd, r->total);
    if (*in)
        return 0;
    return errno == EBUSY ? refuse(err, r,
                                   "as many files as may come in parts at the same time do so already; send "
                                   "the last part of one, or abandon it")
                          : hc_fail(err, ENOMEM, "take a file");
}

/* Take a part behind those that have come; the last one puts the file into its place. */
static int add_part(struct request *r, struct hc_incoming *in, struct stat *st, struct hc_error *err)
{
    const int64_t end = r->offset + (int64_t)r->len;
    char text[120];
    if (in->total >= 0 && (end > in->total || (!r->more && end < in->total))) {
        (void)snprintf(text, sizeof text, "the parts have %lld bytes, and \"total\" said that they have %lld",
                       (long long)end, (long long)in->total);
        return refuse(err, r, text);
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
static int write_part(struct request *r, struct hc_incoming *in, struct stat *st, struct hc_error *err)
{
    if (!in && r->offset)
        return refuse(err, r,
                      "no part of it has come before; begin with offset 0 again (a write that gets no part "
                      "for 5 minutes is given up)");
    if (in && r->offset != in->bytes)
        return refuse_offset(r, in->bytes, err);
    if (in && r->total < 0)
        r->total = in->total;
    int rc = check_room(r, in ? in->bytes : 0, err);
    if (rc == 0 && !in)
        rc = begin_incoming(r, &in, err);
    if (rc == 0)
        rc = add_part(r, in, st, err);
    if (rc != 0 || !r->more)
        hc_incoming_drop(in);
    return rc;
}

static int write_file(struct request *r, struct hc_buf *answer, struct hc_error *err)
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
    else if ((rc = check_room(r, r->offset, err)) == 0)
        rc = r->offset ? write_more(r, &st, err) : write_new(r, &st, err);
    if (rc != 0)
        return rc;
    (void)hc_buf_str(answer, ", \"file\": ");
    print_file(answer, "path", r->path, &st);
    return 0;
}

/* ---- read ---- */

/* Append the bytes of a file as base64, "data", and whether they are its last, "end". */
static int print_content(const struct request *r, int fd, const struct stat *st, struct hc_buf *answer,
                         struct hc_error *err)
{
    const int64_t left = r->offset < st->st_size ? st->st_size - r->offset : 0;
    const size_t len = (size_t)MIN(MIN(left, r->bytes), MOST_READ), room = sodium_base64_ENCODED_LEN(len, 1);
    unsigned char *bytes = malloc(len + 1);
    char *text = malloc(room);
    size_t done = 0;
    for (ssize_t n = 1; bytes && text && n > 0 && done<len; done += n> 0 ? (size_t)n : 0)
        n = TEMP_FAILURE_RETRY(pread(fd, bytes + done, len - done, r->offset + (off_t)done));
    if (bytes && text) {
        (void)sodium_bin2base64(text, room, bytes, done, sodium_base64_VARIANT_ORIGINAL);
        (void)hc_buf_fmt(answer, ", \"offset\": %lld, \"end\": %s, \"data\": \"", (long long)r->offset,
                         (int64_t)done == left ? "true" : "false");
        (void)hc_buf_str(answer, text);
        (void)hc_buf_str(answer, "\"");
    }
    const bool no_memory = !bytes || !text;
    free(bytes);
    free(text);
    if (no_memory)
        return hc_fail(err, ENOMEM, "read %.300s", r->path);
    return done == len ? 0 : refuse(err, r, "could not be read to its end");
}

static int read_file(struct request *r, struct hc_buf *answer, struct hc_error *err)
{
    const struct hc_limits *l = &r->s->policy.limits;
    const int64_t most = MIN(l->file_bytes, l->output_bytes);
    struct stat st;
    char text[32], why[160];
    int rc = open_parent(r, false, err);
    if (rc != 0)
        return rc;
    hc_autofd fd = open_plain(r, O_RDONLY, &st);
    if (fd < 0)
        return errno == EISDIR   ? refuse(err, r, "is a directory (list_files)")
               : errno == ELOOP  ? refuse(err, r, "is a symbolic link, and none is followed")
               : errno == EINVAL ? refuse(err, r, "is no plain file")
                                 : refuse_errno(err, r, "open");
    if (st.st_size > most) { /* only holes can make it so large */
        (void)snprintf(why, sizeof why,
                       "the file has %lld bytes, most of them holes, and %s is the most that is read "
                       "(limits.file, limits.output)",
                       (long long)st.st_size, hc_format_size(most, text, sizeof text));
        return refuse(err, r, why);
    }
    (void)hc_buf_str(answer, ", \"file\": ");
    print_file(answer, "path", r->path, &st);
    return print_content(r, fd, &st, answer, err);
}

/* ---- list, stat ---- */

/* The names of one page: those that come first of the ones after request.after. */
struct names {
    char **list;     /* owned, each too */
    size_t count;    /* used entries of `list` */
    size_t bytes;    /* at most so many bytes of an answer are about them */
    int64_t more;    /* names that come after this page */
    int64_t omitted; /* names in the directory that are no UTF-8 */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The most bytes of an answer that are about a file of this name: JSON writes a byte as six at most. */
static size_t bytes_about(const char *name)
{
    return 6 * strlen(name) + 128;
}

/* Sort the names, and keep what one page holds. */
static void keep_page(struct names *n)
{
    size_t kept = 0;
    if (n->count)
        qsort(n->list, n->count, sizeof *n->list, by_name);
    n->bytes = 0;
    while (kept < n->count && n->bytes + bytes_about(n->list[kept]) <= MOST_LISTED)
        n->bytes += bytes_about(n->list[kept++]);
    n->more += (int64_t)(n->count - kept);
    while (n->count > kept)
        free(n->list[--n->count]);
}

static int add_name(struct names *n, const char *name, const char *after, struct hc_error *err)
{
    size_t bad;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (!hc_utf8_valid(name, strlen(name), &bad)) {
        n->omitted++;
        return 0;
    }
    if (after && strcmp(name, after) <= 0)
        return 0;
    if (n->count % 256 == 0) {
        char **grown = realloc(n->list, (n->count + 256) * sizeof *grown);
        if (!grown)
            return hc_fail(err, ENOMEM, "list files");
        n->list = grown;
    }
    n->list[n->count] = strdup(name);
    if (!n->list[n->count])
        return hc_fail(err, ENOMEM, "list files");
    n->count++;
    n->bytes += bytes_about(name);
    if (n->bytes > 2 * MOST_LISTED) /* a directory may be much larger than a page */
        keep_page(n);
    return 0;
}

static void print_names(const struct request *r, int dir, const struct names *n, struct hc_buf *answer)
{
    bool any = false;
    (void)hc_buf_str(answer, ", \"path\": ");
    hc_json_quote(answer, r->path, strlen(r->path));
    (void)hc_buf_str(answer, ", \"files\": [");
    for (size_t i = 0; i < n->count; i++) {
        struct stat st;
        if (fstatat(dir, n->list[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        (void)hc_buf_str(answer, any ? ", " : "");
        print_file(answer, "name", n->list[i], &st);
        any = true;
    }
    (void)hc_buf_str(answer, "], \"next\": ");
    if (n->more)
        hc_json_quote(answer, n->list[n->count - 1], strlen(n->list[n->count - 1]));
    else
        (void)hc_buf_str(answer, "null");
    (void)hc_buf_fmt(answer, ", \"more\": %lld, \"omitted\": %lld", (long long)n->more,
                     (long long)n->omitted);
}

static int list_files(struct request *r, struct hc_buf *answer, struct hc_error *err)
{
    int fd = open_confined(r->s->launch.output_fd, r->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    struct names n = {0};
    int rc = 0;
    if (!stream) {
        rc = errno == ENOTDIR ? refuse(err, r, "is no directory") : refuse_errno(err, r, "list");
        hc_close_fd(&fd);
        return rc;
    }
    for (const struct dirent *e; rc == 0 && (e = readdir(stream));)
        rc = hc_now_us() < r->until_us ? add_name(&n, e->d_name, r->after, err)
                                       : refuse(err, r, "has more entries than can be listed in " MOST_TEXT);
    keep_page(&n);
    if (rc == 0)
        print_names(r, dirfd(stream), &n, answer);
    for (size_t i = 0; i < n.count; i++)
        free(n.list[i]);
    free(n.list);
    (void)closedir(stream);
    return rc;
}

static int stat_file(struct request *r, struct hc_buf *answer, struct hc_error *err)
{
    struct stat st;
    int rc = r->dir < 0 ? open_parent(r, false, err) : 0;
    if (rc == 0 && fstatat(r->dir, r->last, &st, AT_SYMLINK_NOFOLLOW) < 0)
        rc = refuse_errno(err, r, "look at");
    if (rc != 0)
        return rc;
    (void)hc_buf_str(answer, ", \"file\": ");
    print_file(answer, "path", r->path, &st);
    return 0;
}

/* ---- remove, make directories, move ---- */

static int remove_all(const struct request *r, int dir, const char *name, int depth);

/* Remove what is in a directory. -1: `errno`. */
static int empty_directory(const struct request *r, int dir, int depth)
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
static int remove_all(const struct request *r, int dir, const char *name, int depth)
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
    hc_autofd inner = open_confined(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (inner < 0 || empty_directory(r, inner, depth + 1) < 0)
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR);
}

/* Remove a file, a link itself, or an empty directory; with "all" any directory. */
static int remove_file(struct request *r, struct hc_buf *answer, struct hc_error *err)
{
    (void)answer;
    int rc = open_parent(r, false, err);
    if (rc != 0)
        return rc;
    if (r->all)
        return remove_all(r, r->dir, r->last, 0) < 0 ? refuse_errno(err, r, "remove") : 0;
    if (unlinkat(r->dir, r->last, 0) == 0)
        return 0;
    if (errno == EISDIR && unlinkat(r->dir, r->last, AT_REMOVEDIR) == 0)
        return 0;
    return errno == ENOTEMPTY ? refuse(err, r, "the directory is not empty") : refuse_errno(err, r, "remove");
}

/* Make a directory, and what is missing of the directory that it is in. */
static int make_directory(struct request *r, struct hc_buf *answer, struct hc_error *err)
{
    int rc = open_parent(r, true, err);
    if (rc != 0)
        return rc;
    const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
    rc = mkdirat(r->dir, r->last, 0700);
    hc_launch_become_launcher(own);
    if (rc < 0 && errno == EEXIST) {
        (void)refuse(err, r, "is there already");
        err->sys = EEXIST;
        return 1;
    }
    return rc < 0 ? refuse_errno(err, r, "make") : stat_file(r, answer, err);
}

/* Give a file or a directory another name, in the place of an older file of that name. */
static int move_file(struct request *r, struct hc_buf *answer, struct hc_error *err)
{
    struct request to = {.s = r->s, .path = r->to, .dir = -1};
    int rc = open_parent(r, false, err);
    if (rc == 0)
        rc = open_parent(&to, true, err);
    if (rc == 0) {
        const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
        rc = renameat(r->dir, r->last, to.dir, to.last);
        hc_launch_become_launcher(own);
        rc = rc < 0 ? refuse_errno(err, r, "move") : stat_file(&to, answer, err);
    }
    request_finish(&to);
    return rc;
}

static const struct {
    const char *name; /* of the request */
    int (*serve)(struct request *r, struct hc_buf *answer, struct hc_error *err);
} requests[] = {
    {"write_file", write_file}, {"read_file", read_file},     {"list_files", list_files},
    {"stat_file", stat_file},   {"remove_file", remove_file}, {"make_directory", make_directory},
    {"move_file", move_file},
};

int hc_session_serve_files(struct hc_session *s, const cJSON *node, struct hc_buf *answer,
                           struct hc_error *err)
{
    struct request r = {.s = s, .dir = -1, .until_us = hc_now_us() + MOST_MS * 1000LL};
    hc_incoming_drop_old(&s->incoming);
    int rc = take_request(&r, node, err) < 0 ? (err->exit == HC_EXIT_DATA ? 1 : -1) : 0;
    if (rc == 0 && s->policy.output_mode != HC_OUTPUT_CAPPED)
        rc =
            refuse(err, &r,
                   "the policy has output.mode \"bind\": the files are in the output directory of this host");
    for (size_t i = 0; rc == 0 && i < sizeof requests / sizeof *requests; i++)
        if (strcmp(requests[i].name, node->string) == 0) {
            rc = requests[i].serve(&r, answer, err);
            break;
        }
    if (rc == 0 && answer->failed)
        rc = hc_fail(err, ENOMEM, "%s", node->string);
    request_finish(&r);
    return rc;
}

int hc_session_serve_changes(struct hc_session *s, const cJSON *node, struct hc_buf *answer,
                             struct hc_error *err)
{
    if (!cJSON_IsTrue(node) &&
        (!cJSON_IsObject(node) || node->child)) { /* over HTTP, the body is an object */
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "list_changes: expected true or {}");
        return 1;
    }
    (void)hc_buf_str(answer, ", \"dirs\": ");
    return hc_launch_list_changes(&s->launch, answer, err);
}

/* ---- inputs of a run ---- */

/* Put one input, {"name", "format", "file": {"file", "text" or "data"}}, into its place. 1: it has none. */
static int place_input(struct hc_session *s, cJSON *input, struct hc_error *err)
{
    const cJSON *file = hc_json_member(input, "file"), *text = hc_json_member(file, "text");
    const char *name = hc_json_text_or(file, "file", hc_json_text(input, "name"));
    struct request r = {.s = s, .path = name, .dir = -1, .total = -1};
    struct stat st;
    char path[PATH_MAX];
    const char *format = hc_json_text_or(input, "format", "");
    if (*hc_json_text(input, "path")) /* it is there already */
        return 0;
    if (strcmp(format, hc_input_format_name(HC_INPUT_VALUE)) == 0 || !hc_launch_is_name(name, &s->policy))
        return 1; /* a value is a variable alone */
    int rc =
        take_content(&r, text ? text : hc_json_member(file, "data"), err) < 0 ? -1 : check_room(&r, 0, err);
    if (rc == 0)
        rc = write_new(&r, &st, err);
    request_finish(&r);
    (void)snprintf(path, sizeof path, "/output/%s", name);
    if (rc == 0 && !cJSON_AddStringToObject(input, "path", path))
        return hc_fail(err, ENOMEM, "place an input");
    return rc;
}

int hc_session_place_inputs(struct hc_session *s, const struct hc_job *job, struct hc_buf *given,
                            struct hc_error *err)
{
    struct hc_json j;
    cJSON *input;
    int rc = 0;
    if (!job->given || s->policy.output_mode != HC_OUTPUT_CAPPED)
        return 0;
    if (hc_json_parse(&j, "inputs", job->given, strlen(job->given), err) < 0)
        return -1;
    cJSON_ArrayForEach(input, j.root)
    {
        rc = place_input(s, input, err);
        if (rc < 0)
            break;
    }
    char *text = rc < 0 ? NULL : cJSON_PrintUnformatted(j.root);
    hc_json_finish(&j);
    if (rc >= 0)
        rc = text && hc_buf_str(given, text) == 0 ? 0 : hc_fail(err, ENOMEM, "place the inputs");
    cJSON_free(text);
    return rc;
}
