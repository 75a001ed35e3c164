#include "daemon/process/problem.h"

#include "base/utf8.h"
#include "json/json.h"
#include "wire/events.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int status;               /* HTTP status */
    const char *name, *title; /* last part of the document's "type"; its "title" */
} kinds[] = {
    [HC_PROBLEM_REQUEST] = {400, "bad-request", "The request is not well-formed"},
    [HC_PROBLEM_UNKNOWN_USER] = {401, "unknown-user", "Nobody is known by these credentials"},
    [HC_PROBLEM_FORBIDDEN] = {403, "forbidden", "This is not for the sender"},
    [HC_PROBLEM_LIMIT] = {403, "limit", "More is asked for than the sender may have"},
    [HC_PROBLEM_NOT_FOUND] = {404, "not-found", "There is no such thing"},
    [HC_PROBLEM_METHOD] = {405, "method", "The method does not apply here"},
    [HC_PROBLEM_CONFLICT] = {409, "conflict", "The key was used for another request"},
    [HC_PROBLEM_IN_USE] = {409, "in-use", "It is in use for something else"},
    [HC_PROBLEM_OFFSET] = {409, "offset", "The part does not follow what the upload has"},
    [HC_PROBLEM_GONE] = {410, "gone", "The session is over"},
    [HC_PROBLEM_TOO_LARGE] = {413, "too-large", "The request is larger than is accepted"},
    [HC_PROBLEM_HEAD] = {431, "head-too-large", "The request's head is larger than is accepted"},
    [HC_PROBLEM_MEDIA_TYPE] = {415, "media-type", "The body is of another type than expected"},
    [HC_PROBLEM_RANGE] = {416, "range", "The file has no such part"},
    [HC_PROBLEM_SPEC] = {422, "cannot-run", "The job cannot be run as it is"},
    [HC_PROBLEM_CONTENT] = {422, "content", "The content that has come is another than the sender says"},
    [HC_PROBLEM_QUOTA] = {429, "quota", "A quota is used up"},
    [HC_PROBLEM_CANCELLED] = {409, "cancelled", "The job was cancelled before it ran"},
    [HC_PROBLEM_LOST] = {502, "worker-lost", "The job's outcome is not known"},
    [HC_PROBLEM_LAUNCH] = {500, "launch-failed", "The cell could not be built, or its results not be kept"},
    [HC_PROBLEM_INTERNAL] = {500, "internal", "The daemon has failed"},
    [HC_PROBLEM_BUSY] = {503, "busy", "The daemon takes no more for the moment"},
    [HC_PROBLEM_LATER] = {504, "later", "The job was not run, and may be sent again"},
    [HC_PROBLEM_HOST] = {503, "host", "This host cannot give the isolation asked for"},
};

static const char *const retries[] = {
    [HC_RETRY_NOT_STARTED] = "not_started",
    [HC_RETRY_UNKNOWN] = "started_outcome_unknown",
    [HC_RETRY_FINISHED] = "finished",
};

void hc_problem_set(struct hc_problem *p, enum hc_problem_kind kind, const char *fmt, ...)
{
    va_list ap;
    *p = (struct hc_problem){.kind = kind};
    va_start(ap, fmt);
    (void)vsnprintf(p->detail, sizeof p->detail, fmt, ap);
    va_end(ap);
}

enum hc_problem_kind hc_problem_of_exit(int exit)
{
    switch (exit) {
    case HC_EXIT_USAGE:
    case HC_EXIT_DATA:
    case HC_EXIT_CONFIG:
        return HC_PROBLEM_SPEC;
    case HC_EXIT_UNAVAILABLE:
        return HC_PROBLEM_HOST;
    default:
        return HC_PROBLEM_INTERNAL;
    }
}

enum hc_problem_kind hc_problem_of_error(const struct hc_error *err)
{
    if (err->exit == HC_EXIT_DATA && err->sys == EBUSY)
        return HC_PROBLEM_IN_USE;
    if (err->exit == HC_EXIT_DATA && err->sys == EDQUOT)
        return HC_PROBLEM_QUOTA;
    return hc_problem_of_exit(err->exit);
}

int hc_problem_status(const struct hc_problem *p)
{
    return kinds[p->kind].status;
}

void hc_problem_print(const struct hc_problem *p, const char *job_id, const char *manifest,
                      struct hc_buf *out)
{
    (void)hc_buf_fmt(out,
                     "{\"type\": \"urn:hotcell:problem:%s\", \"title\": \"%s\", \"status\": %d, \"detail\": ",
                     kinds[p->kind].name, kinds[p->kind].title, kinds[p->kind].status);
    hc_json_quote(out, p->detail, hc_utf8_whole(p->detail));
    (void)hc_buf_fmt(out, ", \"retry\": \"%s\"", retries[p->retry]);
    if (*p->limits)
        (void)hc_buf_fmt(out, ", \"limits\": %s", p->limits);
    if (p->quota)
        (void)hc_buf_fmt(out, ", \"quota\": \"%s\"", p->quota);
    if (p->retry_after)
        (void)hc_buf_fmt(out, ", \"retry_after\": %d", p->retry_after);
    if (job_id)
        (void)hc_buf_fmt(out, ", \"job_id\": \"%s\"", job_id);
    if (manifest)
        (void)hc_buf_fmt(out, ", \"manifest\": %s", manifest);
    (void)hc_buf_str(out, "}\n");
}

int hc_problem_parse(struct hc_problem *p, const char *text, size_t len, char **manifest)
{
    cJSON *json = cJSON_ParseWithLength(text, len);
    const char *type = hc_json_text(json, "type"), *retry = hc_json_text(json, "retry");
    size_t prefix = sizeof "urn:hotcell:problem:" - 1;
    *manifest = NULL;
    hc_problem_set(p, HC_PROBLEM_NONE, "%s", hc_json_text(json, "detail"));
    for (size_t i = HC_PROBLEM_REQUEST; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(type) > prefix && strcmp(type + prefix, kinds[i].name) == 0)
            p->kind = (enum hc_problem_kind)i;
    for (size_t i = 0; i < sizeof retries / sizeof *retries; i++)
        if (strcmp(retry, retries[i]) == 0)
            p->retry = (enum hc_retry)i;
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(json, "manifest");
    if (inner)
        *manifest = cJSON_PrintUnformatted(inner);
    cJSON_Delete(json);
    return p->kind == HC_PROBLEM_NONE ? -1 : 0;
}
