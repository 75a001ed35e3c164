/* Run accepted calls: commands and calls to the client, their deadlines, and the events of epoll. */
#include "cell/tools/toolbox.h"

#include "base/fd.h"
#include "base/clock.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#define RUNNING 16 /* most calls that run at one time */

int hc_tool_watch(const struct hc_toolbox *tb, int fd, uint32_t events, uint32_t source)
{
    struct epoll_event event = {.events = events, .data.u32 = source};
    return fd < 0 ? 0 : epoll_ctl(tb->epoll, EPOLL_CTL_ADD, fd, &event);
}

size_t hc_tool_count(const struct hc_toolbox *tb, enum phase phase)
{
    size_t n = 0;
    for (size_t i = 0; i < OPEN_CALLS; i++)
        n += tb->slots[i].phase == phase;
    return n;
}

/* ---- deadlines ---- */

static void set_timer(const struct hc_toolbox *tb)
{
    int64_t next = 0;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        const struct slot *s = &tb->slots[i];
        if ((s->phase == COMMAND_RUNNING || s->phase == WITH_CLIENT) && (!next || s->end_us < next))
            next = s->end_us;
    }
    struct itimerspec at = {.it_value = {.tv_sec = next / 1000000, .tv_nsec = next % 1000000 * 1000}};
    (void)timerfd_settime(tb->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void fail_late_calls(struct hc_toolbox *tb)
{
    int64_t now = hc_now_us();
    uint64_t ticks;
    (void)!read(tb->timer, &ticks, sizeof ticks);
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        char time[32], message[160];
        if ((s->phase != COMMAND_RUNNING && s->phase != WITH_CLIENT) || s->end_us > now)
            continue;
        (void)snprintf(message, sizeof message, "the tool took longer than %s (tools.%s.timeout)",
                       hc_format_duration(s->tool->timeout_ms, time, sizeof time), s->tool->name);
        hc_tool_fail_call(tb, s, HC_TOOL_TIMEOUT, message);
    }
}

/* ---- starting calls ---- */

static const struct usage *usage_of(const struct hc_toolbox *tb, const struct hc_tool *tool)
{
    return &tb->usage[tool - tb->tools->items];
}

static void start_command(struct hc_toolbox *tb, struct slot *s)
{
    struct hc_error err = {0};
    hc_autobuf text = {0};
    const uint32_t source = (uint32_t)(s - tb->slots);
    char *words[65] = {(char *)(uintptr_t)usage_of(tb, s->tool)->path};
    for (size_t i = 1; s->tool->command[i]; i++)
        words[i] = s->tool->command[i];
    (void)hc_buf_fmt(&text, "{\"name\": \"%s\", \"arguments\": %s}\n", s->tool->name, s->arguments.data);
    if (text.failed || hc_tool_command_start(&s->command, words, text.data, text.len,
                                             (size_t)s->tool->result_bytes, &err) < 0) {
        hc_tool_fail_call(tb, s, HC_TOOL_ERROR, "the tool could not be started");
        return;
    }
    s->phase = COMMAND_RUNNING;
    s->end_us = hc_now_us() + s->tool->timeout_ms * 1000;
    struct hc_tool_command *c = &s->command;
    if (hc_tool_watch(tb, c->in, EPOLLOUT, source) < 0 || hc_tool_watch(tb, c->out, EPOLLIN, source) < 0 ||
        hc_tool_watch(tb, c->err, EPOLLIN, source) < 0 || hc_tool_watch(tb, c->pidfd, EPOLLIN, source) < 0)
        hc_tool_fail_call(tb, s, HC_TOOL_ERROR, "the tool could not be watched");
}

static void lose_client(struct hc_toolbox *tb, const struct hc_error *err)
{
    hc_tool_unwatch(tb, tb->client.fd);
    hc_tool_client_finish(&tb->client);
    for (size_t i = 0; i < OPEN_CALLS; i++)
        if (tb->slots[i].phase == WITH_CLIENT)
            hc_tool_fail_call(tb, &tb->slots[i], HC_TOOL_ERROR, err->text);
}

static void send_client(struct hc_toolbox *tb)
{
    bool waits = hc_tool_client_send(&tb->client);
    struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.u32 = CLIENT_SOURCE};
    if (waits != tb->client_waits)
        (void)epoll_ctl(tb->epoll, EPOLL_CTL_MOD, tb->client.fd, &event);
    tb->client_waits = waits;
}

static void ask_client(struct hc_toolbox *tb, struct slot *s)
{
    if (tb->client.fd < 0 ||
        hc_tool_client_call(&tb->client, s->client_id = ++tb->client_id, s->tool, s->arguments.data) < 0) {
        hc_tool_fail_call(tb, s, HC_TOOL_ERROR, "the tools' client has gone");
        return;
    }
    s->phase = WITH_CLIENT;
    s->end_us = hc_now_us() + s->tool->timeout_ms * 1000;
    send_client(tb);
}

/* The oldest waiting call; NULL: none waits. */
static struct slot *first_queued(struct hc_toolbox *tb)
{
    struct slot *first = NULL;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        if (s->phase == QUEUED && (!first || s->id < first->id))
            first = s;
    }
    return first;
}

void hc_tool_start_queued(struct hc_toolbox *tb)
{
    size_t running = hc_tool_count(tb, COMMAND_RUNNING) + hc_tool_count(tb, COMMAND_DYING) +
                     hc_tool_count(tb, WITH_CLIENT);
    struct slot *next;
    while (running < RUNNING && tb->held <= HELD_BYTES && (next = first_queued(tb))) {
        running++;
        if (next->tool->command)
            start_command(tb, next);
        else
            ask_client(tb, next);
    }
    set_timer(tb);
}

/* Answers that were sent make room for waiting calls. Some of those may be answered at once: send again. */
bool hc_toolbox_send(struct hc_toolbox *tb, int control_fd)
{
    bool left = hc_tool_send_answers(tb, control_fd);
    while (!left) {
        hc_tool_start_queued(tb);
        if (!tb->first)
            break;
        left = hc_tool_send_answers(tb, control_fd);
    }
    return left;
}

/* ---- events ---- */

static void on_answer(void *ctx, const struct hc_client_answer *answer)
{
    struct hc_toolbox *tb = ctx;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        char message[256];
        if (s->phase != WITH_CLIENT || s->client_id != answer->id)
            continue;
        if (answer->value) {
            hc_tool_answer_call(tb, s, answer->value, answer->len);
            return;
        }
        hc_tool_clean(message, sizeof message, answer->error, strlen(answer->error));
        hc_tool_fail_call(tb, s, HC_TOOL_ERROR, *message ? message : "the tool failed");
        return;
    } /* the call has ended meanwhile */
}

static void work_client(struct hc_toolbox *tb)
{
    struct hc_error err = {0};
    if (tb->client.fd < 0)
        return;
    send_client(tb);
    if (hc_tool_client_read(&tb->client, on_answer, tb, &err) < 0)
        lose_client(tb, &err);
}

static bool has_ended(const struct hc_tool_command *c)
{
    siginfo_t info = {0};
    return waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

static void work_command(struct hc_toolbox *tb, struct slot *s)
{
    struct hc_tool_command *c = &s->command;
    if (s->phase != COMMAND_RUNNING && s->phase != COMMAND_DYING)
        return;
    if (s->phase == COMMAND_RUNNING) {
        hc_tool_command_write(c);
        hc_tool_command_read(c);
        if (c->too_long)
            hc_tool_answer_command(tb, s);
    }
    if (!has_ended(c))
        return;
    if (s->phase == COMMAND_RUNNING) {
        hc_tool_command_hear_end(c);
        hc_tool_answer_command(tb, s);
    }
    hc_tool_command_finish(c, 0);
    hc_tool_release(tb, s);
}

void hc_toolbox_work(struct hc_toolbox *tb)
{
    struct epoll_event events[32];
    int n = epoll_wait(tb->epoll, events, 32, 0);
    for (int i = 0; i < n; i++) {
        uint32_t source = events[i].data.u32;
        if (source == CLIENT_SOURCE)
            work_client(tb);
        else if (source == TIMER_SOURCE)
            fail_late_calls(tb);
        else
            work_command(tb, &tb->slots[source]);
    }
    hc_tool_start_queued(tb);
}

int hc_toolbox_fd(const struct hc_toolbox *tb)
{
    return tb->epoll;
}
