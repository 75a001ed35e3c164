#include "cell/tools.h"

#include "base/fd.h"
#include "base/units.h"
#include "cell/loop.h"
#include "cell/stamp.h"
#include "cell/tool_client.h"
#include "cell/tool_command.h"
#include "cell/tool_paths.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#define OPEN_CALLS    256                /* not answered yet */
#define RUNNING       16                 /* commands at a time */
#define HELD_BYTES    ((size_t)64 << 20) /* of arguments and answers that are on their way */
#define PATIENCE_MS   5000               /* for what was killed, at the end of the job */
#define CLIENT_SOURCE UINT32_MAX         /* epoll: instead of a slot's number */
#define TIMER_SOURCE  (UINT32_MAX - 1)
#define NOT_LISTED    SIZE_MAX

enum phase { FREE, QUEUED, RUNS, WITH_CLIENT, DYING };

/* One call on its way. */
struct slot {
    enum phase phase;
    uint32_t id;
    const struct hc_tool *tool;
    size_t entry;            /* in the log */
    int64_t begun_us;        /* when it came */
    int64_t end_us;          /* its deadline, once it runs */
    struct hc_buf arguments; /* as the tool gets them */
    struct hc_command command;
};

/* What a tool has been used for. */
struct usage {
    char path[PATH_MAX]; /* of its command; empty: the client answers */
    int64_t calls;
    int64_t tokens; /* thousandths of calls that may come at once */
    int64_t at_us;  /* when that was so */
};

struct answer {
    struct answer *next;
    size_t len, sent;
    char text[];
};

struct hc_toolbox {
    const struct hc_tools *tools;
    struct hc_tool_log *log;
    struct hc_denials *denials;
    struct usage *usage; /* as many as there are tools */
    struct hc_tool_client client;
    bool client_waits; /* epoll tells when it takes more */
    int64_t ahead;
    int epoll, timer;
    uint32_t last_id;
    size_t held;
    bool stopped;
    struct answer *first, **last;
    struct slot slots[OPEN_CALLS];
};

/* ---- answers ---- */

static void queue(struct hc_toolbox *tb, const struct hc_buf *text)
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

bool hc_toolbox_send(struct hc_toolbox *tb, int control_fd)
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
            part = a->len - a->sent; /* it has gone: nobody will read any of it */
        }
        a->sent += part;
        if (a->sent == a->len)
            drop_first(tb);
    }
    return false;
}

/* ---- the end of a call ---- */

static void unwatch(const struct hc_toolbox *tb, int fd)
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

static void release(struct hc_toolbox *tb, struct slot *s)
{
    tb->held -= s->arguments.len;
    hc_buf_finish(&s->arguments);
    s->phase = FREE;
}

/* Its command may have to die first; the guest need not wait for that. */
static void leave(struct hc_toolbox *tb, struct slot *s)
{
    if (s->phase != RUNS) {
        release(tb, s);
        return;
    }
    unwatch(tb, s->command.in);
    unwatch(tb, s->command.out);
    unwatch(tb, s->command.err);
    hc_command_kill(&s->command);
    s->phase = DYING;
}

static void answer_error(struct hc_toolbox *tb, struct slot *s, enum hc_tool_status status,
                         const char *message)
{
    hc_autobuf text = {0};
    (void)hc_tool_answer_error(&text, s->id, message);
    note_end(tb, s, status, message, -1);
    queue(tb, &text);
    leave(tb, s);
}

static void answer_too_long(struct hc_toolbox *tb, struct slot *s)
{
    char size[32], message[160];
    (void)snprintf(message, sizeof message, "the result is longer than %s (tools.%s.result_size)",
                   hc_format_size(s->tool->result_bytes, size, sizeof size), s->tool->name);
    answer_error(tb, s, HC_TOOL_ERROR, message);
}

/* What a command wrote or a client sent: JSON, but perhaps not. Nothing at all is null. */
static void answer_value(struct hc_toolbox *tb, struct slot *s, const char *json, size_t len)
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
        answer_error(tb, s, HC_TOOL_ERROR, message);
        return;
    } else {
        hc_json_finish(&j);
    }
    (void)hc_tool_answer_value(&text, s->id, json, len);
    note_end(tb, s, HC_TOOL_OK, "", (int64_t)len);
    queue(tb, &text);
    leave(tb, s);
}

/* The command has ended, and nobody of it is left. */
static void answer_command(struct hc_toolbox *tb, struct slot *s)
{
    const struct hc_command *c = &s->command;
    char message[256];
    if (c->too_long)
        answer_too_long(tb, s);
    else if (c->end.code == CLD_EXITED && c->end.status == 0)
        answer_value(tb, s, c->output.data ? c->output.data : "", c->output.len);
    else {
        hc_tool_clean(message, sizeof message, c->errors.data ? c->errors.data : "", c->errors.len);
        if (c->end.code == 0)
            (void)snprintf(message, sizeof message, "the tool's command cannot be executed: %s",
                           strerror(c->end.status));
        else if (c->end.code != CLD_EXITED)
            (void)snprintf(message, sizeof message, "the tool was killed by signal %d", c->end.status);
        else if (!*message)
            (void)snprintf(message, sizeof message, "the tool failed with exit status %d", c->end.status);
        answer_error(tb, s, HC_TOOL_ERROR, message);
    }
}

/* ---- deadlines ---- */

static void set_timer(const struct hc_toolbox *tb)
{
    int64_t next = 0;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        const struct slot *s = &tb->slots[i];
        if ((s->phase == RUNS || s->phase == WITH_CLIENT) && (!next || s->end_us < next))
            next = s->end_us;
    }
    struct itimerspec at = {.it_value = {.tv_sec = next / 1000000, .tv_nsec = next % 1000000 * 1000}};
    (void)timerfd_settime(tb->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void end_late(struct hc_toolbox *tb)
{
    int64_t now = hc_now_us();
    hc_loop_drain_timer(tb->timer);
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        char time[32], message[160];
        if ((s->phase != RUNS && s->phase != WITH_CLIENT) || s->end_us > now)
            continue;
        (void)snprintf(message, sizeof message, "the tool took longer than %s (tools.%s.timeout)",
                       hc_format_duration(s->tool->timeout_ms, time, sizeof time), s->tool->name);
        answer_error(tb, s, HC_TOOL_TIMEOUT, message);
    }
}

/* ---- the beginning of a call ---- */

static int watch(const struct hc_toolbox *tb, int fd, uint32_t events, uint32_t source)
{
    struct epoll_event event = {.events = events, .data.u32 = source};
    return fd < 0 ? 0 : epoll_ctl(tb->epoll, EPOLL_CTL_ADD, fd, &event);
}

static size_t count(const struct hc_toolbox *tb, enum phase phase)
{
    size_t n = 0;
    for (size_t i = 0; i < OPEN_CALLS; i++)
        n += tb->slots[i].phase == phase;
    return n;
}

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
    if (text.failed ||
        hc_command_start(&s->command, words, text.data, text.len, (size_t)s->tool->result_bytes, &err) < 0) {
        answer_error(tb, s, HC_TOOL_ERROR, "the tool could not be started");
        return;
    }
    s->phase = RUNS;
    s->end_us = hc_now_us() + s->tool->timeout_ms * 1000;
    struct hc_command *c = &s->command;
    if (watch(tb, c->in, EPOLLOUT, source) < 0 || watch(tb, c->out, EPOLLIN, source) < 0 ||
        watch(tb, c->err, EPOLLIN, source) < 0 || watch(tb, c->pidfd, EPOLLIN, source) < 0)
        answer_error(tb, s, HC_TOOL_ERROR, "the tool could not be watched");
}

static void lose_client(struct hc_toolbox *tb, const struct hc_error *err)
{
    unwatch(tb, tb->client.fd);
    hc_tool_client_finish(&tb->client);
    for (size_t i = 0; i < OPEN_CALLS; i++)
        if (tb->slots[i].phase == WITH_CLIENT)
            answer_error(tb, &tb->slots[i], HC_TOOL_ERROR, err->text);
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
    if (tb->client.fd < 0 || hc_tool_client_call(&tb->client, s->id, s->tool->name, s->arguments.data) < 0) {
        answer_error(tb, s, HC_TOOL_ERROR, "the tools' client has gone");
        return;
    }
    s->phase = WITH_CLIENT;
    s->end_us = hc_now_us() + s->tool->timeout_ms * 1000;
    send_client(tb);
}

/* In the order in which they came, as far as there is room. */
static void start_queued(struct hc_toolbox *tb)
{
    size_t running = count(tb, RUNS) + count(tb, DYING);
    for (;;) {
        struct slot *next = NULL;
        for (size_t i = 0; i < OPEN_CALLS; i++) {
            struct slot *s = &tb->slots[i];
            bool may_run = s->phase == QUEUED && (!s->tool->command || running < RUNNING);
            if (may_run && (!next || s->id < next->id))
                next = s;
        }
        if (!next)
            break;
        if (next->tool->command) {
            running++;
            start_command(tb, next);
        } else {
            ask_client(tb, next);
        }
    }
    set_timer(tb);
}

/* ---- may it be called? ---- */

struct refusal {
    const char *rule;
    char message[240];
    const char *hint;
};

static bool refuse(struct refusal *r, const char *rule, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* False: it may not. */
static bool refuse(struct refusal *r, const char *rule, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(r->message, sizeof r->message, fmt, ap);
    va_end(ap);
    r->rule = rule;
    r->hint = hint;
    return false;
}

/* Tokens for a second's calls at most, one at least; they come back with time. */
static bool within_rate(struct usage *u, const struct hc_tool *tool)
{
    int64_t now = hc_now_us(), most = MAX(tool->rate_milli, 1000);
    int64_t back = MIN((now - u->at_us) * tool->rate_milli / 1000000, most);
    if (tool->rate_milli == 0)
        return true;
    if (back > 0) {
        u->tokens = MIN(u->tokens + back, most);
        u->at_us = now;
    }
    if (u->tokens < 1000)
        return false;
    u->tokens -= 1000;
    return true;
}

static bool may_call(struct hc_toolbox *tb, const struct hc_tool *tool, const struct hc_tool_call *call,
                     struct refusal *r)
{
    char size[32];
    struct usage *u = &tb->usage[tool - tb->tools->items];
    if (call->source_len > (size_t)tool->argument_bytes)
        return refuse(r, "argument_size", "pass less, or data through files",
                      "the arguments have %zu bytes, more than %s (tools.%s.argument_size)", call->source_len,
                      hc_format_size(tool->argument_bytes, size, sizeof size), tool->name);
    if (u->calls >= tool->calls)
        return refuse(r, "calls", "call it less often",
                      "all %lld calls of this job are used up (tools.%s.calls)", (long long)tool->calls,
                      tool->name);
    if (count(tb, FREE) == 0 || tb->held > HELD_BYTES)
        return refuse(r, "busy", "wait for earlier calls to end", "too many calls are open (%d at most)",
                      OPEN_CALLS);
    if (!within_rate(u, tool))
        return refuse(r, "rate", "wait between calls", "more than %g calls per second (tools.%s.rate)",
                      (double)tool->rate_milli / 1000, tool->name);
    return true;
}

static bool arrange(const struct hc_tool *tool, const struct hc_tool_call *call, struct hc_buf *out,
                    struct refusal *r)
{
    struct hc_error err = {0};
    bool by_path;
    if (hc_tool_arguments(tool, call, hc_tool_path_resolve, NULL, out, &by_path, &err) == 0)
        return true;
    return by_path ? refuse(r, "paths", "use a path that the tool's policy allows", "%.230s", err.text)
                   : refuse(r, "parameters", "see the tool's description", "%.230s", err.text);
}

static void note_denial(struct hc_toolbox *tb, const char *name, const struct refusal *r)
{
    struct hc_denial d = {.by = HC_REFUSER_TOOL, .count = 1};
    (void)snprintf(d.rule, sizeof d.rule, "%s", r->rule);
    (void)snprintf(d.what, sizeof d.what, "%.64s: %.180s", name, r->message);
    (void)snprintf(d.hint, sizeof d.hint, "%s", r->hint);
    hc_denials_note(tb->denials, &d, true);
}

/* A new entry of the log. NOT_LISTED: it has no room. */
static size_t note_call(struct hc_toolbox *tb, const struct hc_tool_call *call, bool refused)
{
    struct hc_tool_entry *e = hc_tool_log_add(tb->log, call->name, call->source, call->source_len, refused);
    if (!e)
        return NOT_LISTED;
    e->status = HC_TOOL_ENDED; /* until it has another end */
    hc_stamp_text(tb->ahead, e->started);
    return (size_t)(e - tb->log->items);
}

static struct slot *free_slot(struct hc_toolbox *tb)
{
    for (size_t i = 0; i < OPEN_CALLS; i++)
        if (tb->slots[i].phase == FREE)
            return &tb->slots[i];
    return NULL;
}

static void take_call(struct hc_toolbox *tb, const struct hc_tool_call *call)
{
    struct refusal r = {0};
    hc_autobuf arguments = {0};
    struct hc_tool *tool = hc_tools_find(tb->tools, call->name);
    bool good = tool ? may_call(tb, tool, call, &r) && arrange(tool, call, &arguments, &r)
                     : refuse(&r, "name", "see dir(tools)", "there is no tool of this name");
    struct slot *s = good ? free_slot(tb) : NULL;
    struct slot refused = {.id = call->id, .begun_us = hc_now_us()}, *at = s ? s : &refused;
    *at = refused;
    at->entry = note_call(tb, call, !s);
    if (!s) {
        note_denial(tb, call->name, &r);
        answer_error(tb, at, HC_TOOL_REFUSED, r.message);
        return;
    }
    s->tool = tool;
    s->phase = QUEUED;
    s->arguments = arguments;
    arguments = (struct hc_buf){0};
    tb->held += s->arguments.len;
    tb->usage[tool - tb->tools->items].calls++;
    start_queued(tb);
}

int hc_toolbox_call(struct hc_toolbox *tb, const char *text, size_t len, struct hc_error *err)
{
    struct hc_tool_call call;
    if (hc_tool_call_parse(&call, text, len, err) < 0)
        return -1;
    int rc = 0;
    if (call.id <= tb->last_id)
        rc = hc_fail(err, 0, "tool call: the id %u is not new", call.id);
    else if (!tb->stopped)
        take_call(tb, &call);
    tb->last_id = MAX(tb->last_id, call.id);
    hc_tool_call_finish(&call);
    return rc;
}

/* ---- events ---- */

static void on_answer(void *ctx, const struct hc_client_answer *answer)
{
    struct hc_toolbox *tb = ctx;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        char message[256];
        if (s->phase != WITH_CLIENT || s->id != answer->id)
            continue;
        if (answer->value) {
            answer_value(tb, s, answer->value, answer->len);
            return;
        }
        hc_tool_clean(message, sizeof message, answer->error, strlen(answer->error));
        answer_error(tb, s, HC_TOOL_ERROR, *message ? message : "the tool failed");
        return;
    } /* nobody waits for it any more */
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

static bool has_ended(const struct hc_command *c)
{
    siginfo_t info = {0};
    return waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

static void work_command(struct hc_toolbox *tb, struct slot *s)
{
    struct hc_command *c = &s->command;
    if (s->phase != RUNS && s->phase != DYING)
        return;
    if (s->phase == RUNS) {
        hc_command_write(c);
        hc_command_read(c);
        if (c->too_long)
            answer_too_long(tb, s);
    }
    if (!has_ended(c))
        return;
    if (s->phase == RUNS) {
        hc_command_hear_end(c);
        answer_command(tb, s);
    }
    hc_command_finish(c, 0);
    release(tb, s);
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
            end_late(tb);
        else
            work_command(tb, &tb->slots[source]);
    }
    start_queued(tb);
}

int hc_toolbox_fd(const struct hc_toolbox *tb)
{
    return tb->epoll;
}

/* ---- beginning and end ---- */

/* Where a shell would find the program. */
static bool find_program(const char *name, char out[PATH_MAX])
{
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX && access(out, X_OK) == 0;
    for (path = path ? path : "/usr/bin:/bin"; *path; path += *path == ':') {
        size_t len = strcspn(path, ":");
        int n = snprintf(out, PATH_MAX, "%.*s/%s", (int)len, len ? path : ".", name);
        if (len && n < PATH_MAX && access(out, X_OK) == 0)
            return true;
        path += len;
    }
    return false;
}

static int prepare_tool(struct hc_toolbox *tb, size_t i, struct hc_error *err)
{
    const struct hc_tool *t = &tb->tools->items[i];
    struct usage *u = &tb->usage[i];
    u->tokens = MAX(t->rate_milli, 1000);
    u->at_us = hc_now_us();
    if (!t->command && tb->client.fd < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "tool '%s': nobody answers it: give it a command (--tool %s=COMMAND) or a client "
                          "(--tool-fd)",
                          t->name, t->name);
    if (t->command && !find_program(t->command[0], u->path))
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "tool '%s': '%.200s' is no program that can be started",
                          t->name, t->command[0]);
    return 0;
}

static int prepare(struct hc_toolbox *tb, int client_fd, struct hc_error *err)
{
    size_t longest = 0;
    for (size_t i = 0; i < tb->tools->count; i++)
        longest = MAX(longest, (size_t)tb->tools->items[i].result_bytes);
    if (hc_tool_client_init(&tb->client, client_fd, longest + 4096, err) < 0)
        return -1;
    if ((tb->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0 ||
        (tb->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) < 0 ||
        watch(tb, tb->timer, EPOLLIN, TIMER_SOURCE) < 0 || watch(tb, client_fd, EPOLLIN, CLIENT_SOURCE) < 0)
        return hc_fail(err, errno, "prepare tools");
    for (size_t i = 0; i < tb->tools->count; i++)
        if (prepare_tool(tb, i, err) < 0)
            return -1;
    return 0;
}

int hc_toolbox_new(struct hc_toolbox **out, const struct hc_tools *tools, int client_fd, int64_t ahead,
                   struct hc_tool_log *log, struct hc_denials *denials, struct hc_error *err)
{
    struct hc_toolbox *tb = calloc(1, sizeof *tb);
    *out = NULL;
    if (!tb || !(tb->usage = calloc(tools->count, sizeof *tb->usage))) {
        free(tb);
        return hc_fail(err, ENOMEM, "tools");
    }
    tb->tools = tools;
    tb->log = log;
    tb->denials = denials;
    tb->ahead = ahead;
    tb->epoll = tb->timer = tb->client.fd = -1;
    tb->last = &tb->first;
    if (prepare(tb, client_fd, err) < 0) {
        hc_toolbox_free(tb);
        return -1;
    }
    *out = tb;
    return 0;
}

void hc_toolbox_stop(struct hc_toolbox *tb)
{
    if (tb->stopped)
        return;
    tb->stopped = true; /* nothing is answered from here on */
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        if (s->phase == FREE || s->phase == DYING)
            continue;
        note_end(tb, s, HC_TOOL_ENDED, "the job ended first", -1);
        leave(tb, s);
    }
    set_timer(tb);
}

void hc_toolbox_free(struct hc_toolbox *tb)
{
    if (!tb)
        return;
    hc_toolbox_stop(tb);
    int64_t until = hc_now_us() + PATIENCE_MS * 1000;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        int64_t left = (until - hc_now_us()) / 1000;
        if (s->phase == DYING)
            hc_command_finish(&s->command, (int)MAX(left, 0));
        if (s->phase != FREE)
            release(tb, s);
    }
    while (tb->first)
        drop_first(tb);
    hc_tool_client_finish(&tb->client);
    hc_close_fd(&tb->epoll);
    hc_close_fd(&tb->timer);
    free(tb->usage);
    free(tb);
}
