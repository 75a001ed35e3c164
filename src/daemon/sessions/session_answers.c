/* What a session's process says, line by line, and what the front makes of it. */
#include "daemon/front.h"
#include "daemon/sessions/session_parts.h"

#include "base/fd.h"
#include "base/log.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define READ_CHUNK 65536
#define MOST_SAID  ((size_t)128 << 20) /* that is not answered yet, such as the results of branches */

static const char *text_of(const cJSON *node, const char *member)
{
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(node, member);
    return cJSON_IsString(text) ? text->valuestring : "";
}

static int64_t number_of(const cJSON *node, const char *member)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(node, member);
    return cJSON_IsNumber(number) ? (int64_t)number->valuedouble : 0;
}

static int64_t size_of(const cJSON *manifest, const char *list)
{
    const cJSON *file;
    int64_t sum = 0;
    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(manifest, list)) sum +=
        number_of(file, "bytes");
    return sum;
}

/* Of the program that was kept, and of its record, which no manifest tells. */
static int64_t size_of_kept(const struct hc_front_session *d, const cJSON *manifest)
{
    static const char *const endings[] = {".py", ".json"};
    const char *path = text_of(manifest, "code_path"), *ending = strrchr(path, '.');
    int64_t sum = 0;
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++) {
        char name[HC_JOB_ID + 80];
        struct stat st;
        (void)snprintf(name, sizeof name, "%s/%.*s%s", d->id, (int)(ending - path), path, endings[i]);
        if (fstatat(d->front->results_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            sum += st.st_size;
    }
    return sum;
}

/* What a run has used and left is charged when it ends: a session is no way around a quota. */
static void charge(struct hc_front_session *d, const cJSON *manifest)
{
    const cJSON *usage = cJSON_GetObjectItemCaseSensitive(manifest, "usage");
    const cJSON *user = cJSON_GetObjectItemCaseSensitive(usage, "cpu_user");
    const cJSON *system = cJSON_GetObjectItemCaseSensitive(usage, "cpu_system");
    double seconds =
        (cJSON_IsNumber(user) ? user->valuedouble : 0) + (cJSON_IsNumber(system) ? system->valuedouble : 0);
    int64_t kept = size_of_kept(d, manifest), peak = number_of(usage, "memory_peak");
    const struct hc_usage used = {.cpu_us = (int64_t)(seconds * 1e6),
                                  .bytes = size_of(manifest, "files") + size_of(manifest, "figures") + kept};
    d->memory_peak = peak > d->memory_peak ? peak : d->memory_peak;
    d->cpu_us += used.cpu_us;
    d->left_bytes += used.bytes;
    d->kept_bytes += kept;
    hc_tenant_charge(d->tenant, &used, hc_mono_ms());
    hc_front_session_meter(d);
}

static void take_ready(struct hc_front_session *d)
{
    hc_autobuf out = {0};
    d->state = HC_FRONT_SESSION_IDLE;
    (void)snprintf(d->after, sizeof d->after, "that of the start");
    hc_front_session_print(d, NULL, &out);
    hc_front_session_answer(d, out.data ? out.data : "", out.len, NULL);
}

static void add_to_list(struct hc_front_session *d, const char *line, size_t len)
{
    (void)hc_buf_str(&d->list, d->list.len ? ", " : "");
    (void)hc_buf_add(&d->list, line, len);
}

static void take_result(struct hc_front_session *d, const cJSON *json, const char *line, size_t len)
{
    const cJSON *manifest = cJSON_GetObjectItemCaseSensitive(json, "manifest");
    int64_t branch = number_of(json, "branch"), run = number_of(json, "run");
    const char *state = text_of(json, "state");
    static const char rolled[] = "rolled back to ";
    charge(d, manifest);
    d->runs = run;
    d->branches = branch;
    if (strcmp(state, "kept") == 0)
        (void)snprintf(d->after, sizeof d->after, "that of run %lld", (long long)run);
    else if (strncmp(state, rolled, sizeof rolled - 1) == 0)
        (void)snprintf(d->after, sizeof d->after, "that of %.50s", state + sizeof rolled - 1);
    char *kept = malloc(len + 1);
    if (kept) {
        memcpy(kept, line, len);
        kept[len] = '\0';
        free(d->last);
        d->last = kept;
        d->last_len = len;
    }
    if (branch)
        add_to_list(d, line, len);
    else
        hc_front_session_answer(d, line, len, NULL);
}

static void take_done(struct hc_front_session *d, const cJSON *json, const char *line, size_t len)
{
    (void)snprintf(d->after, sizeof d->after, "%s", text_of(json, "state"));
    if (strcmp(text_of(json, "request"), "stream") == 0)
        return; /* nobody has asked for that */
    if (strcmp(text_of(json, "request"), "branch") != 0) {
        d->branches = 0;
        hc_front_session_answer(d, line, len, NULL);
        return;
    }
    hc_autobuf out = {0};
    (void)hc_buf_fmt(&out,
                     "{\"event\": \"done\", \"request\": \"branch\", \"state\": \"%s\", \"branches\": [%s]}",
                     d->after, d->list.data ? d->list.data : "");
    hc_buf_finish(&d->list);
    hc_front_session_answer(d, out.data ? out.data : "", out.len, NULL);
}

static void take_error(struct hc_front_session *d, const cJSON *json, const char *line, size_t len)
{
    struct hc_problem problem;
    int64_t branch = number_of(json, "branch");
    if (branch) {
        d->branches = branch;
        add_to_list(d, line, len);
        return;
    }
    hc_problem_set(&problem, HC_PROBLEM_SPEC, "%s", text_of(json, "message"));
    hc_front_session_answer(d, NULL, 0, &problem);
}

static void take_end(struct hc_front_session *d, const cJSON *json)
{
    const cJSON *manifest = cJSON_GetObjectItemCaseSensitive(json, "manifest");
    char *text = cJSON_PrintUnformatted(manifest);
    (void)snprintf(d->reason, sizeof d->reason, "%s", text_of(json, "reason"));
    free(d->manifest);
    d->manifest = text ? strdup(text) : NULL;
    if (d->manifest)
        (void)snprintf(d->manifest_status, sizeof d->manifest_status, "%s", text_of(manifest, "status"));
    (void)snprintf(d->manifest_reason, sizeof d->manifest_reason, "%s", text_of(manifest, "reason"));
    d->file_bytes = size_of(manifest, "files") + size_of(manifest, "figures");
    cJSON_free(text);
}

/* To who asked, among the events. */
static bool is_told(const cJSON *json, const char *event)
{
    if (strcmp(event, "done") == 0)
        return strcmp(text_of(json, "request"), "stream") != 0;
    if (strcmp(event, "error") == 0)
        return number_of(json, "branch") != 0; /* else it becomes a problem */
    return strcmp(event, "ready") != 0 && strcmp(event, "end") != 0;
}

static void take_line(struct hc_front_session *d, const char *line, size_t len)
{
    cJSON *json = cJSON_ParseWithLength(line, len);
    const char *event = text_of(json, "event");
    if (d->task && d->streams && is_told(json, event)) {
        (void)hc_buf_add(&d->task->events.lines, line, len);
        (void)hc_buf_str(&d->task->events.lines, "\n");
    }
    if (strcmp(event, "ready") == 0)
        take_ready(d);
    else if (strcmp(event, "result") == 0)
        take_result(d, json, line, len);
    else if (strcmp(event, "done") == 0)
        take_done(d, json, line, len);
    else if (strcmp(event, "error") == 0)
        take_error(d, json, line, len);
    else if (strcmp(event, "end") == 0)
        take_end(d, json);
    else if (d->task)
        hc_task_wake(d->task);
    cJSON_Delete(json);
}

/* Its words are kept here until they are answered: nobody's cell makes this process large. */
static void stop_listening(struct hc_front_session *d)
{
    hc_warn("session %s: ended, as it says more than is kept of one answer", d->id);
    d->deaf = true;
    (void)snprintf(d->reason, sizeof d->reason, "output");
    hc_buf_finish(&d->in);
    hc_buf_finish(&d->list);
    hc_front_session_cancel(d, NULL, "it said more than is kept of one answer");
}

bool hc_front_session_read(struct hc_front_session *d)
{
    char chunk[READ_CHUNK];
    if (d->deaf)
        return false;
    ssize_t n = TEMP_FAILURE_RETRY(recv(d->stream.fd, chunk, sizeof chunk, MSG_DONTWAIT));
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0)
        return false;
    const size_t told = d->task ? d->task->events.lines.len : 0;
    if (told + d->in.len + d->list.len + (size_t)n > MOST_SAID || hc_buf_add(&d->in, chunk, (size_t)n) < 0) {
        stop_listening(d);
        return false;
    }
    size_t begin = 0;
    const char *end;
    while ((end = memchr(d->in.data + d->scanned, '\n', d->in.len - d->scanned))) {
        size_t at = (size_t)(end - d->in.data);
        take_line(d, d->in.data + begin, at - begin);
        begin = d->scanned = at + 1;
    }
    memmove(d->in.data, d->in.data + begin, d->in.len - begin);
    d->in.len -= begin;
    d->scanned = d->in.len;
    return true;
}
