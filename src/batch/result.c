#include "batch/result.h"

#include "base/utf8.h"
#include "json/json.h"
#include "json/names.h"

#include <string.h>

const char *hc_batch_status_name(int status)
{
    if (status == HC_BATCH_INVALID)
        return "invalid";
    return status == HC_BATCH_OUTCOME_UNKNOWN ? "outcome_unknown" : hc_status_name((enum hc_status)status);
}

int hc_batch_status_of(const char *name)
{
    for (int i = 0; i < HC_BATCH_STATUSES; i++)
        if (strcmp(name, hc_batch_status_name(i)) == 0)
            return i;
    return -1;
}

/* ---- printing ---- */

static void put_text(struct hc_buf *out, const char *name, const char *text)
{
    hc_autobuf clean = {0};
    (void)hc_utf8_scrub(&clean, text, strlen(text));
    (void)hc_buf_fmt(out, ", \"%s\": ", name);
    hc_json_quote(out, clean.data ? clean.data : "", clean.len);
}

static void put_text_or_null(struct hc_buf *out, const char *name, const char *text)
{
    if (*text)
        put_text(out, name, text);
    else
        (void)hc_buf_fmt(out, ", \"%s\": null", name);
}

void hc_result_print(struct hc_buf *out, const struct hc_result *r, const char *manifest, size_t len)
{
    (void)hc_buf_fmt(out, "{\"line\": %lld", (long long)r->line);
    put_text_or_null(out, "job_id", r->job_id);
    (void)hc_buf_fmt(out, ", \"status\": \"%s\", \"exit_code\": %d", hc_batch_status_name(r->status),
                     r->exit_code);
    put_text(out, "reason", r->reason);
    (void)hc_buf_fmt(out, ", \"attempts\": %lld", (long long)r->attempts);
    put_text_or_null(out, "output_dir", r->output_dir);
    (void)hc_buf_str(out, ", \"manifest\": ");
    (void)hc_buf_add(out, manifest ? manifest : "null", manifest ? len : strlen("null"));
    (void)hc_buf_str(out, "}");
}

/* ---- parsing ---- */

/* Reads a number that must not be negative. */
static int64_t count_of(const cJSON *of, const char *name, int64_t otherwise)
{
    int64_t n = hc_json_int(of, name, -1);
    return n < 0 ? otherwise : n;
}

/* Reads a time, which manifests have in seconds. */
static int64_t time_of(const cJSON *of, const char *name)
{
    const cJSON *node = hc_json_member(of, name);
    bool good = cJSON_IsNumber(node) && node->valuedouble >= 0 && node->valuedouble < 1e9;
    return good ? (int64_t)(node->valuedouble * 1e6 + 0.5) : -1;
}

static void read_usage(struct hc_result *r, const cJSON *manifest)
{
    const cJSON *usage = hc_json_member(manifest, "usage");
    int64_t user = time_of(usage, "cpu_user"), system = time_of(usage, "cpu_system");
    r->wall_us = time_of(usage, "wall");
    r->cpu_us = user < 0 || system < 0 ? -1 : user + system;
    r->memory_peak = count_of(usage, "memory_peak", -1);
    r->output_bytes = count_of(usage, "output_bytes", -1);
}

int hc_result_parse(struct hc_result *r, const char *name, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *r = (struct hc_result){0};
    if (hc_json_parse(&j, name, text, len, err) < 0)
        return -1;
    r->line = count_of(j.root, "line", 0);
    r->status = hc_batch_status_of(hc_json_text(j.root, "status"));
    r->exit_code = (int)(count_of(j.root, "exit_code", HC_EXIT_INTERNAL) & 0xff);
    r->attempts = count_of(j.root, "attempts", 1);
    (void)snprintf(r->job_id, sizeof r->job_id, "%s", hc_json_text(j.root, "job_id"));
    (void)snprintf(r->reason, sizeof r->reason, "%s", hc_json_text(j.root, "reason"));
    (void)snprintf(r->output_dir, sizeof r->output_dir, "%s", hc_json_text(j.root, "output_dir"));
    read_usage(r, hc_json_member(j.root, "manifest"));
    int rc = 0;
    if (r->line < 1 || r->status < 0)
        rc = hc_json_fail(&j, j.root, false, err, "expected the result of a batch's line");
    else if (*r->job_id && !hc_is_id(r->job_id, 64)) /* the ID is also the name of a directory */
        rc = hc_json_fail(&j, hc_json_member(j.root, "job_id"), false, err, "job_id: expected an ID");
    hc_json_finish(&j);
    return rc;
}

void hc_result_read_usage(struct hc_result *r, const char *manifest, size_t len)
{
    cJSON *root = cJSON_ParseWithLength(manifest, len);
    read_usage(r, root);
    cJSON_Delete(root);
}
