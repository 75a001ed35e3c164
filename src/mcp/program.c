/* Run programs, each by a `hotcell run` of this same binary. */
#include "mcp/server.h"

#include "base/clock.h"
#include "base/fd.h"
#include "json/names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_MANIFEST ((size_t)256 << 20)
#define PROGRESS_MS  5000 /* between progress messages */
#define FIRST_MS     1000 /* until the first progress message */

/* ---- finding programs ---- */

static struct hc_program *find_program(struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_JOBS; i++)
        if (m->programs[i].run[0] && strcmp(m->programs[i].id, id) == 0 && !m->programs[i].cancelled)
            return &m->programs[i];
    return NULL;
}

bool hc_programs_has(const struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_JOBS; i++)
        if (m->programs[i].run[0] && strcmp(m->programs[i].id, id) == 0 && !m->programs[i].cancelled)
            return true;
    return false;
}

static struct hc_program *free_place(struct hc_mcp *m)
{
    struct hc_program *place = NULL;
    int running = 0;
    for (size_t i = 0; i < HC_MCP_JOBS; i++) {
        running += m->programs[i].run[0] != 0;
        if (!m->programs[i].run[0])
            place = &m->programs[i];
    }
    return running < m->config->jobs ? place : NULL;
}

/* ---- the job's specification, from the client's arguments ---- */

/* The variable's name for a file: "sales" for "sales.csv". NULL: the file's name is invalid. */
static const char *variable_of(const char *file, char out[72])
{
    size_t len = strcspn(file, ".");
    if (strlen(file) > HC_STORE_NAME || len > 64 || strchr(file, '/') ||
        (file[len] && strchr(file + len + 1, '.')))
        return NULL;
    (void)snprintf(out, 72, "%.*s", (int)len, file);
    return hc_is_identifier(out) && hc_store_bad_name(file) == NULL ? out : NULL;
}

static void add_input(const struct hc_mcp *m, const char *run, const char *variable, const char *name,
                      cJSON *inputs)
{
    char path[PATH_MAX];
    if (hc_store_input_path(&m->store, run, name, path, sizeof path) == 0)
        hc_mcp_put(inputs, variable, cJSON_CreateString(path));
}

static int give_files(struct hc_mcp *m, const char *run, const cJSON *files, cJSON *inputs,
                      struct hc_error *err)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, files)
    {
        char variable[72];
        hc_autobuf bytes = {0};
        const char *bad = hc_mcp_content(file, &bytes);
        if (!variable_of(file->string, variable))
            return hc_fail_as(
                err, HC_EXIT_DATA, 0,
                "files: '%.80s': expected NAME or NAME.EXT, NAME being a Python name, such as \"sales.csv\"",
                file->string);
        if (bad)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "files: %s: %s", file->string, bad);
        if (hc_json_member(inputs, variable))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "files: two of them would be the variable '%s'",
                              variable);
        if (hc_store_add_input(&m->store, run, file->string, bytes.data ? bytes.data : "", bytes.len, err) <
            0)
            return -1;
        add_input(m, run, variable, file->string, inputs);
    }
    return 0;
}

/* Copy stored files for the run, under their variables' names with their extensions, which decide how they
 * are loaded. */
static int give_stored(struct hc_mcp *m, const char *run, const cJSON *stored, cJSON *inputs,
                       struct hc_error *err)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, stored)
    {
        const char *path = cJSON_GetStringValue(item);
        const struct hc_stored *file = path ? hc_store_find(&m->store, path) : NULL;
        char name[HC_STORE_NAME + 16];
        if (!hc_is_identifier(item->string) || strlen(item->string) > 64)
            return hc_fail_as(err, HC_EXIT_DATA, 0,
                              "inputs: '%.80s': expected a Python name of at most 64 characters",
                              item->string);
        if (!file)
            return hc_fail_as(err, HC_EXIT_DATA, 0,
                              "inputs: %s: there is no file '%.200s' here (list_files names them)",
                              item->string, path ? path : "");
        if (hc_json_member(inputs, item->string))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "inputs: '%s' is the name of one of the files, too",
                              item->string);
        const char *base = strrchr(path, '/'), *dot = strrchr(base ? base : path, '.');
        (void)snprintf(name, sizeof name, "%s%.10s", item->string, dot ? dot : "");
        if (hc_store_add_stored_input(&m->store, run, file, name, err) < 0)
            return -1;
        add_input(m, run, item->string, name, inputs);
    }
    return 0;
}

/* The source text, so that numbers keep their digits. */
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
                             struct hc_error *err)
{
    const cJSON *files = hc_json_member(call->arguments, "files");
    const cJSON *stored = hc_json_member(call->arguments, "inputs");
    return give_files(m, run, files, inputs, err) < 0 ? -1 : give_stored(m, run, stored, inputs, err);
}

static int make_spec(struct hc_mcp *m, const struct hc_call *call, const char *run, struct hc_buf *spec,
                     struct hc_error *err)
{
    cJSON *inputs = cJSON_CreateObject();
    int rc = hc_programs_store_inputs(m, call, run, inputs, err);
    char *text = rc == 0 ? cJSON_PrintUnformatted(inputs) : NULL;
    if (rc == 0) {
        (void)hc_buf_fmt(spec, "{\"inputs\":%s", text ? text : "");
        hc_programs_copy(call, "code", spec);
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

/* ---- the child ---- */

static int launch(struct hc_mcp *m, struct hc_program *p, const struct hc_buf *spec, struct hc_error *err)
{
    char directory[PATH_MAX], timeout[40];
    hc_autofd spec_fd = hc_sealed_memfd("spec", spec->data, spec->len, err);
    if (spec_fd < 0)
        return -1;
    p->out_fd = memfd_create("manifest", MFD_CLOEXEC);
    if (p->out_fd < 0 || hc_store_run_path(&m->store, p->run, directory, sizeof directory) < 0)
        return hc_fail(err, errno, "start a program");
    (void)snprintf(timeout, sizeof timeout, "--timeout=%lldms", (long long)p->timeout_ms);
    const char *const more[] = {timeout, "--json", "-o", directory, "--spec", "-", NULL};
    return hc_child_start(&p->child, m->config, "run", more, spec_fd, p->out_fd, err);
}

static void clear_place(struct hc_program *p)
{
    hc_child_finish(&p->child);
    hc_close_fd(&p->out_fd);
    *p = (struct hc_program){.out_fd = -1};
}

static void start_program(struct hc_mcp *m, struct hc_program *p, const struct hc_call *call,
                          int64_t timeout_ms)
{
    struct hc_error err = {0};
    hc_autobuf spec = {0};
    *p = (struct hc_program){.child = {.pidfd = -1, .err_fd = -1}, .out_fd = -1, .timeout_ms = timeout_ms};
    if (hc_store_begin(&m->store, false, p->run, &err) < 0 || make_spec(m, call, p->run, &spec, &err) < 0 ||
        launch(m, p, &spec, &err) < 0) {
        hc_store_remove_inputs(&m->store, p->run);
        clear_place(p);
        hc_mcp_refuse(m, call->message->id, "run_python: %s", err.text);
        return;
    }
    p->started_ms = hc_mono_ms();
    p->tell_ms = p->started_ms + FIRST_MS;
    (void)snprintf(p->id, sizeof p->id, "%s", call->message->id);
    const cJSON *meta = hc_json_member(call->message->params, "_meta");
    if (!hc_rpc_id(&call->message->json, hc_json_member(meta, "progressToken"), p->token))
        p->token[0] = '\0';
}

int64_t hc_programs_timeout(struct hc_mcp *m, const struct hc_call *call)
{
    const cJSON *timeout = hc_json_member(call->arguments, "timeout");
    double most = (double)m->config->timeout_ms / 1000;
    if (!timeout)
        return m->config->timeout_ms;
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
        start_program(m, place, call, ms);
    else if (ms)
        hc_mcp_refuse(m, call->message->id,
                      "%d programs run already, as many as may at once: call again when one has ended",
                      m->config->jobs);
}

/* ---- the end of a program ---- */

static void finish_program(struct hc_mcp *m, struct hc_program *p)
{
    hc_autobuf text = {0}, words = {0};
    struct hc_error ignored;
    struct hc_json manifest = {0};
    struct hc_stored_run left;
    cJSON *result = NULL;
    hc_stored_init(&left, p->run);
    hc_store_remove_inputs(&m->store, p->run);
    bool said = lseek(p->out_fd, 0, SEEK_SET) == 0 &&
                hc_read_all(p->out_fd, &text, MAX_MANIFEST, &ignored) == 0 && text.len &&
                hc_json_parse(&manifest, "manifest", text.data, text.len, &ignored) == 0;
    if (said) {
        result = hc_run_result(m, &left, manifest.root, NULL);
        (void)hc_stored_list(&left, "manifest.json", (int64_t)text.len);
    }
    hc_json_finish(&manifest);
    hc_child_messages(&p->child, &words);
    if (!p->cancelled && said)
        hc_mcp_reply(m, p->id, result);
    else if (!p->cancelled)
        hc_mcp_refuse(m, p->id, "the program did not run: %s", words.failed ? "" : words.data);
    else
        cJSON_Delete(result);
    hc_store_keep(&m->store, &left, false);
    clear_place(p);
    if (said)
        hc_mcp_notify_resources(m);
}

static void tell_progress(struct hc_mcp *m, struct hc_program *p, int64_t now)
{
    if (!p->token[0] || p->cancelled || now < p->tell_ms)
        return;
    p->tell_ms = now + PROGRESS_MS;
    cJSON *params = cJSON_CreateObject();
    (void)cJSON_AddRawToObject(params, "progressToken", p->token);
    hc_mcp_put(params, "progress", cJSON_CreateNumber((double)(now - p->started_ms) / 1000));
    hc_mcp_put(params, "total", cJSON_CreateNumber((double)p->timeout_ms / 1000));
    hc_mcp_put(params, "message", cJSON_CreateString("the program runs; counted in seconds"));
    hc_mcp_notify(m, "notifications/progress", params);
}

void hc_programs_tend(struct hc_mcp *m)
{
    int64_t now = hc_mono_ms();
    for (size_t i = 0; i < HC_MCP_JOBS; i++) {
        struct hc_program *p = &m->programs[i];
        if (!p->run[0])
            continue;
        if (hc_child_ended(&p->child)) {
            finish_program(m, p);
            continue;
        }
        tell_progress(m, p, now);
        hc_child_kill_if_late(&p->child, now);
    }
}

void hc_programs_cancel(struct hc_mcp *m, const char *id)
{
    struct hc_program *p = find_program(m, id);
    if (!p)
        return;
    p->cancelled = true;
    hc_child_end(&p->child);
}

void hc_programs_end(struct hc_mcp *m)
{
    for (size_t i = 0; i < HC_MCP_JOBS; i++)
        if (m->programs[i].run[0])
            hc_child_end(&m->programs[i].child);
    for (size_t i = 0; i < HC_MCP_JOBS; i++) {
        struct hc_program *p = &m->programs[i];
        struct hc_stored_run left;
        if (!p->run[0])
            continue;
        hc_stored_init(&left, p->run);
        clear_place(p);
        hc_store_keep(&m->store, &left, false); /* so that the store removes its directory when it should */
    }
}
