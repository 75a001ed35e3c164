#include "cell/tree_stamps.h"

#include "base/fd.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define STAMPS     "stamps"           /* name of the stamps' file, beside root/ */
#define STAMPS_MAX ((size_t)64 << 20) /* most bytes of a stamps' file */
#define INDEX_MAX  ((size_t)64 << 20) /* most bytes of an index */
#define MAGIC      "hcstamp1"         /* begins the stamps' file, without a NUL */
#define CORE_DEPTH 3                  /* slashes in a path: entries above this depth are read by every run */

/* The stamps' file: a head, `count` records, and their paths, each with a NUL. Numbers are in native byte
 * order, as the file is valid on one host only. */
struct head {
    char magic[8];
    char id[HC_SHA256_HEX];  /* ID of the tree */
    char sum[HC_SHA256_HEX]; /* SHA-256 of all that follows the head */
    uint64_t self;           /* inode of this file: a copy of it has another */
    uint64_t count, core;    /* number of records, and of the core ones, which come first */
    uint64_t paths;          /* bytes of all paths together */
};

struct record { /* one entry's stamp; members as lstat(2) gives them */
    uint64_t inode, size;
    int64_t mtime_s, ctime_s;
    uint32_t mtime_ns, ctime_ns;
    uint32_t mode, uid, gid;
    uint32_t path; /* offset of its path among the paths */
};

static const struct head *head_of(const struct hc_stamps *s)
{
    return s->map;
}

static const struct record *records_of(const struct hc_stamps *s)
{
    return (const struct record *)(const void *)((const char *)s->map + sizeof(struct head));
}

static const char *path_of(const struct hc_stamps *s, const struct record *r)
{
    return (const char *)(records_of(s) + s->count) + (r->path < head_of(s)->paths ? r->path : 0);
}

/* ---- taking stamps ---- */

/* The size of a directory depends on the file system, and is left out. */
static struct record stamp_of(const struct stat *st)
{
    return (struct record){
        .inode = st->st_ino,
        .size = S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size,
        .mtime_s = st->st_mtim.tv_sec,
        .ctime_s = st->st_ctim.tv_sec,
        .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
        .ctime_ns = (uint32_t)st->st_ctim.tv_nsec,
        .mode = st->st_mode,
        .uid = st->st_uid,
        .gid = st->st_gid,
    };
}

static bool same_stamp(const struct record *a, const struct record *b)
{
    return a->inode == b->inode && a->size == b->size && a->mtime_s == b->mtime_s &&
           a->ctime_s == b->ctime_s && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
           a->mode == b->mode && a->uid == b->uid && a->gid == b->gid;
}

static int stat_entry(int dir, const char *path, struct stat *st)
{
    return *path ? fstatat(dir, path, st, AT_SYMLINK_NOFOLLOW) : fstat(dir, st);
}

static size_t depth_of(const char *path)
{
    size_t n = 0;
    for (; (path = strchr(path, '/')); path++)
        n++;
    return n;
}

/* Entries that every run reads: the upper directories, whose times show added and removed names, and the
 * loader, the C library and similar files. */
static bool is_core(const char *path, uint32_t mode)
{
    size_t depth = depth_of(path);
    return depth < CORE_DEPTH || (depth == CORE_DEPTH && (S_ISDIR(mode) ? strncmp(path, "usr/lib/", 8) == 0
                                                                        : !!strstr(path, "-linux-gnu/")));
}

/* An entry and its stamp, before they are sorted. */
struct stamped {
    struct record stamp; /* its `path` is not set yet */
    const char *path;    /* below root/; borrowed */
    bool core;           /* every run reads the entry */
};

struct stamped_list {
    struct stamped *list; /* owned */
    size_t count, cap;    /* entries in `list`; entries that it has room for */
};

static int by_place(const void *a, const void *b)
{
    const struct stamped *x = a, *y = b;
    return x->core != y->core ? (int)y->core - (int)x->core : strcmp(x->path, y->path);
}

static int add_stamp(struct stamped_list *all, int root, const char *path, struct hc_error *err)
{
    struct stat st;
    if (all->count == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 1024;
        struct stamped *grown = realloc(all->list, cap * sizeof *grown);
        if (!grown)
            return hc_fail(err, ENOMEM, "stamp a tree");
        all->list = grown;
        all->cap = cap;
    }
    if (stat_entry(root, path, &st) < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return hc_fail(err, errno, "stat %s", path);
        st = (struct stat){0}; /* hashing reports that the entry is missing */
    }
    all->list[all->count++] = (struct stamped){stamp_of(&st), path, is_core(path, st.st_mode)};
    return 0;
}

/* The path in a line of the index: "f 0644 1234 SHA256 path". */
static const char *path_in_line(const char *line)
{
    for (int blanks = 0; line && blanks < 4; blanks++)
        if ((line = strchr(line, ' ')))
            line++;
    return line;
}

static int add_stamps(struct stamped_list *all, int root, char *index, struct hc_error *err)
{
    char *rest = NULL;
    int rc = add_stamp(all, root, "", err);
    for (char *line = strtok_r(index, "\n", &rest); line && rc == 0; line = strtok_r(NULL, "\n", &rest)) {
        const char *path = path_in_line(line);
        rc = path && *path ? add_stamp(all, root, path, err)
                           : hc_fail(err, 0, "the index has a line without a path");
    }
    if (rc == 0)
        qsort(all->list, all->count, sizeof *all->list, by_place);
    return rc;
}

static int write_stamps_to(const struct stamped_list *all, struct hc_buf *out, struct hc_error *err)
{
    struct head head = {.magic = MAGIC, .count = all->count};
    for (size_t i = 0; i < all->count; i++) {
        all->list[i].stamp.path = (uint32_t)head.paths;
        head.paths += strlen(all->list[i].path) + 1;
        head.core += all->list[i].core;
    }
    out->max = STAMPS_MAX;
    (void)hc_buf_add(out, &head, sizeof head);
    for (size_t i = 0; i < all->count; i++)
        (void)hc_buf_add(out, &all->list[i].stamp, sizeof all->list[i].stamp);
    for (size_t i = 0; i < all->count; i++)
        (void)hc_buf_add(out, all->list[i].path, strlen(all->list[i].path) + 1);
    return out->failed ? hc_fail(err, ENOMEM, "stamp a tree") : 0;
}

int hc_stamps_take(int dir, const char *index, struct hc_buf *out, struct hc_error *err)
{
    struct stamped_list all = {0};
    char *copy = strdup(index);
    hc_autofd root = openat(dir, "root", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = !copy      ? hc_fail(err, ENOMEM, "stamp a tree")
             : root < 0 ? hc_fail(err, errno, "open the tree")
                        : add_stamps(&all, root, copy, err);
    if (rc == 0)
        rc = write_stamps_to(&all, out, err);
    free(all.list);
    free(copy);
    return rc;
}

static int write_stamps(int dir, const char *temp, const char *id, struct hc_buf *taken, struct hc_error *err)
{
    struct stat st;
    struct head head;
    hc_autofd fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || fstat(fd, &st) < 0 || fchmod(fd, 0644) < 0)
        return hc_fail(err, errno, "write the tree's stamps");
    memcpy(&head, taken->data, sizeof head);
    head.self = st.st_ino;
    (void)snprintf(head.id, sizeof head.id, "%s", id);
    hc_sha256_hex(taken->data + sizeof head, taken->len - sizeof head, head.sum);
    memcpy(taken->data, &head, sizeof head);
    if (hc_write_all(fd, taken->data, taken->len, err) < 0)
        return hc_ctx(err, "write the tree's stamps");
    return fsync(fd) < 0 ? hc_fail(err, errno, "sync the tree's stamps") : 0;
}

int hc_stamps_keep(int dir, const char *id, struct hc_buf *taken, struct hc_error *err)
{
    char temp[40];
    (void)snprintf(temp, sizeof temp, ".stamps.%d", getpid());
    int rc = write_stamps(dir, temp, id, taken, err);
    if (rc == 0 && renameat(dir, temp, dir, STAMPS) < 0)
        rc = hc_fail(err, errno, "write the tree's stamps");
    if (rc < 0)
        (void)unlinkat(dir, temp, 0);
    return rc;
}

/* ---- opening a stamps' file ---- */

static int fail_damaged(const struct hc_stamps *s, struct hc_error *err)
{
    return hc_fail_as(
        err, HC_EXIT_UNAVAILABLE, 0,
        "tree '%s': its stamps are damaged: 'hotcell tree verify %s' checks its content, and writes "
        "them anew",
        s->tree->name, s->tree->name);
}

static int map_stamps(struct hc_stamps *s, int fd, size_t size, struct hc_error *err)
{
    if (size < sizeof(struct head) || size > STAMPS_MAX)
        return fail_damaged(s, err);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return hc_fail(err, errno, "map the stamps of tree '%s'", s->tree->name);
    s->map = map;
    s->size = size;
    const struct head *h = head_of(s);
    if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0 || !h->count ||
        h->count > STAMPS_MAX / sizeof(struct record) || h->core > h->count || !h->paths ||
        h->paths > STAMPS_MAX || h->sum[HC_SHA256_HEX - 1] ||
        size != sizeof *h + h->count * sizeof(struct record) + h->paths ||
        ((const char *)map)[size - 1] != '\0')
        return fail_damaged(s, err);
    s->count = h->count;
    s->core = h->core;
    return 0;
}

static void unmap(struct hc_stamps *s)
{
    if (s->map)
        (void)munmap((void *)(uintptr_t)s->map, s->size);
    s->map = NULL;
    s->count = s->core = s->size = 0;
}

/* Whether the stamps were taken in this place, of this tree. Other inodes show that the tree was copied. */
static bool match_place(const struct hc_stamps *s, ino_t self)
{
    struct stat root;
    const struct head *h = head_of(s);
    return h->self == self && memcmp(h->id, s->tree->id, sizeof h->id) == 0 &&
           fstat(s->tree->root_fd, &root) == 0 && records_of(s)->inode == root.st_ino;
}

static int check_sum(const struct hc_stamps *s, struct hc_error *err)
{
    char sum[HC_SHA256_HEX];
    hc_sha256_hex((const char *)s->map + sizeof(struct head), s->size - sizeof(struct head), sum);
    return memcmp(sum, head_of(s)->sum, sizeof sum) == 0 ? 0 : fail_damaged(s, err);
}

int hc_stamps_open(struct hc_stamps *s, const struct hc_tree *tree, bool whole, struct hc_error *err)
{
    *s = (struct hc_stamps){.tree = tree, .why = "it has no stamps"};
    struct stat st;
    hc_autofd fd = openat(tree->root_fd, "../" STAMPS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "tree '%s': open its stamps", tree->name);
    if (!S_ISREG(st.st_mode))
        return fail_damaged(s, err);
    if (map_stamps(s, fd, (size_t)st.st_size, err) < 0)
        return -1;
    if (match_place(s, st.st_ino))
        return whole ? check_sum(s, err) : 0;
    unmap(s);
    s->why = "it was copied here, and its stamps are of the place that it comes from";
    return 0;
}

void hc_stamps_finish(struct hc_stamps *s)
{
    unmap(s);
    hc_buf_finish(&s->index);
}

const char *hc_stamps_sum(const struct hc_stamps *s)
{
    return head_of(s)->sum;
}

/* ---- checking entries ---- */

static int fail_changed(const struct hc_stamps *s, const char *path, const char *what, struct hc_error *err)
{
    char advice[HC_TREE_ADVICE];
    hc_tree_advice(s->tree, advice);
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "tree '%s' was changed: /%s %s: 'hotcell tree verify %s' says all that differs, %s",
                      s->tree->name, path, what, s->tree->name, advice);
}

static int by_path(const void *key, const void *member)
{
    const struct hc_stamps *s = ((const void *const *)key)[0];
    return strcmp(((const char *const *)key)[1], path_of(s, member));
}

static const struct record *find_record(const struct hc_stamps *s, const char *path)
{
    const void *key[2] = {s, path};
    const struct record *r = bsearch(key, records_of(s), s->core, sizeof *r, by_path);
    return r ? r : bsearch(key, records_of(s) + s->core, s->count - s->core, sizeof *r, by_path);
}

static int read_index(struct hc_stamps *s, struct hc_error *err)
{
    char id[HC_SHA256_HEX];
    if (s->index.len)
        return 0;
    if (hc_read_file(s->tree->root_fd, "../index", &s->index, INDEX_MAX, err) < 0)
        return hc_ctx(err, "tree '%s'", s->tree->name);
    hc_sha256_hex(s->index.data, s->index.len, id);
    if (strcmp(id, s->tree->id) == 0)
        return 0;
    hc_buf_finish(&s->index);
    return fail_changed(s, "../index", "is not the list of entries that it was built with", err);
}

/* Describe in a few words how an entry differs from its stamp. */
static const char *difference(const struct record *was, const struct stat *now, char *out, size_t size)
{
    static const char *const kinds[] = {"a file", "a directory", "a link", "neither"};
    const uint32_t mode = now->st_mode;
    if ((mode & S_IFMT) != (was->mode & S_IFMT))
        (void)snprintf(out, size, "is %s",
                       kinds[S_ISREG(mode)   ? 0
                             : S_ISDIR(mode) ? 1
                             : S_ISLNK(mode) ? 2
                                             : 3]);
    else if (S_ISLNK(mode))
        (void)snprintf(out, size, "points elsewhere");
    else if (mode != was->mode)
        (void)snprintf(out, size, "has mode %04o, not %04o", mode & 07777, was->mode & 07777);
    else if ((uint64_t)now->st_size != was->size)
        (void)snprintf(out, size, "has %lld bytes, not %lld", (long long)now->st_size, (long long)was->size);
    else
        (void)snprintf(out, size, "has other content");
    return out;
}

/* Whether the sorted index has this line, newline included. */
static bool is_listed(const struct hc_buf *index, const char *line)
{
    size_t low = 0, high = index->len, len = strlen(line);
    while (low < high) {
        size_t at = low + (high - low) / 2;
        while (at > low && index->data[at - 1] != '\n')
            at--;
        int order = strncmp(index->data + at, line, len);
        if (order == 0)
            return true;
        if (order > 0)
            high = at;
        else
            low = at + strcspn(index->data + at, "\n") + 1;
    }
    return false;
}

/* The stamp differs: check the entry's content against the index. */
static int check_content(struct hc_stamps *s, const struct record *was, const char *path,
                         const struct stat *now, struct hc_error *err)
{
    char *line = NULL, what[80];
    struct hc_error why = {0};
    if (!*path)
        return 0; /* the index has no line for the root itself */
    if (read_index(s, err) < 0)
        return -1;
    bool same =
        hc_tree_line(s->tree->root_fd, path, path, now, &line, &why) == 0 && is_listed(&s->index, line);
    free(line);
    if (!same && why.sys == ENOMEM) /* this process's failure, which says nothing about the tree */
        return hc_fail(err, ENOMEM, "tree '%s': compare /%s", s->tree->name, path);
    if (!same)
        return fail_changed(s, path, difference(was, now, what, sizeof what), err);
    s->hashed++;
    return 0;
}

/* How much of a directory is checked if its times differ. */
enum reach { ITSELF, NAMES, CHILDREN }; /* its own stamp; also its names; also the entries of these names */

static int check_entry(struct hc_stamps *s, const struct record *r, enum reach reach, struct hc_error *err);

/* A directory's times differ: check that each name in it is known. Missing files are found by their own
 * stamps. */
static int check_names(struct hc_stamps *s, DIR *dir, const char *path, struct hc_error *err)
{
    char child[PATH_MAX];
    for (struct dirent *e; (errno = 0, e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (snprintf(child, sizeof child, "%s%s%s", path, *path ? "/" : "", e->d_name) >= (int)sizeof child)
            return fail_changed(s, path, "holds a name that is too long", err);
        if (!find_record(s, child))
            return fail_changed(s, child, "was added", err);
    }
    return errno ? hc_fail(err, errno, "tree '%s': read /%s", s->tree->name, path) : 0;
}

static int check_children(struct hc_stamps *s, const char *path, struct hc_error *err)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < s->count; i++) {
        const struct record *r = records_of(s) + i;
        const char *p = path_of(s, r);
        if (!*p || (len && (strncmp(p, path, len) != 0 || p[len] != '/')) ||
            strchr(p + len + (len ? 1 : 0), '/'))
            continue;
        if (check_entry(s, r, ITSELF, err) < 0)
            return -1;
    }
    return 0;
}

static int check_directory(struct hc_stamps *s, const char *path, enum reach reach, struct hc_error *err)
{
    int fd = openat(s->tree->root_fd, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        hc_close_fd(&fd);
        return hc_fail(err, errno, "tree '%s': open /%s", s->tree->name, path);
    }
    int rc = check_names(s, dir, path, err);
    (void)closedir(dir);
    return rc < 0 || reach == NAMES ? rc : check_children(s, path, err);
}

static int check_entry(struct hc_stamps *s, const struct record *r, enum reach reach, struct hc_error *err)
{
    struct stat st;
    const char *path = path_of(s, r);
    if (stat_entry(s->tree->root_fd, path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? fail_changed(s, path, "is gone", err)
                   : hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "tree '%s': look at /%s", s->tree->name,
                                path);
    struct record now = stamp_of(&st);
    if (same_stamp(&now, r))
        return 0;
    if (check_content(s, r, path, &st, err) < 0)
        return -1;
    return reach != ITSELF && S_ISDIR(st.st_mode) ? check_directory(s, path, reach, err) : 0;
}

int hc_stamps_check(struct hc_stamps *s, size_t first, size_t count, struct hc_error *err)
{
    /* If all entries are checked, a directory's files are checked in their turn. */
    enum reach reach = count < s->count ? CHILDREN : NAMES;
    for (size_t i = first; i < s->count && i - first < count; i++)
        if (check_entry(s, records_of(s) + i, reach, err) < 0)
            return -1;
    return 0;
}
