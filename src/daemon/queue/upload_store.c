#include "daemon/queue/upload_store.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PART      ".part" /* ending of the name of an upload that is not finished */
#define FILE_NAME (HC_TENANT_NAME + HC_JOB_ID + sizeof PART)

/* The name of the upload's file. A tenant's name has no colon. */
static const char *file_name(const struct hc_upload *u, bool finished, char out[FILE_NAME])
{
    (void)snprintf(out, FILE_NAME, "%s:%s%s", u->tenant->name, u->id, finished ? "" : PART);
    return out;
}

/* openat2, as the sandbox lets openat only read. */
static int open_file(const struct hc_upload_store *s, const struct hc_upload *u, int flags, mode_t mode)
{
    char name[FILE_NAME];
    struct open_how how = {.flags = (unsigned)flags | O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                           .mode = mode,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    return hc_openat2(s->dir_fd, file_name(u, false, name), &how);
}

static void free_upload(struct hc_upload_store *s, struct hc_upload *u)
{
    for (struct hc_upload **at = &s->newest; *at; at = &(*at)->next)
        if (*at == u) {
            *at = u->next;
            break;
        }
    u->tenant->stored_bytes -= u->bytes;
    hc_close_fd(&u->fd);
    free(u);
}

int hc_upload_open(const struct hc_upload_store *s, const struct hc_upload *u)
{
    char name[FILE_NAME];
    return openat(s->dir_fd, file_name(u, true, name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- at the start ---- */

/* Note the file of an upload that is finished. */
static int note_file(struct hc_upload_store *s, struct hc_tenants *tenants, const char *name,
                     struct hc_error *err)
{
    const char *colon = strchr(name, ':');
    char owner[HC_TENANT_NAME];
    struct stat st;
    if (!colon || strlen(colon + 1) >= HC_JOB_ID || (size_t)(colon - name) >= sizeof owner ||
        strstr(colon, PART) || fstatat(s->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(st.st_mode)) {
        (void)unlinkat(s->dir_fd, name, 0);
        return 0;
    }
    (void)snprintf(owner, sizeof owner, "%.*s", (int)(colon - name), name);
    struct hc_upload *u = calloc(1, sizeof *u);
    struct hc_tenant *t = hc_tenant_by_name(tenants, owner);
    if (!u || !t) {
        free(u);
        return hc_fail(err, ENOMEM, "note the upload %s", name);
    }
    *u = (struct hc_upload){.tenant = t, .bytes = st.st_size, .finished = true, .fd = -1, .next = s->newest};
    (void)snprintf(u->id, sizeof u->id, "%s", colon + 1);
    u->created = (int64_t)st.st_mtim.tv_sec * 1000;
    u->used = hc_wall_ms();
    t->stored_bytes += u->bytes;
    s->newest = u;
    return 0;
}

int hc_upload_store_open(struct hc_upload_store *s, struct hc_tenants *tenants, struct hc_error *err)
{
    s->dir_fd = open(HC_UPLOADS_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int again = s->dir_fd < 0 ? -1 : openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    int rc = 0;
    if (!list) {
        (void)hc_fail(err, errno, "open " HC_UPLOADS_DIR);
        hc_close_fd(&again);
        return -1;
    }
    for (const struct dirent *e; rc == 0 && (e = readdir(list));)
        if (e->d_name[0] != '.')
            rc = note_file(s, tenants, e->d_name, err);
    (void)closedir(list);
    return rc;
}

/* ---- parts ---- */

static int64_t count_of(const struct hc_upload_store *s, const struct hc_tenant *t)
{
    int64_t count = 0;
    for (const struct hc_upload *u = s->newest; u; u = u->next)
        count += u->tenant == t;
    return count;
}

struct hc_upload *hc_upload_create(struct hc_upload_store *s, struct hc_tenant *t, struct hc_problem *why)
{
    if (count_of(s, t) >= HC_UPLOADS_TENANT) {
        hc_problem_set(why, HC_PROBLEM_QUOTA, "the tenant has %d uploads, and no more may be: remove some",
                       HC_UPLOADS_TENANT);
        why->quota = "uploads";
        return NULL;
    }
    struct hc_upload *u = calloc(1, sizeof *u);
    if (!u || hc_task_make_id(u->id) < 0) {
        free(u);
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        return NULL;
    }
    u->tenant = t;
    u->created = u->used = hc_wall_ms();
    (void)crypto_hash_sha256_init(&u->hash);
    u->fd = open_file(s, u, O_CREAT | O_EXCL, 0644);
    if (u->fd < 0) {
        hc_warn("make an upload: %s", strerror(errno));
        hc_problem_set(why, HC_PROBLEM_BUSY, "the upload cannot be made: the daemon's log says why");
        free(u);
        return NULL;
    }
    hc_close_fd(&u->fd);
    u->next = s->newest;
    s->newest = u;
    return u;
}

struct hc_upload *hc_upload_find(const struct hc_upload_store *s, const struct hc_tenant *t, const char *id)
{
    struct hc_upload *u = s->newest;
    while (u && (u->tenant != t || u->leaving || strcmp(u->id, id) != 0))
        u = u->next;
    return u;
}

int hc_upload_begin_part(struct hc_upload_store *s, struct hc_upload *u, int64_t offset,
                         struct hc_problem *why)
{
    if (u->finished || u->fd >= 0) {
        hc_problem_set(why, HC_PROBLEM_IN_USE,
                       u->finished ? "the upload is finished"
                                   : "another part of the upload comes at the moment");
        return -1;
    }
    if (offset != u->bytes) {
        hc_problem_set(why, HC_PROBLEM_OFFSET,
                       "the upload has %lld bytes, so its next part has the offset %lld", (long long)u->bytes,
                       (long long)u->bytes);
        return -1;
    }
    u->fd = open_file(s, u, 0, 0);
    if (u->fd >= 0)
        return 0;
    hc_warn("upload %s: %s", u->id, strerror(errno));
    hc_problem_set(why, HC_PROBLEM_BUSY, "the upload cannot be opened: the daemon's log says why");
    return -1;
}

static int check_quota(const struct hc_upload *u, size_t len, struct hc_problem *why)
{
    const struct hc_tenant *t = u->tenant;
    char most[32];
    if (t->quota.stored_bytes <= 0 || t->stored_bytes + (int64_t)len <= t->quota.stored_bytes)
        return 0;
    hc_problem_set(
        why, HC_PROBLEM_QUOTA,
        "the tenant's results and uploads fill the %s that may be stored (quota stored_bytes): delete some",
        hc_format_size(t->quota.stored_bytes, most, sizeof most));
    why->quota = "stored_bytes";
    return -1;
}

int hc_upload_add(struct hc_upload *u, const void *data, size_t len, struct hc_problem *why)
{
    struct hc_error err;
    if (check_quota(u, len, why) < 0)
        return -1;
    if (hc_write_all(u->fd, data, len, &err) < 0) {
        (void)!ftruncate(u->fd, u->bytes);
        hc_warn("upload %s: %s", u->id, err.text);
        hc_problem_set(why, HC_PROBLEM_BUSY, "the part cannot be written: the daemon's log says why");
        return -1;
    }
    (void)crypto_hash_sha256_update(&u->hash, data, len);
    u->bytes += (int64_t)len;
    u->tenant->stored_bytes += (int64_t)len;
    return 0;
}

void hc_upload_end_part(struct hc_upload *u)
{
    hc_close_fd(&u->fd);
    u->used = hc_wall_ms();
}

/* ---- the end ---- */

int hc_upload_finish(struct hc_upload_store *s, struct hc_upload *u, const char *sha256,
                     struct hc_problem *why)
{
    crypto_hash_sha256_state so_far = u->hash; /* more may come if the hash is another one */
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[HC_SHA256_HEX], from[FILE_NAME], to[FILE_NAME];
    if (u->fd >= 0) {
        hc_problem_set(why, HC_PROBLEM_IN_USE, "a part of the upload comes at the moment");
        return -1;
    }
    (void)crypto_hash_sha256_final(&so_far, hash);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    if (strcmp(u->finished ? u->sha256 : hex, sha256) != 0) {
        hc_problem_set(
            why, HC_PROBLEM_CONTENT,
            "sha256: the %lld bytes that have come have %s: send what is missing, or remove the upload",
            (long long)u->bytes, u->finished ? u->sha256 : hex);
        return -1;
    }
    if (!u->finished &&
        renameat(s->dir_fd, file_name(u, false, from), s->dir_fd, file_name(u, true, to)) < 0) {
        hc_warn("upload %s: %s", u->id, strerror(errno));
        hc_problem_set(why, HC_PROBLEM_BUSY, "the upload cannot be finished: the daemon's log says why");
        return -1;
    }
    u->finished = true;
    u->used = hc_wall_ms();
    (void)snprintf(u->sha256, sizeof u->sha256, "%s", hex);
    return 0;
}

/* Whether a worker's link to the file is there, which it makes for a cell and removes when that has ended. */
static bool is_in_use(const struct hc_upload_store *s, const struct hc_upload *u)
{
    char name[FILE_NAME];
    struct stat st;
    return fstatat(s->dir_fd, file_name(u, u->finished, name), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_nlink > 1;
}

/* Lets no job name the upload any more. Its file gets the name of an unfinished one, which a daemon that
 * begins removes. */
static int retire(struct hc_upload_store *s, struct hc_upload *u, struct hc_problem *why)
{
    char from[FILE_NAME], to[FILE_NAME];
    if (u->leaving)
        return 0;
    if (u->finished &&
        renameat(s->dir_fd, file_name(u, true, from), s->dir_fd, file_name(u, false, to)) < 0) {
        hc_warn("remove the upload %s: %s", u->id, strerror(errno));
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "the upload cannot be removed: the daemon's log says why");
        return -1;
    }
    u->finished = false;
    u->leaving = true;
    return 0;
}

int hc_upload_remove(struct hc_upload_store *s, struct hc_upload *u, struct hc_problem *why)
{
    char name[FILE_NAME];
    if (u->fd >= 0) {
        hc_problem_set(why, HC_PROBLEM_IN_USE, "a part of the upload comes at the moment");
        return -1;
    }
    if (is_in_use(s, u))
        return retire(s, u, why);
    if (unlinkat(s->dir_fd, file_name(u, u->finished, name), 0) < 0 && errno != ENOENT) {
        hc_warn("remove the upload %s: %s", u->id, strerror(errno));
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "the upload cannot be removed: the daemon's log says why");
        return -1;
    }
    free_upload(s, u);
    return 0;
}

void hc_upload_store_sweep(struct hc_upload_store *s, int64_t age_ms)
{
    const int64_t before = hc_wall_ms() - age_ms;
    struct hc_problem ignored;
    for (struct hc_upload *u = s->newest, *next; u; u = next) {
        next = u->next;
        if (u->leaving || (u->used < before && u->fd < 0))
            (void)hc_upload_remove(s, u, &ignored);
    }
}

void hc_upload_print(const struct hc_upload *u, struct hc_buf *out)
{
    const char *quote = *u->sha256 ? "\"" : "";
    (void)hc_buf_fmt(out, "{\"upload_id\": \"%s\", \"state\": \"%s\", \"bytes\": %lld, \"sha256\": %s%s%s",
                     u->id, u->finished ? "finished" : "open", (long long)u->bytes, quote,
                     *quote ? u->sha256 : "null", quote);
    hc_task_print_time(out, "created", u->created);
    hc_task_print_time(out, "used", u->used);
    (void)hc_buf_str(out, "}");
}
