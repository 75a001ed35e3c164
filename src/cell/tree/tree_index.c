/* The index of a tree: one line for each entry, sorted. */
#include "cell/tree/tree_parts.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void hc_entries_finish(struct hc_entries *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->line[i]);
    free(l->line);
}

int hc_entries_add(struct hc_entries *l, char *line, struct hc_error *err)
{
    if (line && l->count == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 1024;
        char **grown = realloc(l->line, cap * sizeof *grown);
        if (grown) {
            l->line = grown;
            l->cap = cap;
        }
    }
    if (!line || l->count == l->cap) {
        free(line);
        return hc_fail(err, ENOMEM, "index a tree");
    }
    l->line[l->count++] = line;
    return 0;
}

static int hash_file(int dir, const char *name, char out[HC_SHA256_HEX], struct hc_error *err)
{
    hc_autofd fd = hc_open_quietly(dir, name, O_NOFOLLOW);
    if (fd < 0)
        return hc_fail(err, errno, "open %s", name);
    struct hc_hash h;
    hc_hash_init(&h);
    static char chunk[1 << 17];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0)
            return hc_fail(err, errno, "read %s", name);
        if (n == 0)
            break;
        hc_hash_add(&h, chunk, (size_t)n);
    }
    hc_hash_hex(&h, out);
    return 0;
}

static int link_line(int dir, const char *name, const char *path, char **line, struct hc_error *err)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
    if (n < 0)
        return hc_fail(err, errno, "read the link %s", path);
    target[n] = '\0';
    if (strpbrk(target, " \n"))
        return hc_fail(err, 0, "a blank in the target of the link %s", path);
    return asprintf(line, "l 0777 0 %s %s\n", target, path) < 0 ? hc_fail(err, ENOMEM, "index a tree") : 0;
}

static int file_line(int dir, const char *name, const char *path, const struct stat *st, char **line,
                     struct hc_error *err)
{
    char digest[HC_SHA256_HEX];
    if (hash_file(dir, name, digest, err) < 0)
        return -1;
    return asprintf(line, "f %04o %lld %s %s\n", st->st_mode & 07777, (long long)st->st_size, digest, path) <
                   0
               ? hc_fail(err, ENOMEM, "index a tree")
               : 0;
}

int hc_tree_line(int dir, const char *name, const char *path, const struct stat *st, char **line,
                 struct hc_error *err)
{
    *line = NULL;
    if (strchr(path, '\n'))
        return hc_fail(err, 0, "a newline in the file name %s", path);
    if (st->st_mode & (S_ISUID | S_ISGID))
        return hc_fail(err, 0, "%s has a set-id bit", path);
    if (S_ISLNK(st->st_mode))
        return link_line(dir, name, path, line, err);
    if (S_ISREG(st->st_mode))
        return file_line(dir, name, path, st, line, err);
    if (!S_ISDIR(st->st_mode))
        return hc_fail(err, 0, "%s is neither a file nor a directory nor a link", path);
    return asprintf(line, "d %04o 0 - %s\n", st->st_mode & 07777, path) < 0
               ? hc_fail(err, ENOMEM, "index a tree")
               : 0;
}

static int index_dir(struct hc_entries *l, int parent, const char *name, const char *path, int depth,
                     struct hc_error *err);

static int index_child(struct hc_entries *l, int dir, const char *name, const char *path, int depth,
                       struct hc_error *err)
{
    char child[PATH_MAX];
    struct stat st;
    if (snprintf(child, sizeof child, "%s%s%s", path, *path ? "/" : "", name) >= (int)sizeof child)
        return hc_fail(err, ENAMETOOLONG, "%s", path);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return hc_fail(err, errno, "stat %s", child);
    char *line;
    if (hc_tree_line(dir, name, child, &st, &line, err) < 0 || hc_entries_add(l, line, err) < 0)
        return -1;
    return S_ISDIR(st.st_mode) ? index_dir(l, dir, name, child, depth + 1, err) : 0;
}

static int index_dir(struct hc_entries *l, int parent, const char *name, const char *path, int depth,
                     struct hc_error *err)
{
    if (depth > 64)
        return hc_fail(err, 0, "%s is nested too deep", path);
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        hc_close_fd(&fd);
        return hc_fail(err, errno, "open the directory %s", *path ? path : name);
    }
    int rc = 0;
    for (struct dirent *e; rc == 0 && (errno = 0, e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = index_child(l, dirfd(dir), e->d_name, path, depth, err);
    if (rc == 0 && errno)
        rc = hc_fail(err, errno, "read the directory %s", path);
    (void)closedir(dir);
    return rc;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int hc_tree_index(int dir, struct hc_buf *out, struct hc_error *err)
{
    struct hc_entries l = {0};
    int rc = index_dir(&l, dir, "root", "", 0, err);
    if (rc == 0 && l.count) {
        qsort(l.line, l.count, sizeof *l.line, by_bytes);
        for (size_t i = 0; i < l.count; i++)
            (void)hc_buf_str(out, l.line[i]);
    }
    if (rc == 0 && (out->failed || !out->len))
        rc = hc_fail(err, out->failed ? ENOMEM : 0, out->failed ? "index a tree" : "the tree is empty");
    hc_entries_finish(&l);
    return rc;
}
