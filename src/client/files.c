#include "client/files.h"

#include "base/fd.h"
#include "base/hash.h"
#include "client/listed.h"
#include "manifest/saved_code.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_PIECE ((size_t)1 << 20) /* most bytes of an answer in memory at a time */

/* Where the files of one job are fetched from and to; all three are borrowed. */
struct source {
    const struct hc_daemon_address *place; /* the daemon's address */
    const char *job;                       /* path of the job in the daemon: "/v1/jobs/ID" */
    struct hc_dest *dest;                  /* directory that gets the files */
};

/* What the manifest says of one file. For the saved program it gives neither size nor hash. */
struct listed_file {
    char name[PATH_MAX]; /* the path below the output directory, unescaped */
    int64_t bytes;       /* the file's size; -1: unknown */
    const char *sha256;  /* in hexadecimal, borrowed from the manifest; NULL: unknown */
};

/* ---- one file ---- */

static int fail_content(struct hc_error *err)
{
    return hc_fail(err, 0, "the content is not what the manifest says");
}

/* Copies the answer's body from the connection `fd` to the file `to`, and checks its size and hash. */
static int copy_body(int fd, struct hc_answer *a, int to, const struct listed_file *w, struct hc_error *err)
{
    char hex[HC_SHA256_HEX];
    struct hc_hash h;
    int64_t bytes = 0;
    hc_hash_init(&h);
    while (a->state != HC_ANSWER_DONE) {
        if (hc_receive(fd, a, -1, -1, err) < 0)
            return -1;
        if (a->status != 200)
            continue;
        bytes += (int64_t)a->body.len;
        if (w->bytes >= 0 && bytes > w->bytes)
            return fail_content(err);
        hc_hash_add(&h, a->body.data ? a->body.data : "", a->body.len);
        if (hc_write_all(to, a->body.data ? a->body.data : "", a->body.len, err) < 0)
            return -1;
        hc_buf_clear(&a->body);
    }
    if (a->status != 200)
        return hc_fail(err, 0, "hotcelld answers with status %d", a->status);
    hc_hash_hex(&h, hex);
    if ((w->bytes >= 0 && bytes != w->bytes) || (w->sha256 && strcmp(hex, w->sha256) != 0))
        return fail_content(err);
    return 0;
}

static int send_file_request(const struct source *f, const struct listed_file *w, struct hc_error *err)
{
    hc_autobuf path = {0};
    (void)hc_buf_fmt(&path, "%s/files/", f->job);
    hc_listed_encode(&path, w->name);
    if (path.failed)
        return hc_fail(err, ENOMEM, "fetch a file");
    const struct hc_exchange_head head = {.method = "GET", .path = path.data};
    hc_autofd fd = hc_dial(f->place, err);
    if (fd < 0 || hc_send(fd, f->place, &head, err) < 0)
        return -1;
    return hc_take(&fd);
}

static int fetch_content(const struct source *f, const struct listed_file *w, int to, struct hc_error *err)
{
    struct hc_answer answer = {.body.max = MAX_PIECE};
    hc_autofd fd = send_file_request(f, w, err);
    if (fd < 0)
        return -1;
    int rc = copy_body(fd, &answer, to, w, err);
    hc_answer_finish(&answer);
    return rc;
}

static int fetch_file(const struct source *f, const struct listed_file *w, struct hc_error *err)
{
    struct hc_dest_file o = {.dir = -1, .fd = -1};
    int rc = hc_dest_begin(&o, f->dest, w->name, 0666, err);
    if (rc == 0)
        rc = fetch_content(f, w, o.fd, err);
    if (rc == 0)
        return hc_dest_commit(&o, w->name, err);
    hc_dest_abandon(&o);
    return hc_ctx(err, "%s/%s", f->dest->path, w->name);
}

/* ---- all files of a job ---- */

static int set_file_name(struct listed_file *w, const char *path, bool escaped, struct hc_error *err)
{
    bool fits = strlen(path) < sizeof w->name;
    if (fits && !escaped)
        (void)snprintf(w->name, sizeof w->name, "%s", path);
    if (!fits || (escaped && hc_listed_unescape(path, w->name, sizeof w->name) < 0) ||
        !hc_listed_lies_below(w->name))
        return hc_fail(err, 0, "hotcelld names a file that cannot be kept: '%.200s'", path);
    return 0;
}

static int fetch_list(const struct source *f, const cJSON *list, struct hc_error *err)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list)
    {
        const cJSON *path = hc_json_member(entry, "path");
        const cJSON *bytes = hc_json_member(entry, "bytes");
        const cJSON *sha256 = hc_json_member(entry, "sha256");
        struct listed_file w = {.bytes = 0};
        if (!cJSON_IsString(path) || !cJSON_IsString(sha256) || !cJSON_IsNumber(bytes))
            return hc_fail(err, 0, "hotcelld's manifest lists a file without path, bytes or sha256");
        w.bytes = bytes->valuedouble >= 0 && bytes->valuedouble < 1e15 ? (int64_t)bytes->valuedouble : 0;
        w.sha256 = sha256->valuestring;
        bool escaped = hc_json_is_true(entry, "escaped");
        if (set_file_name(&w, path->valuestring, escaped, err) < 0 || fetch_file(f, &w, err) < 0)
            return -1;
    }
    return 0;
}

/* Fetches the saved program and its record. */
static int fetch_code(const struct source *f, const cJSON *manifest, struct hc_error *err)
{
    const cJSON *path = hc_json_member(manifest, "code_path");
    struct listed_file w = {.bytes = -1};
    char record[sizeof w.name];
    if (!cJSON_IsString(path))
        return 0;
    if (set_file_name(&w, path->valuestring, false, err) < 0 || fetch_file(f, &w, err) < 0)
        return -1;
    if (hc_saved_code_record(w.name, record, sizeof record) < 0)
        return 0;
    memcpy(w.name, record, sizeof record);
    return fetch_file(f, &w, err);
}

int hc_files_fetch(const struct hc_daemon_address *place, const char *job, const cJSON *manifest,
                   struct hc_dest *dest, struct hc_error *err)
{
    const struct source f = {.place = place, .job = job, .dest = dest};
    if (fetch_list(&f, hc_json_member(manifest, "figures"), err) < 0 ||
        fetch_list(&f, hc_json_member(manifest, "files"), err) < 0)
        return -1;
    return fetch_code(&f, manifest, err);
}
