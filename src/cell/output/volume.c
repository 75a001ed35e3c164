#include "cell/volume.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/units.h"
#include "cell/output/pump.h"
#include "cell/output/walk.h"
#include "cell/steps.h"
#include "cell/workspace.h"
#include "json/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOW       "now"
#define NEXT      "next"
#define DATA      "data"
#define SIZE      "size"
#define DIRECTORY (O_RDONLY | O_DIRECTORY)

#define LOCK_WAIT  10000 /* most ms for which the tenant's lock is waited for; it is held for moments */
#define LOCK_PAUSE 5     /* ms between attempts to have it */

/* ---- names and directories ---- */

/* Makes a directory if it is not there, and opens it. Its group, which may look into it, is that of `dir`. */
static int make_dir(int dir, const char *name, struct hc_error *err)
{
    const bool made = mkdirat(dir, name, 0750) == 0;
    if (!made && errno != EEXIST)
        return hc_fail(err, errno, "make %s", name);
    int fd = hc_walk_open(dir, name, DIRECTORY);
    if (fd < 0)
        return hc_fail(err, errno, "open %s", name);
    if (!made || fchmod(fd, 02750) == 0)
        return fd;
    (void)hc_fail(err, errno, "chmod %s", name);
    hc_close_fd(&fd);
    return -1;
}

/* A refusal, for whose kind `sys` stands; that error's own text is not shown. */
static int refuse(struct hc_error *err, int sys, const char *why)
{
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s", why);
    err->sys = sys;
    return -1;
}

static bool is_name(const char *name)
{
    return hc_is_id(name, HC_VOLUME_NAME - 1);
}

static int lock_tenant(int fd, struct hc_error *err)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE * 1000000};
    const int64_t until = hc_mono_ms() + LOCK_WAIT;
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return hc_fail(err, errno, "lock the tenant's volumes");
        if (hc_mono_ms() > until)
            return refuse(err, EBUSY, "the tenant's volumes are being changed: try again");
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

static void unlock(int fd)
{
    (void)flock(fd, LOCK_UN);
}

/* ---- sizes ---- */

static int write_size(int dir, const struct hc_volume_size *size, struct hc_error *err)
{
    char text[64];
    const int len =
        snprintf(text, sizeof text, "%lld %lld\n", (long long)size->bytes, (long long)size->files);
    hc_autofd fd = openat(dir, SIZE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd < 0 || fchmod(fd, 0640) < 0)
        return hc_fail(err, errno, "note the size of a volume");
    return hc_write_all(fd, text, (size_t)len, err);
}

/* The size of the volume whose directory is open; `changed`, in ms since 1970, may be NULL. False: it has
 * none yet. */
static bool read_size(int volume, struct hc_volume_size *size, int64_t *changed)
{
    char text[64];
    struct stat st;
    hc_autofd now = hc_walk_open(volume, NOW, DIRECTORY);
    hc_autofd fd = now < 0 ? -1 : hc_walk_open(now, SIZE, O_RDONLY);
    const ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (n <= 0 || fstat(fd, &st) < 0)
        return false;
    text[n] = '\0';
    char *files = NULL;
    size->bytes = strtoll(text, &files, 10);
    size->files = strtoll(files, NULL, 10);
    if (changed)
        *changed = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    return true;
}

typedef int taker(void *ctx, const char *name, const struct hc_volume_size *size, int64_t changed);

static int list_in(int tenant_fd, taker *take, void *ctx)
{
    int again = openat(tenant_fd, ".", DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *list = again < 0 ? NULL : fdopendir(again);
    if (!list) {
        hc_close_fd(&again);
        return -1;
    }
    for (const struct dirent *e; rc >= 0 && (e = readdir(list));) {
        struct hc_volume_size size;
        int64_t changed;
        hc_autofd fd = is_name(e->d_name) ? hc_walk_open(tenant_fd, e->d_name, DIRECTORY) : -1;
        if (fd >= 0 && read_size(fd, &size, &changed))
            rc = take(ctx, e->d_name, &size, changed);
    }
    (void)closedir(list);
    return rc;
}

int hc_volume_list(int root, const char *tenant, taker *take, void *ctx)
{
    hc_autofd fd = is_name(tenant) ? hc_walk_open(root, tenant, DIRECTORY) : -1;
    return fd < 0 ? 0 : list_in(fd, take, ctx);
}

/* What the tenant has beside one volume. */
struct others {
    const char *name; /* name of that volume; borrowed */
    struct hc_volume_size size;
    int64_t count;
};

static int add_other(void *ctx, const char *name, const struct hc_volume_size *size, int64_t changed)
{
    struct others *o = ctx;
    (void)changed;
    if (strcmp(name, o->name) == 0)
        return 0;
    o->count++;
    o->size.bytes += size->bytes;
    o->size.files += size->files;
    return 0;
}

/* ---- what is not the volume's content any more, or not yet ---- */

/* Removes NEXT, if it is there: the files first, as a walk from there goes as deep as a commit's. */
static int remove_next(int volume, struct hc_error *err)
{
    hc_autofd next = hc_walk_open(volume, NEXT, DIRECTORY);
    if (next < 0)
        return errno == ENOENT ? 0 : hc_fail(err, errno, "open " NEXT);
    if (hc_workspace_remove(next, DATA, err) < 0 && err->sys != ENOENT)
        return -1;
    return hc_workspace_remove(volume, NEXT, err);
}

/* With the lock of the volume, whose directory is `fd`. */
static int remove_locked(int tenant_fd, int fd, const char *name, struct hc_error *err)
{
    if (remove_next(fd, err) < 0)
        return -1;
    /* From here on there is no such volume, whenever this process is killed. */
    if (renameat(fd, NOW, fd, NEXT) < 0 && errno != ENOENT)
        return hc_fail(err, errno, "remove it");
    if (remove_next(fd, err) < 0)
        return -1;
    return hc_workspace_remove(tenant_fd, name, err);
}

/* ---- beginning ---- */

/* With the tenant's lock: gives a new volume its empty content, if the tenant may have one more. */
static int make_content(const struct hc_volume *v, struct hc_error *err)
{
    struct others o = {.name = v->name};
    if (list_in(v->tenant_fd, add_other, &o) < 0)
        return hc_fail(err, errno, "list the tenant's volumes");
    if (o.count >= v->quota.count)
        return refuse(err, EDQUOT, "the tenant has as many volumes as may be (quota volumes): remove some");
    hc_autofd next = make_dir(v->fd, NEXT, err);
    hc_autofd data = next < 0 ? -1 : make_dir(next, DATA, err);
    const struct hc_volume_size none = {0, 0};
    if (data < 0 || fchmod(data, 0755) < 0 || write_size(next, &none, err) < 0)
        return -1;
    return renameat(v->fd, NEXT, v->fd, NOW) < 0 ? hc_fail(err, errno, "make the volume") : 0;
}

static int begin_volume(struct hc_volume *v, struct hc_error *err)
{
    int rc = lock_tenant(v->tenant_fd, err);
    if (rc < 0)
        return -1;
    rc = make_content(v, err);
    unlock(v->tenant_fd);
    v->is_new = rc == 0;
    return rc;
}

/* Whether the volume's open directory still has its name: who removes a volume takes both away while others
 * may have the directory open already. */
static bool has_name(int tenant_fd, int fd, const char *name)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && fstatat(tenant_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* Opens the volume's directory, and takes its lock. */
static int lock_volume(struct hc_volume *v, struct hc_error *err)
{
    static const char busy[] = "another job or session has it: try again when that has ended";
    v->fd = make_dir(v->tenant_fd, v->name, err);
    if (v->fd < 0)
        return err->sys == ENOENT ? refuse(err, EBUSY, busy) : -1; /* it is just being removed */
    if (flock(v->fd, LOCK_EX | LOCK_NB) < 0 || !has_name(v->tenant_fd, v->fd, v->name))
        return refuse(err, EBUSY, busy);
    return 0;
}

/* Takes the volume, and removes what a killed commit left. */
static int take_volume(struct hc_volume *v, struct hc_error *err)
{
    struct hc_volume_size ignored;
    if (lock_volume(v, err) < 0 || remove_next(v->fd, err) < 0)
        return -1;
    if (read_size(v->fd, &ignored, NULL) || begin_volume(v, err) == 0)
        return 0;
    (void)unlinkat(v->tenant_fd, v->name, AT_REMOVEDIR); /* fails if there is anything in it */
    return -1;
}

int hc_volume_open(struct hc_volume *v, int root, const char *tenant, const char *name,
                   const struct hc_volume_quota *quota, char path[HC_VOLUME_PATH], struct hc_error *err)
{
    *v = (struct hc_volume){.tenant_fd = -1, .fd = -1, .quota = *quota};
    if (!is_name(tenant) || !is_name(name))
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "volume '%.64s': expected a name of letters, digits, '.', '_' and '-'", name);
    (void)snprintf(v->name, sizeof v->name, "%s", name);
    (void)snprintf(path, HC_VOLUME_PATH, "%s/%s/" NOW "/" DATA, tenant, name);
    v->tenant_fd = make_dir(root, tenant, err);
    if (v->tenant_fd >= 0 && take_volume(v, err) == 0)
        return 0;
    hc_volume_close(v);
    return hc_ctx(err, "volume '%s'", name);
}

void hc_volume_close(struct hc_volume *v)
{
    hc_close_fd(&v->fd); /* gives the volume's lock back, too */
    hc_close_fd(&v->tenant_fd);
}

void hc_volume_undo(struct hc_volume *v)
{
    struct hc_volume_size size;
    struct hc_error ignored;
    if (v->is_new && read_size(v->fd, &size, NULL) && size.files == 0)
        (void)remove_locked(v->tenant_fd, v->fd, v->name, &ignored);
    hc_volume_close(v);
}

/* ---- committing ---- */

static int64_t left_of(int64_t quota, int64_t others)
{
    return quota <= 0 ? INT64_MAX : quota > others ? quota - others : 0;
}

static int refuse_left_out(const struct hc_left_list *left, struct hc_error *err)
{
    return left->count == 0 ? 0
                            : hc_fail_as(err, HC_EXIT_DATA, 0, "'%.200s' cannot be kept: %s",
                                         left->list[0].path, left->list[0].reason);
}

/* Copies the content into `data`, within what the tenant's other volumes leave of the quota. That is read
 * without the tenant's lock, so as not to copy in vain; it is checked again with it. */
static int copy_content(const struct hc_volume *v, int from, int data, struct hc_deadline *until,
                        struct hc_volume_size *size, struct hc_error *err)
{
    struct others o = {.name = v->name};
    struct hc_originals of = {0};
    struct hc_changes *left = calloc(1, sizeof *left); /* only its list of what is left out is used */
    if (!left)
        return hc_fail(err, ENOMEM, "commit");
    struct hc_copying c = {.from_fd = from, .to_fd = data, .plain_modes = true, .until = until, .of = &of};
    c.left = &left->left_out;
    c.bytes_limit = "all of the tenant's volumes together: quota volume_bytes";
    c.files_limit = "all of the tenant's volumes together: quota volume_files";
    int rc = list_in(v->tenant_fd, add_other, &o) < 0 ? hc_fail(err, errno, "list the tenant's volumes") : 0;
    c.most_bytes = left_of(v->quota.bytes, o.size.bytes);
    c.most_files = left_of(v->quota.files, o.size.files);
    if (rc == 0)
        rc = hc_workspace_copy(&c, err);
    if (rc == 0)
        rc = refuse_left_out(&left->left_out, err);
    *size = (struct hc_volume_size){c.bytes, c.files};
    hc_originals_finish(&of);
    hc_changes_free(left);
    return rc;
}

/* Makes the new content stand in NEXT, on the disk. */
static int prepare_next(const struct hc_volume *v, int from, struct hc_deadline *until,
                        struct hc_volume_size *size, struct hc_error *err)
{
    hc_autofd next = make_dir(v->fd, NEXT, err);
    hc_autofd data = next < 0 ? -1 : make_dir(next, DATA, err);
    if (data < 0)
        return -1;
    if (fchmod(data, 0755) < 0)
        return hc_fail(err, errno, "chmod the volume");
    if (copy_content(v, from, data, until, size, err) < 0 || write_size(next, size, err) < 0)
        return -1;
    return syncfs(next) < 0 ? hc_fail(err, errno, "write the volume to the disk") : 0;
}

/* With the tenant's lock: no other volume of the tenant grows. */
static int check_quota(const struct hc_volume *v, const struct hc_volume_size *size, struct hc_error *err)
{
    struct others o = {.name = v->name};
    if (list_in(v->tenant_fd, add_other, &o) < 0)
        return hc_fail(err, errno, "list the tenant's volumes");
    const char *quota = size->bytes > left_of(v->quota.bytes, o.size.bytes)   ? "volume_bytes"
                        : size->files > left_of(v->quota.files, o.size.files) ? "volume_files"
                                                                              : NULL;
    return quota ? hc_fail_as(err, HC_EXIT_DATA, 0,
                              "another job has filled another of the tenant's volumes meanwhile (all of them "
                              "together: quota %s)",
                              quota)
                 : 0;
}

/* Puts NEXT in the place of NOW. */
static int exchange(const struct hc_volume *v, const struct hc_volume_size *size, struct hc_error *err)
{
    if (lock_tenant(v->tenant_fd, err) < 0)
        return -1;
    int rc = check_quota(v, size, err);
    if (rc == 0 && renameat2(v->fd, NEXT, v->fd, NOW, RENAME_EXCHANGE) < 0)
        rc = hc_fail(err, errno, "exchange the volume's content");
    unlock(v->tenant_fd);
    return rc;
}

int hc_volume_commit(const struct hc_volume *v, int from, struct hc_deadline *until,
                     struct hc_volume_size *size, struct hc_error *err)
{
    struct hc_error ignored;
    int rc = prepare_next(v, from, until, size, err);
    if (rc == 0)
        rc = exchange(v, size, err);
    if (rc == 0)
        (void)fsync(v->fd);
    (void)remove_next(v->fd, &ignored); /* the old content, or what was not completed */
    return rc;
}

/* ---- removing ---- */

static int remove_from(int tenant_fd, const char *name, struct hc_error *err)
{
    hc_autofd fd = hc_walk_open(tenant_fd, name, DIRECTORY);
    if (fd < 0)
        return refuse(err, ENOENT, "there is no such volume");
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return refuse(err, EBUSY, "a job or session has it: try again when that has ended");
    if (!has_name(tenant_fd, fd, name))
        return refuse(err, ENOENT, "there is no such volume");
    return remove_locked(tenant_fd, fd, name, err);
}

int hc_volume_remove(int root, const char *tenant, const char *name, struct hc_error *err)
{
    hc_autofd fd = is_name(tenant) && is_name(name) ? hc_walk_open(root, tenant, DIRECTORY) : -1;
    int rc = fd < 0 ? refuse(err, ENOENT, "there is no such volume") : remove_from(fd, name, err);
    return rc < 0 ? hc_ctx(err, "volume '%.64s'", name) : 0;
}
