/* Programs: what a call becomes, whose turn it is, and what its answer is. The host runs them. */
#include "mcp/server.h"

#include "base/clock.h"
#include "base/units.h"
#include "json/names.h"
#include "manifest/manifest.h" /* with HC_MAX_INPUTS, the bound of its list of inputs */

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- finding programs ---- */

static struct hc_program *find_program(struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        if (m->programs[i].run[0] && strcmp(m->programs[i].id, id) == 0 && !m->programs[i].cancelled)
            return &m->programs[i];
    return NULL;
}

bool hc_programs_has(const struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        if (m->programs[i].run[0] && strcmp(m->programs[i].id, id) == 0 && !m->programs[i].cancelled)
            return true;
    return false;
}

bool hc_program_waits(const struct hc_program *p)
{
    return p->run[0] && p->spec.len;
}

static int count_programs(const struct hc_mcp *m, bool waiting)
{
    int count = 0;
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        count += m->programs[i].run[0] && hc_program_waits(&m->programs[i]) == waiting;
    return count;
}

static struct hc_program *free_place(struct hc_mcp *m)
{
    if (count_programs(m, true) >= HC_MCP_WAITING)
        return NULL;
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        if (!m->programs[i].run[0])
            return &m->programs[i];
    return NULL;
}

/* ---- bounds of files and inputs, which hold before any of them is stored ---- */

/* Bytes that the inputs of all programs and sessions may have together: each kept file fits once. */
static int64_t input_room(const struct hc_mcp *m)
{
    int64_t max = m->store->max;
    return max > INT64_MAX - HC_STORE_WRITTEN_BYTES ? INT64_MAX : max + HC_STORE_WRITTEN_BYTES;
}

/* Bytes of the inputs of programs that run or wait, and of open sessions. */
static int64_t input_bytes_held(const struct hc_mcp *m)
{
    int64_t sum = 0;
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        sum += m->programs[i].input_bytes;
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        sum += m->sessions[i].input_bytes;
    return sum;
}

/* Bytes of a file that comes with the call; of base64 text the most that it can decode to. */
static int64_t content_bytes(const cJSON *file)
{
    const char *text = cJSON_GetStringValue(file), *coded = hc_json_text(file, "base64");
    return (int64_t)(text ? strlen(text) : (strlen(coded) + 3) / 4 * 3);
}

static int64_t stored_bytes(const struct hc_mcp *m, const cJSON *item)
{
    const char *path = cJSON_GetStringValue(item);
    const struct hc_stored *file = path ? hc_files_find(m->store, path) : NULL;
    return file && file->bytes > 0 ? file->bytes : 0;
}

/* Take bytes from `room` for each member of the object. False: the room is too small. */
static bool take_room(const struct hc_mcp *m, const cJSON *object, bool stored, int64_t *room)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        int64_t bytes = stored ? stored_bytes(m, item) : content_bytes(item);
        if (bytes > *room)
            return false;
        *room -= bytes;
    }
    return true;
}

/* Check the number and the size of a call's files and inputs. `bytes` gets their size. A file that is named
 * twice counts twice: it may be copied. */
static int bound_inputs(const struct hc_mcp *m, const cJSON *files, const cJSON *stored, int64_t *bytes,
                        struct hc_error *err)
{
    char all[32], left[32];
    int count = cJSON_GetArraySize(files) + cJSON_GetArraySize(stored);
    int64_t most = input_room(m), room = most - input_bytes_held(m), before = room;
    if (count > HC_MAX_INPUTS)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "files and inputs: %d together, more than %d: put them into fewer files", count,
                          HC_MAX_INPUTS);
    if (!take_room(m, files, false, &room) || !take_room(m, stored, true, &room))
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "files and inputs: larger than %s, which is left of the %s for all programs that "
                          "run or wait and all open sessions: give less, call again when programs have "
                          "ended, or close sessions with session_close",
                          hc_format_size(before, left, sizeof left), hc_format_size(most, all, sizeof all));
    *bytes = before - room;
    return 0;
}

/* ---- the job's specification, from the client's arguments ---- */

/* May a client call a file so? As a written one, and blanks within are fine, too. */
static bool is_file_name(const char *file)
{
    char plain[HC_STORE_NAME + 1];
    size_t len = strlen(file);
    if (len == 0 || len > HC_STORE_NAME || file[0] == ' ' || file[len - 1] == ' ')
        return false;
    for (size_t i = 0; i <= len; i++)
        plain[i] = (char)(file[i] == ' ' ? '_' : file[i]);
    return hc_files_bad_name(plain) == NULL;
}

/* The variable's name for a file: "sales" for "sales.csv", "q3_sales" for "q3-sales.csv", and "file_2026" for
 * "2026.csv". NULL: the file's name is invalid, or too long for one. */
static const char *variable_of(const char *file, char out[HC_STORE_NAME + 8])
{
    char stem[HC_STORE_NAME + 1];
    const char *dot = strrchr(file, '.');
    if (!is_file_name(file))
        return NULL;
    (void)snprintf(stem, sizeof stem, "%.*s", dot ? (int)(dot - file) : HC_STORE_NAME, file);
    for (char *at = stem; *at; at++)
        if (strchr(" .-", *at))
            *at = '_';
    (void)snprintf(out, HC_STORE_NAME + 8, "%s%s", hc_is_identifier(stem) ? "" : "file_", stem);
    return hc_is_identifier(out) && strlen(out) <= 64 ? out : NULL;
}

static int give_files(struct hc_mcp *m, const char *run, const cJSON *files, cJSON *inputs,
                      struct hc_error *err)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, files)
    {
        char variable[HC_STORE_NAME + 8];
        hc_autobuf bytes = {0};
        const char *bad = hc_mcp_content(file, &bytes);
        if (!variable_of(file->string, variable))
            return hc_fail_as(err, HC_EXIT_DATA, 0,
                              "files: '%.80s': expected a file name of at most 64 letters, digits, blanks, "
                              "'.', '_' and '-', such as \"sales.csv\"",
                              file->string);
        if (bad)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "files: %s: %s", file->string, bad);
        if (hc_json_member(inputs, variable))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "files: two of them would be the variable '%s'",
                              variable);
        cJSON *input = m->host->give(m, run, file->string, &bytes, err);
        if (!input)
            return -1;
        hc_mcp_put(inputs, variable, input);
    }
    return 0;
}

/* Give the run stored files, under their variables' names with their extensions, which decide how they
 * are loaded. */
static int give_stored(struct hc_mcp *m, const char *run, const cJSON *stored, cJSON *inputs,
                       struct hc_error *err)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, stored)
    {
        const char *path = cJSON_GetStringValue(item);
        const struct hc_stored *file = path ? hc_files_find(m->store, path) : NULL;
        char name[HC_STORE_NAME + 16];
        if (!hc_is_identifier(item->string) || strlen(item->string) > 64)
            return hc_fail_as(err, HC_EXIT_DATA, 0,
                              "inputs: '%.80s': expected a Python name of at most 64 characters",
                              item->string);
        if (!file) {
            char hint[HC_STORE_HINT];
            hc_files_hint(m->store, path ? path : "", hint);
            return hc_fail_as(err, HC_EXIT_DATA, 0, "inputs: %s: there is no file '%.200s' here%s",
                              item->string, path ? path : "", hint);
        }
        if (hc_json_member(inputs, item->string))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "inputs: '%s' is the name of one of the files, too",
                              item->string);
        const char *base = strrchr(path, '/'), *dot = strrchr(base ? base : path, '.');
        (void)snprintf(name, sizeof name, "%s%.10s", item->string, dot ? dot : "");
        cJSON *input = m->host->give_stored(m, run, name, file, err);
        if (!input)
            return -1;
        hc_mcp_put(inputs, item->string, input);
    }
    return 0;
}

/* Copies the source text of an argument, so that numbers keep their digits. */
void hc_programs_copy(const struct hc_call *call, const char *name, struct hc_buf *out)
{
    size_t len;
    const char *text = hc_json_source(&call->message->json, hc_json_member(call->arguments, name), &len);
    if (!text)
        return;
    (void)hc_buf_fmt(out, ",\"%s\":", name);
    (void)hc_buf_add(out, text, len);
}

int hc_programs_store_inputs(struct hc_mcp *m, const struct hc_call *call, const char *run, cJSON *inputs,
                             int64_t *bytes, struct hc_error *err)
{
    const cJSON *files = hc_json_member(call->arguments, "files");
    const cJSON *stored = hc_json_member(call->arguments, "inputs");
    if (bound_inputs(m, files, stored, bytes, err) < 0)
        return -1;
    return give_files(m, run, files, inputs, err) < 0 ? -1 : give_stored(m, run, stored, inputs, err);
}

static int make_spec(struct hc_mcp *m, const struct hc_call *call, struct hc_program *p, struct hc_error *err)
{
    struct hc_buf *spec = &p->spec;
    cJSON *inputs = cJSON_CreateObject();
    int rc = hc_programs_store_inputs(m, call, p->run, inputs, &p->input_bytes, err);
    char *text = rc == 0 ? cJSON_PrintUnformatted(inputs) : NULL;
    if (rc == 0) {
        (void)hc_buf_fmt(spec, "{\"inputs\":%s", text ? text : "");
        hc_programs_copy(call, "code", spec);
        hc_programs_copy(call, "command", spec);
        hc_programs_copy(call, "vars", spec);
        hc_programs_copy(call, "stdin", spec);
        hc_programs_copy(call, "args", spec);
        hc_programs_copy(call, "env", spec);
        (void)hc_buf_str(spec, "}");
        if (!text || spec->failed)
            rc = hc_fail(err, ENOMEM, "make the job");
    }
    cJSON_free(text);
    cJSON_Delete(inputs);
    return rc;
}

/* ---- turns ---- */

static void clear_place(struct hc_mcp *m, struct hc_program *p)
{
    m->host->clear(m, p);
    hc_buf_finish(&p->spec);
    hc_progress_end(&p->progress);
    *p = (struct hc_program){0};
}

/* Forget a program that has not run, with its inputs. */
static void drop_program(struct hc_mcp *m, struct hc_program *p)
{
    m->host->forget(m, p->run);
    clear_place(m, p);
}

/* The program that has waited longest; NULL: none waits. */
static struct hc_program *next_in_line(struct hc_mcp *m)
{
    struct hc_program *next = NULL;
    for (struct hc_program *p = m->programs; p < m->programs + HC_MCP_PLACES; p++)
        if (hc_program_waits(p) && (!next || p->turn < next->turn))
            next = p;
    return next;
}

static void start_programs(struct hc_mcp *m)
{
    struct hc_program *p;
    struct hc_error err = {0};
    while (count_programs(m, false) < m->jobs && (p = next_in_line(m))) {
        int rc = m->host->start(m, p, &err);
        hc_buf_finish(&p->spec);
        if (rc == 0)
            continue;
        hc_mcp_refuse(m, p->id, "%s", err.text);
        drop_program(m, p);
    }
}

/* The job is made at once, out of the files as they are now, even if it has to wait. */
static void add_program(struct hc_mcp *m, struct hc_program *p, const struct hc_call *call,
                        int64_t timeout_ms)
{
    struct hc_error err = {0};
    *p = (struct hc_program){0};
    if (hc_files_begin(m->store, false, p->run, &err) < 0 || make_spec(m, call, p, &err) < 0) {
        drop_program(m, p);
        hc_mcp_refuse(m, call->message->id, "%s: %s", hc_json_text(call->message->params, "name"), err.text);
        return;
    }
    (void)snprintf(p->id, sizeof p->id, "%s", call->message->id);
    p->timeout_ms = timeout_ms;
    p->turn = ++m->turns;
    hc_progress_begin(&p->progress, call);
    start_programs(m);
}

int64_t hc_programs_timeout(struct hc_mcp *m, const struct hc_call *call)
{
    const cJSON *timeout = hc_json_member(call->arguments, "timeout");
    double most = (double)m->timeout_ms / 1000;
    if (!timeout)
        return m->timeout_ms;
    if (timeout->valuedouble > 0 && timeout->valuedouble <= most)
        return timeout->valuedouble < 0.001 ? 1 : (int64_t)(timeout->valuedouble * 1000);
    hc_mcp_refuse(m, call->message->id,
                  "timeout: expected more than 0 and at most %g seconds, which the policy allows", most);
    return 0;
}

void hc_tool_run_python(struct hc_mcp *m, const struct hc_call *call)
{
    int64_t ms = hc_programs_timeout(m, call);
    struct hc_program *place = ms ? free_place(m) : NULL;
    if (place)
        add_program(m, place, call, ms);
    else if (ms)
        hc_mcp_refuse(m, call->message->id,
                      "%d programs run and %d wait already, as many as may: call again when some have ended",
                      m->jobs, HC_MCP_WAITING);
}

void hc_tool_run_command(struct hc_mcp *m, const struct hc_call *call)
{
    const bool placed = hc_json_member(call->arguments, "files") || hc_json_member(call->arguments, "inputs");
    if (!hc_mcp_string(call, "session"))
        hc_tool_run_python(m, call);
    else if (placed)
        hc_mcp_refuse(
            m, call->message->id,
            "run_command: files and inputs are for a cell of its own: put files into a session with "
            "write_file");
    else
        hc_tool_session_run(m, call);
}

/* ---- the end of a program ---- */

void hc_program_ended(struct hc_mcp *m, struct hc_program *p, const char *text, size_t len, const char *why)
{
    struct hc_error ignored;
    struct hc_json manifest = {0};
    struct hc_stored_run left;
    cJSON *result = NULL;
    hc_stored_init(&left, p->run);
    m->host->forget(m, p->run);
    const bool ran = text && hc_json_parse(&manifest, "manifest", text, len, &ignored) == 0;
    if (ran) {
        result = hc_run_result(m, &left, manifest.root, NULL);
        (void)hc_stored_list(&left, "manifest.json", (int64_t)len);
    }
    hc_json_finish(&manifest);
    if (!p->cancelled && ran)
        hc_mcp_reply(m, p->id, result);
    else if (!p->cancelled)
        hc_mcp_refuse(m, p->id, "the program did not run: %s", why);
    else
        cJSON_Delete(result);
    hc_files_keep(m->store, &left, false);
    clear_place(m, p);
    if (ran)
        hc_mcp_notify_resources(m);
}

void hc_programs_tend(struct hc_mcp *m)
{
    int64_t now = hc_mono_ms();
    for (struct hc_program *p = m->programs; p < m->programs + HC_MCP_PLACES; p++) {
        if (!p->run[0] || (!hc_program_waits(p) && m->host->look(m, p)))
            continue;
        if (!p->cancelled)
            hc_progress_tell(m, &p->progress, now);
    }
    start_programs(m);
}

void hc_programs_cancel(struct hc_mcp *m, const char *id)
{
    struct hc_program *p = find_program(m, id);
    if (!p)
        return;
    p->cancelled = true;
    if (hc_program_waits(p))
        drop_program(m, p);
    else
        m->host->stop(m, p);
}

void hc_programs_end(struct hc_mcp *m)
{
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        if (m->programs[i].run[0])
            m->host->stop(m, &m->programs[i]);
    for (size_t i = 0; i < HC_MCP_PLACES; i++) {
        struct hc_program *p = &m->programs[i];
        struct hc_stored_run left;
        if (!p->run[0])
            continue;
        hc_stored_init(&left, p->run);
        clear_place(m, p);
        /* lists the run as closed, so that the store may remove its directory */
        hc_files_keep(m->store, &left, false);
    }
}
