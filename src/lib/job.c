/* Jobs: a command that runs, or a request to a daemon whose answer is the job's events. */
#include "lib/parts.h"

#include "base/fd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#define JOBS "/v1/jobs/" /* in front of a job's ID, where the daemon says which one it has made */

struct hotcell_job {
    const hotcell_place *place;           /* borrowed */
    int epoll;                            /* readable when there is something to do; owned */
    struct hc_lib_child child;            /* the command; none for a daemon */
    int out;                              /* memfd that gets the command's manifest; owned; -1: none */
    char *output_dir;                     /* as the spec names it, owned; NULL: it does not */
    struct hc_lib_exchange request, stop; /* with a daemon: the job; the request that cancels it */
    size_t searched;                      /* bytes of the answer's body that are known to have no line end */
    char *manifest, *problem;             /* JSON from the job's events, owned; NULL until it arrives */
    bool cancelled;                       /* the caller has asked for the end */
    int progress;                         /* enum hotcell_progress */
    struct hc_error error;                /* why it failed */
    hotcell_result *result;               /* owned, until the caller takes it */
};

/* ---- the end ---- */

static void fail(hotcell_job *job)
{
    job->progress = HOTCELL_FAILED;
}

static void end_with(hotcell_job *job, char *manifest, char *output_dir, char *url)
{
    job->progress = hc_lib_result_new(&job->result, manifest, output_dir, url, &job->error) == 0
                        ? HOTCELL_READY
                        : HOTCELL_FAILED;
}

/* ---- a command ---- */

static int watch(hotcell_job *job, int fd, struct hc_error *err)
{
    struct epoll_event e = {.events = EPOLLIN};
    return epoll_ctl(job->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? hc_fail(err, errno, "wait for hotcell") : 0;
}

/* Puts the spec into a file in memory, as the command's standard input. */
static int spec_file(const hotcell_spec *spec, struct hc_error *err)
{
    hc_autobuf text = {0};
    if (hc_lib_print_spec(spec, false, &text, err) < 0)
        return -1;
    return hc_sealed_memfd("hotcell-spec", text.data, text.len, err);
}

static int start_command(hotcell_job *job, const hotcell_spec *spec, struct hc_error *err)
{
    char caller[8];
    const char *const argv[] = {
        job->place->command, "run", "--json", "--warm=no", "--caller-fd", caller, "--spec", "-", NULL};
    hc_autofd in = spec_file(spec, err);
    if (in < 0 || hc_lib_output_dir(spec, &job->output_dir, err) < 0)
        return -1;
    job->out = memfd_create("hotcell-manifest", MFD_CLOEXEC);
    if (job->out < 0)
        return hc_fail(err, errno, "start hotcell");
    (void)snprintf(caller, sizeof caller, "%d", HC_LIB_CALLER_FD);
    if (hc_lib_child_start(&job->child, argv, in, job->out, -1, true, err) < 0)
        return -1;
    return watch(job, job->child.end, err);
}

/* Where the command has put the files of a job of which the spec names no directory. */
static char *default_dir(const char *manifest)
{
    struct hc_json json;
    struct hc_error ignored;
    char *path = NULL;
    if (hc_json_parse(&json, "manifest", manifest, strlen(manifest), &ignored) < 0)
        return NULL;
    if (asprintf(&path, HC_LIB_DEFAULT_DIR "/%s", hc_json_text(json.root, "job_id")) < 0)
        path = NULL;
    hc_json_finish(&json);
    return path;
}

static void step_command(hotcell_job *job)
{
    hc_autobuf text = {0};
    if (!hc_lib_child_ended(&job->child))
        return;
    if (lseek(job->out, 0, SEEK_SET) < 0 ||
        hc_read_all(job->out, &text, HC_LIB_MAX_ANSWER, &job->error) < 0) {
        fail(job);
        return;
    }
    if (!text.len && job->cancelled)
        (void)hc_fail_as(&job->error, HC_EXIT_LIMIT, 0, "the job was cancelled before it had begun");
    else if (!text.len)
        (void)hc_lib_child_fail(&job->child, &job->error);
    if (!text.len) {
        fail(job);
        return;
    }
    char *dir = job->output_dir ? job->output_dir : default_dir(text.data);
    job->output_dir = NULL;
    end_with(job, hc_buf_take(&text), dir, NULL);
}

/* ---- a daemon ---- */

static int start_request(hotcell_job *job, const hotcell_spec *spec, struct hc_error *err)
{
    hc_autobuf body = {0};
    if (hc_lib_print_spec(spec, true, &body, err) < 0)
        return -1;
    const struct hc_exchange_head head = {.method = "POST",
                                          .path = "/v1/jobs",
                                          .accept = "application/x-ndjson",
                                          .body = body.data,
                                          .body_len = body.len};
    return hc_lib_exchange_begin(&job->request, job->epoll, &job->place->address, &head, err);
}

/* The job's path at the daemon; NULL: it has not said yet. */
static const char *path_of(const hotcell_job *job)
{
    const char *path = job->request.answer.location;
    const size_t n = strlen(JOBS);
    const char *id = strncmp(path, JOBS, n) == 0 ? path + n : "";
    return *id && !id[strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")] ? path
                                                                                                       : NULL;
}

/* Begins to ask the daemon for the job's end, once it has said which job it is. */
static int begin_stop(hotcell_job *job, struct hc_error *err)
{
    hc_autobuf path = {0};
    if (!job->cancelled || job->stop.fd >= 0 || job->stop.answer.status || !path_of(job))
        return 0;
    if (hc_buf_fmt(&path, "%s/cancel", path_of(job)) < 0)
        return hc_fail(err, ENOMEM, "cancel the job");
    const struct hc_exchange_head head = {.method = "POST", .path = path.data};
    return hc_lib_exchange_begin(&job->stop, job->epoll, &job->place->address, &head, err);
}

static int keep_member(const struct hc_json *json, const char *name, char **out, struct hc_error *err)
{
    const cJSON *node = hc_json_member(json->root, name);
    size_t len = 0;
    const char *text = node ? hc_json_source(json, node, &len) : NULL;
    free(*out);
    *out = text ? strndup(text, len) : NULL;
    return *out ? 0 : hc_fail(err, text ? ENOMEM : EPROTO, "%s of the job", name);
}

static int read_event(hotcell_job *job, const char *line, size_t len, struct hc_error *err)
{
    struct hc_json json;
    if (hc_json_parse(&json, "event", line, len, err) < 0)
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    const char *event = hc_json_text(json.root, "event");
    int rc = 0;
    if (strcmp(event, "manifest") == 0)
        rc = keep_member(&json, event, &job->manifest, err);
    else if (strcmp(event, "problem") == 0)
        rc = keep_member(&json, event, &job->problem, err);
    hc_json_finish(&json);
    return rc;
}

/* Reads the lines that have come. */
static int read_events(hotcell_job *job, struct hc_error *err)
{
    struct hc_buf *b = &job->request.answer.body;
    size_t from = 0;
    char *end;
    while (b->len > from + job->searched &&
           (end = memchr(b->data + from + job->searched, '\n', b->len - from - job->searched))) {
        size_t len = (size_t)(end - b->data) - from;
        *end = '\0'; /* the parser needs a text to end there */
        job->searched = 0;
        if (len && read_event(job, b->data + from, len, err) < 0)
            return -1;
        from += len + 1;
    }
    if (from) {
        memmove(b->data, b->data + from, b->len - from);
        b->len -= from;
    }
    job->searched = b->len;
    return 0;
}

/* The answer is whole: events, or a problem. */
static void end_request(hotcell_job *job)
{
    struct hc_answer *a = &job->request.answer;
    char *inner = NULL, *url = NULL;
    if (job->problem)
        (void)hc_lib_problem(job->problem, strlen(job->problem), 500, &inner, &job->error);
    else if (!job->manifest && a->status >= 300)
        (void)hc_lib_problem(a->body.data, a->body.len, a->status, &inner, &job->error);
    else if (!job->manifest)
        (void)hc_fail(&job->error, 0, "hotcelld has ended its answer without a result");
    char *manifest = job->manifest ? job->manifest : inner;
    job->manifest = NULL;
    if (!manifest) {
        fail(job);
        return;
    }
    if (path_of(job) && asprintf(&url, "%s/files/", path_of(job)) < 0)
        url = NULL;
    end_with(job, manifest, NULL, url);
}

static void step_request(hotcell_job *job)
{
    struct hc_error err, ignored;
    int rc = hc_lib_exchange_step(&job->request, job->epoll, &err);
    if (rc >= 0 && job->request.answer.status == 200 && read_events(job, &err) < 0)
        rc = -1;
    if (rc >= 0 && job->progress == HOTCELL_PENDING && begin_stop(job, &err) < 0)
        rc = -1;
    if (job->stop.fd >= 0 && hc_lib_exchange_step(&job->stop, job->epoll, &ignored) < 0)
        hc_close_fd(&job->stop.fd); /* the job's own connection tells what becomes of it */
    if (rc > 0 || (rc < 0 && (job->manifest || job->problem)))
        end_request(job);
    else if (rc < 0) {
        job->error = err;
        (void)hc_ctx(&job->error, "%.200s: what became of the job is not known", job->place->address.name);
        (void)hc_exit_as(&job->error, HC_EXIT_INTERNAL);
        fail(job);
    }
}

/* ---- the interface ---- */

static int start(hotcell_job *job, const hotcell_spec *spec, struct hc_error *err)
{
    if (!job->place || !spec)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a place and a spec");
    job->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (job->epoll < 0)
        return hc_fail(err, errno, "start a job");
    return job->place->command ? start_command(job, spec, err) : start_request(job, spec, err);
}

hotcell_job *hotcell_job_start(const hotcell_place *place, const hotcell_spec *spec,
                               struct hotcell_error *error)
{
    struct hc_error err;
    hotcell_job *job = calloc(1, sizeof *job);
    if (!job) {
        (void)hc_fail(&err, ENOMEM, "start a job");
        (void)hc_lib_tell(error, &err);
        return NULL;
    }
    *job = (hotcell_job){
        .place = place, .epoll = -1, .child = HC_LIB_NO_CHILD, .out = -1, .request.fd = -1, .stop.fd = -1};
    if (start(job, spec, &err) == 0)
        return job;
    (void)hc_lib_tell(error, &err);
    hotcell_job_free(job);
    return NULL;
}

int hotcell_job_fd(const hotcell_job *job)
{
    return job->epoll;
}

int hotcell_job_step(hotcell_job *job, struct hotcell_error *error)
{
    if (job->progress == HOTCELL_PENDING)
        job->place->command ? step_command(job) : step_request(job);
    return job->progress == HOTCELL_FAILED ? hc_lib_tell(error, &job->error) : job->progress;
}

int hotcell_job_wait(hotcell_job *job, int timeout_ms, struct hotcell_error *error)
{
    const int64_t since = hc_lib_now_ms();
    int progress;
    while ((progress = hotcell_job_step(job, error)) == HOTCELL_PENDING)
        if (!hc_lib_await(job->epoll, hc_lib_left_ms(since, timeout_ms)))
            return hotcell_job_step(job, error);
    return progress;
}

int hotcell_job_cancel(hotcell_job *job, struct hotcell_error *error)
{
    struct hc_error err;
    if (job->progress != HOTCELL_PENDING)
        return 0;
    job->cancelled = true;
    if (job->place->command) {
        hc_lib_child_signal(&job->child, SIGTERM);
        return 0;
    }
    return begin_stop(job, &err) < 0 ? hc_lib_tell(error, &err) : 0;
}

hotcell_result *hotcell_job_take_result(hotcell_job *job)
{
    hotcell_result *result = job->result;
    job->result = NULL;
    return result;
}

void hotcell_job_free(hotcell_job *job)
{
    if (!job)
        return;
    if (job->progress == HOTCELL_PENDING && (job->child.pid || job->request.fd >= 0)) {
        (void)hotcell_job_cancel(job, NULL);
        if (!job->place->command)
            (void)hotcell_job_wait(job, HC_LIB_PATIENCE_MS, NULL);
    }
    hc_lib_child_finish(&job->child);
    hc_lib_exchange_finish(&job->request);
    hc_lib_exchange_finish(&job->stop);
    hc_close_fd(&job->out);
    hc_close_fd(&job->epoll);
    hotcell_result_free(job->result);
    free(job->output_dir);
    free(job->manifest);
    free(job->problem);
    free(job);
}

hotcell_result *hotcell_run(const hotcell_place *place, const hotcell_spec *spec, struct hotcell_error *error)
{
    hotcell_job *job = hotcell_job_start(place, spec, error);
    if (!job)
        return NULL;
    (void)hotcell_job_wait(job, -1, error);
    hotcell_result *result = hotcell_job_take_result(job);
    hotcell_job_free(job);
    return result;
}
