#include "client/parts.h"

#include "base/fd.h"
#include "base/hash.h"
#include "client/job_result.h"
#include "json/json.h"
#include "json/names.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UPLOADS    "/v1/uploads"
#define PART       ((size_t)8 << 20)  /* bytes of a file in one request */
#define MAX_ANSWER ((size_t)64 << 10) /* most bytes of an answer: a record of an upload, or a problem */

/* One request, whose path, below UPLOADS, may be empty. Fills `*answer`, which the caller finishes. -1: there
 * is no answer, or it is a problem. */
static int ask(const struct hc_parts *p, struct hc_exchange_head head, const char *path,
               struct hc_answer *answer, struct hc_error *err)
{
    char whole[160], *manifest = NULL;
    (void)snprintf(whole, sizeof whole, UPLOADS "%s", path);
    head.path = whole;
    answer->body.max = MAX_ANSWER;
    if (hc_exchange(p->place, &head, answer, err) < 0)
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    if (answer->status >= 200 && answer->status < 300)
        return 0;
    (void)hc_job_result_problem(answer->body.data ? answer->body.data : "", answer->body.len, answer->status,
                                &manifest, err);
    free(manifest);
    return -1;
}

/* Begin an upload; its id becomes the next one of `p`. */
static int begin_upload(struct hc_parts *p, struct hc_error *err)
{
    const struct hc_exchange_head head = {.method = "POST"};
    struct hc_answer answer = {0};
    int rc = ask(p, head, "", &answer, err);
    if (rc == 0) {
        cJSON *record = cJSON_ParseWithLength(answer.body.data ? answer.body.data : "", answer.body.len);
        const char *id = hc_json_text(record, "upload_id");
        if (hc_is_id(id, HC_JOB_NAME))
            (void)snprintf(p->ids[p->count++], sizeof *p->ids, "%s", id);
        else
            rc = hc_fail_as(err, HC_EXIT_INTERNAL, 0, "%s does not say which upload it has begun",
                            p->place->name);
        cJSON_Delete(record);
    }
    hc_answer_finish(&answer);
    return rc;
}

static bool is_cancelled(const struct hc_parts *p)
{
    struct pollfd cancel = {.fd = p->cancel_fd, .events = POLLIN};
    return p->cancel_fd >= 0 && poll(&cancel, 1, 0) > 0;
}

static int send_part(struct hc_parts *p, const char *id, int64_t offset, const char *data, size_t len,
                     struct hc_error *err)
{
    char path[128];
    struct hc_exchange_head head = {
        .method = "POST", .type = "application/octet-stream", .body = data, .body_len = len};
    struct hc_answer answer = {0};
    if (is_cancelled(p))
        return hc_fail_as(err, HC_EXIT_INTERNAL, ECANCELED, "the job was not accepted yet");
    (void)snprintf(path, sizeof path, "/%s/parts?offset=%lld", id, (long long)offset);
    int rc = ask(p, head, path, &answer, err);
    hc_answer_finish(&answer);
    return rc;
}

/* Read up to `room` bytes, fewer only at the end of the file. -1: `errno`. */
static ssize_t read_part(int fd, char *data, size_t room)
{
    size_t done = 0;
    for (ssize_t n = 1; n > 0 && done < room; done += (size_t)n) {
        n = TEMP_FAILURE_RETRY(read(fd, data + done, room - done));
        if (n < 0)
            return -1;
    }
    return (ssize_t)done;
}

static int send_file(struct hc_parts *p, const char *id, int fd, struct hc_hash *hash, struct hc_error *err)
{
    char *data = malloc(PART);
    int64_t offset = 0;
    int rc = data ? 0 : hc_fail(err, ENOMEM, "send a file");
    for (ssize_t n = 1; rc == 0 && n > 0; offset += n) {
        n = read_part(fd, data, PART);
        if (n < 0) {
            rc = hc_fail_as(err, HC_EXIT_DATA, errno, "read");
            break;
        }
        hc_hash_add(hash, data, (size_t)n);
        if (n > 0)
            rc = send_part(p, id, offset, data, (size_t)n, err);
    }
    free(data);
    return rc;
}

static int finish_upload(struct hc_parts *p, const char *id, struct hc_hash *hash, struct hc_error *err)
{
    char sha256[HC_SHA256_HEX], path[128], body[HC_SHA256_HEX + 32];
    struct hc_exchange_head head = {.method = "POST", .body = body};
    struct hc_answer answer = {0};
    hc_hash_hex(hash, sha256);
    (void)snprintf(path, sizeof path, "/%s/finish", id);
    (void)snprintf(body, sizeof body, "{\"sha256\": \"%s\"}", sha256);
    head.body_len = strlen(body);
    int rc = ask(p, head, path, &answer, err);
    hc_answer_finish(&answer);
    return rc;
}

const char *hc_parts_send(struct hc_parts *p, const struct hc_input *in, struct hc_error *err)
{
    struct hc_hash hash;
    hc_autofd fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        (void)hc_fail_as(err, HC_EXIT_DATA, errno, "input '%s': open %s", in->name, in->path);
        return NULL;
    }
    hc_hash_init(&hash);
    int rc = begin_upload(p, err);
    const char *id = rc == 0 ? p->ids[p->count - 1] : "";
    if (rc == 0)
        rc = send_file(p, id, fd, &hash, err);
    if (rc == 0)
        rc = finish_upload(p, id, &hash, err);
    if (rc < 0)
        (void)hc_ctx(err, "input '%s'", in->name);
    return rc < 0 ? NULL : id;
}

void hc_parts_forget(struct hc_parts *p)
{
    struct hc_error ignored;
    char path[128];
    for (; p->count; p->count--) {
        const struct hc_exchange_head head = {.method = "DELETE"};
        struct hc_answer answer = {0};
        (void)snprintf(path, sizeof path, "/%s", p->ids[p->count - 1]);
        (void)ask(p, head, path, &answer, &ignored);
        hc_answer_finish(&answer);
    }
}
