/* Open a path that the caller has named, without a link that another user has put in its way. */
#include "cell/launch/launch.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_LINKS 40 /* as the kernel's own look-up */

/* The look-up that goes on. */
struct lookup {
    const char *path;    /* as the caller has it, for messages; borrowed */
    int at;              /* of what is reached, O_PATH; owned */
    char rest[PATH_MAX]; /* names that are still to be looked up from there */
    int links;           /* symbolic links followed so far */
};

static int start_at(struct lookup *k, const char *place, struct hc_error *err)
{
    hc_close_fd(&k->at);
    k->at = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return k->at < 0 ? hc_fail_as(err, HC_EXIT_DATA, errno, "%s", k->path) : 0;
}

/* Put what the link says in front of the names that are left. The link is open, so nobody can exchange it
 * after its owner was looked at. */
static int follow(struct lookup *k, int link, const char *name, const struct stat *st, struct hc_error *err)
{
    char target[PATH_MAX];
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: '%s' is a symbolic link of another user (uid %u), who can lead it anywhere: "
                          "give the path without links",
                          k->path, name, st->st_uid);
    if (++k->links > MOST_LINKS)
        return hc_fail_as(err, HC_EXIT_DATA, ELOOP, "%s", k->path);
    ssize_t n = readlinkat(link, "", target, sizeof target - 1);
    if (n < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", k->path);
    target[n] = '\0';
    size_t rest = strlen(k->rest);
    if ((size_t)n + 1 + rest >= sizeof k->rest)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "%s", k->path);
    memmove(k->rest + n + 1, k->rest, rest + 1);
    memcpy(k->rest, target, (size_t)n);
    k->rest[n] = '/';
    return target[0] == '/' ? start_at(k, "/", err) : 0;
}

/* Take the next name off k->rest; false: there is none. */
static bool next_name(struct lookup *k, char name[NAME_MAX + 1], bool *too_long)
{
    size_t skipped = strspn(k->rest, "/"), len = strcspn(k->rest + skipped, "/");
    *too_long = len > NAME_MAX;
    if (len == 0 || *too_long)
        return false;
    memcpy(name, k->rest + skipped, len);
    name[len] = '\0';
    memmove(k->rest, k->rest + skipped + len, strlen(k->rest + skipped + len) + 1);
    return true;
}

static int enter(struct lookup *k, const char *name, struct hc_error *err)
{
    struct stat st;
    hc_autofd fd = openat(k->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", k->path);
    if (S_ISLNK(st.st_mode))
        return follow(k, fd, name, &st, err);
    hc_close_fd(&k->at);
    k->at = hc_take(&fd);
    return 0;
}

int hc_launch_open_path(const char *path, struct hc_error *err)
{
    struct lookup k = {.path = path, .at = -1};
    char name[NAME_MAX + 1];
    bool too_long = strlen(path) >= sizeof k.rest;
    int rc = 0;
    if (!too_long) {
        memcpy(k.rest, path, strlen(path) + 1);
        rc = start_at(&k, path[0] == '/' ? "/" : ".", err);
    }
    while (rc == 0 && !too_long && next_name(&k, name, &too_long))
        rc = enter(&k, name, err);
    if (rc == 0 && too_long)
        rc = hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "%s", path);
    if (rc < 0)
        hc_close_fd(&k.at);
    return k.at;
}
