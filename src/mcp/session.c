/* Sessions: each is a `hotcell session` of this same binary, with lines of JSON over two pipes. */
#include "mcp/server.h"

#include "base/clock.h"
#include "base/fd.h"
#include "json/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE ((size_t)256 << 20) /* most bytes of a session's answer, which holds a manifest */

/* ---- finding sessions ---- */

static bool waits_for(const struct hc_session_place *s, const char *id)
{
    return s->name[0] && ((!s->cancelled && strcmp(s->id, id) == 0) || strcmp(s->next_id, id) == 0 ||
                          strcmp(s->close_id, id) == 0);
}

bool hc_sessions_have(const struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        if (waits_for(&m->sessions[i], id))
            return true;
    return false;
}

/* Answer why a session is not open: without the reason a model tries again, and assumes that its variables
 * exist. */
static void refuse_unknown(struct hc_mcp *m, const char *name, const char *id)
{
    for (size_t i = 0; i < HC_MCP_ENDED; i++)
        if (m->ended[i].name[0] && strcmp(m->ended[i].name, name) == 0) {
            hc_mcp_refuse(m, id,
                          "%s has ended: %s. Its variables are gone, its files are kept; session_open makes "
                          "a new session",
                          name, m->ended[i].why);
            return;
        }
    hc_mcp_refuse(m, id, "there is no session '%.80s' that is open: session_open makes one", name);
}

/* Find the session of a call; `idle`: it must not be busy. NULL: the call was answered by an error. */
static struct hc_session_place *find_session(struct hc_mcp *m, const struct hc_call *call, bool idle)
{
    const char *name = hc_mcp_string(call, "session"), *id = call->message->id;
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        struct hc_session_place *s = &m->sessions[i];
        if (!s->name[0] || strcmp(s->name, name) != 0)
            continue;
        if (s->close_id[0]) {
            hc_mcp_refuse(m, id, "%s is being closed", name);
            return NULL;
        }
        if (idle && s->id[0] && (!s->cancelled || s->next_id[0])) {
            hc_mcp_refuse(m, id, "%s is busy: wait for its answer, or call session_interrupt", name);
            return NULL;
        }
        return s;
    }
    refuse_unknown(m, name, id);
    return NULL;
}

/* ---- requests ---- */

static void set_id(char id[HC_RPC_ID_MAX + 1], const char *text)
{
    (void)snprintf(id, HC_RPC_ID_MAX + 1, "%s", text);
}

void hc_session_write(struct hc_session_place *s)
{
    ssize_t n = write(s->in_fd, s->out.data + s->sent, s->out.len - s->sent);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    s->sent +=
        n > 0 ? (size_t)n : s->out.len - s->sent; /* a session that has closed its input is about to end */
    if (s->sent < s->out.len)
        return;
    hc_buf_finish(&s->out);
    s->sent = 0;
}

static void send_request(struct hc_session_place *s, const char *line)
{
    (void)hc_buf_str(&s->out, line);
    (void)hc_buf_str(&s->out, "\n");
    hc_session_write(s);
}

static void begin_call(struct hc_session_place *s)
{
    if (s->timeout_ms)
        hc_progress_start(&s->progress, s->timeout_ms);
}

/* Send the request of a call, or keep it until the run of a cancelled call has ended: sent before, it could
 * not be cancelled itself. `timeout_ms`: time limit of the program that the call runs; 0: it runs none. */
static void send_call(struct hc_mcp *m, struct hc_session_place *s, const struct hc_call *call,
                      const char *line, int64_t timeout_ms)
{
    const char *id = call->message->id;
    hc_progress_begin(&s->progress, call);
    s->timeout_ms = timeout_ms;
    if (s->id[0] && hc_buf_str(&s->next, line) < 0) {
        hc_buf_finish(&s->next);
        hc_progress_end(&s->progress);
        hc_mcp_refuse(m, id, "out of memory");
        return;
    }
    if (s->id[0]) {
        set_id(s->next_id, id);
        return;
    }
    set_id(s->id, id);
    begin_call(s);
    send_request(s, line);
}

/* The call that was sent is over. */
static void end_call(struct hc_session_place *s)
{
    if (!s->cancelled)
        hc_progress_end(&s->progress);
    s->id[0] = '\0';
    s->cancelled = false;
    if (!s->next_id[0])
        return;
    set_id(s->id, s->next_id);
    s->next_id[0] = '\0';
    begin_call(s);
    send_request(s, s->next.data);
    hc_buf_finish(&s->next);
}

/* ---- opening ---- */

static int open_pipes(struct hc_session_place *s, int *their_in, int *their_out, struct hc_error *err)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    *their_in = in[0];
    s->in_fd = in[1];
    if (pipe2(out, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    *their_out = out[1];
    s->out_fd = out[0];
    /* Only the server's ends: the child's have open file descriptions of their own. */
    if (fcntl(s->in_fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(s->out_fd, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "fcntl");
    return 0;
}

static void free_arguments(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

/* The arguments: the output directory, and "--input=NAME=PATH" for each input. Ends with NULL; freed with
 * free_arguments. NULL: no memory. */
static char **make_arguments(const cJSON *inputs, const char *directory)
{
    size_t n = 0;
    char **list = calloc((size_t)cJSON_GetArraySize(inputs) + 2, sizeof *list);
    const cJSON *input;
    hc_autobuf text = {0};
    if (!list)
        return NULL;
    (void)hc_buf_fmt(&text, "--output=%s", directory);
    list[n] = hc_buf_take(&text);
    cJSON_ArrayForEach(input, inputs)
    {
        if (!list[n])
            break;
        (void)hc_buf_fmt(&text, "--input=%s=%s", input->string, input->valuestring);
        list[++n] = hc_buf_take(&text);
    }
    if (list[n])
        return list;
    free_arguments(list);
    return NULL;
}

static int launch(struct hc_mcp *m, struct hc_session_place *s, const cJSON *inputs, struct hc_error *err)
{
    char directory[PATH_MAX];
    hc_autofd in = -1, out = -1;
    if (hc_store_run_path(&m->store, s->name, directory, sizeof directory) < 0 ||
        open_pipes(s, &in, &out, err) < 0)
        return -1;
    char **more = make_arguments(inputs, directory);
    const int fds[] = {in, out, -1, -1};
    int rc = more ? hc_child_start(&s->child, m->config, "session", (const char *const *)more, fds, err)
                  : hc_fail(err, ENOMEM, "open a session");
    free_arguments(more);
    return rc;
}

static void clear_place(struct hc_session_place *s)
{
    hc_child_finish(&s->child);
    hc_close_fd(&s->in_fd);
    hc_close_fd(&s->out_fd);
    hc_rpc_lines_finish(&s->lines);
    hc_buf_finish(&s->out);
    hc_buf_finish(&s->next);
    hc_progress_end(&s->progress);
    *s = (struct hc_session_place){.in_fd = -1, .out_fd = -1};
}

static void open_place(struct hc_mcp *m, struct hc_session_place *s, const struct hc_call *call)
{
    struct hc_error err = {0};
    cJSON *inputs = cJSON_CreateObject();
    *s = (struct hc_session_place){
        .child = {.pidfd = -1, .err_fd = -1}, .in_fd = -1, .out_fd = -1, .lines.max = MAX_LINE};
    bool ok = hc_store_begin(&m->store, true, s->name, &err) == 0 &&
              hc_programs_store_inputs(m, call, s->name, inputs, &s->input_bytes, &err) == 0 &&
              launch(m, s, inputs, &err) == 0;
    cJSON_Delete(inputs);
    if (ok) {
        set_id(s->id, call->message->id);
        return;
    }
    hc_store_remove_inputs(&m->store, s->name);
    clear_place(s);
    hc_mcp_refuse(m, call->message->id, "session_open: %s", err.text);
}

void hc_tool_session_open(struct hc_mcp *m, const struct hc_call *call)
{
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        if (!m->sessions[i].name[0]) {
            open_place(m, &m->sessions[i], call);
            return;
        }
    hc_mcp_refuse(m, call->message->id,
                  "%d sessions are open already, as many as may at once: close one with session_close",
                  HC_MCP_SESSIONS);
}

/* ---- the other tools ---- */

void hc_tool_session_run(struct hc_mcp *m, const struct hc_call *call)
{
    int64_t ms = hc_programs_timeout(m, call);
    struct hc_session_place *s = ms ? find_session(m, call, true) : NULL;
    if (!s)
        return;
    hc_autobuf line = {0};
    (void)hc_buf_fmt(&line, "{\"run\":{\"limits\":{\"timeout\":\"%lldms\"}", (long long)ms);
    hc_programs_copy(call, "code", &line);
    hc_programs_copy(call, "vars", &line);
    hc_programs_copy(call, "stdin", &line);
    hc_programs_copy(call, "args", &line);
    hc_programs_copy(call, "env", &line);
    (void)hc_buf_str(&line, "}}");
    if (line.failed) {
        hc_mcp_refuse(m, call->message->id, "out of memory");
        return;
    }
    send_call(m, s, call, line.data, ms);
}

void hc_session_send(struct hc_mcp *m, const struct hc_call *call, const char *line)
{
    struct hc_session_place *s = find_session(m, call, true);
    if (s)
        send_call(m, s, call, line, 0);
}

/* Send a request that has only a checkpoint's name. */
static void ask_by_name(struct hc_mcp *m, const struct hc_call *call, const char *request)
{
    const char *name = hc_mcp_string(call, "name");
    char line[HC_STORE_NAME + 40];
    if (!hc_is_id(name, 64)) {
        hc_mcp_refuse(m, call->message->id,
                      "name: expected at most 64 letters, digits, '.', '_' and '-', not beginning with '.'");
        return;
    }
    struct hc_session_place *s = find_session(m, call, true);
    if (!s)
        return;
    (void)snprintf(line, sizeof line, "{\"%s\":\"%s\"}", request, name);
    send_call(m, s, call, line, 0);
}

void hc_tool_session_checkpoint(struct hc_mcp *m, const struct hc_call *call)
{
    ask_by_name(m, call, "checkpoint");
}

void hc_tool_session_rollback(struct hc_mcp *m, const struct hc_call *call)
{
    ask_by_name(m, call, "rollback");
}

void hc_tool_session_interrupt(struct hc_mcp *m, const struct hc_call *call)
{
    struct hc_session_place *s = find_session(m, call, false);
    if (!s)
        return;
    if (!s->id[0]) {
        hc_mcp_say(m, call->message->id, "nothing runs in %s", s->name);
        return;
    }
    send_request(s, "{\"interrupt\":true}");
    hc_mcp_say(m, call->message->id,
               "what runs in %s gets a KeyboardInterrupt; session_run answers when it has ended", s->name);
}

void hc_tool_session_close(struct hc_mcp *m, const struct hc_call *call)
{
    struct hc_session_place *s = find_session(m, call, false);
    if (!s)
        return;
    set_id(s->close_id, call->message->id);
    if (s->id[0]) {
        hc_child_end(&s->child);
    } else {
        hc_close_fd(&s->in_fd); /* the session ends at the end of its input */
        hc_child_expect(&s->child);
    }
}

void hc_tool_session_list(struct hc_mcp *m, const struct hc_call *call)
{
    hc_autobuf text = {0};
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        const struct hc_session_place *s = &m->sessions[i];
        const char *does = s->close_id[0]             ? "is being closed"
                           : s->id[0] || s->cancelled ? "is busy"
                                                      : "waits";
        if (s->name[0])
            (void)hc_buf_fmt(&text, "%s %s\n", s->name, does);
    }
    hc_mcp_say(m, call->message->id, "%s",
               text.len ? text.data : "no session is open: session_open makes one");
}

/* ---- answers ---- */

static void answer_result(struct hc_mcp *m, struct hc_session_place *s, const cJSON *event)
{
    struct hc_stored_run left;
    hc_stored_init(&left, s->name);
    cJSON *result = hc_run_result(m, &left, hc_json_member(event, "manifest"), hc_json_text(event, "state"));
    bool changed = left.count > 0;
    if (s->id[0] && !s->cancelled)
        hc_mcp_reply(m, s->id, result);
    else
        cJSON_Delete(result);
    hc_store_keep(&m->store, &left, true);
    if (changed)
        hc_mcp_notify_resources(m);
}

static void answer_ready(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_stored_run none;
    hc_stored_init(&none, s->name);
    hc_store_keep(&m->store, &none, true);
    if (!s->cancelled)
        hc_mcp_say(m, s->id, "%s is open", s->name);
    send_request(s, "{\"stream\":true}"); /* for messages of progress */
}

static void note_output(struct hc_session_place *s, const cJSON *event)
{
    const char *text = hc_json_text(event, "text");
    if (!s->cancelled)
        hc_progress_print(&s->progress, text, strlen(text));
}

/* The session announces its end: keep the reason. */
static void note_end(struct hc_session_place *s, const cJSON *event)
{
    const cJSON *manifest = hc_json_member(event, "manifest");
    (void)snprintf(s->why, sizeof s->why, "%s", hc_json_text_or(manifest, "reason", "it was closed"));
}

static void answer_done(struct hc_mcp *m, struct hc_session_place *s, const cJSON *answer)
{
    if (strstr(hc_json_text(answer, "request"), "_file"))
        hc_session_files_answer(m, s->id, s->name, answer);
    else
        hc_mcp_say(m, s->id, "%s: the state is %s", s->name, hc_json_text_or(answer, "state", "there"));
}

/* Handle a line from the session. The launcher writes it, not a program, but it is checked all the same. */
static void handle_answer(struct hc_mcp *m, struct hc_session_place *s, const char *text, size_t len)
{
    struct hc_json j;
    struct hc_error err;
    if (hc_json_parse(&j, "session", text, len, &err) == 0) {
        const char *event = hc_json_text(j.root, "event");
        bool ready = strcmp(event, "ready") == 0, result = strcmp(event, "result") == 0;
        bool error = strcmp(event, "error") == 0;
        bool done = strcmp(event, "done") == 0 && strcmp(hc_json_text(j.root, "request"), "stream") != 0;
        if (strcmp(event, "end") == 0)
            note_end(s, j.root);
        if (strcmp(event, "stdout") == 0 || strcmp(event, "stderr") == 0)
            note_output(s, j.root);
        if (ready)
            answer_ready(m, s);
        if (result)
            answer_result(m, s, j.root);
        if (error && s->id[0] && !s->cancelled)
            hc_mcp_refuse(m, s->id, "%s: %s", s->name, hc_json_text(j.root, "message"));
        if (done && s->id[0] && !s->cancelled)
            answer_done(m, s, j.root);
        if (ready || result || error || done)
            end_call(s);
    }
    hc_json_finish(&j);
}

void hc_session_read(struct hc_mcp *m, struct hc_session_place *s)
{
    char chunk[65536];
    ssize_t n = read(s->out_fd, chunk, sizeof chunk);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hc_close_fd(&s->out_fd);
        return;
    }
    hc_rpc_feed(&s->lines, chunk, (size_t)n);
    const char *text;
    size_t len;
    for (enum hc_rpc_line got; (got = hc_rpc_next(&s->lines, &text, &len)) != HC_RPC_MORE;)
        if (got == HC_RPC_LINE)
            handle_answer(m, s, text, len);
}

/* ---- the end ---- */

static bool was_ready(const struct hc_mcp *m, const struct hc_session_place *s)
{
    return hc_store_find_run(&m->store, s->name) != NULL;
}

static void remember_end(struct hc_mcp *m, const struct hc_session_place *s)
{
    struct hc_session_ended *e = &m->ended[m->ended_count++ % HC_MCP_ENDED];
    (void)snprintf(e->name, sizeof e->name, "%s", s->name);
    (void)snprintf(e->why, sizeof e->why, "%s", s->why);
}

static void finish_session(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_stored_run none;
    hc_autobuf words = {0};
    bool ready = was_ready(m, s);
    hc_stored_init(&none, s->name);
    hc_store_remove_inputs(&m->store, s->name);
    hc_child_messages(&s->child, &words);
    if (s->close_id[0] || !s->why[0])
        (void)snprintf(s->why, sizeof s->why, "%.199s", s->close_id[0] ? "it was closed" : words.data);
    if (ready)
        remember_end(m, s);
    if (s->id[0] && !s->cancelled && ready)
        refuse_unknown(m, s->name, s->id);
    else if (s->id[0] && !s->cancelled)
        hc_mcp_refuse(m, s->id, "%s could not be opened: %s", s->name, s->close_id[0] ? s->why : words.data);
    if (s->next_id[0])
        refuse_unknown(m, s->name, s->next_id);
    if (s->close_id[0])
        hc_mcp_say(m, s->close_id, "%s is closed; its files are kept", s->name);
    if (ready)
        hc_store_keep(&m->store, &none, false);
    clear_place(s);
}

void hc_sessions_tend(struct hc_mcp *m)
{
    int64_t now = hc_mono_ms();
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        struct hc_session_place *s = &m->sessions[i];
        if (!s->name[0])
            continue;
        hc_child_kill_if_late(&s->child, now);
        hc_progress_tell(m, &s->progress, now);
        if (s->out_fd < 0 && hc_child_ended(&s->child)) /* all of its answers have been read */
            finish_session(m, s);
    }
}

void hc_sessions_cancel(struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        struct hc_session_place *s = &m->sessions[i];
        if (s->name[0] && strcmp(s->next_id, id) == 0) {
            s->next_id[0] = '\0';
            hc_buf_finish(&s->next);
            hc_progress_end(&s->progress);
            continue;
        }
        if (!waits_for(s, id) || strcmp(s->id, id) != 0)
            continue;
        s->cancelled = true;
        hc_progress_end(&s->progress);
        if (hc_store_find_run(&m->store, s->name)) /* it was ready: interrupt the run, and keep the session */
            send_request(s, "{\"interrupt\":true}");
        else
            hc_child_end(&s->child);
    }
}

void hc_sessions_end(struct hc_mcp *m)
{
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        if (m->sessions[i].name[0])
            hc_child_end(&m->sessions[i].child);
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        struct hc_session_place *s = &m->sessions[i];
        struct hc_stored_run none;
        if (!s->name[0])
            continue;
        hc_stored_init(&none, s->name);
        clear_place(s);
        hc_store_keep(&m->store, &none, false);
    }
}
