#include "client/job_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(node) ? node->valuestring : "";
}

static int64_t number_of(const cJSON *object, const char *name)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, name);
    bool good = cJSON_IsNumber(node) && node->valuedouble > -1e15 && node->valuedouble < 1e15;
    return good ? (int64_t)node->valuedouble : 0;
}

/* ---- a manifest ---- */

static enum hc_status status_of(const char *name)
{
    for (int s = HC_STATUS_OK; s < HC_STATUS_LAUNCH_FAILED; s++)
        if (strcmp(name, hc_status_name((enum hc_status)s)) == 0)
            return (enum hc_status)s;
    return HC_STATUS_LAUNCH_FAILED;
}

static void read_stream(const cJSON *manifest, const char *name, struct hc_stream *out)
{
    const cJSON *stream = cJSON_GetObjectItemCaseSensitive(manifest, name);
    out->bytes = number_of(stream, "bytes");
    out->truncated = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(stream, "truncated"));
    (void)hc_buf_str(&out->text, text_of(stream, "text"));
}

static void read_process(const cJSON *manifest, struct hc_manifest *m)
{
    const cJSON *process = cJSON_GetObjectItemCaseSensitive(manifest, "process");
    const cJSON *exit = cJSON_GetObjectItemCaseSensitive(process, "exit");
    m->process.known = cJSON_IsObject(process);
    m->process.signaled = !cJSON_IsNumber(exit);
    m->process.value = cJSON_IsNumber(exit) ? exit->valueint : 0;
}

void hc_job_result_read(const cJSON *manifest, struct hc_manifest *m)
{
    const cJSON *rejection = cJSON_GetObjectItemCaseSensitive(manifest, "rejection"), *warning;
    int64_t exit = number_of(manifest, "exit_code");
    m->status = status_of(text_of(manifest, "status"));
    m->exit_code = exit >= 0 && exit <= 255 ? (int)exit : HC_EXIT_INTERNAL;
    (void)snprintf(m->job_id, sizeof m->job_id, "%s", text_of(manifest, "job_id"));
    (void)snprintf(m->reason, sizeof m->reason, "%s", text_of(manifest, "reason"));
    (void)snprintf(m->policy_name, sizeof m->policy_name, "%s",
                   text_of(cJSON_GetObjectItemCaseSensitive(manifest, "policy"), "name"));
    m->rejection.set = cJSON_IsObject(rejection);
    (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "%s", text_of(rejection, "rule"));
    (void)snprintf(m->rejection.message, sizeof m->rejection.message, "%s", text_of(rejection, "message"));
    read_stream(manifest, "stdout", &m->out);
    read_stream(manifest, "stderr", &m->err);
    read_process(manifest, m);
    cJSON_ArrayForEach(warning, cJSON_GetObjectItemCaseSensitive(manifest, "warnings"))
    {
        if (cJSON_IsString(warning) && m->warning_count < sizeof m->warnings / sizeof *m->warnings)
            (void)snprintf(m->warnings[m->warning_count++], sizeof *m->warnings, "%s", warning->valuestring);
    }
}

/* ---- a problem ---- */

/* The exit status of "hotcell run" for an HTTP status. */
static int exit_of(int status)
{
    switch (status) {
    case 400: /* the request is wrong, */
    case 404: /* or names something that the daemon does not have */
    case 410:
    case 413:
    case 415:
        return HC_EXIT_DATA;
    case 401: /* no valid token */
    case 403: /* the tenant has not this right */
    case 422: /* a policy or tree cannot be used */
        return HC_EXIT_CONFIG;
    case 429:
    case 503:
        return HC_EXIT_UNAVAILABLE;
    default:
        return HC_EXIT_INTERNAL;
    }
}

int hc_job_result_problem(const char *text, size_t len, int status, char **manifest, struct hc_error *err)
{
    cJSON *problem = cJSON_ParseWithLength(text, len);
    const char *detail = text_of(problem, "detail");
    const bool cancelled = strcmp(text_of(problem, "type"), "urn:hotcell:problem:cancelled") == 0;
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(problem, "manifest");
    int64_t wait = number_of(problem, "retry_after"), own = number_of(problem, "status");
    int64_t exit = inner ? number_of(inner, "exit_code") : 0;
    if (own >= 400 && own < 600)
        status = (int)own;
    *manifest = inner ? cJSON_PrintUnformatted(inner) : NULL;
    if (!*detail)
        (void)hc_fail_as(err, exit_of(status), 0, "hotcelld answers with status %d, and does not say why",
                         status);
    else if (wait > 0)
        (void)hc_fail_as(err, exit_of(status), 0, "hotcelld: %.600s; try again in %d s", detail, (int)wait);
    else
        (void)hc_fail_as(err, exit_of(status), 0, "hotcelld: %.600s%s", detail,
                         status == 401 ? " (a token is taken from HOTCELL_TOKEN)" : "");
    if (cancelled) /* cancelled while it waited: the same exit status as for a job that ran and was cancelled
                    */
        (void)hc_exit_as(err, HC_EXIT_LIMIT);
    if (exit > 0 && exit <= 255)
        (void)hc_exit_as(err, (int)exit);
    cJSON_Delete(problem);
    return -1;
}
