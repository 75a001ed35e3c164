/* Handling the messages of a session's process, line by line. */
#include "daemon/sessions/commands.h"
#include "daemon/sessions/contexts.h"
#include "daemon/sessions/session_parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "json/json.h"
#include "manifest/saved_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define READ_CHUNK       65536               /* most bytes that are read at once */
#define MAX_ANSWER_BYTES ((size_t)128 << 20) /* most bytes kept until a request is answered */

static int64_t size_of(const cJSON *manifest, const char *list)
{
    const cJSON *file;
    int64_t sum = 0;
    cJSON_ArrayForEach(file, hc_json_member(manifest, list)) sum += hc_json_int(file, "bytes", 0);
    return sum;
}

/* The bytes of the saved program and of its record, which no manifest lists. */
static int64_t size_of_kept(const struct hc_front_session *s, const cJSON *manifest)
{
    const char *path = hc_json_text(manifest, "code_path");
    char record[80];
    int64_t sum = 0;
    const char *const paths[] = {path, record};
    if (hc_saved_code_record(path, record, sizeof record) < 0)
        return 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char name[HC_JOB_ID + 96];
        struct stat st;
        (void)snprintf(name, sizeof name, "%s/%.90s", s->id, paths[i]);
        if (fstatat(s->all->dispatch->results_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            sum += st.st_size;
    }
    return sum;
}

/* Charges the tenant for a run when the run ends, so that a long session cannot get around a quota. */
static void charge_run(struct hc_front_session *s, const cJSON *manifest)
{
    const cJSON *usage = hc_json_member(manifest, "usage");
    const cJSON *user = hc_json_member(usage, "cpu_user");
    const cJSON *system = hc_json_member(usage, "cpu_system");
    double seconds =
        (cJSON_IsNumber(user) ? user->valuedouble : 0) + (cJSON_IsNumber(system) ? system->valuedouble : 0);
    int64_t kept = size_of_kept(s, manifest), peak = hc_json_int(usage, "memory_peak", 0);
    const struct hc_usage used = {.cpu_us = (int64_t)(seconds * 1e6),
                                  .bytes = size_of(manifest, "files") + size_of(manifest, "figures") + kept};
    s->memory_peak = peak > s->memory_peak ? peak : s->memory_peak;
    s->cpu_us += used.cpu_us;
    s->left_bytes += used.bytes;
    s->kept_bytes += kept;
    hc_tenant_charge(s->tenant, &used, hc_mono_ms());
    hc_front_session_meter(s);
}

static void take_ready(struct hc_front_session *s)
{
    hc_autobuf out = {0};
    s->state = HC_FRONT_SESSION_IDLE;
    hc_front_contexts_begin(s);
    (void)snprintf(s->after, sizeof s->after, "that of the start");
    hc_front_session_print(s, NULL, &out);
    hc_front_session_answer(s, out.data ? out.data : "", out.len, NULL);
}

static void add_to_list(struct hc_front_session *s, const char *line, size_t len)
{
    (void)hc_buf_str(&s->list, s->list.len ? ", " : "");
    (void)hc_buf_add(&s->list, line, len);
}

static void take_result(struct hc_front_session *s, const cJSON *json, const char *line, size_t len)
{
    const cJSON *manifest = hc_json_member(json, "manifest");
    int64_t branch = hc_json_int(json, "branch", 0), run = hc_json_int(json, "run", 0);
    const char *state = hc_json_text(json, "state");
    static const char rolled[] = "rolled back to ";
    charge_run(s, manifest);
    s->runs = run;
    s->branches = branch;
    if (strcmp(state, "kept") == 0)
        (void)snprintf(s->after, sizeof s->after, "that of run %lld", (long long)run);
    else if (strncmp(state, rolled, sizeof rolled - 1) == 0)
        (void)snprintf(s->after, sizeof s->after, "that of %.50s", state + sizeof rolled - 1);
    char *kept = malloc(len + 1);
    if (kept) {
        memcpy(kept, line, len);
        kept[len] = '\0';
        free(s->last);
        s->last = kept;
        s->last_len = len;
    }
    if (branch)
        add_to_list(s, line, len);
    else
        hc_front_session_answer(s, line, len, NULL);
}

static void take_done(struct hc_front_session *s, const cJSON *json, const char *line, size_t len)
{
    (void)snprintf(s->after, sizeof s->after, "%s", hc_json_text(json, "state"));
    hc_front_contexts_take(s, json);
    if (strcmp(hc_json_text(json, "request"), "stream") == 0)
        return; /* the front itself sent this request; no client waits for its answer */
    if (strcmp(hc_json_text(json, "request"), "branch") != 0) {
        s->branches = 0;
        hc_front_session_answer(s, line, len, NULL);
        return;
    }
    hc_autobuf out = {0};
    (void)hc_buf_fmt(&out,
                     "{\"event\": \"done\", \"request\": \"branch\", \"state\": \"%s\", \"branches\": [%s]}",
                     s->after, s->list.data ? s->list.data : "");
    hc_buf_finish(&s->list);
    hc_front_session_answer(s, out.data ? out.data : "", out.len, NULL);
}

static void take_error(struct hc_front_session *s, const cJSON *json, const char *line, size_t len)
{
    struct hc_problem problem;
    int64_t branch = hc_json_int(json, "branch", 0);
    if (branch) {
        s->branches = branch;
        add_to_list(s, line, len);
        return;
    }
    const char *sys = hc_json_text(json, "errno");
    const bool no_context = strcmp(hc_json_text(json, "missing"), "context") == 0;
    hc_problem_set(&problem, no_context ? HC_PROBLEM_NOT_FOUND : HC_PROBLEM_SPEC, "%s",
                   hc_json_text(json, "message"));
    problem.sys = strcmp(sys, "ENOENT") == 0 ? ENOENT : strcmp(sys, "EEXIST") == 0 ? EEXIST : 0;
    hc_front_session_answer(s, NULL, 0, &problem);
}

static void take_end(struct hc_front_session *s, const cJSON *json)
{
    const cJSON *manifest = hc_json_member(json, "manifest");
    char *text = cJSON_PrintUnformatted(manifest);
    (void)snprintf(s->reason, sizeof s->reason, "%s", hc_json_text(json, "reason"));
    free(s->manifest);
    s->manifest = text ? strdup(text) : NULL;
    if (s->manifest)
        (void)snprintf(s->manifest_status, sizeof s->manifest_status, "%s", hc_json_text(manifest, "status"));
    (void)snprintf(s->manifest_reason, sizeof s->manifest_reason, "%s", hc_json_text(manifest, "reason"));
    s->file_bytes = size_of(manifest, "files") + size_of(manifest, "figures");
    cJSON_free(text);
}

/* Is the message one of the events that the client gets while its request is open? */
static bool is_told(const cJSON *json, const char *event)
{
    if (strcmp(event, "done") == 0)
        return strcmp(hc_json_text(json, "request"), "stream") != 0;
    if (strcmp(event, "error") == 0)
        return hc_json_int(json, "branch", 0) != 0; /* other errors answer the request */
    return strcmp(event, "ready") != 0 && strcmp(event, "end") != 0;
}

/* Events that a program can cause in any number. */
static const char *const bounded[HC_BOUNDED_EVENTS] = {"stdout", "stderr", "figure", "input_request"};

static int bounded_kind(const char *event)
{
    for (int i = 0; i < HC_BOUNDED_EVENTS; i++)
        if (strcmp(event, bounded[i]) == 0)
            return i;
    return -1;
}

/* Adds the event to those of the open request, or counts it if there are HC_EVENTS_MAX bytes of them: a
 * client that does not read does not make the front large. */
static void tell(struct hc_front_session *s, const char *event, const char *line, size_t len)
{
    struct hc_events *e = &s->task->events;
    const int kind = bounded_kind(event);
    if (kind >= 0 && (s->left_out[kind] || e->lines.len + len > HC_EVENTS_MAX)) {
        if (s->left_out[kind]++ == 0)
            hc_events_cut(e, bounded[kind], 0);
        return;
    }
    for (int i = 0; strcmp(event, "result") == 0 && i < HC_BOUNDED_EVENTS; i++) {
        if (s->left_out[i])
            hc_events_cut(e, bounded[i], s->left_out[i]);
        s->left_out[i] = 0;
    }
    (void)hc_buf_add(&e->lines, line, len);
    (void)hc_buf_str(&e->lines, "\n");
}

static void take_line(struct hc_front_session *s, const char *line, size_t len)
{
    cJSON *json = cJSON_ParseWithLength(line, len);
    const char *event = hc_json_text(json, "event");
    if (hc_json_member(json, "command")) {
        hc_front_commands_take(s, json, line, len);
        cJSON_Delete(json);
        return;
    }
    if (s->task && s->streams && is_told(json, event))
        tell(s, event, line, len);
    if (strcmp(event, "ready") == 0)
        take_ready(s);
    else if (strcmp(event, "result") == 0)
        take_result(s, json, line, len);
    else if (strcmp(event, "done") == 0)
        take_done(s, json, line, len);
    else if (strcmp(event, "error") == 0)
        take_error(s, json, line, len);
    else if (strcmp(event, "end") == 0)
        take_end(s, json);
    else if (s->task)
        hc_task_wake(s->task);
    cJSON_Delete(json);
}

/* Ends a session whose process sends too much: messages are kept in memory until the request is answered, and
 * no cell may make the front large. */
static void stop_listening(struct hc_front_session *s)
{
    hc_warn("session %s: ended, as it says more than is kept of one answer", s->id);
    hc_reactor_remove(s->all->dispatch->epoll, &s->stream);
    hc_close_fd(&s->stream.fd); /* the process that writes into it has to see that nobody reads */
    (void)snprintf(s->reason, sizeof s->reason, "output");
    hc_buf_finish(&s->in);
    hc_buf_finish(&s->list);
    hc_front_session_cancel(s, NULL, "it said more than is kept of one answer");
}

bool hc_front_session_read(struct hc_front_session *s)
{
    char chunk[READ_CHUNK];
    if (s->stream.fd < 0)
        return false;
    ssize_t n = TEMP_FAILURE_RETRY(recv(s->stream.fd, chunk, sizeof chunk, MSG_DONTWAIT));
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0)
        return false;
    const size_t told = s->task ? s->task->events.lines.len : 0;
    if (told + s->in.len + s->list.len + (size_t)n > MAX_ANSWER_BYTES ||
        hc_buf_add(&s->in, chunk, (size_t)n) < 0) {
        stop_listening(s);
        return false;
    }
    size_t begin = 0;
    const char *end;
    while ((end = memchr(s->in.data + s->scanned, '\n', s->in.len - s->scanned))) {
        size_t at = (size_t)(end - s->in.data);
        take_line(s, s->in.data + begin, at - begin);
        begin = s->scanned = at + 1;
    }
    memmove(s->in.data, s->in.data + begin, s->in.len - begin);
    s->in.len -= begin;
    s->scanned = s->in.len;
    return true;
}
