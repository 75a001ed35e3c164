#include "cell/session/file_requests.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For openat2(2): no way out of /output by "..", a link or a mount. */
#define CONFINED (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

void hc_file_request_finish(struct hc_file_request *r)
{
    hc_close_fd(&r->dir);
    free(r->data);
}

/* Refuse the request. Returns 1. */
int hc_file_refuse(struct hc_error *err, const struct hc_file_request *r, const char *why)
{
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%.300s: %s", r->path, why);
    return 1;
}

/* Refuse the request because of errno. Returns 1, or -1 if the host has no memory or descriptors left. */
int hc_file_refuse_errno(struct hc_error *err, const struct hc_file_request *r, const char *doing)
{
    const int sys = errno;
    switch (sys) {
    case ENOSPC:
    case EDQUOT:
        return hc_file_refuse(err, r,
                              "there is no room left in /output (limits.output, limits.output_files)");
    case ENOENT:
        (void)hc_file_refuse(err, r, "there is no such file in the session");
        err->sys = sys;
        return 1;
    case ETIMEDOUT:
        return hc_file_refuse(
            err, r, "took more than " HC_FILE_MOST_TEXT "; what was removed until then is gone: ask again");
    case ELOOP:
    case EXDEV:
        return hc_file_refuse(err, r, "a part of the path is a symbolic link, and none is followed");
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return hc_fail(err, sys, "%s %.300s", doing, r->path);
    default:
        (void)hc_fail_as(err, HC_EXIT_DATA, sys, "%s %.300s", doing, r->path);
        return 1;
    }
}

/* ---- opening ---- */

int hc_file_open_confined(int dir, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC, .resolve = CONFINED};
    return hc_openat2(dir, name, &how);
}

static int make_dir(const struct hc_file_request *r, int outer, const char *name)
{
    const struct hc_own_ids own = hc_launch_become_guest(&r->s->launch);
    int rc = mkdirat(outer, name, 0700);
    hc_launch_become_launcher(own);
    return rc < 0 && errno != EEXIST ? -1 : 0;
}

/* Open the directory of the file, at r->dir; with `make`, make what is missing of it. */
int hc_file_open_parent(struct hc_file_request *r, bool make, struct hc_error *err)
{
    char parts[PATH_MAX];
    (void)snprintf(parts, sizeof parts, "%s", r->path);
    r->dir = hc_file_open_confined(r->s->launch.output_fd, ".", O_RDONLY | O_DIRECTORY);
    char *part = parts;
    for (char *slash; r->dir >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
        *slash = '\0';
        hc_autofd outer = hc_take(&r->dir);
        if (make && make_dir(r, outer, part) < 0)
            return hc_file_refuse_errno(err, r, "make the directory of");
        r->dir = hc_file_open_confined(outer, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    }
    if (r->dir < 0)
        return hc_file_refuse_errno(err, r, "open the directory of");
    r->last = r->path + (part - parts);
    return 0;
}

/* Open the plain file that the request is about; `*st` is its own. Nothing else is opened: opening a pipe
 * could wait, and a device could do anything. -1: `errno`. */
int hc_file_open_plain(const struct hc_file_request *r, int flags, struct stat *st)
{
    char path[40];
    hc_autofd found = hc_file_open_confined(r->dir, r->last, O_PATH | O_NOFOLLOW);
    if (found < 0 || fstat(found, st) < 0)
        return -1;
    if (!S_ISREG(st->st_mode)) {
        errno = S_ISDIR(st->st_mode) ? EISDIR : S_ISLNK(st->st_mode) ? ELOOP : EINVAL;
        return -1;
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", found);
    return flags == O_RDONLY ? hc_open_quietly(AT_FDCWD, path, O_NONBLOCK)
                             : open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

static const char *kind_of(const struct stat *st)
{
    return S_ISREG(st->st_mode)   ? "file"
           : S_ISDIR(st->st_mode) ? "directory"
           : S_ISLNK(st->st_mode) ? "link"
                                  : "other";
}

/* Append {MEMBER: `name`, "kind", "bytes", "modified"}. */
void hc_file_print(struct hc_buf *out, const char *member, const char *name, const struct stat *st)
{
    char time[40];
    (void)hc_buf_fmt(out, "{\"%s\": ", member);
    hc_json_quote(out, name, strlen(name));
    (void)hc_buf_fmt(
        out, ", \"kind\": \"%s\", \"bytes\": %lld, \"modified\": \"%s\"}", kind_of(st),
        S_ISREG(st->st_mode) ? (long long)st->st_size : 0LL,
        hc_format_time((int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000, true, time));
}

/* ---- serving ---- */

static const struct {
    const char *name; /* of the request */
    hc_file_serve *serve;
} requests[] = {
    {"write_file", hc_file_write},   {"read_file", hc_file_read},
    {"list_files", hc_file_list},    {"stat_file", hc_file_stat},
    {"remove_file", hc_file_remove}, {"make_directory", hc_file_make_directory},
    {"move_file", hc_file_move},
};

int hc_session_serve_files(struct hc_session *s, const cJSON *node, struct hc_buf *answer,
                           struct hc_error *err)
{
    struct hc_file_request r = {.s = s, .dir = -1, .until_us = hc_now_us() + HC_FILE_MOST_MS * 1000LL};
    hc_incoming_drop_old(&s->incoming);
    int rc = hc_file_take_request(&r, node, err) < 0 ? (err->exit == HC_EXIT_DATA ? 1 : -1) : 0;
    if (rc == 0 && s->policy.output_mode != HC_OUTPUT_CAPPED)
        rc = hc_file_refuse(
            err, &r,
            "the policy has output.mode \"bind\": the files are in the output directory of this host");
    for (size_t i = 0; rc == 0 && i < sizeof requests / sizeof *requests; i++)
        if (strcmp(requests[i].name, node->string) == 0) {
            rc = requests[i].serve(&r, answer, err);
            break;
        }
    if (rc == 0 && answer->failed)
        rc = hc_fail(err, ENOMEM, "%s", node->string);
    hc_file_request_finish(&r);
    return rc;
}

int hc_session_serve_changes(struct hc_session *s, const cJSON *node, struct hc_buf *answer,
                             struct hc_error *err)
{
    if (!cJSON_IsTrue(node) &&
        (!cJSON_IsObject(node) || node->child)) { /* over HTTP, the body is an object */
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "list_changes: expected true or {}");
        return 1;
    }
    (void)hc_buf_str(answer, ", \"dirs\": ");
    return hc_launch_list_changes(&s->launch, answer, err);
}

/* ---- inputs of a run ---- */

/* Put one input, {"name", "format", "file": {"file", "text" or "data"}}, into its place. 1: it has none. */
static int place_input(struct hc_session *s, cJSON *input, struct hc_error *err)
{
    const cJSON *file = hc_json_member(input, "file"), *text = hc_json_member(file, "text");
    const char *name = hc_json_text_or(file, "file", hc_json_text(input, "name"));
    struct hc_file_request r = {.s = s, .path = name, .dir = -1, .total = -1};
    struct stat st;
    char path[PATH_MAX];
    const char *format = hc_json_text_or(input, "format", "");
    if (*hc_json_text(input, "path")) /* it is there already */
        return 0;
    if (strcmp(format, hc_input_format_name(HC_INPUT_VALUE)) == 0 || !hc_launch_is_name(name, &s->policy))
        return 1; /* a value is a variable alone */
    int rc = hc_file_take_content(&r, text ? text : hc_json_member(file, "data"), err) < 0
                 ? -1
                 : hc_file_check_room(&r, 0, err);
    if (rc == 0)
        rc = hc_file_write_new(&r, &st, err);
    hc_file_request_finish(&r);
    (void)snprintf(path, sizeof path, "/output/%s", name);
    if (rc == 0 && !cJSON_AddStringToObject(input, "path", path))
        return hc_fail(err, ENOMEM, "place an input");
    return rc;
}

int hc_session_place_inputs(struct hc_session *s, const struct hc_job *job, struct hc_buf *given,
                            struct hc_error *err)
{
    struct hc_json j;
    cJSON *input;
    int rc = 0;
    if (!job->given || s->policy.output_mode != HC_OUTPUT_CAPPED)
        return 0;
    if (hc_json_parse(&j, "inputs", job->given, strlen(job->given), err) < 0)
        return -1;
    cJSON_ArrayForEach(input, j.root)
    {
        rc = place_input(s, input, err);
        if (rc < 0)
            break;
    }
    char *text = rc < 0 ? NULL : cJSON_PrintUnformatted(j.root);
    hc_json_finish(&j);
    if (rc >= 0)
        rc = text && hc_buf_str(given, text) == 0 ? 0 : hc_fail(err, ENOMEM, "place the inputs");
    cJSON_free(text);
    return rc;
}
