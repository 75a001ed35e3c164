/* SandboxFusion's POST /run_code: a request is a job as POST /v1/jobs would take it, under the policy that
 * hotcelld.conf names, and its answer a translation of the manifest. It can have nothing that a job cannot
 * have. */
#include "daemon/http/handlers.h"

#include "base/fd.h"
#include "wire/fusion.h"

#include <errno.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>

#define VARIANT sodium_base64_VARIANT_ORIGINAL

/* Answers that no cell has run the code. Clients send again only after 504. */
static int refuse(struct hc_exchange *x, const struct hc_problem *why)
{
    hc_autobuf out = {0};
    struct hc_problem later = *why;
    if (why->kind == HC_PROBLEM_FORBIDDEN || why->kind == HC_PROBLEM_UNKNOWN_USER)
        return hc_reply_problem(x, why, NULL);
    if (why->kind == HC_PROBLEM_BUSY || why->kind == HC_PROBLEM_QUOTA || why->kind == HC_PROBLEM_LOST) {
        hc_problem_set(&later, HC_PROBLEM_LATER, "%s", why->detail);
        later.retry_after = why->retry_after;
        later.quota = why->quota;
        return hc_reply_problem(x, &later, NULL);
    }
    (void)hc_fusion_refusal(why->detail, &out);
    return hc_reply_json(x, 200, &out);
}

/* Puts the job spec into the place of the request's body. -1: the answer is in `rc`. */
static int translate(struct hc_exchange *x, int *rc)
{
    const struct hc_config *config = &x->dispatch->config;
    const struct hc_fusion_rules rules = {config->fusion_policy, config->fusion_commands};
    struct hc_error err;
    hc_autobuf spec = {0}, out = {0};
    const char *text = x->body.data ? x->body.data : "";
    if (hc_fusion_spec(&rules, text, x->body.len, &spec, &x->fetch, &err) == 0) {
        hc_buf_finish(&x->body);
        x->body = spec;
        spec = (struct hc_buf){0};
        return 0;
    }
    if (err.exit == HC_EXIT_DATA)
        *rc = hc_reply_fail(x, HC_PROBLEM_SPEC, "%s", err.text);
    else if (err.exit == HC_EXIT_UNAVAILABLE) {
        (void)hc_fusion_refusal(err.text, &out);
        *rc = hc_reply_json(x, 200, &out);
    } else
        *rc = hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err.text);
    return -1;
}

/* Adds one file that the job has left, if there is one and room for it. -1: out of memory. */
static int fetch_file(struct hc_exchange *x, const char *path, int64_t *room, cJSON *files)
{
    struct stat st;
    struct hc_error ignored;
    hc_autobuf data = {0};
    hc_autofd fd = hc_open_result(x->dispatch, x->task->queued.id, path, &st);
    if (fd < 0 || st.st_size > *room || cJSON_GetObjectItemCaseSensitive(files, path))
        return 0;
    *room -= st.st_size;
    if (hc_read_all(fd, &data, (size_t)st.st_size + 1, &ignored) < 0)
        return 0;
    size_t size = sodium_base64_ENCODED_LEN(data.len, VARIANT);
    char *text = malloc(size);
    if (!text)
        return -1;
    (void)sodium_bin2base64(text, size, (const unsigned char *)(data.data ? data.data : ""), data.len,
                            VARIANT);
    bool put = cJSON_AddStringToObject(files, path, text);
    free(text);
    return put ? 0 : -1;
}

/* The files that the request wants back, of http.body together at most. */
static cJSON *fetch_files(struct hc_exchange *x)
{
    cJSON *files = cJSON_CreateObject();
    int64_t room = x->dispatch->config.http_body;
    const cJSON *path;
    cJSON_ArrayForEach(path, x->fetch)
    {
        if (files && fetch_file(x, path->valuestring, &room, files) < 0) {
            cJSON_Delete(files);
            return NULL;
        }
    }
    return files;
}

/* Bytes of the answer at most. */
static size_t size_of_answer(const struct hc_exchange *x)
{
    int64_t files = 0, most = x->dispatch->config.http_body;
    const cJSON *path;
    cJSON_ArrayForEach(path, x->fetch)
    {
        struct stat st;
        hc_autofd fd = hc_open_result(x->dispatch, x->task->queued.id, path->valuestring, &st);
        if (fd >= 0 && st.st_size <= most - files)
            files += st.st_size;
    }
    return 2 * x->task->manifest_len + sodium_base64_ENCODED_LEN((size_t)files, VARIANT);
}

static int reply_verdict(struct hc_exchange *x)
{
    const struct hc_task *task = x->task;
    struct hc_error err;
    struct hc_problem why;
    hc_autobuf out = {0};
    if (task->state == HC_TASK_FAILED || !task->manifest)
        return refuse(x, &task->problem);
    if (!hc_exchange_hold(x, size_of_answer(x), &why))
        return refuse(x, &why);
    if (hc_fusion_answer(task->manifest, task->manifest_len, fetch_files(x), &out, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err.text);
    return hc_reply_json(x, 200, &out);
}

int hc_post_run_code(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why = {0};
    int rc = 0;
    if (!*x->dispatch->config.fusion_policy)
        return hc_reply_fail(
            x, HC_PROBLEM_NOT_FOUND,
            "requests in this form are not taken: sandboxfusion.policy of hotcelld.conf(5) is not set");
    if (!x->task && translate(x, &rc) < 0)
        return rc;
    if (!x->task)
        hc_take_job(x, t, &why);
    if (!x->task)
        return refuse(x, &why);
    return hc_task_ended(x->task) ? reply_verdict(x) : hc_exchange_suspend(x);
}
