/* Requests to a daemon over connections that never block. */
#include "lib/parts.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define READ_SIZE 65536 /* most bytes of an answer that are read at once */
#define MAX_STEP  64    /* most reads in one step, so that a fast daemon does not keep the caller */

static int watch(struct hc_lib_exchange *x, int epoll, int how, uint32_t events, struct hc_error *err)
{
    struct epoll_event e = {.events = events, .data.fd = x->fd};
    return epoll_ctl(epoll, how, x->fd, &e) < 0 ? hc_fail(err, errno, "wait for hotcelld") : 0;
}

/* Sends what can be sent now. A daemon that closes its end may have said why. */
static int send_some(struct hc_lib_exchange *x, int epoll, struct hc_error *err)
{
    while (x->sent < x->out.len) {
        ssize_t n = send(x->fd, x->out.data + x->sent, x->out.len - x->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0 && errno != EPIPE && errno != ECONNRESET)
            return hc_fail(err, errno, "send the request");
        x->sent = n < 0 ? x->out.len : x->sent + (size_t)n;
    }
    x->sending = false;
    hc_buf_finish(&x->out);
    return watch(x, epoll, EPOLL_CTL_MOD, EPOLLIN, err);
}

int hc_lib_exchange_begin(struct hc_lib_exchange *x, int epoll, const struct hc_daemon_address *to,
                          const struct hc_exchange_head *head, struct hc_error *err)
{
    hc_lib_exchange_finish(x);
    x->answer.body.max = HC_LIB_MAX_ANSWER;
    hc_put_request_head(&x->out, to, head);
    if (head->body)
        (void)hc_buf_add(&x->out, head->body, head->body_len);
    if (x->out.failed)
        return hc_fail(err, ENOMEM, "send the request");
    x->fd = hc_dial(to, err);
    if (x->fd < 0)
        return -1;
    if (fcntl(x->fd, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "connect to hotcelld");
    x->sending = true;
    if (watch(x, epoll, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT, err) < 0)
        return -1;
    return send_some(x, epoll, err);
}

/* 1: nothing more can be read now; 0: something was read. */
static int receive_some(struct hc_lib_exchange *x, struct hc_error *err)
{
    char block[READ_SIZE];
    ssize_t n = TEMP_FAILURE_RETRY(read(x->fd, block, sizeof block));
    if (n < 0 && errno == EAGAIN)
        return 1;
    if (n < 0)
        return hc_fail(err, errno, "read the answer");
    return n == 0 ? hc_answer_end(&x->answer, err) : hc_answer_feed(&x->answer, block, (size_t)n, err);
}

int hc_lib_exchange_step(struct hc_lib_exchange *x, int epoll, struct hc_error *err)
{
    int rc = 0;
    if (x->sending && send_some(x, epoll, err) < 0)
        return -1;
    for (int i = 0; i < MAX_STEP && rc == 0 && x->answer.state != HC_ANSWER_DONE; i++)
        rc = receive_some(x, err);
    if (rc < 0)
        return -1;
    if (x->answer.state != HC_ANSWER_DONE)
        return 0;
    hc_close_fd(&x->fd);
    return 1;
}

void hc_lib_exchange_finish(struct hc_lib_exchange *x)
{
    hc_close_fd(&x->fd);
    hc_buf_finish(&x->out);
    hc_answer_finish(&x->answer);
    *x = (struct hc_lib_exchange){.fd = -1};
}

int hc_lib_exchange_whole(struct hc_lib_exchange *x, const struct hc_daemon_address *to,
                          const struct hc_exchange_head *head, int timeout_ms, struct hc_error *err)
{
    const int64_t since = hc_lib_now_ms();
    hc_autofd epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        return hc_fail(err, errno, "wait for hotcelld");
    if (hc_lib_exchange_begin(x, epoll, to, head, err) < 0)
        return -1;
    int rc;
    while ((rc = hc_lib_exchange_step(x, epoll, err)) == 0)
        if (!hc_lib_await(epoll, hc_lib_left_ms(since, timeout_ms)))
            return hc_fail_as(err, HC_EXIT_INTERNAL, ETIMEDOUT, "wait for hotcelld");
    return rc < 0 ? -1 : 0;
}

int hc_lib_problem(const char *text, size_t len, int http_status, char **manifest, struct hc_error *err)
{
    struct hc_json json;
    struct hc_error ignored;
    int exit = hc_exit_of_http(http_status);
    if (hc_json_parse(&json, "problem", text ? text : "", len, &ignored) < 0)
        return hc_fail_as(err, exit, 0, "hotcelld answers with status %d, and does not say why", http_status);
    const cJSON *inner = hc_json_member(json.root, "manifest");
    const int64_t own = hc_json_int(json.root, "status", http_status);
    size_t source_len = 0;
    const char *source = cJSON_IsObject(inner) ? hc_json_source(&json, inner, &source_len) : NULL;
    exit = hc_exit_of_http((int)own);
    if (strcmp(hc_json_text(json.root, "type"), "urn:hotcell:problem:cancelled") == 0)
        exit = HC_EXIT_LIMIT;
    if (source && manifest)
        *manifest = strndup(source, source_len);
    (void)hc_fail_as(err, exit, 0, "hotcelld: %.600s",
                     hc_json_text_or(json.root, "detail", "no reason given"));
    hc_json_finish(&json);
    return -1;
}
