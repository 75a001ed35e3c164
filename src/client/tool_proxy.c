#include "client/tool_proxy.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/clock.h"
#include "client/job_result.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* hc_job_put_tools puts tools into a policy. The policy of the job is the daemon's, so this one is thrown
 * away once its tools are moved out. */
static int move_tools(struct hc_tool_proxy *d, struct hc_job *job, struct hc_error *err)
{
    struct hc_policy scratch;
    hc_policy_init(&scratch);
    int rc = hc_job_put_tools(job, &scratch, err);
    if (rc == 0)
        rc = hc_tools_move(&d->tools, &scratch.tools, err);
    hc_policy_finish(&scratch);
    return rc;
}

int hc_tool_proxy_open(struct hc_tool_proxy *d, struct hc_job *job, int tool_fd, struct hc_error *err)
{
    int pair[2];
    *d = (struct hc_tool_proxy){.ours = -1, .theirs = -1};
    if (move_tools(d, job, err) < 0)
        return -1;
    if (d->tools.count == 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return hc_fail(err, errno, "socketpair");
    d->ours = pair[0];
    d->theirs = pair[1];
    return hc_toolbox_new(&d->toolbox, &d->tools, tool_fd > 0 ? tool_fd : -1, hc_clock_ahead(), &d->log,
                          &d->denials, err);
}

void hc_tool_proxy_close(struct hc_tool_proxy *d)
{
    hc_toolbox_free(d->toolbox);
    d->toolbox = NULL;
    hc_close_fd(&d->ours);
    hc_close_fd(&d->theirs);
    hc_buf_finish(&d->answer);
    hc_tool_log_finish(&d->log);
    hc_denials_finish(&d->denials);
    hc_tools_finish(&d->tools);
}

int hc_tool_proxy_fd(const struct hc_tool_proxy *d)
{
    return d->toolbox ? hc_toolbox_fd(d->toolbox) : -1;
}

static int copy_member(struct hc_buf *out, const struct hc_json *event, const char *name,
                       struct hc_error *err)
{
    size_t len = 0;
    const char *text = hc_json_source(event, hc_json_member(event->root, name), &len);
    if (!text)
        return hc_fail(err, 0, "a call of a tool without %s", name);
    (void)hc_buf_fmt(out, "%s\"%s\": ", out->len ? ", " : "{", name);
    (void)hc_buf_add(out, text, len);
    return 0;
}

/* Rebuilds the text of the call as a cell would send it, so that the toolbox checks it as strictly. */
int hc_tool_proxy_call(struct hc_tool_proxy *d, const struct hc_json *event, struct hc_error *err)
{
    hc_autobuf call = {0};
    if (!d->toolbox)
        return 0; /* a tool of the policy, which the daemon answers itself */
    if (copy_member(&call, event, "id", err) < 0 || copy_member(&call, event, "name", err) < 0 ||
        copy_member(&call, event, "arguments", err) < 0)
        return -1;
    if (hc_buf_str(&call, "}") < 0)
        return hc_fail(err, ENOMEM, "a call of a tool");
    return hc_toolbox_call(d->toolbox, call.data, call.len, err);
}

/* Posts one answer. 1: the daemon refused it, and `err` has the daemon's reason. 404 is no error: the call
 * does not wait any more. */
static int post_body(const struct hc_daemon_address *place, const char *path, const struct hc_buf *body,
                     struct hc_error *err)
{
    const struct hc_exchange_head head = {
        .method = "POST", .path = path, .body = body->data, .body_len = body->len};
    struct hc_answer answer = {.body.max = (size_t)1 << 20};
    char *manifest = NULL;
    int rc = hc_exchange(place, &head, &answer, err);
    if (rc == 0 && answer.status >= 400 && answer.status != 404) {
        const struct hc_buf *said = &answer.body;
        (void)hc_job_result_problem(said->data ? said->data : "", said->len, answer.status, &manifest, err);
        free(manifest);
        rc = 1;
    }
    hc_answer_finish(&answer);
    return rc;
}

/* Answers a call with the daemon's reason (`err`) for refusing the tool's answer: without any answer the
 * program would wait until its time is up. The user is told the first time only, as a program can call again
 * and again. */
static int post_refusal(struct hc_tool_proxy *d, const struct hc_daemon_address *place, const char *path,
                        struct hc_error *err)
{
    hc_autobuf body = {0};
    (void)hc_buf_str(&body, "{\"error\": ");
    hc_json_quote(&body, err->text, strlen(err->text));
    if (hc_buf_str(&body, "}") < 0)
        return hc_fail(err, ENOMEM, "answer a call of a tool");
    if (!d->refused)
        hc_warn("the answer of a tool was not taken: %s", err->text);
    d->refused = true;
    return post_body(place, path, &body, err) < 0 ? -1 : 0;
}

/* Turns the toolbox's answer, {"id": N, "value": ...} or {"id": N, "error": ...}, into a request to the
 * daemon. An answer that comes too late is no failure. */
static int post_answer(struct hc_tool_proxy *d, const struct hc_daemon_address *place, const char *job,
                       struct hc_error *err)
{
    struct hc_json j;
    hc_autobuf body = {0};
    hc_autobuf path = {0};
    if (hc_json_parse(&j, "answer", d->answer.data, d->answer.len, err) < 0)
        return -1;
    const cJSON *id = hc_json_member(j.root, "id");
    const char *name = hc_json_member(j.root, "error") ? "error" : "value";
    int rc = copy_member(&body, &j, name, err);
    (void)hc_buf_str(&body, "}");
    (void)hc_buf_fmt(&path, "%s/tools/%.0f", job, cJSON_IsNumber(id) ? id->valuedouble : 0);
    hc_json_finish(&j);
    hc_buf_clear(&d->answer);
    if (rc < 0 || body.failed || path.failed)
        return rc < 0 ? -1 : hc_fail(err, ENOMEM, "answer a call of a tool");
    rc = post_body(place, path.data, &body, err);
    return rc > 0 ? post_refusal(d, place, path.data, err) : rc;
}

/* Reads one packet of an answer; `*last` says whether the answer is whole. 1: no packet is there. */
static int read_packet(struct hc_tool_proxy *d, bool *last, struct hc_error *err)
{
    char packet[sizeof(struct hc_frame_head) + HC_FRAME_CHUNK];
    struct hc_frame_head head;
    ssize_t n = TEMP_FAILURE_RETRY(recv(d->theirs, packet, sizeof packet, 0));
    if (n < (ssize_t)sizeof head)
        return n < 0 && errno == EAGAIN ? 1 : hc_fail(err, n < 0 ? errno : 0, "answer a call of a tool");
    memcpy(&head, packet, sizeof head);
    *last = head.flags & HC_FRAME_LAST;
    if (hc_buf_add(&d->answer, packet + sizeof head, (size_t)n - sizeof head) < 0)
        return hc_fail(err, ENOMEM, "answer a call of a tool");
    return 0;
}

static int post_answers(struct hc_tool_proxy *d, const struct hc_daemon_address *place, const char *job,
                        struct hc_error *err)
{
    int rc;
    bool last = false;
    while ((rc = read_packet(d, &last, err)) == 0)
        if (last && post_answer(d, place, job, err) < 0)
            return -1;
    return rc < 0 ? -1 : 0;
}

int hc_tool_proxy_work(struct hc_tool_proxy *d, const struct hc_daemon_address *place, const char *job,
                       struct hc_error *err)
{
    if (!d->toolbox)
        return 0;
    hc_toolbox_work(d->toolbox);
    for (bool left = true; left;) {
        left = hc_toolbox_send(d->toolbox, d->ours);
        if (post_answers(d, place, job, err) < 0)
            return -1;
    }
    return 0;
}
