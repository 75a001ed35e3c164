/* Put the files of an earlier job into /output, for programs of the older runner: these read what is in their
 * output directory. */
#include "cell/collect.h"
#include "cell/launch/launch.h"
#include "cell/output/walk.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#define MOST_BYTES  ((int64_t)64 << 20) /* most bytes of all copies of a job together */
#define MOST_FILES  900                 /* most copies: fewer than HC_INPUT_COPIES, which inputs share */
#define MOST_NAMES  10000               /* names that are looked at in the output directory */
#define MOST_DEPTH  15                  /* directories above a file; collecting takes no deeper ones */
#define OUTPUT_PART 4                   /* copies take no more than 1/4 of the cell's /output */
#define MEMORY_PART 8                   /* copies take no more than 1/8 of limits.memory */

struct earlier {
    struct hc_walk walk; /* must be the first member: visit() gets a pointer to it */
    struct hc_launch *l;
    int64_t room;  /* bytes that further copies may take */
    int files;     /* copies that were made */
    int names;     /* names that were looked at */
    int left_out;  /* files and directories that the program does not see */
    bool unending; /* there are more than MOST_NAMES names: the walk has ended */
};

static int64_t room_for_files(const struct hc_limits *limits)
{
    int64_t room = MIN(MOST_BYTES, limits->output_bytes / OUTPUT_PART);
    return limits->memory ? MIN(room, limits->memory / MEMORY_PART) : room;
}

/* Is it a name at the top of the output directory that hotcell uses itself, or a hidden one? Figures of
 * earlier jobs are files. */
static bool is_own(const struct earlier *e, const char *name)
{
    const struct hc_policy *policy = e->l->run->policy;
    return !hc_launch_is_name(name, policy) &&
           strcmp(name, hc_rules_text(policy->rules, "figures", "directory", "figures")) != 0;
}

/* Only a plain file with one name is copied: what a link leads to may lie elsewhere. Returns 1 if it is left
 * out. */
static int copy_earlier(struct earlier *e, int dir, const char *name, const struct stat *st,
                        struct hc_error *err)
{
    struct stat now;
    if (!S_ISREG(st->st_mode) || e->files >= MOST_FILES)
        return 1;
    hc_autofd from = hc_walk_open(dir, name, O_RDONLY);
    if (from < 0 || fstat(from, &now) < 0 || !S_ISREG(now.st_mode) || now.st_nlink != 1)
        return 1;
    int rc = hc_launch_copy_file(e->l, from, e->walk.path, &e->room, err);
    e->files += rc == 0;
    return rc;
}

static int visit(struct hc_walk *w, int dir, const char *name, const struct stat *st, int fd,
                 struct hc_error *err)
{
    struct earlier *e = (struct earlier *)w;
    if (w->depth == 0 && is_own(e, name))
        return 0;
    if (++e->names > MOST_NAMES) {
        e->unending = true;
        return -1;
    }
    const bool fits = strlen(name) <= HC_COPY_NAME && w->depth <= MOST_DEPTH;
    if (S_ISDIR(st->st_mode) && fits && fd >= 0)
        return 1;
    int rc = fits ? copy_earlier(e, dir, name, st, err) : 1;
    e->left_out += rc > 0;
    return rc < 0 ? -1 : 0;
}

static int unread(struct hc_walk *w, const char *path, struct hc_error *err)
{
    (void)path;
    (void)err;
    ((struct earlier *)w)->left_out++;
    return 0;
}

int hc_launch_copy_earlier_files(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_run *r = l->run;
    if (!r->job->runner_form || r->job->check_only || r->dest.fd < 0 ||
        r->policy->output_mode != HC_OUTPUT_CAPPED)
        return 0;
    struct earlier e = {
        .walk = {.visit = visit, .unread = unread}, .l = l, .room = room_for_files(&r->policy->limits)};
    hc_autofd root = openat(r->dest.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return hc_fail(err, errno, "open %s", r->dest.path);
    if (hc_walk(&e.walk, root, err) < 0 && !e.unending)
        return hc_ctx(err, "copy the files of the output directory");
    l->m->had_earlier_files = e.files > 0;
    char rest[48] = "";
    if (e.unending)
        (void)snprintf(rest, sizeof rest, " and all after the first %d", MOST_NAMES);
    if (e.left_out || e.unending)
        hc_launch_warn(l->m,
                       "%d files or directories%s of the output directory are not in the cell: links, more "
                       "than one name, or no room for a copy",
                       e.left_out, rest);
    return 0;
}
