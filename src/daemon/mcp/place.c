/* Where a peer's files are: what its client wrote are uploads of its tenant, what programs left are results
 * of the tenant's jobs. */
#include "daemon/mcp/peers.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct hc_mcp_peer *reader_of(const struct hc_store *s)
{
    return hc_owner(s, const struct hc_mcp_peer, store);
}

static int begin(struct hc_store *s, const char *run, struct hc_error *err)
{
    (void)s;
    (void)run;
    (void)err;
    return 0;
}

/* ---- what the client wrote ---- */

static struct hc_mcp_name *find_written(const struct hc_mcp_peer *p, const char *name)
{
    for (size_t i = 0; i < HC_UPLOADS_TENANT; i++)
        if (strcmp(p->written[i].name, name) == 0)
            return (struct hc_mcp_name *)(uintptr_t)&p->written[i];
    return NULL;
}

const char *hc_mcp_written_id(const struct hc_mcp_peer *p, const char *name)
{
    const struct hc_mcp_name *n = *name ? find_written(p, name) : NULL;
    return n ? n->id : NULL;
}

static const char *plain_name(const char *path)
{
    const size_t len = strlen(HC_STORE_FILES "/");
    return strncmp(path, HC_STORE_FILES "/", len) == 0 ? path + len : NULL;
}

static int fill_upload(struct hc_upload_store *uploads, struct hc_upload *u, const void *data, size_t len,
                       struct hc_problem *why)
{
    char sha256[HC_SHA256_HEX];
    hc_sha256_hex(data, len, sha256);
    int rc = hc_upload_begin_part(uploads, u, 0, why);
    if (rc == 0) {
        rc = len ? hc_upload_add(u, data, len, why) : 0;
        hc_upload_end_part(u);
    }
    return rc < 0 ? -1 : hc_upload_finish(uploads, u, sha256, why);
}

static void remove_upload(const struct hc_mcp_peer *p, const char *id)
{
    struct hc_upload_store *uploads = &p->all->dispatch->uploads;
    struct hc_upload *u = hc_upload_find(uploads, p->tenant, id);
    struct hc_problem ignored;
    if (u)
        (void)hc_upload_remove(uploads, u, &ignored);
}

static int write_file(struct hc_store *s, const char *name, const void *data, size_t len,
                      struct hc_error *err)
{
    struct hc_mcp_peer *p = hc_owner(s, struct hc_mcp_peer, store);
    struct hc_upload_store *uploads = &p->all->dispatch->uploads;
    struct hc_mcp_name *place = find_written(p, name);
    struct hc_problem why = {0}, ignored;
    char older[HC_JOB_ID] = "";
    if (place)
        (void)snprintf(older, sizeof older, "%s", place->id);
    else
        place = find_written(p, "");
    if (!place)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%d files are kept already: remove some", HC_UPLOADS_TENANT);
    struct hc_upload *u = hc_upload_create(uploads, p->tenant, &why);
    if (!u || fill_upload(uploads, u, data, len, &why) < 0) {
        if (u)
            (void)hc_upload_remove(uploads, u, &ignored);
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: %s", name, why.detail);
    }
    (void)snprintf(place->name, sizeof place->name, "%s", name);
    (void)snprintf(place->id, sizeof place->id, "%s", u->id);
    if (*older)
        remove_upload(p, older);
    return 0;
}

static int remove_file(struct hc_store *s, const char *path, struct hc_error *err)
{
    const char *name = plain_name(path);
    struct hc_mcp_name *place = name ? find_written(reader_of(s), name) : NULL;
    (void)err;
    if (!place)
        return 0;
    remove_upload(reader_of(s), place->id);
    *place = (struct hc_mcp_name){0};
    return 0;
}

/* ---- reading ---- */

/* Opens a regular file of a job's results, as GET /v1/jobs/{id}/files does. */
static int open_result(const struct hc_mcp_peer *p, const char *id, const char *path)
{
    struct stat st;
    struct open_how how = {.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                                      RESOLVE_NO_XDEV};
    hc_autofd dir = openat(p->all->dispatch->results_fd, id, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    hc_autofd fd = dir < 0 ? -1 : hc_openat2(dir, path, &how);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
        return -1;
    return hc_take(&fd);
}

static int open_stored(const struct hc_mcp_peer *p, const char *path)
{
    const char *name = plain_name(path), *slash = strchr(path, '/');
    if (name) {
        const char *id = hc_mcp_written_id(p, name);
        const struct hc_upload *u = id ? hc_upload_find(&p->all->dispatch->uploads, p->tenant, id) : NULL;
        return u ? hc_upload_open(&p->all->dispatch->uploads, u) : -1;
    }
    char run[HC_STORE_RUN];
    (void)snprintf(run, sizeof run, "%.*s", slash ? (int)(slash - path) : 0, path);
    const char *id = hc_mcp_name_find(p, run);
    return id ? open_result(p, id, slash + 1) : -1;
}

/* A run's manifest is in the ledger, and not among its files. */
static int read_manifest(const struct hc_mcp_peer *p, const char *path, int64_t offset, size_t max,
                         struct hc_buf *out)
{
    const char *slash = strchr(path, '/');
    char run[HC_STORE_RUN];
    if (!slash || strcmp(slash, "/manifest.json") != 0 || strncmp(path, "run-", 4) != 0)
        return 1;
    (void)snprintf(run, sizeof run, "%.*s", (int)(slash - path), path);
    const char *id = hc_mcp_name_find(p, run);
    struct hc_task *task = id ? hc_store_find(p->all->dispatch, p->tenant, id) : NULL;
    const bool found = task && task->manifest;
    if (found && offset >= 0 && (size_t)offset < task->manifest_len)
        (void)hc_buf_add(out, task->manifest + offset, MIN(max, task->manifest_len - (size_t)offset));
    hc_task_unref(task);
    return found ? 0 : 1;
}

static int read_file(const struct hc_store *s, const struct hc_stored *file, int64_t offset, size_t max,
                     struct hc_buf *out, struct hc_error *err)
{
    const struct hc_mcp_peer *p = reader_of(s);
    if (read_manifest(p, file->path, offset, max, out) == 0)
        return 0;
    hc_autofd fd = open_stored(p, file->path);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s is not kept any more (retention.time, retention.bytes and uploads.time of "
                          "hotcelld.conf, or it was removed)",
                          file->path);
    char chunk[16384];
    while (out->len < max) {
        ssize_t n = pread(fd, chunk, MIN(max - out->len, sizeof chunk), offset + (int64_t)out->len);
        if (n < 0 && errno != EINTR)
            return hc_fail(err, errno, "read %s", file->path);
        if (n == 0)
            break;
        if (n > 0 && hc_buf_add(out, chunk, (size_t)n) < 0)
            return hc_fail(err, ENOMEM, "read %s", file->path);
    }
    return 0;
}

/* ---- runs ---- */

/* Removes a job that the client does not want any more, as DELETE /v1/jobs/{id} does. One that the list has
 * only no room for is kept as long as other jobs of the tenant. */
static void forget_job(const struct hc_mcp_peer *p, const char *id)
{
    struct hc_dispatch *d = p->all->dispatch;
    struct hc_front_session *s = hc_front_session_find(p->all->sessions, p->tenant, id);
    struct hc_task *task = hc_task_find(&d->tasks, p->tenant, id);
    if (task)
        hc_task_ref(task);
    else
        task = hc_store_find(d, p->tenant, id);
    if (task && hc_task_ended(task))
        hc_dispatch_forget(d, task);
    hc_task_unref(task);
    if (s && s->state == HC_FRONT_SESSION_ENDED)
        hc_front_session_forget(s);
}

static void drop(struct hc_store *s, const char *run, bool asked)
{
    struct hc_mcp_peer *p = hc_owner(s, struct hc_mcp_peer, store);
    for (size_t i = 0; i < HC_MCP_NAMES; i++) {
        if (strcmp(p->runs[i].name, run) != 0)
            continue;
        if (asked)
            forget_job(p, p->runs[i].id);
        p->runs[i] = (struct hc_mcp_name){0};
    }
}

const struct hc_store_place hc_mcp_daemon_place = {
    .begin = begin, .read = read_file, .write = write_file, .remove = remove_file, .drop = drop};
