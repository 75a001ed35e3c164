#include "cell/session/session_out.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

/* Ask epoll for these events of the client. Without any, it still reports that the client has gone. A file
 * that cannot be polled never blocks. */
static void watch_client(const struct hc_outlet *o, int op, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.fd = o->fd};
    if (o->epoll >= 0)
        (void)epoll_ctl(o->epoll, op, o->fd, &ev);
}

/* Duplicate the descriptor: epoll may watch it already, if requests come from the same one. */
int hc_outlet_open(struct hc_outlet *o, int fd, int epoll, struct hc_error *err)
{
    *o = (struct hc_outlet){
        .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .epoll = epoll, .cancel_fd = -1, .idle_ms = INT_MAX};
    if (o->fd < 0)
        return hc_fail(err, errno, "answer a session's client");
    watch_client(o, EPOLL_CTL_ADD, 0);
    return 0;
}

void hc_outlet_finish(struct hc_outlet *o)
{
    hc_close_fd(&o->fd);
    hc_events_finish(&o->output);
}

/* Whether the session ends: from the first time on that this is seen, its client has HC_LAST_WORDS_MS. */
static bool is_ending(struct hc_outlet *o, int64_t now_us)
{
    struct pollfd cancel = {.fd = o->cancel_fd, .events = POLLIN};
    if (o->until_us)
        return true;
    if (poll(&cancel, 1, 0) <= 0 && (!o->life_us || now_us < o->life_us))
        return false;
    o->until_us = now_us + INT64_C(1000) * HC_LAST_WORDS_MS;
    return true;
}

/* Wait until the client may take more. False: it has not in its time. */
static bool await_client(struct hc_outlet *o)
{
    const int64_t now = hc_now_us();
    const int64_t idle = now + o->idle_ms * 1000;
    const bool ending = is_ending(o, now), dies = o->life_us && o->life_us < idle;
    const int64_t until = ending ? o->until_us : dies ? o->life_us : idle;
    if (until <= now)
        return false;
    struct pollfd fds[] = {{.fd = o->fd, .events = POLLOUT},
                           {.fd = ending ? -1 : o->cancel_fd, .events = POLLIN}};
    const int64_t left_ms = (until - now) / 1000 + 1;
    const int n = poll(fds, 2, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
    if (n != 0)
        return n > 0 || errno == EINTR;
    return !ending && dies; /* its last words remain */
}

/* Nothing here may block for good: a session whose client does not read has to end all the same. */
static void write_whole(struct hc_outlet *o, const char *data, size_t len)
{
    while (len && !o->gone) {
        ssize_t n = hc_write_some(o->fd, data, len);
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN)
            o->gone = !await_client(o);
        else if (n < 0 && errno != EINTR)
            o->gone = true;
    }
    o->failed |= o->gone;
}

bool hc_outlet_queue(struct hc_outlet *o, const char *lines, size_t len, bool may_drop)
{
    struct hc_buf *b = &o->output.lines;
    if (may_drop && b->len > HC_EVENTS_MAX)
        return false;
    if (o->gone)
        return true;
    (void)hc_buf_add(b, lines, len);
    o->failed |= b->failed;
    o->gone |= b->len > 2 * HC_EVENTS_MAX;
    hc_outlet_flush(o);
    return true;
}

void hc_outlet_line(struct hc_outlet *o, const char *text)
{
    hc_autobuf line = {0};
    o->failed |= hc_buf_fmt(&line, "%s\n", text) < 0;
    write_whole(o, o->output.lines.data, o->output.lines.len);
    o->output.lines.len = 0;
    write_whole(o, line.data, line.len);
}

void hc_outlet_flush(struct hc_outlet *o)
{
    struct hc_buf *b = &o->output.lines;
    size_t at = 0;
    while (at < b->len && !o->gone) {
        ssize_t n = hc_write_some(o->fd, b->data + at, b->len - at);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            break;
        else if (n < 0 && errno != EINTR)
            o->gone = true;
    }
    if (o->gone)
        at = b->len;
    if (at)
        memmove(b->data, b->data + at, b->len - at);
    b->len -= at;
    if (o->waits != (b->len > 0))
        watch_client(o, EPOLL_CTL_MOD, b->len ? EPOLLOUT : 0);
    o->waits = b->len > 0;
}

void hc_outlet_print(struct hc_outlet *o, int stream, const char *data, size_t len)
{
    if (!o->shows || o->gone)
        return;
    hc_events_output(&o->output, (enum hc_event_stream)stream, data, len);
    hc_outlet_flush(o);
}

void hc_outlet_figure(struct hc_outlet *o, const struct hc_figure *f)
{
    if (!o->shows || o->gone || o->output.lines.len > HC_EVENTS_MAX)
        return;
    hc_events_figure(&o->output, f);
    hc_outlet_flush(o);
}

void hc_outlet_request(struct hc_outlet *o, const char *json, size_t len)
{
    if (o->gone)
        return;
    o->input_requests++;
    o->input_request_bytes += len;
    if (o->input_requests_omitted || o->input_requests > HC_MAX_INPUT_REQUESTS ||
        o->input_request_bytes > HC_INPUT_REQUEST_BYTES || o->output.lines.len > HC_EVENTS_MAX) {
        if (o->input_requests_omitted++ == 0)
            hc_events_cut(&o->output, "input_request", 0);
    } else
        hc_events_json(&o->output, "input_request", json, len);
    hc_outlet_flush(o);
}

void hc_outlet_settle(struct hc_outlet *o)
{
    hc_events_end(&o->output);
    if (o->input_requests_omitted)
        hc_events_cut(&o->output, "input_request", o->input_requests_omitted);
    o->input_requests = o->input_requests_omitted = 0;
    o->input_request_bytes = 0;
    o->failed |= o->output.lines.failed;
    if (o->output.lines.len)
        write_whole(o, o->output.lines.data, o->output.lines.len);
    hc_events_finish(&o->output);
    if (o->waits)
        watch_client(o, EPOLL_CTL_MOD, 0);
    o->waits = false;
}
