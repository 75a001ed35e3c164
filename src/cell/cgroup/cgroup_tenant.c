/* A cgroup for each tenant, below the place for all cells: all cells of a tenant together compete for the
 * processors with the other tenants' cells. */
#include "cell/cgroup.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define TENANT_PREFIX "hotcell-tenant-" /* begins the name of a tenant's directory */
#define REMOVED_TRIES 20                /* most attempts to lock the directory before a reaper removes it */

/* Make, open and lock a tenant's cgroup. Its users have a shared lock on it and its remover an exclusive
 * one; both check under the lock that it still exists. 1: it was removed meanwhile. */
static int open_locked(const struct hc_cgroup_parent *p, const char *name, int *out, struct hc_error *err)
{
    if (mkdirat(p->fd, name, 0700) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make the cgroup %s in %s", name, p->path);
    hc_autofd fd = openat(p->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return 1;
    if (fd < 0 || TEMP_FAILURE_RETRY(flock(fd, LOCK_SH)) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "hold the cgroup %s/%s", p->path, name);
    if (faccessat(fd, "cgroup.procs", F_OK, 0) < 0)
        return 1;
    *out = hc_take(&fd);
    return 0;
}

int hc_cgroup_weigh(const struct hc_cgroup_parent *tenant, int64_t weight, struct hc_error *err)
{
    char text[32], now[32];
    if (faccessat(tenant->fd, "cpu.weight", F_OK, 0) < 0)
        return 0; /* the cpu controller is missing */
    (void)snprintf(text, sizeof text, "%lld", (long long)weight);
    if (hc_read_attr(tenant->fd, "cpu.weight", now, sizeof now) == 0 && strcmp(now, text) == 0)
        return 0;
    return hc_write_attr(tenant->fd, "cpu.weight", text, err) < 0 ? hc_exit_as(err, HC_EXIT_UNAVAILABLE) : 0;
}

int hc_cgroup_enter_tenant(struct hc_cgroup_parent *p, const struct hc_share *share, struct hc_error *err)
{
    struct hc_cgroup_parent own = {.fd = -1};
    char name[NAME_MAX];
    int rc = 1;
    (void)snprintf(name, sizeof name, TENANT_PREFIX "%s", share->tenant);
    int n = snprintf(own.path, sizeof own.path, "%s/%s", p->path, name);
    if (n < 0 || n >= (int)sizeof own.path)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, ENAMETOOLONG, "the cgroup of tenant '%s'", share->tenant);
    for (int i = 0; i < REMOVED_TRIES && rc == 1; i++)
        rc = open_locked(p, name, &own.fd, err);
    if (rc != 0)
        return rc < 0 ? -1 : hc_fail_as(err, HC_EXIT_UNAVAILABLE, EBUSY, "hold the cgroup %s", own.path);
    if (hc_cgroup_divide(&own) < 0)
        rc = hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%s cannot have the memory and pids controllers",
                        own.path);
    else
        rc = hc_cgroup_weigh(&own, share->weight, err);
    if (rc < 0) {
        hc_cgroup_parent_finish(&own);
        return -1;
    }
    hc_cgroup_parent_finish(p);
    *p = own;
    return 0;
}

/* Remove the tenant's leaves whose launchers have ended, and then the tenant's cgroup if it is empty and
 * unused. */
static int reap_tenant(const struct hc_cgroup_parent *parent, const char *name)
{
    struct hc_cgroup_parent own = {
        .fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
    if (own.fd < 0)
        return 0;
    int count = hc_cgroup_reap(&own);
    if (flock(own.fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(parent->fd, name, AT_REMOVEDIR);
    hc_cgroup_parent_finish(&own);
    return count;
}

int hc_cgroup_reap_all(const struct hc_cgroup_parent *parent)
{
    int count = hc_cgroup_reap(parent);
    int fd = openat(parent->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        hc_close_fd(&fd);
        return count;
    }
    for (struct dirent *e; (e = readdir(dir));)
        if (strncmp(e->d_name, TENANT_PREFIX, strlen(TENANT_PREFIX)) == 0)
            count += reap_tenant(parent, e->d_name);
    (void)closedir(dir);
    return count;
}
