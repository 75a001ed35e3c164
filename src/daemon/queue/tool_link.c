#include "daemon/queue/tool_link.h"

#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MOST_WAITING ((size_t)128 << 20) /* most bytes of answers that the other side has not read */

static const char prefix[] = "{\"id\": ";

void hc_tool_link_init(struct hc_tool_link *l)
{
    *l = (struct hc_tool_link){.watch = {.fd = -1}};
}

int hc_tool_link_open(struct hc_tool_link *l, int epoll, void (*ready)(struct hc_watch *w, uint32_t events),
                      struct hc_error *err)
{
    int ends[2];
    hc_tool_link_init(l);
    l->epoll = epoll;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return hc_fail(err, errno, "socketpair");
    l->watch = (struct hc_watch){ends[0], ready};
    if (hc_reactor_add(epoll, &l->watch, EPOLLIN, err) == 0)
        return ends[1];
    hc_close_fd(&l->watch.fd);
    (void)close(ends[1]);
    return -1;
}

void hc_tool_link_count(struct hc_tool_link *l, struct hc_request_memory *request_memory,
                        struct hc_tenant *tenant)
{
    l->request_memory = request_memory;
    l->tenant = tenant;
}

static void count_answers(struct hc_tool_link *l)
{
    int64_t bytes = (int64_t)l->out.len;
    if (bytes != l->held)
        hc_request_memory_hold(l->request_memory, l->tenant, bytes - l->held);
    l->held = bytes;
}

void hc_tool_link_close(struct hc_tool_link *l)
{
    if (l->watch.fd >= 0)
        hc_reactor_remove(l->epoll, &l->watch);
    hc_close_fd(&l->watch.fd);
    hc_buf_finish(&l->in);
    hc_buf_finish(&l->out);
    l->sent = l->count = 0;
    count_answers(l);
}

static void send_waiting(struct hc_tool_link *l)
{
    while (l->sent < l->out.len) {
        ssize_t n = TEMP_FAILURE_RETRY(
            send(l->watch.fd, l->out.data + l->sent, l->out.len - l->sent, MSG_NOSIGNAL | MSG_DONTWAIT));
        if (n < 0)
            break; /* if the other side has gone, the next read reports it */
        l->sent += (size_t)n;
    }
    bool waits = l->sent < l->out.len;
    if (!waits) {
        hc_buf_finish(&l->out);
        l->sent = 0;
    }
    count_answers(l);
    struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.ptr = &l->watch};
    if (waits != l->waits)
        (void)epoll_ctl(l->epoll, EPOLL_CTL_MOD, l->watch.fd, &event);
    l->waits = waits;
}

static void answer_line(struct hc_tool_link *l, const char *line)
{
    (void)hc_buf_str(&l->out, line);
    send_waiting(l);
}

/* Reads the beginning of a call. hotcell's own processes write it, so its form is known. */
static bool read_head(const char *line, size_t len, struct hc_open_call *call)
{
    static const char then[] = ", \"result_size\": ";
    char *end;
    if (len < sizeof prefix || strncmp(line, prefix, sizeof prefix - 1) != 0)
        return false;
    call->id = (uint32_t)strtoul(line + sizeof prefix - 1, &end, 10);
    if (strncmp(end, then, sizeof then - 1) != 0)
        return false;
    call->most = (uint32_t)strtoul(end + sizeof then - 1, &end, 10);
    return true;
}

static void take_call(struct hc_tool_link *l, const char *line, size_t len, struct hc_events *e)
{
    char refusal[120];
    struct hc_open_call call;
    if (!read_head(line, len, &call))
        return;
    if (l->count == HC_TOOL_CALLS) { /* calls that were not answered in time are counted, too */
        memmove(l->open, l->open + 1, (HC_TOOL_CALLS - 1) * sizeof *l->open);
        l->count--;
    }
    if (e->lines.len + len > 2 * HC_EVENTS_MAX) {
        (void)snprintf(
            refusal, sizeof refusal,
            "%s%u, \"error\": \"too much is told of this job already: no call reaches the client\"}\n",
            prefix, call.id);
        answer_line(l, refusal);
        return;
    }
    l->open[l->count++] = call;
    (void)hc_buf_str(&e->lines, "{\"event\": \"tool_call\", ");
    (void)hc_buf_add(&e->lines, line + 1, len - 1);
    (void)hc_buf_str(&e->lines, "\n");
}

static void take_lines(struct hc_tool_link *l, size_t from, struct hc_events *e)
{
    size_t begin = 0;
    const char *end;
    while ((end = memchr(l->in.data + from, '\n', l->in.len - from))) {
        size_t at = (size_t)(end - l->in.data);
        take_call(l, l->in.data + begin, at - begin, e);
        begin = from = at + 1;
    }
    memmove(l->in.data, l->in.data + begin, l->in.len - begin);
    l->in.len -= begin;
}

void hc_tool_link_work(struct hc_tool_link *l, struct hc_events *e)
{
    char chunk[65536];
    send_waiting(l);
    ssize_t n = TEMP_FAILURE_RETRY(recv(l->watch.fd, chunk, sizeof chunk, MSG_DONTWAIT));
    if (n < 0 && errno == EAGAIN)
        return;
    size_t before = l->in.len;
    if (n <= 0 || hc_buf_add(&l->in, chunk, (size_t)n) < 0) {
        hc_tool_link_close(l); /* the other end lets its waiting calls fail when this end is closed */
        return;
    }
    take_lines(l, before, e);
}

static size_t find_call(const struct hc_tool_link *l, const char *call)
{
    char text[16];
    for (size_t i = 0; i < l->count; i++) {
        (void)snprintf(text, sizeof text, "%u", l->open[i].id);
        if (strcmp(text, call) == 0)
            return i;
    }
    return l->count;
}

int hc_tool_link_answer(struct hc_tool_link *l, const char *call, const char *text, size_t len,
                        struct hc_error *err)
{
    hc_autobuf line = {0};
    size_t i = find_call(l, call);
    if (l->watch.fd < 0 || i == l->count)
        return 1;
    if (l->out.len - l->sent > MOST_WAITING)
        return 2;
    int rc = hc_tool_answer_line(&line, &l->open[i], text, len, err);
    if (rc < 0)
        return -1;
    l->count--;
    memmove(l->open + i, l->open + i + 1, (l->count - i) * sizeof *l->open);
    (void)hc_buf_add(&l->out, line.data, line.len);
    send_waiting(l);
    return rc;
}
