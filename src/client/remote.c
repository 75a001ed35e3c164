#include "client/remote.h"

#include "base/fd.h"
#include "base/log.h"
#include "client/job_result.h"
#include "client/tool_proxy.h"
#include "client/files.h"
#include "client/http.h"
#include "client/stream.h"
#include "client/upload.h"
#include "json/names.h"
#include "manifest/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS "/v1/jobs" /* path to which jobs are posted */
/* Most bytes of an answer that is not a stream of events: it may have a manifest in it. */
#define MAX_PROBLEM ((size_t)64 << 20)

/* One job on its way through the daemon; owns all members but `asked`. */
struct remote {
    struct hc_remote *asked;         /* the caller's job, borrowed */
    struct hc_daemon_address place;  /* the daemon's address */
    struct hc_answer answer;         /* answer to the request that submits the job */
    struct hc_stream_reader stream;  /* reader of the events in `answer` */
    struct hc_tool_proxy tool_proxy; /* answers the job's calls of tools */
    struct hc_parts parts;           /* its large inputs, sent before it */
    struct hc_dest dest;             /* the output directory */
    bool cancelled;                  /* the daemon was asked to cancel the job */
};

/* The job's path in the daemon, "/v1/jobs/ID"; empty until the daemon has sent it. */
static const char *job_path(const struct remote *r)
{
    const char *path = r->answer.location;
    size_t n = strlen(JOBS "/");
    return strncmp(path, JOBS "/", n) == 0 && hc_is_id(path + n, 64) ? path : "";
}

/* Asks the daemon to cancel the job. The job's end then comes as an event, as that of any job. */
static int cancel_job(struct remote *r, struct hc_error *err)
{
    hc_autobuf path = {0};
    struct hc_answer answer = {.body.max = MAX_PROBLEM};
    r->cancelled = true;
    if (!*job_path(r)) /* a job without an ID can be cancelled only by closing the connection */
        return hc_fail(err, ECANCELED, "the job was not accepted yet");
    if (hc_buf_fmt(&path, "%s/cancel", job_path(r)) < 0)
        return hc_fail(err, ENOMEM, "cancel the job");
    const struct hc_exchange_head head = {.method = "POST", .path = path.data};
    int rc = hc_exchange(&r->place, &head, &answer, err);
    hc_answer_finish(&answer);
    return rc < 0 ? hc_ctx(err, "cancel the job") : 0;
}

static bool has_events(const struct hc_answer *a)
{
    return a->status == 200 && strcmp(a->type, "application/x-ndjson") == 0;
}

static int pass_call(void *tool_proxy, const struct hc_json *event, struct hc_error *err)
{
    return hc_tool_proxy_call(tool_proxy, event, err);
}

/* Reads the events that have arrived, and answers calls of tools among them. */
static int read_events(struct remote *r, struct hc_error *err)
{
    struct hc_answer *a = &r->answer;
    if (hc_stream_feed(&r->stream, a->body.data, a->body.len, err) < 0)
        return -1;
    hc_buf_clear(&a->body);
    return *job_path(r) ? hc_tool_proxy_work(&r->tool_proxy, &r->place, job_path(r), err) : 0;
}

/* Reads the answer to its end: events, or a problem document, which stays in the answer's body. */
static int follow_answer(struct remote *r, int fd, struct hc_error *err)
{
    struct hc_answer *a = &r->answer;
    while (a->state != HC_ANSWER_DONE) {
        int rc =
            hc_receive(fd, a, r->cancelled ? -1 : r->asked->cancel_fd, hc_tool_proxy_fd(&r->tool_proxy), err);
        if (rc == HC_CANCELLED)
            rc = cancel_job(r, err);
        if (rc >= 0 && has_events(a))
            rc = read_events(r, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int submit(struct remote *r, int fd, const struct hc_buf *body, struct hc_error *err)
{
    const struct hc_exchange_head head = {.method = "POST",
                                          .path = JOBS,
                                          .accept = "application/x-ndjson",
                                          .body = body->data,
                                          .body_len = body->len};
    bool lost = hc_send(fd, &r->place, &head, err) < 0 || follow_answer(r, fd, err) < 0;
    if (!lost || r->stream.manifest || r->stream.problem)
        return 0;
    if (!r->cancelled)
        (void)hc_ctx(err, "%s: what became of the job is not known", r->place.name);
    return hc_exit_as(err, HC_EXIT_INTERNAL);
}

/* ---- the job's end ---- */

/* Adds the manifest to `text`, indented as "hotcell run" prints manifests. */
static int print_manifest(const char *manifest, struct hc_buf *text, struct hc_error *err)
{
    return hc_manifest_indent(manifest, strlen(manifest), text, err) < 0 ? hc_exit_as(err, HC_EXIT_INTERNAL)
                                                                         : 0;
}

static int fail_with_problem(struct remote *r, struct hc_buf *text, struct hc_error *err)
{
    char *manifest = NULL;
    struct hc_error ignored;
    const struct hc_buf *body = &r->answer.body;
    const char *problem = r->stream.problem ? r->stream.problem : body->data ? body->data : "";
    (void)hc_job_result_problem(problem, strlen(problem), r->answer.status, &manifest, err);
    if (manifest)
        (void)print_manifest(manifest, text, &ignored);
    free(manifest);
    return -1;
}

/* Makes the output directory that the job names, before the job is sent, as a run without a daemon
 * does. */
static int open_named_directory(struct remote *r, struct hc_error *err)
{
    const char *named = r->asked->job->output_dir;
    r->dest.named = named != NULL;
    if (!named)
        return 0;
    int n = snprintf(r->dest.path, sizeof r->dest.path, "%s", named);
    if (n < 0 || n >= (int)sizeof r->dest.path)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "output directory");
    return hc_dest_open(&r->dest, err);
}

static int set_default_directory(struct remote *r, struct hc_error *err)
{
    const struct hc_remote *a = r->asked;
    const char *name = a->default_name ? a->default_name : job_path(r) + strlen(JOBS "/");
    int n = snprintf(r->dest.path, sizeof r->dest.path, "%s/%s", a->default_dir, name);
    return n < 0 || n >= (int)sizeof r->dest.path ? hc_fail(err, ENAMETOOLONG, "output directory") : 0;
}

static int save_results(struct remote *r, const cJSON *manifest, const struct hc_buf *text,
                        struct hc_error *err)
{
    if (!r->dest.named && set_default_directory(r, err) < 0)
        return -1;
    if (hc_files_fetch(&r->place, job_path(r), manifest, &r->dest, err) < 0)
        return -1;
    if (r->dest.temporary_reason[0])
        hc_warn("the results are in %s: %s", r->dest.path, r->dest.temporary_reason);
    return r->dest.fd >= 0 ? hc_dest_write(&r->dest, "manifest.json", text->data, text->len, err) : 0;
}

static int finish_job(struct remote *r, struct hc_manifest *m, struct hc_buf *text, struct hc_error *err)
{
    if (!r->stream.manifest)
        return fail_with_problem(r, text, err);
    if (!*job_path(r))
        return hc_fail(err, 0, "%s does not say which job it has run", r->place.name);
    struct hc_json json;
    if (hc_json_parse(&json, "manifest", r->stream.manifest, strlen(r->stream.manifest), err) < 0)
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    hc_job_result_read(json.root, m);
    m->out.pass_errno = r->stream.out.pass_errno;
    m->err.pass_errno = r->stream.err.pass_errno;
    int rc = print_manifest(r->stream.manifest, text, err);
    if (rc == 0)
        rc = save_results(r, json.root, text, err);
    hc_json_finish(&json);
    return rc;
}

/* ---- the whole run ---- */

/* Connects; returns the socket, with nothing sent yet. -2: no daemon, or the job cannot run in one;
 * the job is unchanged. -1: another error. */
static int connect_for_job(struct remote *r, struct hc_error *err)
{
    if (hc_upload_check(r->asked->job, err) < 0)
        return -2;
    if (hc_daemon_address_find(&r->place, err) < 0)
        return -1;
    int fd = hc_dial(&r->place, err);
    return fd < 0 && err->exit == HC_EXIT_UNAVAILABLE ? -2 : fd;
}

/* Print the job, and send its large inputs. The daemon may have given up a connection on which nothing came
 * meanwhile, so that `*fd` becomes another one. */
static int send_inputs(struct remote *r, int *fd, struct hc_buf *body, struct hc_error *err)
{
    if (hc_upload_print(r->asked->job, &r->tool_proxy.tools, &r->parts, body, err) < 0)
        return -1;
    if (!r->parts.count)
        return 0;
    hc_close_fd(fd);
    *fd = hc_dial(&r->place, err);
    return *fd < 0 ? hc_exit_as(err, HC_EXIT_INTERNAL) : 0;
}

static int run_connected(struct remote *r, int *fd, struct hc_manifest *m, struct hc_buf *text,
                         struct hc_error *err)
{
    hc_autobuf body = {0};
    if (open_named_directory(r, err) < 0 ||
        hc_tool_proxy_open(&r->tool_proxy, r->asked->job, r->asked->tool_fd, err) < 0 ||
        send_inputs(r, fd, &body, err) < 0 || submit(r, *fd, &body, err) < 0)
        return -1;
    return finish_job(r, m, text, err);
}

int hc_remote_run(struct hc_remote *asked, struct hc_manifest *m, struct hc_buf *text, struct hc_error *err)
{
    struct remote r = {
        .asked = asked,
        .answer.body.max = MAX_PROBLEM,
        .stream = {.out.fd = asked->pass_stdout,
                   .err.fd = asked->pass_stderr,
                   .cancel_fd = asked->cancel_fd,
                   .call = pass_call},
        .tool_proxy = {.ours = -1, .theirs = -1},
        .parts = {.cancel_fd = asked->cancel_fd},
        .dest = {.fd = -1, .at = asked->default_at, .else_temporary = asked->else_temporary},
    };
    r.stream.call_data = &r.tool_proxy;
    r.parts.place = &r.place;
    hc_autofd fd = connect_for_job(&r, err);
    if (fd < 0)
        return fd == -2 ? 1 : -1;
    int rc = run_connected(&r, &fd, m, text, err);
    hc_parts_forget(&r.parts);
    asked->cut = r.stream.out.cut || r.stream.err.cut;
    asked->kept = r.dest.fd >= 0;
    hc_tool_proxy_close(&r.tool_proxy);
    hc_dest_finish(&r.dest);
    hc_answer_finish(&r.answer);
    hc_stream_finish(&r.stream);
    return rc;
}
