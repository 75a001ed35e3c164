/* End calls of tools: with a value or a failure, which is logged and sent to the cell. */
#include "cell/tools/toolbox.h"

#include "base/clock.h"
#include "base/units.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* ---- answers ---- */

static void queue_answer(struct hc_toolbox *tb, const struct hc_buf *text)
{
    if (tb->stopped || text->failed)
        return;
    struct answer *a = malloc(sizeof *a + text->len);
    if (!a)
        return;
    *a = (struct answer){.len = text->len};
    memcpy(a->text, text->data, text->len);
    *tb->last = a;
    tb->last = &a->next;
    tb->held += a->len;
}

static void drop_first(struct hc_toolbox *tb)
{
    struct answer *a = tb->first;
    tb->first = a->next;
    if (!tb->first)
        tb->last = &tb->first;
    tb->held -= a->len;
    free(a);
}

bool hc_tool_send_answers(struct hc_toolbox *tb, int control_fd)
{
    while (tb->first) {
        struct answer *a = tb->first;
        size_t part = MIN(a->len - a->sent, (size_t)HC_FRAME_CHUNK);
        struct hc_frame_head head = {
            .type = HC_FRAME_TOOL_RESULT,
            .flags = a->sent + part == a->len ? HC_FRAME_LAST : 0,
            .len = (uint32_t)part,
        };
        struct iovec parts[] = {{&head, sizeof head}, {a->text + a->sent, part}};
        struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
        if (TEMP_FAILURE_RETRY(sendmsg(control_fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0) {
            if (errno == EAGAIN)
                return true;
            part = a->len - a->sent; /* the cell has closed the channel: drop the answer */
        }
        a->sent += part;
        if (a->sent == a->len)
            drop_first(tb);
    }
    return false;
}

void hc_tool_drop_answers(struct hc_toolbox *tb)
{
    while (tb->first)
        drop_first(tb);
}

/* ---- the end of a call ---- */

void hc_tool_unwatch(const struct hc_toolbox *tb, int fd)
{
    if (fd >= 0)
        (void)epoll_ctl(tb->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void note_end(struct hc_toolbox *tb, const struct slot *s, enum hc_tool_status status,
                     const char *message, int64_t result_bytes)
{
    if (s->entry == NOT_LISTED)
        return;
    struct hc_tool_entry *e = &tb->log->items[s->entry];
    e->status = status;
    e->wall_us = hc_now_us() - s->begun_us;
    e->result_bytes = result_bytes;
    (void)snprintf(e->message, sizeof e->message, "%s", message);
}

void hc_tool_release(struct hc_toolbox *tb, struct slot *s)
{
    tb->held -= s->arguments.len;
    hc_buf_finish(&s->arguments);
    s->phase = FREE;
}

/* Free the slot. If a command runs in it, kill the command first; the answer does not wait for its end. */
static void release_or_kill(struct hc_toolbox *tb, struct slot *s)
{
    if (s->phase != COMMAND_RUNNING) {
        hc_tool_release(tb, s);
        return;
    }
    hc_tool_unwatch(tb, s->command.in);
    hc_tool_unwatch(tb, s->command.out);
    hc_tool_unwatch(tb, s->command.err);
    hc_tool_command_kill(&s->command);
    s->phase = COMMAND_DYING;
}

void hc_tool_fail_call(struct hc_toolbox *tb, struct slot *s, enum hc_tool_status status, const char *message)
{
    hc_autobuf text = {0};
    (void)hc_tool_answer_error(&text, s->id, message);
    note_end(tb, s, status, message, -1);
    queue_answer(tb, &text);
    release_or_kill(tb, s);
}

static void answer_too_long(struct hc_toolbox *tb, struct slot *s)
{
    char size[32], message[160];
    (void)snprintf(message, sizeof message, "the result is longer than %s (tools.%s.result_size)",
                   hc_format_size(s->tool->result_bytes, size, sizeof size), s->tool->name);
    hc_tool_fail_call(tb, s, HC_TOOL_ERROR, message);
}

/* `json` may be malformed. Empty output counts as null. */
void hc_tool_answer_call(struct hc_toolbox *tb, struct slot *s, const char *json, size_t len)
{
    struct hc_json j;
    struct hc_error err = {0};
    hc_autobuf text = {0};
    size_t blank = len ? strspn(json, " \t\r\n") : 0;
    if (len > (size_t)s->tool->result_bytes) {
        answer_too_long(tb, s);
        return;
    }
    if (blank == len) {
        json = "null";
        len = 4;
    } else if (hc_json_parse(&j, "its output", json, len, &err) < 0) {
        char message[200];
        (void)snprintf(message, sizeof message, "the tool did not answer with JSON: %.150s", err.text);
        hc_tool_fail_call(tb, s, HC_TOOL_ERROR, message);
        return;
    } else {
        hc_json_finish(&j);
    }
    (void)hc_tool_answer_value(&text, s->id, json, len);
    note_end(tb, s, HC_TOOL_OK, "", (int64_t)len);
    queue_answer(tb, &text);
    release_or_kill(tb, s);
}

void hc_tool_answer_command(struct hc_toolbox *tb, struct slot *s)
{
    const struct hc_tool_command *c = &s->command;
    char message[256];
    if (c->too_long)
        answer_too_long(tb, s);
    else if (c->end.code == CLD_EXITED && c->end.status == 0)
        hc_tool_answer_call(tb, s, c->output.data ? c->output.data : "", c->output.len);
    else {
        hc_tool_clean(message, sizeof message, c->errors.data ? c->errors.data : "", c->errors.len);
        if (c->end.code == 0)
            (void)snprintf(message, sizeof message, "the tool's command cannot be executed: %s",
                           strerror(c->end.status));
        else if (c->end.code != CLD_EXITED)
            (void)snprintf(message, sizeof message, "the tool was killed by signal %d", c->end.status);
        else if (!*message)
            (void)snprintf(message, sizeof message, "the tool failed with exit status %d", c->end.status);
        hc_tool_fail_call(tb, s, HC_TOOL_ERROR, message);
    }
}

void hc_tool_end_call(struct hc_toolbox *tb, struct slot *s)
{
    note_end(tb, s, HC_TOOL_ENDED, "the job ended first", -1);
    release_or_kill(tb, s);
}
