/* Read, list and look at files. */
#include "cell/session/file_requests.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/units.h"
#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#define MOST_LISTED ((size_t)1 << 20) /* most bytes about the entries of a directory in one answer */

/* Append the bytes of a file as base64, "data", and whether they are its last, "end". */
static int print_content(const struct hc_file_request *r, int fd, const struct stat *st,
                         struct hc_buf *answer, struct hc_error *err)
{
    const int64_t left = r->offset < st->st_size ? st->st_size - r->offset : 0;
    const size_t len = (size_t)MIN(MIN(left, r->bytes), HC_FILE_MOST_READ),
                 room = sodium_base64_ENCODED_LEN(len, 1);
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
    return done == len ? 0 : hc_file_refuse(err, r, "could not be read to its end");
}

int hc_file_read(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err)
{
    const struct hc_limits *l = &r->s->policy.limits;
    const int64_t most = MIN(l->file_bytes, l->output_bytes);
    struct stat st;
    char text[32], why[160];
    int rc = hc_file_open_parent(r, false, err);
    if (rc != 0)
        return rc;
    hc_autofd fd = hc_file_open_plain(r, O_RDONLY, &st);
    if (fd < 0)
        return errno == EISDIR   ? hc_file_refuse(err, r, "is a directory (list_files)")
               : errno == ELOOP  ? hc_file_refuse(err, r, "is a symbolic link, and none is followed")
               : errno == EINVAL ? hc_file_refuse(err, r, "is no plain file")
                                 : hc_file_refuse_errno(err, r, "open");
    if (st.st_size > most) { /* only holes can make it so large */
        (void)snprintf(why, sizeof why,
                       "the file has %lld bytes, most of them holes, and %s is the most that is read "
                       "(limits.file, limits.output)",
                       (long long)st.st_size, hc_format_size(most, text, sizeof text));
        return hc_file_refuse(err, r, why);
    }
    (void)hc_buf_str(answer, ", \"file\": ");
    hc_file_print(answer, "path", r->path, &st);
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

static void print_names(const struct hc_file_request *r, int dir, const struct names *n,
                        struct hc_buf *answer)
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
        hc_file_print(answer, "name", n->list[i], &st);
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

int hc_file_list(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err)
{
    int fd = hc_file_open_confined(r->s->launch.output_fd, r->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    struct names n = {0};
    int rc = 0;
    if (!stream) {
        rc = errno == ENOTDIR ? hc_file_refuse(err, r, "is no directory")
                              : hc_file_refuse_errno(err, r, "list");
        hc_close_fd(&fd);
        return rc;
    }
    for (const struct dirent *e; rc == 0 && (e = readdir(stream));)
        rc = hc_now_us() < r->until_us
                 ? add_name(&n, e->d_name, r->after, err)
                 : hc_file_refuse(err, r, "has more entries than can be listed in " HC_FILE_MOST_TEXT);
    keep_page(&n);
    if (rc == 0)
        print_names(r, dirfd(stream), &n, answer);
    for (size_t i = 0; i < n.count; i++)
        free(n.list[i]);
    free(n.list);
    (void)closedir(stream);
    return rc;
}

int hc_file_stat(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err)
{
    struct stat st;
    int rc = r->dir < 0 ? hc_file_open_parent(r, false, err) : 0;
    if (rc == 0 && fstatat(r->dir, r->last, &st, AT_SYMLINK_NOFOLLOW) < 0)
        rc = hc_file_refuse_errno(err, r, "look at");
    if (rc != 0)
        return rc;
    (void)hc_buf_str(answer, ", \"file\": ");
    hc_file_print(answer, "path", r->path, &st);
    return 0;
}
