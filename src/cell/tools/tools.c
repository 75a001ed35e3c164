#include "cell/tools/toolbox.h"

#include "base/fd.h"
#include "base/clock.h"
#include "base/units.h"
#include "cell/tools/tool_paths.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/timerfd.h>

#define PATIENCE_MS 5000 /* longest wait for killed commands at the end of a job */

/* ---- checking calls ---- */

/* Why a call is refused. */
struct refusal {
    const char *rule; /* static: the check that it failed (manifest/denial.def) */
    char message[240];
    const char *hint; /* static: what the program can do instead */
};

static bool set_refusal(struct refusal *r, const char *rule, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Fill in the refusal. Always returns false, as the checks do if a call fails them. */
static bool set_refusal(struct refusal *r, const char *rule, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(r->message, sizeof r->message, fmt, ap);
    va_end(ap);
    r->rule = rule;
    r->hint = hint;
    return false;
}

/* Token bucket: it holds the calls of one second, but at least one, and refills with time. */
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
        return set_refusal(r, "argument_size", "pass less, or data through files",
                           "the arguments have %zu bytes, more than %s (tools.%s.argument_size)",
                           call->source_len, hc_format_size(tool->argument_bytes, size, sizeof size),
                           tool->name);
    if (u->calls >= tool->calls)
        return set_refusal(r, "calls", "call it less often",
                           "all %lld calls of this job are used up (tools.%s.calls)", (long long)tool->calls,
                           tool->name);
    if (hc_tool_count(tb, FREE) == 0 || tb->held > HELD_BYTES)
        return set_refusal(r, "busy", "wait for earlier calls to end", "too many calls are open (%d at most)",
                           OPEN_CALLS);
    if (!within_rate(u, tool))
        return set_refusal(r, "rate", "wait between calls", "more than %g calls per second (tools.%s.rate)",
                           (double)tool->rate_milli / 1000, tool->name);
    return true;
}

static bool prepare_arguments(const struct hc_tool *tool, const struct hc_tool_call *call, struct hc_buf *out,
                              struct refusal *r)
{
    struct hc_error err = {0};
    bool by_path;
    if (hc_tool_arguments(tool, call, hc_tool_path_resolve, NULL, out, &by_path, &err) == 0)
        return true;
    return by_path ? set_refusal(r, "paths", "use a path that the tool's policy allows", "%.230s", err.text)
                   : set_refusal(r, "parameters", "see the tool's description", "%.230s", err.text);
}

static void note_denial(struct hc_toolbox *tb, const char *name, const struct refusal *r)
{
    struct hc_denial d = {.by = HC_REFUSER_TOOL, .count = 1};
    (void)snprintf(d.rule, sizeof d.rule, "%s", r->rule);
    (void)snprintf(d.what, sizeof d.what, "%.64s: %.180s", name, r->message);
    (void)snprintf(d.hint, sizeof d.hint, "%s", r->hint);
    hc_denials_note(tb->denials, &d, true);
}

/* Add an entry to the log and return its index. NOT_LISTED: the log is full. */
static size_t note_call(struct hc_toolbox *tb, const struct hc_tool_call *call, bool refused)
{
    struct hc_tool_entry *e = hc_tool_log_add(tb->log, call->name, call->source, call->source_len, refused);
    if (!e)
        return NOT_LISTED;
    e->status = HC_TOOL_ENDED; /* stays so unless the call ends in another way */
    hc_clock_text(tb->clock_ahead_ns, e->started);
    return (size_t)(e - tb->log->items);
}

static struct slot *free_slot(struct hc_toolbox *tb)
{
    for (size_t i = 0; i < OPEN_CALLS; i++)
        if (tb->slots[i].phase == FREE)
            return &tb->slots[i];
    return NULL;
}

/* Refuse a call: log and answer it without running a tool. */
static void refuse_call(struct hc_toolbox *tb, const struct hc_tool_call *call, const struct refusal *r)
{
    struct slot never = {.id = call->id, .begun_us = hc_now_us(), .entry = note_call(tb, call, true)};
    note_denial(tb, call->name, r);
    hc_tool_fail_call(tb, &never, HC_TOOL_REFUSED, r->message);
}

static void accept_call(struct hc_toolbox *tb, struct slot *s, const struct hc_tool *tool,
                        const struct hc_tool_call *call, struct hc_buf *arguments)
{
    *s = (struct slot){
        .phase = QUEUED,
        .id = call->id,
        .tool = tool,
        .begun_us = hc_now_us(),
        .entry = note_call(tb, call, false),
        .arguments = *arguments,
    };
    *arguments = (struct hc_buf){0};
    tb->held += s->arguments.len;
    tb->usage[tool - tb->tools->items].calls++;
    hc_tool_start_queued(tb);
}

static void handle_call(struct hc_toolbox *tb, const struct hc_tool_call *call)
{
    struct refusal r = {0};
    hc_autobuf arguments = {0};
    const struct hc_tool *tool = hc_tools_find(tb->tools, call->name);
    struct slot *s = NULL;
    if (!tool)
        (void)set_refusal(&r, "name", "see dir(tools)", "there is no tool of this name");
    else if (may_call(tb, tool, call, &r) && prepare_arguments(tool, call, &arguments, &r))
        s = free_slot(tb);
    if (s)
        accept_call(tb, s, tool, call, &arguments);
    else
        refuse_call(tb, call, &r);
}

int hc_toolbox_call(struct hc_toolbox *tb, const char *text, size_t len, struct hc_error *err)
{
    struct hc_tool_call call;
    if (hc_tool_call_parse(&call, text, len, err) < 0)
        return -1;
    int rc = 0;
    if (tb->held > 2 * HELD_BYTES) /* the cell makes calls, but reads no answers */
        rc = hc_fail(err, 0, "tool call: too many answers wait to be read");
    else if (call.id <= tb->last_id)
        rc = hc_fail(err, 0, "tool call: the id %u is not new", call.id);
    else if (!tb->stopped)
        handle_call(tb, &call);
    tb->last_id = MAX(tb->last_id, call.id);
    hc_tool_call_finish(&call);
    return rc;
}

/* ---- starting and stopping a toolbox ---- */

/* Find the program as a shell would. */
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
    if (!t->command && tb->client.fd < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                          "tool '%s': nobody answers it: give it a command (--tool %s=COMMAND, or in the "
                          "policy) or a client (--tool-fd)",
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
        hc_tool_watch(tb, tb->timer, EPOLLIN, TIMER_SOURCE) < 0 ||
        hc_tool_watch(tb, client_fd, EPOLLIN, CLIENT_SOURCE) < 0)
        return hc_fail(err, errno, "prepare tools");
    for (size_t i = 0; i < tb->tools->count; i++)
        if (prepare_tool(tb, i, err) < 0)
            return -1;
    return 0;
}

static void reset_counts(struct hc_toolbox *tb)
{
    for (size_t i = 0; i < tb->tools->count; i++) {
        struct usage *u = &tb->usage[i];
        u->calls = 0;
        u->tokens = MAX(tb->tools->items[i].rate_milli, 1000);
        u->at_us = hc_now_us();
    }
}

int hc_toolbox_new(struct hc_toolbox **out, const struct hc_tools *tools, int client_fd,
                   int64_t clock_ahead_ns, struct hc_tool_log *log, struct hc_denials *denials,
                   struct hc_error *err)
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
    tb->clock_ahead_ns = clock_ahead_ns;
    tb->epoll = tb->timer = tb->client.fd = -1;
    tb->last = &tb->first;
    reset_counts(tb);
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
    tb->stopped = true; /* no call is answered from here on */
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        if (s->phase == FREE || s->phase == COMMAND_DYING)
            continue;
        hc_tool_end_call(tb, s);
    }
    hc_tool_start_queued(tb); /* no call waits, so this switches the timer off */
}

void hc_toolbox_stop_and_wait(struct hc_toolbox *tb)
{
    hc_toolbox_stop(tb);
    int64_t until = hc_now_us() + PATIENCE_MS * 1000;
    for (size_t i = 0; i < OPEN_CALLS; i++) {
        struct slot *s = &tb->slots[i];
        int64_t left = (until - hc_now_us()) / 1000;
        if (s->phase == COMMAND_DYING)
            hc_tool_command_finish(&s->command, (int)MAX(left, 0));
        if (s->phase != FREE)
            hc_tool_release(tb, s);
    }
    hc_tool_drop_answers(tb);
}

void hc_toolbox_renew(struct hc_toolbox *tb, struct hc_tool_log *log, struct hc_denials *denials)
{
    tb->log = log;
    tb->denials = denials;
    tb->last_id = 0;
    tb->stopped = false;
    reset_counts(tb);
}

void hc_toolbox_free(struct hc_toolbox *tb)
{
    if (!tb)
        return;
    hc_toolbox_stop_and_wait(tb);
    hc_tool_client_finish(&tb->client);
    hc_close_fd(&tb->epoll);
    hc_close_fd(&tb->timer);
    free(tb->usage);
    free(tb);
}
