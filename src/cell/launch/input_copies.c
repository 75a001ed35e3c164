/* Put the inputs into /output under their own names, before the program starts. */
#include "cell/collect.h"
#include "cell/launch/launch.h"

#include "base/fd.h"
#include "base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/param.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define MOST_BYTES ((int64_t)16 << 20) /* most bytes of all copies of a job together */
#define PART       8                   /* copies take no more than 1/8 of the cell's /output and memory */

/* Most bytes of all copies of the job together: they use space of /output and memory of the cell. */
static int64_t room_for_copies(const struct hc_limits *limits)
{
    int64_t room = MIN(MOST_BYTES, limits->output_bytes / PART);
    return limits->memory ? MIN(room, limits->memory / PART) : room;
}

bool hc_launch_is_name(const char *name, const struct hc_policy *policy)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return *name && *name != '.' && strlen(name) <= HC_COPY_NAME && !hc_collect_reserves(name, policy);
}

/* Can a copy have this place? Its first part is a name of /output, which may be reserved. */
static bool is_free(const char *place, const struct hc_policy *policy)
{
    char first[HC_COPY_NAME + 1];
    size_t len = strcspn(place, "/");
    if (!place[len])
        return hc_launch_is_name(place, policy);
    if (len > HC_COPY_NAME || hc_job_bad_place(place))
        return false;
    (void)snprintf(first, sizeof first, "%.*s", (int)len, place);
    return hc_launch_is_name(first, policy);
}

/* Neither call tells whether it has failed: asked for an id that nobody can have, it tells which one is in
 * force. A launcher that stayed the guest could not write the results. */
static void set_own_ids(struct hc_own_ids ids)
{
    for (int tries = 0; tries < 2; tries++) {
        (void)setfsuid((uid_t)ids.uid);
        (void)setfsgid((gid_t)ids.gid);
        if (setfsuid((uid_t)-1) == ids.uid && setfsgid((gid_t)-1) == ids.gid)
            return;
    }
}

/* The file system is mounted with the guest's ids alone. */
struct hc_own_ids hc_launch_become_guest(const struct hc_launch *l)
{
    struct hc_own_ids own = {.gid = setfsgid(l->ids.gid)};
    own.uid = setfsuid(l->ids.uid);
    return own;
}

void hc_launch_become_launcher(struct hc_own_ids own)
{
    int error = errno;
    set_own_ids(own);
    errno = error;
}

int hc_launch_create_as_guest(const struct hc_launch *l, int dir, const char *name, mode_t mode)
{
    const struct hc_own_ids own = hc_launch_become_guest(l);
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    hc_launch_become_launcher(own);
    return fd;
}

/* Copy `size` bytes. 1: the file has become shorter, or /output has no room. */
static int copy_bytes(int from, int to, int64_t size, struct hc_error *err)
{
    while (size > 0) {
        ssize_t n = TEMP_FAILURE_RETRY(sendfile(to, from, NULL, (size_t)size));
        if (n == 0 || (n < 0 && (errno == ENOSPC || errno == EDQUOT)))
            return 1;
        if (n < 0)
            return hc_fail(err, errno, "copy");
        size -= n;
    }
    return 0;
}

/* Open the directory of the place `path`, after the directories above it were made if they were missing;
 * `*name` becomes the last part. All of them are the guest's, in an /output that no program has seen yet. -1:
 * with errno. */
static int open_parent(const struct hc_launch *l, const char *path, const char **name)
{
    const struct hc_own_ids own = hc_launch_become_guest(l);
    hc_autofd dir = fcntl(l->output_fd, F_DUPFD_CLOEXEC, 0);
    const char *slash;
    for (*name = path; dir >= 0 && (slash = strchr(*name, '/')); *name = slash + 1) {
        char part[HC_COPY_NAME + 1];
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - *name), *name);
        if (mkdirat(dir, part, 0700) < 0 && errno != EEXIST)
            hc_close_fd(&dir);
        else {
            hc_autofd above = hc_take(&dir);
            dir = openat(above, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
    }
    hc_launch_become_launcher(own);
    return hc_take(&dir);
}

int hc_launch_copy_file(struct hc_launch *l, int from, const char *place, int64_t *room, struct hc_error *err)
{
    struct stat st;
    if (fstat(from, &st) < 0 || st.st_size > *room)
        return 1;
    const char *last;
    hc_autofd dir = open_parent(l, place, &last);
    hc_autofd to = dir < 0 ? -1 : hc_launch_create_as_guest(l, dir, last, 0600);
    if (to < 0)
        return errno == EEXIST || errno == ENOSPC || errno == ENOTDIR ? 1
                                                                      : hc_fail(err, errno, "make %s", place);
    int rc = copy_bytes(from, to, st.st_size, err);
    if (rc > 0)
        return unlinkat(dir, last, 0) < 0 ? hc_fail(err, errno, "remove %s", place) : 1;
    if (rc < 0 || hc_input_copies_add(&l->copies, place, to, st.st_mtim, err) < 0)
        return -1;
    *room -= st.st_size;
    return 0;
}

/* Copy one input. 1: there is no room for the copy, or its name is taken. */
static int copy_input(struct hc_launch *l, const struct hc_source *s, const char *place, int64_t *room,
                      struct hc_error *err)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    hc_autofd from = hc_open_quietly(AT_FDCWD, path, 0);
    if (from < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "open %s", s->path);
    return hc_launch_copy_file(l, from, place, room, err);
}

/* Put one input into the working directory. Without a place of its own that is a convenience: if it cannot
 * be, the program has it below /input. Whoever gives a place relies on it. */
static int place_input(struct hc_launch *l, size_t i, int64_t *room, struct hc_error *err)
{
    const struct hc_policy *policy = l->run->policy;
    const char *given = l->run->job->inputs[i].place, *place = given ? given : l->m->inputs[i].file;
    const bool has_room = policy->output_mode == HC_OUTPUT_CAPPED;
    if (l->run->job->inputs[i].format == HC_INPUT_VALUE)
        return 0; /* it is a variable alone, and no file */
    int rc = has_room && is_free(place, policy) ? copy_input(l, &l->plan.inputs[i], place, room, err) : 1;
    if (rc <= 0 || !given)
        return rc < 0 ? -1 : 0;
    return hc_fail_as(
        err, HC_EXIT_DATA, 0,
        "'%.80s' cannot be a file there: it is a name of hotcell's own, another input has it or a part "
        "of it, or the inputs together are too large for /output (limits.output, limits.memory)",
        place);
}

int hc_launch_copy_inputs(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_policy *policy = l->run->policy;
    int64_t room = room_for_copies(&policy->limits);
    if (l->run->job->check_only)
        return 0;
    for (size_t i = 0; i < l->plan.input_count; i++) {
        if (place_input(l, i, &room, err) < 0)
            return hc_ctx(err, "input '%s': put it into the working directory", l->m->inputs[i].name);
    }
    return 0;
}
