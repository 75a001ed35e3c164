#include "client/job_result.h"

#include "client/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const cJSON *stream = hc_json_member(manifest, name);
    out->bytes = hc_json_int(stream, "bytes", 0);
    out->truncated = hc_json_is_true(stream, "truncated");
    (void)hc_buf_str(&out->text, hc_json_text(stream, "text"));
}

static void read_process(const cJSON *manifest, struct hc_manifest *m)
{
    const cJSON *process = hc_json_member(manifest, "process");
    const cJSON *exit = hc_json_member(process, "exit");
    m->process.known = cJSON_IsObject(process);
    m->process.signaled = !cJSON_IsNumber(exit);
    m->process.value = cJSON_IsNumber(exit) ? exit->valueint : 0;
}

void hc_job_result_read(const cJSON *manifest, struct hc_manifest *m)
{
    const cJSON *rejection = hc_json_member(manifest, "rejection"), *warning;
    int64_t exit = hc_json_int(manifest, "exit_code", 0);
    m->status = status_of(hc_json_text(manifest, "status"));
    m->exit_code = exit >= 0 && exit <= 255 ? (int)exit : HC_EXIT_INTERNAL;
    (void)snprintf(m->job_id, sizeof m->job_id, "%s", hc_json_text(manifest, "job_id"));
    (void)snprintf(m->reason, sizeof m->reason, "%s", hc_json_text(manifest, "reason"));
    (void)snprintf(m->policy_name, sizeof m->policy_name, "%s",
                   hc_json_text(hc_json_member(manifest, "policy"), "name"));
    m->rejection.set = cJSON_IsObject(rejection);
    (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "%s", hc_json_text(rejection, "rule"));
    (void)snprintf(m->rejection.message, sizeof m->rejection.message, "%s",
                   hc_json_text(rejection, "message"));
    read_stream(manifest, "stdout", &m->out);
    read_stream(manifest, "stderr", &m->err);
    read_process(manifest, m);
    cJSON_ArrayForEach(warning, hc_json_member(manifest, "warnings"))
    {
        if (cJSON_IsString(warning) && m->warning_count < sizeof m->warnings / sizeof *m->warnings)
            (void)snprintf(m->warnings[m->warning_count++], sizeof *m->warnings, "%s", warning->valuestring);
    }
}

/* ---- a problem ---- */

int hc_job_result_problem(const char *text, size_t len, int status, char **manifest, struct hc_error *err)
{
    cJSON *problem = cJSON_ParseWithLength(text, len);
    const char *detail = hc_json_text(problem, "detail");
    const bool cancelled = strcmp(hc_json_text(problem, "type"), "urn:hotcell:problem:cancelled") == 0;
    const cJSON *inner = hc_json_member(problem, "manifest");
    int64_t wait = hc_json_int(problem, "retry_after", 0), own = hc_json_int(problem, "status", 0);
    int64_t exit = inner ? hc_json_int(inner, "exit_code", 0) : 0;
    if (own >= 400 && own < 600)
        status = (int)own;
    *manifest = inner ? cJSON_PrintUnformatted(inner) : NULL;
    if (!*detail)
        (void)hc_fail_as(err, hc_exit_of_http(status), 0,
                         "hotcelld answers with status %d, and does not say why", status);
    else if (wait > 0)
        (void)hc_fail_as(err, hc_exit_of_http(status), 0, "hotcelld: %.600s; try again in %d s", detail,
                         (int)wait);
    else
        (void)hc_fail_as(err, hc_exit_of_http(status), 0, "hotcelld: %.600s%s", detail,
                         status == 401 ? " (a token is taken from HOTCELL_TOKEN)" : "");
    if (cancelled) /* cancelled while it waited: the same exit status as for a job that ran and was cancelled
                    */
        (void)hc_exit_as(err, HC_EXIT_LIMIT);
    if (exit > 0 && exit <= 255)
        (void)hc_exit_as(err, (int)exit);
    cJSON_Delete(problem);
    return -1;
}
