/* Directories of the host that a job gets: check them and their places in the cell, and make them readable
 * for the guest. Each is opened once; all checks are of the open directory. */
#include "cell/launch/launch.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/state.h"
#include "cell/seal.h"
#include "cell/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define WRITABLE  (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define READ_ONLY (MOUNT_ATTR_RDONLY | WRITABLE)

#ifndef MQUEUE_MAGIC
#define MQUEUE_MAGIC 0x19800202
#endif

/* Whether the file system is one whose files the kernel makes up, such as /proc: writing to them gives it
 * orders. */
static bool is_kernels_own(int fd)
{
    static const long types[] = {PROC_SUPER_MAGIC,   SYSFS_MAGIC,     CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
                                 DEVPTS_SUPER_MAGIC, DEBUGFS_MAGIC,   TRACEFS_MAGIC,      SECURITYFS_MAGIC,
                                 BPF_FS_MAGIC,       EFIVARFS_MAGIC,  PSTOREFS_MAGIC,     BINFMTFS_MAGIC,
                                 NSFS_MAGIC,         HUGETLBFS_MAGIC, SELINUX_MAGIC,      MQUEUE_MAGIC};
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((long)fs.f_type == types[i])
            return true;
    return false;
}

/* The kernel's path of the open directory, with all symbolic links resolved. -1: the directory has no path
 * any more. */
static int real_path(int fd, char out[PATH_MAX])
{
    char link[40];
    struct stat open_one, named;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    if (n <= 0 || out[0] != '/')
        return -1;
    out[n] = '\0';
    if (fstat(fd, &open_one) < 0 || lstat(out, &named) < 0)
        return -1;
    return open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino ? 0 : -1;
}

static int refuse_around(const char *path, const char *kept, const char *whose, struct hc_error *err)
{
    char real[PATH_MAX];
    if (!realpath(kept, real))
        (void)snprintf(real, sizeof real, "%s", kept);
    if (!hc_path_covers(path, real) && !hc_path_covers(real, path))
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0,
                      "%s is, holds or lies in %s, %s, which no cell gets: give a directory apart from it",
                      path, kept, whose);
}

int hc_dir_refuse_hosts_own(const char *path, int fd, struct hc_error *err)
{
    static const char *const kernels[] = {"/proc", "/sys", "/dev"};
    static const char *const hotcells[] = {"/run/hotcell", "/etc/hotcell"};
    struct hc_states states = {0};
    char key[PATH_MAX];
    struct hc_error ignored;
    if (strcmp(path, "/") == 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "/ is the whole host: give a directory below it");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (refuse_around(path, kernels[i], "the kernel's own", err) < 0)
            return -1;
    for (size_t i = 0; i < sizeof hotcells / sizeof *hotcells; i++)
        if (refuse_around(path, hotcells[i], "hotcell's own state", err) < 0)
            return -1;
    (void)hc_state_search(&states, &ignored); /* a user without a state directory has no state to protect */
    for (size_t i = 0; i < states.count; i++)
        if (refuse_around(path, states.dir[i], "hotcell's own state", err) < 0)
            return -1;
    if (hc_seal_dir(key, &ignored) == 0 && refuse_around(path, key, "hotcell's own state", err) < 0)
        return -1;
    if (is_kernels_own(fd))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: its file system is the kernel's own", path);
    return 0;
}

/* Compare with the policy's paths as they are written, links unresolved: otherwise a user who can replace one
 * of them by a link would choose which directories the policy allows. */
static int check_policy(const struct hc_policy *policy, const struct hc_dir *dir, const char *path,
                        struct hc_error *err)
{
    const char *mode = hc_dir_mode_name(dir->mode);
    const cJSON *list = hc_rules_get(policy->rules, "dirs", mode), *item;
    if (!list && dir->mode == HC_DIR_COW) /* a copy shows no more than the directory itself */
        list = hc_rules_get(policy->rules, "dirs", mode = hc_dir_mode_name(HC_DIR_RO));
    if (!list && dir->mode == HC_DIR_RW)
        return hc_fail_as(
            err, HC_EXIT_CONFIG, 0,
            "policy '%s' lets jobs write to no directory of the host (its dirs.rw lists those that it does): "
            "give the mode cow",
            policy->name);
    if (!list)
        return 0;
    cJSON_ArrayForEach(item, list)
    {
        if (hc_path_covers(item->valuestring, path))
            return 0;
    }
    return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                      "policy '%s' does not give jobs %s (its dirs.%s lists those it gives)", policy->name,
                      path, mode);
}

static bool has_long_name(const char *path)
{
    for (size_t len; *path; path += len + (path[len] == '/'))
        if ((len = strcspn(path, "/")) > NAME_MAX)
            return true;
    return false;
}

/* A place must not cover the tree's own files: its first part may be no name in the tree, except /tmp. */
static int check_place(const struct hc_launch *l, const char *place, struct hc_error *err)
{
    char first[NAME_MAX + 1];
    struct stat st;
    size_t len = strcspn(place + 1, "/");
    const char *bad = hc_dir_bad_place(place);
    if (!bad && has_long_name(place))
        bad = "a name in it is too long";
    if (bad)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%.200s: %s", place, bad);
    (void)snprintf(first, sizeof first, "%.*s", (int)len, place + 1);
    if (!hc_path_covers("/tmp", place) && fstatat(l->plan.tree.fd, first, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: /%s is the tree's own: give another PLACE, such as /mnt/%s or one below /tmp",
                          place, first, strrchr(place, '/') + 1);
    for (size_t i = 0; i < l->plan.dir_count; i++)
        if (hc_path_covers(l->plan.dirs[i].place, place) || hc_path_covers(place, l->plan.dirs[i].place))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "%s and %s: a place is in another, or given twice", place,
                              l->plan.dirs[i].place);
    return 0;
}

static int open_dir(const struct hc_launch *l, struct hc_source *s, const struct hc_dir *dir,
                    struct hc_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    s->fd = hc_launch_open_path(dir->host, err);
    if (s->fd < 0)
        return -1;
    if (fstat(s->fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", dir->host);
    if (!S_ISDIR(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a directory; give a file with --input",
                          dir->host);
    if (real_path(s->fd, path) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: it has no path any more", dir->host);
    s->path = strdup(path);
    if (!s->path)
        return hc_fail(err, ENOMEM, "%s", path);
    if (dir->volume) /* of the daemon's own state, and its sender's */
        return 0;
    return hc_dir_refuse_hosts_own(path, s->fd, err) < 0 ? -1 : check_policy(l->run->policy, dir, path, err);
}

/* The directory's place in the cell: the one that the caller gave, else the path on the host, as the caller
 * wrote it if a place may be written so. */
static char *choose_place(const struct hc_dir *dir, const struct hc_source *s)
{
    const char *place = dir->place;
    if (!place)
        place = hc_dir_bad_place(dir->host) ? s->path : dir->host;
    return place ? strdup(place) : NULL;
}

/* Open and check the directory, and choose its place. */
static int find_dir(const struct hc_launch *l, struct hc_dir_source *d, const struct hc_dir *dir,
                    char **place, struct hc_error *err)
{
    if (dir->mode == HC_DIR_RW && l->run->policy->session)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: a session writes to no directory of the host: give the mode cow, or ro",
                          dir->host);
    if (open_dir(l, &d->from, dir, err) < 0)
        return -1;
    *place = choose_place(dir, &d->from);
    if (!*place)
        return hc_fail(err, ENOMEM, "%s", dir->host);
    if (check_place(l, *place, err) < 0)
        return -1;
    if (dir->mode != HC_DIR_RW)
        return 0;
    if (hc_path_covers("/tmp",
                       *place)) /* a Landlock rule holds for all that is mounted below its directory */
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "%s: a directory with the mode rw cannot stand below /tmp, where programs may make links: "
            "give another PLACE, such as /mnt/%s",
            *place, strrchr(*place, '/') + 1);
    return hc_launch_check_shared(l, &d->from, err);
}

static int prepare_dir(struct hc_launch *l, const struct hc_dir *dir, struct hc_error *err)
{
    struct hc_dir_source *d = &l->plan.dirs[l->plan.dir_count];
    *d = (struct hc_dir_source){
        .from = {.fd = -1, .mount_fd = -1, .attr = dir->mode == HC_DIR_RW ? WRITABLE : READ_ONLY}};
    char *place = NULL, *host = NULL;
    int rc = find_dir(l, d, dir, &place, err);
    if (rc == 0 && d->from.path)
        host = strdup(d->from.path);
    if (rc == 0 && !host)
        rc = hc_fail(err, ENOMEM, "%s", dir->host);
    char *volume = rc == 0 && dir->volume ? strdup(dir->volume) : NULL;
    if (rc == 0 && dir->volume && !volume)
        rc = hc_fail(err, ENOMEM, "%s", dir->volume);
    if (rc < 0) {
        free(place);
        free(host);
        hc_source_finish(&d->from);
        return dir->volume ? hc_ctx(err, "volume '%s'", dir->volume) : hc_ctx(err, "directory");
    }
    /* The manifest, which outlives the plan, owns both paths. */
    l->m->dirs[l->m->dir_count++] = (struct hc_manifest_dir){
        .host = host, .place = place, .mode = hc_dir_mode_name(dir->mode), .volume = volume};
    d->place = place;
    d->mode = dir->mode;
    l->plan.dir_count++;
    return 0;
}

int hc_launch_prepare_dirs(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_job *job = l->run->job;
    for (size_t i = 0; i < job->dir_count; i++)
        if (prepare_dir(l, &job->dirs[i], err) < 0)
            return -1;
    if (job->workdir && job->workdir[0] != '/')
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "the working directory %.200s: expected an absolute path in the cell",
                          job->workdir);
    l->plan.workdir = job->workdir;
    return 0;
}

/* Clone the mounts. The guest may read what each directory's owner may read; on a file system that cannot map
 * ids, a directory is accepted if all users may read it. */
int hc_launch_clone_dirs(struct hc_launch *l, struct hc_error *err)
{
    for (size_t i = 0; i < l->plan.dir_count; i++) {
        struct hc_source *s = &l->plan.dirs[i].from;
        struct stat st;
        if (l->plan.dirs[i].mode == HC_DIR_SCRATCH || l->m->dirs[i].volume)
            continue; /* nothing of it is shown; all users may read a volume's files */
        if ((s->mount_fd = hc_source_clone(s, false, err)) < 0)
            return -1;
        if (fstat(s->fd, &st) < 0)
            return hc_fail(err, errno, "stat %s", s->path);
        bool written = l->plan.dirs[i].mode == HC_DIR_RW;
        if (hc_launch_map_owner(l, s, written ? "give the mode cow" : "make it readable for all", err) < 0 &&
            (written || (st.st_mode & (S_IROTH | S_IXOTH)) != (S_IROTH | S_IXOTH)))
            return -1;
    }
    return 0;
}

static bool add_places(const struct hc_launch *l, cJSON *zone, bool written)
{
    for (size_t i = 0; i < l->plan.dir_count; i++) {
        if (written && l->plan.dirs[i].mode == HC_DIR_RO)
            continue;
        cJSON *place = cJSON_CreateString(l->plan.dirs[i].place);
        if (!place || !cJSON_AddItemToArray(zone, place)) {
            cJSON_Delete(place);
            return false;
        }
    }
    return true;
}

/* Name the directories that can only be read, for the hint of a refusal. */
static bool add_read_only(const struct hc_launch *l, cJSON *files)
{
    cJSON *list = cJSON_IsObject(files) ? cJSON_AddArrayToObject(files, "read_only") : NULL;
    bool added = !cJSON_IsObject(files) || list;
    for (size_t i = 0; added && list && i < l->plan.dir_count; i++)
        if (l->plan.dirs[i].mode == HC_DIR_RO) {
            cJSON *place = cJSON_CreateString(l->plan.dirs[i].place);
            added = place && cJSON_AddItemToArray(list, place);
        }
    return added;
}

int hc_launch_allow_dirs(const struct hc_launch *l, cJSON *rules, struct hc_error *err)
{
    /* Without a list, all of the cell may be read. */
    static const char *const zones[] = {"read", "library", "write"};
    cJSON *files = cJSON_GetObjectItemCaseSensitive(rules, "files");
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        cJSON *zone = cJSON_GetObjectItemCaseSensitive(files, zones[i]);
        if (!cJSON_IsArray(zone) || add_places(l, zone, strcmp(zones[i], "write") == 0))
            continue;
        return hc_fail(err, ENOMEM, "handover");
    }
    return add_read_only(l, files) ? 0 : hc_fail(err, ENOMEM, "handover");
}
