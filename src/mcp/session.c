/* Sessions: each takes requests and gives answers as lines of JSON (hotcell-session(1)), which the host
 * carries. */
#include "mcp/server.h"

#include "base/clock.h"
#include "json/names.h"

#include <stdio.h>
#include <string.h>

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
    m->host->ask(m, s, line);
}

/* The call that was sent is over. */
static void end_call(struct hc_mcp *m, struct hc_session_place *s)
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
    m->host->ask(m, s, s->next.data);
    hc_buf_finish(&s->next);
}

/* ---- opening ---- */

static void clear_place(struct hc_mcp *m, struct hc_session_place *s)
{
    m->host->clear_session(m, s);
    hc_buf_finish(&s->next);
    hc_progress_end(&s->progress);
    *s = (struct hc_session_place){0};
}

static void open_place(struct hc_mcp *m, struct hc_session_place *s, const struct hc_call *call)
{
    struct hc_error err = {0};
    cJSON *inputs = cJSON_CreateObject();
    *s = (struct hc_session_place){0};
    bool ok = hc_files_begin(m->store, true, s->name, &err) == 0 &&
              hc_programs_store_inputs(m, call, s->name, inputs, &s->input_bytes, &err) == 0 &&
              m->host->open(m, s, inputs, &err) == 0;
    cJSON_Delete(inputs);
    if (ok) {
        set_id(s->id, call->message->id);
        return;
    }
    m->host->forget(m, s->name);
    clear_place(m, s);
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
    hc_programs_copy(call, "command", &line);
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

static cJSON *interruption(const struct hc_session_place *s, bool interrupted)
{
    cJSON *data = hc_mcp_data("session", s->name);
    hc_mcp_put(data, "interrupted", cJSON_CreateBool(interrupted));
    return data;
}

/* The data of an answer about a session, and the state in which something is. */
static cJSON *state_of(const char *session, const char *state)
{
    cJSON *data = hc_mcp_data("session", session);
    hc_mcp_put(data, "state", cJSON_CreateString(state));
    return data;
}

void hc_tool_session_interrupt(struct hc_mcp *m, const struct hc_call *call)
{
    struct hc_session_place *s = find_session(m, call, false);
    if (!s)
        return;
    if (!s->id[0]) {
        hc_mcp_say(m, call->message->id, interruption(s, false), "nothing runs in %s", s->name);
        return;
    }
    m->host->interrupt(m, s);
    hc_mcp_say(m, call->message->id, interruption(s, true),
               "what runs in %s gets a KeyboardInterrupt; session_run answers when it has ended", s->name);
}

void hc_tool_session_close(struct hc_mcp *m, const struct hc_call *call)
{
    struct hc_session_place *s = find_session(m, call, false);
    if (!s)
        return;
    set_id(s->close_id, call->message->id);
    m->host->close(m, s, s->id[0] != '\0');
}

void hc_tool_session_list(struct hc_mcp *m, const struct hc_call *call)
{
    static const struct {
        const char *state, *words; /* the state in structured content; in the text for the model */
    } does[] = {{"idle", "waits"}, {"busy", "is busy"}, {"closing", "is being closed"}};
    hc_autobuf text = {0};
    cJSON *data = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(data, "sessions");
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        const struct hc_session_place *s = &m->sessions[i];
        const size_t now = s->close_id[0] ? 2 : s->id[0] || s->cancelled ? 1 : 0;
        if (!s->name[0])
            continue;
        (void)hc_buf_fmt(&text, "%s %s\n", s->name, does[now].words);
        hc_mcp_add(list, state_of(s->name, does[now].state));
    }
    hc_mcp_answer(m, call->message->id, text.len ? text.data : "no session is open: session_open makes one",
                  data);
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
    hc_files_keep(m->store, &left, true);
    if (changed)
        hc_mcp_notify_resources(m);
}

static void answer_ready(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_stored_run none;
    hc_stored_init(&none, s->name);
    hc_files_keep(m->store, &none, true);
    if (s->cancelled)
        return;
    const cJSON *member;
    cJSON *data = hc_mcp_data("session", s->name);
    cJSON_ArrayForEach(member, m->session_card)
        hc_mcp_put(data, member->string, cJSON_Duplicate(member, true));
    hc_mcp_say(m, s->id, data, "%s is open", s->name);
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
    const char *state = hc_json_text_or(answer, "state", "there");
    if (strstr(hc_json_text(answer, "request"), "_file"))
        hc_session_files_answer(m, s->id, s->name, answer);
    else
        hc_mcp_say(m, s->id, state_of(s->name, state), "%s: the state is %s", s->name, state);
}

/* The launcher writes the line, not a program, but it is checked all the same. */
void hc_session_take(struct hc_mcp *m, struct hc_session_place *s, const char *text, size_t len)
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
            end_call(m, s);
    }
    hc_json_finish(&j);
}

/* ---- the end ---- */

static bool was_ready(const struct hc_mcp *m, const struct hc_session_place *s)
{
    return hc_files_find_run(m->store, s->name) != NULL;
}

static void remember_end(struct hc_mcp *m, const struct hc_session_place *s)
{
    struct hc_session_ended *e = &m->ended[m->ended_count++ % HC_MCP_ENDED];
    (void)snprintf(e->name, sizeof e->name, "%s", s->name);
    (void)snprintf(e->why, sizeof e->why, "%s", s->why);
}

void hc_session_gone(struct hc_mcp *m, struct hc_session_place *s, const char *why)
{
    struct hc_stored_run none;
    bool ready = was_ready(m, s);
    hc_stored_init(&none, s->name);
    m->host->forget(m, s->name);
    if (s->close_id[0] || !s->why[0])
        (void)snprintf(s->why, sizeof s->why, "%.199s", s->close_id[0] ? "it was closed" : why);
    if (ready)
        remember_end(m, s);
    if (s->id[0] && !s->cancelled && ready)
        refuse_unknown(m, s->name, s->id);
    else if (s->id[0] && !s->cancelled)
        hc_mcp_refuse(m, s->id, "%s could not be opened: %s", s->name, s->close_id[0] ? s->why : why);
    if (s->next_id[0])
        refuse_unknown(m, s->name, s->next_id);
    if (s->close_id[0])
        hc_mcp_say(m, s->close_id, state_of(s->name, "closed"), "%s is closed; its files are kept", s->name);
    if (ready)
        hc_files_keep(m->store, &none, false);
    clear_place(m, s);
}

void hc_sessions_tend(struct hc_mcp *m)
{
    int64_t now = hc_mono_ms();
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        struct hc_session_place *s = &m->sessions[i];
        if (!s->name[0])
            continue;
        if (!m->host->look_session(m, s))
            hc_progress_tell(m, &s->progress, now);
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
        if (hc_files_find_run(m->store, s->name)) /* it was ready: interrupt the run, and keep the session */
            m->host->interrupt(m, s);
        else
            m->host->close(m, s, true);
    }
}

void hc_sessions_end(struct hc_mcp *m)
{
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        if (m->sessions[i].name[0])
            m->host->close(m, &m->sessions[i], true);
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++) {
        struct hc_session_place *s = &m->sessions[i];
        struct hc_stored_run none;
        if (!s->name[0])
            continue;
        hc_stored_init(&none, s->name);
        clear_place(m, s);
        hc_files_keep(m->store, &none, false);
    }
}
