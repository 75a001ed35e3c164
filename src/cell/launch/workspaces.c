/* Copies of directories for a job: filled before its program starts, compared when its cell is dead. All
 * copies are in one tmpfs of the cell's, each in a directory that is called by the number of its struct
 * hc_dir_source. */
#include "cell/launch/launch.h"

#include "base/fd.h"
#include "base/units.h"
#include "cell/output/pump.h"
#include "cell/seal.h"
#include "cell/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>

static int copy_dir(struct hc_launch *l, size_t i, struct hc_copying *c, struct hc_error *err)
{
    char name[24];
    const struct hc_source *s = &l->plan.dirs[i].from;
    struct hc_changes *changes = calloc(1, sizeof *changes);
    l->m->dirs[i].changes = changes;
    if (!changes)
        return hc_fail(err, ENOMEM, "list changes");
    (void)snprintf(name, sizeof name, "%zu", i);
    hc_autofd to = openat(l->space_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (to < 0)
        return hc_fail(err, errno, "open the copy");
    c->from_fd = s->mount_fd >= 0 ? s->mount_fd : s->fd;
    c->to_fd = to;
    c->of = &l->originals[i];
    c->left = &changes->left_out;
    return hc_workspace_copy(c, err);
}

static int copy_dirs(struct hc_launch *l, struct hc_error *err)
{
    struct hc_deadline until;
    const struct hc_limits *limits = &l->run->policy->limits;
    hc_deadline_start(&until, l->run->cancel_fd, limits->collect_ms);
    struct hc_copying c = {
        .most_bytes = limits->output_bytes, .most_files = limits->output_files, .until = &until};
    for (size_t i = 0; i < l->plan.dir_count; i++)
        if (l->plan.dirs[i].mode == HC_DIR_COW && copy_dir(l, i, &c, err) < 0)
            return l->m->dirs[i].volume ? hc_ctx(err, "volume '%s'", l->m->dirs[i].volume)
                                        : hc_ctx(err, "directory %.200s", l->plan.dirs[i].from.path);
    return 0;
}

/* Read and write with the guest's rights: as root, through a mount that lends it the directory owner's files.
 */
int hc_launch_fill_copies(struct hc_launch *l, struct hc_error *err)
{
    int before_uid = setfsuid(l->ids.uid), before_gid = setfsgid(l->ids.gid);
    int rc = copy_dirs(l, err);
    (void)setfsgid((gid_t)before_gid);
    (void)setfsuid((uid_t)before_uid);
    return rc;
}

/* Say that it was this launcher that found the changes: a program that writes to the results itself, or
 * another user, may plant a manifest. */
static void seal_list(struct hc_launch *l, size_t i, struct hc_changes *c)
{
    struct stat st;
    struct hc_error err;
    const struct hc_source *s = &l->plan.dirs[i].from;
    const struct hc_sealed sealed = {.what = "changes", .path = s->path, .st = &st, .sha256 = c->list_sha256};
    int rc =
        fstat(s->fd, &st) < 0 ? hc_fail(&err, errno, "stat %s", s->path) : hc_seal(&sealed, c->seal, &err);
    if (rc < 0)
        hc_launch_warn(l->m,
                       "the changes in %.200s could not be sealed, so hotcell workspace will not commit "
                       "them: %.300s",
                       s->path, err.text);
}

/* Write the whole list of changes beside their contents, for `hotcell workspace`. */
static int write_list(struct hc_launch *l, size_t i, struct hc_error *err)
{
    char path[PATH_MAX];
    struct hc_changes *c = l->m->dirs[i].changes;
    cJSON *object = hc_changes_print(c, SIZE_MAX);
    char *text = object ? cJSON_PrintUnformatted(object) : NULL;
    cJSON_Delete(object);
    if (!text)
        return hc_fail(err, ENOMEM, "list changes");
    (void)snprintf(path, sizeof path, "%s.json", c->directory);
    hc_sha256_hex(text, strlen(text), c->list_sha256);
    int rc = hc_dest_write(&l->run->dest, path, text, strlen(text), err);
    free(text);
    if (rc == 0)
        seal_list(l, i, c);
    if (rc == 0 || l->run->dest.fd < 0 || !hc_dest_refusal(err))
        return rc;
    hc_launch_warn(l->m, "the list of changes could not be written: %.300s", err->text);
    c->list_sha256[0] = '\0';
    return 0;
}

static int keep_changes(struct hc_launch *l, size_t i, struct hc_comparing *c, struct hc_error *err)
{
    char name[24];
    struct hc_changes *changes = l->m->dirs[i].changes;
    (void)snprintf(name, sizeof name, "%zu", i);
    if (asprintf(&changes->directory, "changes-%s/%zu", l->m->job_id, i) < 0) {
        changes->directory = NULL;
        return hc_fail(err, ENOMEM, "list changes");
    }
    c->name = name;
    c->of = &l->originals[i];
    c->found = changes;
    if (hc_workspace_compare(c, err) < 0)
        return -1;
    if (changes->count || changes->skipped.count)
        return write_list(l, i, err);
    free(changes->directory);
    changes->directory = NULL;
    return 0;
}

int hc_launch_keep_changes(struct hc_launch *l, struct hc_error *err)
{
    struct hc_deadline until;
    hc_deadline_start(&until, l->run->cancel_fd, l->run->policy->limits.collect_ms);
    struct hc_comparing c = {.root_fd = l->space_fd,
                             .dest = &l->run->dest,
                             .most_bytes = l->run->policy->limits.output_bytes,
                             .until = &until};
    for (size_t i = 0; i < l->plan.dir_count && l->space_fd >= 0; i++)
        if (l->plan.dirs[i].mode == HC_DIR_COW && !l->m->dirs[i].volume && keep_changes(l, i, &c, err) < 0)
            return hc_ctx(err, "changes of %.200s", l->plan.dirs[i].from.path);
    return 0;
}

/* ---- while a session is open ---- */

#define LISTED_CHANGES 10000 /* most changes of a copy in one answer */

/* The changes in the copy of directory `i`; the caller owns the object. NULL: `err` says why. */
static cJSON *changes_now(const struct hc_launch *l, size_t i, struct hc_comparing *c, struct hc_error *err)
{
    char name[24];
    struct hc_changes *found = calloc(1, sizeof *found);
    struct hc_originals of = l->originals[i]; /* the comparison marks entries of the launch's own list */
    (void)snprintf(name, sizeof name, "%zu", i);
    c->name = name;
    c->of = &of;
    c->found = found;
    int rc = found ? hc_workspace_compare(c, err) : hc_fail(err, ENOMEM, "list changes");
    cJSON *object = NULL;
    if (rc == 0) {
        found->left_out = l->m->dirs[i].changes->left_out; /* borrowed for the print */
        object = hc_changes_print(found, LISTED_CHANGES);
        found->left_out = (struct hc_left_list){0};
        if (!object)
            (void)hc_fail(err, ENOMEM, "list changes");
    }
    c->name = NULL;
    c->of = NULL;
    c->found = NULL;
    hc_changes_free(found);
    return object;
}

/* A volume is called by its name: where it is on the host is nothing for its tenant. */
static cJSON *describe_copy(const struct hc_manifest_dir *d, cJSON *changes_taken)
{
    bool escaped = false, escaped_place = false;
    cJSON *entry = cJSON_CreateObject();
    cJSON *from = d->volume ? cJSON_CreateString(d->volume) : hc_name_print(d->host, &escaped);
    cJSON *place = hc_name_print(d->place, &escaped_place);
    (void)cJSON_AddItemToObject(entry, d->volume ? "volume" : "host", from);
    (void)cJSON_AddItemToObject(entry, "place", place);
    if (escaped || escaped_place)
        (void)cJSON_AddTrueToObject(entry, "escaped");
    (void)cJSON_AddItemToObject(entry, "changes", changes_taken);
    return entry;
}

int hc_launch_list_changes(struct hc_launch *l, struct hc_buf *out, struct hc_error *err)
{
    struct hc_deadline until;
    hc_deadline_start(&until, l->run->cancel_fd, l->run->policy->limits.collect_ms);
    struct hc_comparing c = {
        .root_fd = l->space_fd, .most_bytes = l->run->policy->limits.output_bytes, .until = &until};
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < l->plan.dir_count && l->space_fd >= 0; i++) {
        if (l->plan.dirs[i].mode != HC_DIR_COW)
            continue;
        cJSON *changes = changes_now(l, i, &c, err);
        if (!changes) {
            cJSON_Delete(list);
            return hc_ctx(err, "changes of %.200s", l->plan.dirs[i].from.path);
        }
        (void)cJSON_AddItemToArray(list, describe_copy(&l->m->dirs[i], changes));
    }
    char *text = cJSON_PrintUnformatted(list);
    cJSON_Delete(list);
    int rc = text && hc_buf_str(out, text) == 0 ? 0 : hc_fail(err, ENOMEM, "list changes");
    cJSON_free(text);
    return rc;
}

/* ---- volumes ---- */

/* A session that was idle, or at the end of its life, has ended as sessions do. */
static bool has_ended_well(const struct hc_launch *l)
{
    return l->m->status == HC_STATUS_OK || (l->run->job->session && l->m->status == HC_STATUS_TIMEOUT);
}

static int commit_volume(struct hc_launch *l, size_t i, struct hc_deadline *until, struct hc_error *err)
{
    char name[24];
    struct hc_volume_size size;
    struct hc_manifest_dir *d = &l->m->dirs[i];
    if (!has_ended_well(l))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the job did not end well");
    (void)snprintf(name, sizeof name, "%zu", i);
    hc_autofd from = openat(l->space_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0)
        return hc_fail(err, errno, "open the copy");
    if (hc_volume_commit(&l->run->volumes[i], from, until, &size, err) < 0)
        return -1;
    d->kept = true;
    d->bytes = size.bytes;
    d->files = size.files;
    return 0;
}

void hc_launch_keep_volumes(struct hc_launch *l)
{
    struct hc_deadline until;
    struct hc_error err;
    hc_deadline_start(&until, l->run->cancel_fd, l->run->policy->limits.collect_ms);
    for (size_t i = 0; i < l->plan.dir_count && l->run->volumes && l->space_fd >= 0; i++) {
        struct hc_manifest_dir *d = &l->m->dirs[i];
        if (!d->volume || commit_volume(l, i, &until, &err) == 0)
            continue;
        free(d->not_kept);
        d->not_kept = strdup(err.text);
        hc_launch_warn(l->m, "the volume '%s' stays as it was: %.400s", d->volume, err.text);
    }
}
