/* Results: a manifest, and what is asked of it. */
#include "lib/parts.h"

#include "base/fd.h"
#include "base/hash.h"
#include "client/listed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define FETCH_MS 300000 /* most ms that the content of a file takes to come from a daemon */

/* The text of one member of a manifest, in a list. */
struct hc_lib_member {
    struct hc_lib_member *next;
    char text[]; /* JSON, NUL-terminated */
};

/* ---- making one ---- */

static char *copy_source(const struct hc_json *json, const cJSON *node)
{
    size_t len = 0;
    const char *text = node ? hc_json_source(json, node, &len) : NULL;
    return text ? strndup(text, len) : NULL;
}

int hc_lib_result_new(struct hotcell_result **out, char *text, char *output_dir, char *url,
                      struct hc_error *err)
{
    struct hotcell_result *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r || !text) {
        free(r);
        free(text);
        free(output_dir);
        free(url);
        return hc_fail(err, ENOMEM, "result");
    }
    *r = (struct hotcell_result){.text = text, .len = strlen(text), .output_dir = output_dir, .url = url};
    int rc = hc_json_parse(&r->json, "manifest", text, r->len, err);
    if (rc < 0)
        r->json = (struct hc_json){0};
    else if (!*hc_json_text(r->json.root, "status"))
        rc = hc_fail(err, 0, "what hotcell says is no manifest");
    if (rc < 0) {
        hotcell_result_free(r);
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    }
    const cJSON *value = hc_json_member(hc_json_member(r->json.root, "guest"), "value");
    r->value = copy_source(&r->json, hc_json_member(value, "application/json"));
    *out = r;
    return 0;
}

void hotcell_result_free(hotcell_result *r)
{
    if (!r)
        return;
    for (struct hc_lib_member *m = r->members, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    hc_json_finish(&r->json);
    free(r->value);
    free(r->url);
    free(r->output_dir);
    free(r->text);
    free(r);
}

/* ---- what it says ---- */

const char *hotcell_result_status(const hotcell_result *r)
{
    return hc_json_text(r->json.root, "status");
}

int hotcell_result_exit_code(const hotcell_result *r)
{
    return (int)hc_json_int(r->json.root, "exit_code", HC_EXIT_INTERNAL);
}

const char *hotcell_result_reason(const hotcell_result *r)
{
    return hc_json_text(r->json.root, "reason");
}

/* A NUL of the program's output is no character of a manifest's text, so that its length is that of the C
 * string. */
static const char *stream(const hotcell_result *r, const char *name, size_t *len)
{
    const char *text = hc_json_text(hc_json_member(r->json.root, name), "text");
    if (len)
        *len = strlen(text);
    return text;
}

const char *hotcell_result_stdout(const hotcell_result *r, size_t *len)
{
    return stream(r, "stdout", len);
}

const char *hotcell_result_stderr(const hotcell_result *r, size_t *len)
{
    return stream(r, "stderr", len);
}

const char *hotcell_result_value(const hotcell_result *r)
{
    return r->value;
}

const char *hotcell_result_member(hotcell_result *r, const char *name)
{
    const cJSON *node = name ? hc_json_member(r->json.root, name) : NULL;
    size_t len = 0;
    const char *text = node ? hc_json_source(&r->json, node, &len) : NULL;
    struct hc_lib_member *m = text ? malloc(sizeof *m + len + 1) : NULL;
    if (!m)
        return NULL;
    memcpy(m->text, text, len);
    m->text[len] = '\0';
    m->next = r->members;
    r->members = m;
    return m->text;
}

const char *hotcell_result_manifest(const hotcell_result *r, size_t *len)
{
    if (len)
        *len = r->len;
    return r->text;
}

int hotcell_result_run(const hotcell_result *r)
{
    return r->run;
}

const char *hotcell_result_state(const hotcell_result *r)
{
    return r->state;
}

/* ---- its files ---- */

static const char *const lists[] = {"files", "figures"};

size_t hotcell_result_file_count(const hotcell_result *r)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        count += (size_t)cJSON_GetArraySize(hc_json_member(r->json.root, lists[i]));
    return count;
}

static const cJSON *file_at(const hotcell_result *r, size_t index)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const cJSON *list = hc_json_member(r->json.root, lists[i]);
        size_t count = (size_t)cJSON_GetArraySize(list);
        if (index < count)
            return cJSON_GetArrayItem(list, (int)index);
        index -= count;
    }
    return NULL;
}

static const char *file_text(const hotcell_result *r, size_t index, const char *name)
{
    const cJSON *file = file_at(r, index);
    return file ? hc_json_text(file, name) : NULL;
}

const char *hotcell_result_file_path(const hotcell_result *r, size_t index)
{
    return file_text(r, index, "path");
}

const char *hotcell_result_file_sha256(const hotcell_result *r, size_t index)
{
    return file_text(r, index, "sha256");
}

const char *hotcell_result_file_mime(const hotcell_result *r, size_t index)
{
    return file_text(r, index, "mime");
}

uint64_t hotcell_result_file_size(const hotcell_result *r, size_t index)
{
    int64_t bytes = hc_json_int(file_at(r, index), "bytes", 0);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Reads a file below the output directory, through no symbolic link. */
static int read_local(const hotcell_result *r, const char *path, size_t size, struct hc_buf *out,
                      struct hc_error *err)
{
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    hc_autofd dir = open(r->output_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    hc_autofd fd = dir < 0 ? -1 : (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%.200s", r->output_dir);
    return hc_read_all(fd, out, size, err);
}

static int read_remote(const hotcell_place *place, const hotcell_result *r, const char *path,
                       struct hc_buf *out, struct hc_error *err)
{
    hc_autobuf url = {0};
    struct hc_lib_exchange x = {.fd = -1};
    (void)hc_buf_str(&url, r->url);
    hc_listed_encode(&url, path);
    if (url.failed)
        return hc_fail(err, ENOMEM, "fetch a file");
    const struct hc_exchange_head head = {.method = "GET", .path = url.data};
    int rc = hc_lib_exchange_whole(&x, &place->address, &head, FETCH_MS, err);
    if (rc == 0 && x.answer.status != 200)
        rc = hc_lib_problem(x.answer.body.data, x.answer.body.len, x.answer.status, NULL, err);
    if (rc == 0) {
        *out = x.answer.body;
        x.answer.body = (struct hc_buf){0};
    }
    hc_lib_exchange_finish(&x);
    return rc;
}

static int check_content(const hotcell_result *r, size_t index, const struct hc_buf *data,
                         struct hc_error *err)
{
    char hex[HC_SHA256_HEX];
    struct hc_hash h;
    const char *expected = hotcell_result_file_sha256(r, index);
    hc_hash_init(&h);
    hc_hash_add(&h, data->data ? data->data : "", data->len);
    hc_hash_hex(&h, hex);
    if (data->len != hotcell_result_file_size(r, index) || !expected || strcmp(hex, expected) != 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the content is not what the manifest says");
    return 0;
}

/* The path is a guest's. */
static int read_file(const hotcell_place *place, const hotcell_result *r, size_t index, struct hc_buf *out,
                     struct hc_error *err)
{
    char path[PATH_MAX];
    const char *listed = hotcell_result_file_path(r, index);
    size_t size = (size_t)hotcell_result_file_size(r, index);
    if (!listed)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "the result has no file %zu", index);
    if (hc_listed_unescape(listed, path, sizeof path) < 0 || !hc_listed_lies_below(path))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the path leads out of the output directory");
    if (!r->output_dir && (!place || place->command || !r->url))
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected the place that the result came from");
    int rc = r->output_dir ? read_local(r, path, size, out, err) : read_remote(place, r, path, out, err);
    return rc < 0 ? -1 : check_content(r, index, out, err);
}

int hotcell_result_read_file(const hotcell_place *place, const hotcell_result *r, size_t index, void **data,
                             size_t *len, struct hotcell_error *error)
{
    struct hc_error err;
    hc_autobuf out = {0};
    *data = NULL;
    *len = 0;
    if (read_file(place, r, index, &out, &err) < 0) {
        const char *path = hotcell_result_file_path(r, index);
        (void)(path ? hc_ctx(&err, "%.200s", path) : 0);
        return hc_lib_tell(error, &err);
    }
    *len = out.len;
    *data = out.data ? hc_buf_take(&out) : calloc(1, 1);
    if (*data)
        return 0;
    (void)hc_fail(&err, ENOMEM, "read a file");
    return hc_lib_tell(error, &err);
}
