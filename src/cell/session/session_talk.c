#include "cell/session_talk.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "cell/session/session_client.h"
#include "cell/session/session_files.h"
#include "policy/options.h"
#include "wire/events.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>

/* ---- answers ---- */

/* During a run nothing may wait for the client, as the run's limits hold meanwhile. */
static void write_line(struct hc_session_client *c, const char *text)
{
    hc_autobuf line = {0};
    if (!c->in_run) {
        hc_outlet_line(&c->out, text);
        return;
    }
    c->failed |= hc_buf_fmt(&line, "%s\n", text) < 0;
    if (!line.failed)
        (void)hc_outlet_queue(&c->out, line.data, line.len, false);
}

void hc_client_answer(struct hc_session_client *c, cJSON *answer_taken)
{
    char *text = answer_taken ? cJSON_PrintUnformatted(answer_taken) : NULL;
    cJSON_Delete(answer_taken);
    if (text)
        write_line(c, text);
    c->failed |= !text || c->out.failed;
    cJSON_free(text);
}

cJSON *hc_client_event(const char *name)
{
    cJSON *o = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(o, "event", name);
    return o;
}

/* `branch`: number of the branch whose run failed; 0: the request failed. */
static void answer_error(struct hc_session_client *c, const struct hc_error *err, size_t branch)
{
    cJSON *o = hc_client_event("error");
    if (branch)
        (void)cJSON_AddNumberToObject(o, "branch", (double)branch);
    if (c->command[0])
        (void)cJSON_AddStringToObject(o, "command", c->command);
    (void)cJSON_AddNumberToObject(o, "line", c->line);
    (void)cJSON_AddStringToObject(o, "message", err->text);
    if (!branch && (err->sys == ENOENT || err->sys == EEXIST))
        (void)cJSON_AddStringToObject(o, "errno", err->sys == ENOENT ? "ENOENT" : "EEXIST");
    if (!branch && c->no_context)
        (void)cJSON_AddStringToObject(o, "missing", "context");
    hc_client_answer(c, o);
}

static const char *state_text(int run, char out[64])
{
    if (run)
        (void)snprintf(out, 64, "that of run %d", run);
    else
        (void)snprintf(out, 64, "that of the start");
    return out;
}

/* A manifest on one line, in its own order: the order of a dict counts, which a canonical form would sort. */
static int one_line(const struct hc_buf *manifest, struct hc_buf *line, struct hc_error *err)
{
    hc_json_one_line(line, manifest->data, manifest->len);
    return line->failed ? hc_fail(err, ENOMEM, "manifest") : 0;
}

static void answer_result(struct hc_session_client *c, const struct hc_session_result *r)
{
    hc_autobuf text = {0};
    hc_autobuf line = {0};
    char state[64];
    struct hc_error err;
    if (hc_manifest_print(r->m, c->t->key, c->t->key_len, &text, &err) < 0 ||
        one_line(&text, &line, &err) < 0) {
        c->failed = true;
        hc_warn("%s", err.text);
        return;
    }
    hc_outlet_settle(&c->out);
    cJSON *o = hc_client_event("result");
    (void)cJSON_AddNumberToObject(o, "run", r->run);
    if (hc_session_branches(c->session))
        (void)cJSON_AddNumberToObject(o, "branch", (double)hc_session_branches(c->session));
    (void)cJSON_AddStringToObject(o, "state", hc_session_state_text(r, state));
    (void)cJSON_AddRawToObject(o, "manifest", line.data);
    hc_client_answer(c, o);
}

/* ---- requests ---- */

/* Read more requests into c->in. */
static void read_more(struct hc_session_client *c)
{
    char chunk[65536];
    ssize_t n = read(c->t->in_fd, chunk, sizeof chunk);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        c->ended = true;
        (void)epoll_ctl(c->wake, EPOLL_CTL_DEL, c->t->in_fd, NULL);
    } else if (hc_buf_add(&c->in, chunk, (size_t)n) < 0)
        c->failed = true;
}

/* The next whole line, owned by the caller; NULL: there is none yet. At end of file the rest counts as a
 * line. */
static char *take_line(struct hc_session_client *c)
{
    char *start = c->in.data;
    char *end = start ? memchr(start + c->scanned, '\n', c->in.len - c->scanned) : NULL;
    if (!end) {
        c->scanned = c->in.len;
        if (!start || !c->ended || !c->in.len)
            return NULL;
        end = start + c->in.len;
    }
    size_t len = (size_t)(end - start), used = len < c->in.len ? len + 1 : len;
    char *line = strndup(start, len);
    memmove(start, start + used, c->in.len - used);
    c->in.len -= used;
    c->scanned = 0;
    c->line++;
    return line;
}

/* Whether the line is {NAME: true}. Malformed lines are answered when their turn comes. */
static bool is_request(const char *line, const char *name)
{
    struct hc_json j;
    struct hc_error ignored;
    if (hc_json_parse(&j, "request", line, strlen(line), &ignored) < 0)
        return false;
    const cJSON *first = cJSON_IsObject(j.root) ? j.root->child : NULL;
    bool is = first && !first->next && cJSON_IsTrue(first) && strcmp(first->string, name) == 0;
    hc_json_finish(&j);
    return is;
}

/* Whether the line is {"input": TEXT} or {"input": null}; it is given to the run then. */
static bool take_input(struct hc_session *s, const char *line)
{
    struct hc_json j;
    struct hc_error err;
    if (!strstr(line, "\"input\"") || hc_json_parse(&j, "request", line, strlen(line), &err) < 0)
        return false;
    const cJSON *first = cJSON_IsObject(j.root) ? j.root->child : NULL;
    const bool is = first && !first->next && strcmp(first->string, "input") == 0 &&
                    (cJSON_IsString(first) || cJSON_IsNull(first));
    const bool taken = is && hc_session_input(s, cJSON_GetStringValue(first));
    hc_json_finish(&j);
    return taken;
}

static int serve_line(struct hc_session_client *c, const char *line, struct hc_error *err);

/* Whether the line is a request about commands; it is served then. */
static bool take_command(struct hc_session_client *c, const char *line, const char *at)
{
    struct hc_error err;
    if (!hc_client_is_about_commands(line))
        return false;
    const int before = c->line;
    for (const char *p = c->in.data; p < at; p++)
        c->line += *p == '\n';
    c->line++;
    if (serve_line(c, line, &err) == 1)
        answer_error(c, &err, 0);
    c->line = before;
    return true;
}

/* Remove the line at `at` from the waiting requests if it is an interrupt, input for the run, or about
 * commands. Returns where to look for the next line. */
static char *take_interrupt(struct hc_session_client *c, struct hc_session *s, char *at, const char *end)
{
    char *line = strndup(at, (size_t)(end - at));
    bool stop = line && is_request(line, "interrupt");
    bool input = line && !stop && (take_input(s, line) || take_command(c, line, at));
    free(line);
    if (!stop && !input)
        return at + (end + 1 - at);
    size_t rest = c->in.len - (size_t)(end + 1 - c->in.data);
    memmove(at, end + 1, rest);
    c->in.len = (size_t)(at - c->in.data) + rest;
    c->scanned = 0;
    c->line++;
    if (stop)
        hc_session_interrupt(s);
    return at;
}

/* Called when epoll has events of the client during a run: serve interrupts at once; other requests wait. */
static bool woken(void *ctx, struct hc_session *s)
{
    struct hc_session_client *c = ctx;
    struct epoll_event events[2];
    int n = epoll_wait(c->wake, events, 2, 0);
    bool readable = false;
    for (int i = 0; i < n; i++) {
        if (events[i].data.fd == c->out.fd)
            c->out.gone |= events[i].events & (EPOLLERR | EPOLLHUP);
        else
            readable = true;
    }
    hc_outlet_flush(&c->out);
    if (readable && !c->ended)
        read_more(c);
    const char *end;
    c->in_run = true;
    for (char *at = c->in.data; at && (end = memchr(at, '\n', c->in.len - (size_t)(at - c->in.data)));)
        at = take_interrupt(c, s, at, end);
    c->in_run = false;
    if (c->out.gone || c->failed)
        hc_session_abandon(s);
    return !c->out.gone && !c->failed;
}

static void printed(void *ctx, int stream, const char *data, size_t len)
{
    struct hc_session_client *c = ctx;
    hc_outlet_print(&c->out, stream, data, len);
}

static void figured(void *ctx, const struct hc_figure *f, int fd)
{
    struct hc_session_client *c = ctx;
    (void)fd;
    hc_outlet_figure(&c->out, f);
}

static void input_requested(void *ctx, const char *json, size_t len)
{
    struct hc_session_client *c = ctx;
    hc_outlet_request(&c->out, json, len);
}

static bool commanded(void *ctx, const char *lines, size_t len, bool may_drop)
{
    struct hc_session_client *c = ctx;
    return hc_outlet_queue(&c->out, lines, len, may_drop);
}

int hc_client_read_run(struct hc_session_client *c, const struct hc_json *j, const cJSON *spec,
                       struct hc_job *job, struct hc_policy *policy, struct hc_error *err)
{
    size_t len = 0;
    const char *text = hc_json_source(j, spec, &len);
    *policy = *c->t->policy; /* borrowed, but its limits are this copy's own */
    *job = (struct hc_job){0};
    if (!text)
        return hc_fail(err, ENOMEM, "read a request");
    if (hc_job_parse_run(job, spec->string ? spec->string : "run", text, len, err) < 0)
        return 1;
    if (hc_job_check(job, err) < 0 ||
        (c->t->max_text && hc_job_check_texts(job, &c->t->policy->limits, c->t->max_text, err) < 0) ||
        (c->t->ceiling && hc_ceiling_check(c->t->ceiling, job->overrides, job->override_count, err) < 0) ||
        hc_job_apply(job, policy, err) < 0)
        return 1;
    return 0;
}

static int serve_run(struct hc_session_client *c, const struct hc_json *j, const cJSON *spec,
                     struct hc_error *err)
{
    struct hc_job job;
    struct hc_policy policy;
    struct hc_session_result r = {0};
    enum hc_session_end why;
    int rc = hc_client_read_run(c, j, spec, &job, &policy, err);
    if (rc == 0)
        rc = hc_client_enter(c, job.context, err);
    if (rc == 0 && hc_session_used_up(c->session, &why)) { /* may happen between branches */
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "run: the session has used up what it may have");
        rc = 1;
    }
    if (rc == 0) {
        rc = hc_session_run(c->session, &job, &policy, &r, err);
        if (rc == 0)
            answer_result(c, &r);
    }
    hc_session_result_finish(&r);
    hc_job_finish(&job);
    return rc;
}

cJSON *hc_client_done(const struct hc_session_client *c, const char *request)
{
    cJSON *o = hc_client_event("done");
    char state[64];
    (void)cJSON_AddStringToObject(o, "request", request);
    (void)cJSON_AddStringToObject(o, "state", state_text(hc_session_state_of(c->session), state));
    return o;
}

static void answer_done(struct hc_session_client *c, const char *request)
{
    hc_client_answer(c, hc_client_done(c, request));
}

/* Turn the result of a session function into that of a request: 1 if it was refused and nothing changed,
 * -1 if the session is over. */
static int request_result(const struct hc_session_client *c, int rc)
{
    return rc == 0 ? 0 : hc_session_alive(c->session) ? 1 : -1;
}

static int serve_checkpoint(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                            struct hc_error *err)
{
    (void)j;
    int rc;
    const char *name = hc_client_name_in_context(c, node, &rc, err);
    if (name)
        rc = request_result(c, hc_session_checkpoint(c->session, name, err));
    if (rc == 0)
        answer_done(c, "checkpoint");
    return rc;
}

static int serve_rollback(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                          struct hc_error *err)
{
    (void)j;
    int rc;
    const char *name = hc_client_name_in_context(c, node, &rc, err);
    if (name)
        rc = request_result(c, hc_session_rollback(c->session, name, err));
    if (rc == 0)
        answer_done(c, "rollback");
    return rc;
}

/* Do each of the given runs in a branch of its own, all from the same state. */
static int serve_branch(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                        struct hc_error *err)
{
    if (!cJSON_IsArray(node) || !node->child || cJSON_GetArraySize(node) > HC_SESSION_BRANCHES) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "branch: expected a list of 1 to %d runs",
                         HC_SESSION_BRANCHES);
        return 1;
    }
    if (hc_session_branches(c->session)) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "branches are open: keep one of them first");
        return 1;
    }
    const cJSON *spec;
    const int entered = hc_client_enter(c, cJSON_GetStringValue(hc_json_member(node->child, "context")), err);
    if (entered != 0)
        return entered;
    cJSON_ArrayForEach(spec, node)
    {
        int rc = request_result(c, hc_session_branch(c->session, err));
        if (rc == 0)
            rc = serve_run(c, j, spec, err);
        if (rc < 0)
            return rc;
        if (rc == 1) /* a branch whose run failed keeps its number, that of the list */
            answer_error(c, err, hc_session_branches(c->session));
        if (!hc_session_alive(c->session))
            return 0;
    }
    answer_done(c, "branch");
    return 0;
}

static int serve_keep(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                      struct hc_error *err)
{
    (void)j;
    double n = cJSON_IsNumber(node) ? node->valuedouble : -1;
    if (n < 0 || n > HC_SESSION_BRANCHES || n != (double)(size_t)n) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "keep: expected the number of a branch, or 0");
        return 1;
    }
    int rc = request_result(c, hc_session_keep(c->session, (size_t)n, err));
    if (rc == 0)
        answer_done(c, "keep");
    return rc;
}

/* Whether the request's value is true, the only valid value of such a request. */
static bool is_true(const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsTrue(node))
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected true, got %s", node->string, hc_json_kind(node));
    return cJSON_IsTrue(node);
}

static int serve_interrupt(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                           struct hc_error *err)
{
    (void)c, (void)j;
    return is_true(node, err) ? 0 : 1; /* no run goes on that could be interrupted */
}

/* Input is for a run that goes on (take_input). */
static int serve_input(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err)
{
    (void)c, (void)j;
    if (!cJSON_IsString(node) && !cJSON_IsNull(node))
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "input: expected a string, or null for its end, got %s",
                         hc_json_kind(node));
    return cJSON_IsString(node) || cJSON_IsNull(node) ? 0 : 1;
}

static int serve_stream(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                        struct hc_error *err)
{
    (void)j;
    if (!cJSON_IsBool(node)) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "stream: expected true or false, got %s", hc_json_kind(node));
        return 1;
    }
    c->out.shows = cJSON_IsTrue(node);
    answer_done(c, "stream");
    return 0;
}

/* Answers with "done" and the members of the file, the files or the changes. */
static int serve_files(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err)
{
    (void)j;
    hc_autobuf members = {0};
    hc_autobuf line = {0};
    char state[64];
    const bool changes = strcmp(node->string, "list_changes") == 0;
    int rc = changes ? hc_session_serve_changes(c->session, node, &members, err)
                     : hc_session_serve_files(c->session, node, &members, err);
    if (rc != 0)
        return rc;
    (void)hc_buf_fmt(&line, "{\"event\": \"done\", \"request\": \"%s\", \"state\": \"%s\"", node->string,
                     state_text(hc_session_state_of(c->session), state));
    (void)hc_buf_add(&line, members.data, members.len);
    (void)hc_buf_str(&line, "}");
    if (line.failed)
        return hc_fail(err, ENOMEM, "%s", node->string);
    hc_outlet_line(&c->out, line.data);
    c->failed |= c->out.failed;
    return 0;
}

static int serve_close(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err)
{
    (void)c, (void)j;
    return is_true(node, err) ? 2 : 1;
}

static const struct {
    const char *name; /* name of the request's only member */
    int (*serve)(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                 struct hc_error *err);
    bool in_branches; /* allowed while branches are open */
} requests[] = {
    {"run", serve_run, false},
    {"checkpoint", serve_checkpoint, false},
    {"rollback", serve_rollback, false},
    {"branch", serve_branch, false},
    {"new_context", hc_client_new_context, false},
    {"restart_context", hc_client_change_context, false},
    {"end_context", hc_client_change_context, false},
    {"contexts", hc_client_contexts, true},
    {"keep", serve_keep, true},
    {"interrupt", serve_interrupt, true},
    {"stream", serve_stream, true},
    {"close", serve_close, true},
    {"input", serve_input, true},
    {"write_file", serve_files, false},
    {"read_file", serve_files, false},
    {"list_files", serve_files, false},
    {"stat_file", serve_files, false},
    {"remove_file", serve_files, false},
    {"list_changes", serve_files, false},
    {"make_directory", serve_files, false},
    {"move_file", serve_files, false},
    {"start", hc_client_start, true},
    {"command_input", hc_client_command_input, true},
    {"commands", hc_client_commands, true},
    {"command_signal", hc_client_command_signal, true},
};

/* Serve one request. 0; 1: the request was refused, and changed nothing; 2: it was the last one; -1:
 * hotcell failed. */
static int serve_request(struct hc_session_client *c, const struct hc_json *j, struct hc_error *err)
{
    const cJSON *first = cJSON_IsObject(j->root) ? j->root->child : NULL;
    if (!first || (first->next && !hc_client_is_start(first))) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "expected an object of one member, such as {\"run\": {...}}");
        return 1;
    }
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (strcmp(first->string, requests[i].name) != 0)
            continue;
        if (requests[i].in_branches || !hc_session_branches(c->session))
            return requests[i].serve(c, j, first, err);
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "branches are open: keep one of them first");
        return 1;
    }
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "there is no request '%.40s'", first->string);
    return 1;
}

static int serve_line(struct hc_session_client *c, const char *line, struct hc_error *err)
{
    struct hc_json j;
    if (hc_json_parse(&j, "request", line, strlen(line), err) < 0)
        return 1;
    c->command[0] = '\0';
    c->no_context = false;
    int rc = serve_request(c, &j, err);
    hc_json_finish(&j);
    return rc;
}

/* Handle what commands do between runs. -1, or why the session is over. */
static int serve_commands(struct hc_session_client *c)
{
    struct hc_error err;
    enum hc_session_end why;
    if (hc_session_beside(c->session, &err) < 0) {
        hc_warn("%s", err.text);
        c->failed = true;
        return -1;
    }
    if (!hc_session_alive(c->session))
        return HC_SESSION_LOST;
    return hc_session_used_up(c->session, &why) ? (int)why : -1;
}

/* Wait for the client, and for commands. -1: there is something to do; else an enum hc_session_end: why the
 * session is over. While a command goes on, the session is not idle. */
static int await_input(struct hc_session_client *c)
{
    struct pollfd fds[] = {{.fd = c->ended ? -1 : c->t->in_fd, .events = POLLIN},
                           {.fd = c->t->cancel_fd, .events = POLLIN},
                           {.fd = c->out.fd, .events = c->out.waits ? POLLOUT : 0},
                           {.fd = hc_session_beside_fd(c->session), .events = POLLIN}};
    int64_t idle = c->t->policy->limits.session_idle_ms, left = hc_session_time_left(c->session);
    const bool rests = fds[3].fd < 0 && idle < left;
    int n = poll(fds, 4, (int)MIN(rests ? idle : left, INT_MAX));
    if (n < 0)
        return errno == EINTR ? -1 : HC_SESSION_CANCELLED;
    if (n == 0)
        return rests ? HC_SESSION_IDLE : HC_SESSION_LIFE;
    if (fds[1].revents)
        return HC_SESSION_CANCELLED;
    c->failed |= (fds[2].revents & (POLLERR | POLLHUP)) != 0; /* the client no longer reads answers */
    if (fds[2].revents & POLLOUT)
        hc_outlet_flush(&c->out);
    if (fds[0].revents)
        read_more(c);
    c->failed |= c->out.failed || c->out.gone;
    return fds[3].revents && !c->failed ? serve_commands(c) : -1;
}

static bool is_cancelled(const struct hc_session_client *c)
{
    struct pollfd cancel = {.fd = c->t->cancel_fd, .events = POLLIN};
    return poll(&cancel, 1, 0) > 0;
}

/* Serve requests until the session ends. Returns an enum hc_session_end, or -1: hotcell failed. */
static int serve_requests(struct hc_session_client *c, struct hc_error *err)
{
    cJSON *ready = hc_client_event("ready");
    (void)cJSON_AddStringToObject(ready, "session", hc_session_id(c->session));
    hc_client_answer(c, ready);
    for (int end = -1; end < 0;) {
        char *line = take_line(c);
        if (c->failed) {
            free(line);
            return hc_fail(err, 0, "an answer could not be written, or a request not be held");
        }
        if (!line && c->ended)
            return HC_SESSION_CLOSED;
        if (!line) {
            end = await_input(c);
            if (end >= 0)
                return end;
            continue;
        }
        int rc = *line ? serve_line(c, line, err) : 0;
        free(line);
        if (rc == 1)
            answer_error(c, err, 0);
        if (rc == 2)
            return HC_SESSION_CLOSED;
        if (rc < 0 && (hc_session_alive(c->session) || !is_cancelled(c))) {
            if (err->exit != HC_EXIT_LIMIT)
                return -1;
            answer_error(c, err, 0); /* the session's state is lost */
        }
        if (!hc_session_alive(c->session))
            return is_cancelled(c) ? HC_SESSION_CANCELLED : HC_SESSION_LOST;
        enum hc_session_end why;
        if (hc_session_used_up(c->session, &why))
            return (int)why;
    }
    return HC_SESSION_CLOSED;
}

/* Close the session and write its last answer with the manifest. Returns the exit status. */
static int close_session(struct hc_session_client *c, enum hc_session_end end, struct hc_error *err)
{
    static const struct {
        const char *name;
        int status;
    } ends[] = {
        [HC_SESSION_CLOSED] = {"closed", HC_EXIT_OK}, [HC_SESSION_IDLE] = {"idle", HC_EXIT_LIMIT},
        [HC_SESSION_LIFE] = {"life", HC_EXIT_LIMIT},  [HC_SESSION_CPU] = {"cpu", HC_EXIT_LIMIT},
        [HC_SESSION_RUNS] = {"runs", HC_EXIT_LIMIT},  [HC_SESSION_OUTPUT] = {"output", HC_EXIT_LIMIT},
        [HC_SESSION_LOST] = {"lost", HC_EXIT_LIMIT},  [HC_SESSION_CANCELLED] = {"cancelled", HC_EXIT_LIMIT},
    };
    hc_autobuf text = {0};
    hc_autobuf line = {0};
    if (hc_session_close(c->session, end, c->t->key, c->t->key_len, &text, err) < 0 ||
        one_line(&text, &line, err) < 0)
        return -1;
    cJSON *o = hc_client_event("end");
    (void)cJSON_AddStringToObject(o, "reason", ends[end].name);
    (void)cJSON_AddRawToObject(o, "manifest", line.data);
    hc_client_answer(c, o);
    if (c->failed)
        return hc_fail(err, 0, "an answer could not be written");
    return ends[end].status == HC_EXIT_OK ? hc_session_exit(c->session) : ends[end].status;
}

/* Set up epoll. A regular file cannot be watched, so all of it is read at once. */
static int open_client(struct hc_session_client *c, struct hc_error *err)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = c->t->in_fd};
    c->wake = epoll_create1(EPOLL_CLOEXEC);
    if (c->wake < 0)
        return hc_fail(err, errno, "wait for a session's client");
    if (hc_outlet_open(&c->out, c->t->out_fd, c->wake, err) < 0)
        return -1;
    c->out.cancel_fd = c->t->cancel_fd;
    c->out.idle_ms = c->t->policy->limits.session_idle_ms;
    if (epoll_ctl(c->wake, EPOLL_CTL_ADD, c->t->in_fd, &ev) == 0)
        return 0;
    while (!c->ended && !c->failed)
        read_more(c);
    return 0;
}

int hc_session_talk(const struct hc_session_talk *t, struct hc_error *err)
{
    struct hc_session_client c = {.t = t, .in = {.max = HC_TALK_REQUEST}, .wake = -1, .out = {.fd = -1}};
    int rc = open_client(&c, err);
    const struct hc_session_given given = {.job = t->job,
                                           .policy = t->policy,
                                           .default_dir = t->default_dir,
                                           .else_temporary = t->else_temporary,
                                           .share = t->share,
                                           .shared = t->shared,
                                           .volumes = t->volumes,
                                           .parked = t->parked,
                                           .cancel_fd = t->cancel_fd,
                                           .cancel_has_reason = t->cancel_has_reason,
                                           .tool_fd = t->tool_fd,
                                           .wake_fd = c.wake,
                                           .woken = woken,
                                           .printed = printed,
                                           .figured = figured,
                                           .input_requested = input_requested,
                                           .commanded = commanded,
                                           .ctx = &c};
    if (rc == 0)
        rc = hc_session_start(&c.session, &given, err);
    if (rc == 0) {
        c.out.life_us = hc_now_us() + hc_session_time_left(c.session) * 1000;
        rc = serve_requests(&c, err);
    }
    if (rc >= 0)
        rc = close_session(&c, (enum hc_session_end)rc, err);
    hc_session_end(c.session);
    hc_outlet_finish(&c.out);
    hc_close_fd(&c.wake);
    hc_buf_finish(&c.in);
    return rc;
}
