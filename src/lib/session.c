/* Sessions: `hotcell session` over a socket, or requests to a daemon. */
#include "lib/parts.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define READ_SIZE 65536 /* most bytes of answers that are read at once */

struct hotcell_session {
    const hotcell_place *place;            /* borrowed */
    int epoll;                             /* readable when there is something to do; owned */
    int progress;                          /* enum hotcell_progress; REFUSED only in an answer */
    struct hc_error error;                 /* why it is over, or why the last request was refused */
    hotcell_result *result;                /* of the last run; owned, until the caller takes it */
    struct hc_lib_child child;             /* the command; none for a daemon */
    int socket;                            /* the command's standard input and output; owned; -1: none */
    struct hc_buf out;                     /* lines for the command; the first `sent` bytes were sent */
    size_t sent;                           /* bytes */
    bool sending;                          /* the socket is watched for room */
    struct hc_buf in;                      /* lines of the command that were not read yet */
    size_t searched;                       /* bytes of `in` that are known to have no line end */
    char *output_dir;                      /* the command's directory of results, owned */
    char id[80];                           /* the session's ID; empty until it has begun */
    struct hc_lib_exchange request, other; /* with a daemon: the request that is served; an interrupt */
};

/* ---- answers ---- */

static void end(hotcell_session *s)
{
    s->progress = HOTCELL_FAILED;
}

static char *copy_text(const char *text, const char *more)
{
    char *copy = NULL;
    return asprintf(&copy, "%s%s", text, more) < 0 ? NULL : copy;
}

/* Takes the answer to a run. */
static int take_run(hotcell_session *s, const struct hc_json *json, struct hc_error *err)
{
    const cJSON *manifest = hc_json_member(json->root, "manifest");
    char path[128];
    size_t len = 0;
    const char *text = cJSON_IsObject(manifest) ? hc_json_source(json, manifest, &len) : NULL;
    if (!text)
        return hc_fail(err, 0, "the session has answered without a result");
    (void)snprintf(path, sizeof path, "/v1/sessions/%s/files/", s->id);
    const bool is_command = s->place->command != NULL;
    char *dir = is_command
                    ? s->output_dir ? copy_text(s->output_dir, "") : copy_text(HC_LIB_DEFAULT_DIR "/", s->id)
                    : NULL;
    hotcell_result_free(s->result);
    if (hc_lib_result_new(&s->result, strndup(text, len), dir, is_command ? NULL : copy_text(path, ""), err) <
        0)
        return -1;
    s->result->run = (int)hc_json_int(json->root, "run", 0);
    (void)snprintf(s->result->state, sizeof s->result->state, "%s", hc_json_text(json->root, "state"));
    return 0;
}

/* ---- a command ---- */

static int watch_socket(hotcell_session *s, int how, struct hc_error *err)
{
    struct epoll_event e = {.events = s->sending ? EPOLLIN | EPOLLOUT : EPOLLIN};
    return epoll_ctl(s->epoll, how, s->socket, &e) < 0 ? hc_fail(err, errno, "wait for hotcell") : 0;
}

static int start_command(hotcell_session *s, const hotcell_spec *spec, struct hc_error *err)
{
    const char *const argv[] = {s->place->command, "session", "--spec", "/proc/self/fd/3", NULL};
    hc_autobuf text = {0};
    int pair[2];
    if (hc_lib_print_spec(spec, false, &text, err) < 0 || hc_lib_output_dir(spec, &s->output_dir, err) < 0)
        return -1;
    hc_autofd file = hc_sealed_memfd("hotcell-spec", text.data, text.len, err);
    if (file < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "begin a session");
    s->socket = pair[0];
    hc_autofd theirs = pair[1];
    if (fcntl(s->socket, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "begin a session");
    if (hc_lib_child_start(&s->child, argv, theirs, theirs, file, false, err) < 0)
        return -1;
    return watch_socket(s, EPOLL_CTL_ADD, err);
}

/* Sends what there is room for. Whether the command is still there, its answers tell. */
static int send_lines(hotcell_session *s, struct hc_error *err)
{
    while (s->sent < s->out.len) {
        ssize_t n = send(s->socket, s->out.data + s->sent, s->out.len - s->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        s->sent = n < 0 ? s->out.len : s->sent + (size_t)n;
    }
    if (s->sent == s->out.len) {
        hc_buf_finish(&s->out);
        s->sent = 0;
    }
    const bool more = s->out.len > 0;
    if (more == s->sending)
        return 0;
    s->sending = more;
    return watch_socket(s, EPOLL_CTL_MOD, err);
}

/* The line of an event that ends the session. */
static int fail_with_end(const struct hc_json *json, struct hc_error *err)
{
    const cJSON *manifest = hc_json_member(json->root, "manifest");
    const char *why = hc_json_text_or(manifest, "reason", hc_json_text(json->root, "reason"));
    return hc_fail_as(err, HC_EXIT_LIMIT, 0, "the session has ended: %.600s", why);
}

static int read_event(hotcell_session *s, const struct hc_json *json, struct hc_error *err)
{
    const char *event = hc_json_text(json->root, "event");
    if (strcmp(event, "ready") == 0) {
        (void)snprintf(s->id, sizeof s->id, "%.79s", hc_json_text(json->root, "session"));
        s->progress = HOTCELL_READY;
    } else if (strcmp(event, "result") == 0) {
        s->progress = HOTCELL_READY;
        return take_run(s, json, err);
    } else if (strcmp(event, "error") == 0) {
        s->progress = HOTCELL_REFUSED;
        (void)hc_fail_as(&s->error, HC_EXIT_DATA, 0, "%.700s", hc_json_text(json->root, "message"));
    } else if (strcmp(event, "end") == 0)
        return fail_with_end(json, err);
    return 0;
}

static int read_lines(hotcell_session *s, struct hc_error *err)
{
    struct hc_buf *b = &s->in;
    char *at;
    while (b->len > s->searched && (at = memchr(b->data + s->searched, '\n', b->len - s->searched))) {
        struct hc_json json;
        size_t len = (size_t)(at - b->data);
        *at = '\0'; /* the parser needs a text to end there */
        if (hc_json_parse(&json, "answer", b->data, len, err) < 0)
            return hc_exit_as(err, HC_EXIT_INTERNAL);
        int rc = read_event(s, &json, err);
        hc_json_finish(&json);
        if (rc < 0)
            return -1;
        memmove(b->data, at + 1, b->len - len - 1);
        b->len -= len + 1;
        s->searched = 0;
    }
    s->searched = b->len;
    return 0;
}

/* Reads what has come. 1: the command has closed its end. */
static int receive_lines(hotcell_session *s, struct hc_error *err)
{
    char block[READ_SIZE];
    s->in.max = HC_LIB_MAX_ANSWER;
    for (;;) {
        ssize_t n = TEMP_FAILURE_RETRY(recv(s->socket, block, sizeof block, 0));
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n <= 0)
            return 1;
        if (hc_buf_add(&s->in, block, (size_t)n) < 0)
            return hc_fail(err, EMSGSIZE, "read the session's answers");
    }
}

static void step_command(hotcell_session *s)
{
    int rc = send_lines(s, &s->error);
    if (rc == 0)
        rc = receive_lines(s, &s->error);
    if (rc >= 0 && read_lines(s, &s->error) < 0)
        rc = -1;
    else if (rc > 0) {
        (void)hc_lib_await(s->child.end, HC_LIB_PATIENCE_MS); /* it is about to end */
        (void)hc_lib_child_ended(&s->child);
        rc = hc_lib_child_fail(&s->child, &s->error);
    }
    if (rc < 0)
        end(s);
}

static int put_line(hotcell_session *s, const char *head, const char *body, struct hc_error *err)
{
    (void)hc_buf_fmt(&s->out, "{\"%s\":", head);
    (void)hc_buf_str(&s->out, body);
    if (hc_buf_str(&s->out, "}\n") < 0)
        return hc_fail(err, ENOMEM, "ask the session");
    return send_lines(s, err);
}

/* ---- a daemon ---- */

static int ask(hotcell_session *s, struct hc_lib_exchange *x, const char *method, const char *below,
               const struct hc_buf *body, struct hc_error *err)
{
    char path[160];
    (void)snprintf(path, sizeof path, "/v1/sessions%s%s%s", *s->id ? "/" : "", s->id, below);
    const struct hc_exchange_head head = {
        .method = method, .path = path, .body = body ? body->data : NULL, .body_len = body ? body->len : 0};
    return hc_lib_exchange_begin(x, s->epoll, &s->place->address, &head, err);
}

static int start_request(hotcell_session *s, const hotcell_spec *spec, struct hc_error *err)
{
    hc_autobuf body = {0};
    if (hc_lib_print_spec(spec, true, &body, err) < 0)
        return -1;
    return ask(s, &s->request, "POST", "", &body, err);
}

/* Takes the ID of a session that has begun. */
static int take_id(hotcell_session *s, const struct hc_json *json, struct hc_error *err)
{
    const char *id = hc_json_text(json->root, "session_id");
    if (!*id || strlen(id) >= sizeof s->id ||
        id[strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")])
        return hc_fail(err, 0, "%.200s does not say which session it has begun", s->place->address.name);
    (void)snprintf(s->id, sizeof s->id, "%s", id);
    return 0;
}

/* The answer is whole. */
static int read_answer(hotcell_session *s, struct hc_error *err)
{
    const struct hc_answer *a = &s->request.answer;
    const char *text = a->body.data ? a->body.data : "";
    struct hc_json json;
    const bool over = a->status == 404 || a->status == 410 || a->status >= 500;
    if (a->status >= 300 && *s->id && !over) {
        s->progress = HOTCELL_REFUSED;
        (void)hc_lib_problem(text, a->body.len, a->status, NULL, &s->error);
        if (a->status == 422) /* what the command calls an error of the request */
            (void)hc_exit_as(&s->error, HC_EXIT_DATA);
        return 0;
    }
    if (a->status >= 300)
        return hc_lib_problem(text, a->body.len, a->status, NULL, err);
    if (hc_json_parse(&json, "answer", text, a->body.len, err) < 0)
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    int rc = *s->id ? take_run(s, &json, err) : take_id(s, &json, err);
    hc_json_finish(&json);
    s->progress = HOTCELL_READY;
    return rc;
}

static void step_request(hotcell_session *s)
{
    struct hc_error ignored;
    int rc = s->request.fd < 0 ? 0 : hc_lib_exchange_step(&s->request, s->epoll, &s->error);
    if (s->other.fd >= 0 && hc_lib_exchange_step(&s->other, s->epoll, &ignored) != 0)
        hc_close_fd(&s->other.fd);
    if (rc > 0) {
        rc = read_answer(s, &s->error);
        hc_lib_exchange_finish(&s->request);
    }
    if (rc < 0)
        end(s);
}

/* ---- the interface ---- */

static int start(hotcell_session *s, const hotcell_spec *spec, struct hc_error *err)
{
    if (!s->place)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a place");
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0)
        return hc_fail(err, errno, "begin a session");
    return s->place->command ? start_command(s, spec, err) : start_request(s, spec, err);
}

hotcell_session *hotcell_session_start(const hotcell_place *place, const hotcell_spec *spec,
                                       struct hotcell_error *error)
{
    struct hc_error err;
    hotcell_session *s = calloc(1, sizeof *s);
    if (!s) {
        (void)hc_fail(&err, ENOMEM, "begin a session");
        (void)hc_lib_tell(error, &err);
        return NULL;
    }
    *s = (hotcell_session){.place = place,
                           .epoll = -1,
                           .child = HC_LIB_NO_CHILD,
                           .socket = -1,
                           .request.fd = -1,
                           .other.fd = -1};
    if (start(s, spec, &err) == 0)
        return s;
    (void)hc_lib_tell(error, &err);
    hotcell_session_free(s);
    return NULL;
}

int hotcell_session_fd(const hotcell_session *s)
{
    return s->epoll;
}

int hotcell_session_step(hotcell_session *s, struct hotcell_error *error)
{
    if (s->progress != HOTCELL_FAILED)
        s->place->command ? step_command(s) : step_request(s);
    const int progress = s->progress;
    if (progress == HOTCELL_REFUSED)
        s->progress = HOTCELL_READY; /* told once */
    if (progress == HOTCELL_REFUSED || progress == HOTCELL_FAILED)
        (void)hc_lib_tell(error, &s->error);
    return progress;
}

int hotcell_session_wait(hotcell_session *s, int timeout_ms, struct hotcell_error *error)
{
    const int64_t since = hc_lib_now_ms();
    int progress;
    while ((progress = hotcell_session_step(s, error)) == HOTCELL_PENDING)
        if (!hc_lib_await(s->epoll, hc_lib_left_ms(since, timeout_ms)))
            return hotcell_session_step(s, error);
    return progress;
}

static int begin_run(hotcell_session *s, const hotcell_spec *spec, struct hc_error *err)
{
    hc_autobuf body = {0};
    if (!spec)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a spec");
    if (s->progress == HOTCELL_FAILED) {
        *err = s->error;
        return -1;
    }
    if (s->progress != HOTCELL_READY)
        return hc_fail_as(err, HC_EXIT_USAGE, EBUSY, "run a program in the session");
    if (hc_lib_print_spec(spec, true, &body, err) < 0)
        return -1;
    int rc = s->place->command ? put_line(s, "run", body.data, err)
                               : ask(s, &s->request, "POST", "/runs", &body, err);
    if (rc == 0)
        s->progress = HOTCELL_PENDING;
    return rc;
}

int hotcell_session_run(hotcell_session *s, const hotcell_spec *spec, struct hotcell_error *error)
{
    struct hc_error err;
    hotcell_result_free(s->result);
    s->result = NULL;
    return begin_run(s, spec, &err) < 0 ? hc_lib_tell(error, &err) : 0;
}

int hotcell_session_interrupt(hotcell_session *s, struct hotcell_error *error)
{
    struct hc_error err;
    if (s->progress != HOTCELL_PENDING || !*s->id || s->other.fd >= 0)
        return 0;
    int rc = s->place->command ? put_line(s, "interrupt", "true", &err)
                               : ask(s, &s->other, "POST", "/interrupt", NULL, &err);
    return rc < 0 ? hc_lib_tell(error, &err) : 0;
}

hotcell_result *hotcell_session_take_result(hotcell_session *s)
{
    hotcell_result *result = s->result;
    s->result = NULL;
    return result;
}

/* One request of the end, whose answer changes nothing. */
static void ask_for_end(const hotcell_session *s, const char *method, const char *before, const char *behind)
{
    char path[160];
    struct hc_error ignored;
    struct hc_lib_exchange x = {.fd = -1};
    const struct hc_exchange_head head = {.method = method, .path = path};
    (void)snprintf(path, sizeof path, "%s%s%s", before, s->id, behind);
    (void)hc_lib_exchange_whole(&x, &s->place->address, &head, HC_LIB_PATIENCE_MS, &ignored);
    hc_lib_exchange_finish(&x);
}

static void end_at_daemon(hotcell_session *s)
{
    if (!*s->id && s->request.fd >= 0)
        (void)hotcell_session_wait(s, HC_LIB_PATIENCE_MS, NULL); /* it begins: else nobody knew its ID */
    if (!*s->id || s->progress == HOTCELL_FAILED)
        return;
    if (s->progress != HOTCELL_PENDING) {
        ask_for_end(s, "DELETE", "/v1/sessions/", "");
        return;
    }
    ask_for_end(s, "POST", "/v1/jobs/", "/cancel");
    (void)hotcell_session_wait(s, HC_LIB_PATIENCE_MS, NULL); /* the run that goes on ends with it */
}

void hotcell_session_free(hotcell_session *s)
{
    if (!s)
        return;
    if (s->progress == HOTCELL_PENDING)
        hc_lib_child_signal(&s->child, SIGTERM); /* a run that goes on ends, too */
    hc_close_fd(&s->socket);                     /* the end of its input ends the session */
    hc_lib_child_finish(&s->child);
    if (s->place && !s->place->command)
        end_at_daemon(s);
    hc_lib_exchange_finish(&s->request);
    hc_lib_exchange_finish(&s->other);
    hc_close_fd(&s->epoll);
    hotcell_result_free(s->result);
    hc_buf_finish(&s->out);
    hc_buf_finish(&s->in);
    free(s->output_dir);
    free(s);
}
