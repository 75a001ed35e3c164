/* Programs: each one a `hotcell run` of this same binary. */
#include "mcp/server.h"

#include "base/fd.h"
#include "base/log.h"
#include "spec/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_MANIFEST  ((size_t)256 << 20)
#define MAX_LAST_LINE 2000
#define PATIENCE_MS   10000 /* for a launcher that was asked to end */
#define PROGRESS_MS   5000  /* between two words of progress */
#define FIRST_MS      1000  /* until the first */

/* ---- which ---- */

static struct hc_program *find(struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_JOBS; i++)
        if (m->programs[i].run && strcmp(m->programs[i].id, id) == 0 && !m->programs[i].cancelled)
            return &m->programs[i];
    return NULL;
}

bool hc_programs_has(const struct hc_mcp *m, const char *id)
{
    for (size_t i = 0; i < HC_MCP_JOBS; i++)
        if (m->programs[i].run && strcmp(m->programs[i].id, id) == 0 && !m->programs[i].cancelled)
            return true;
    return false;
}

static struct hc_program *free_place(struct hc_mcp *m)
{
    struct hc_program *place = NULL;
    int running = 0;
    for (size_t i = 0; i < HC_MCP_JOBS; i++) {
        running += m->programs[i].run != 0;
        if (!m->programs[i].run)
            place = &m->programs[i];
    }
    return running < m->config->jobs ? place : NULL;
}

/* ---- the job: a spec, from what the client says ---- */

/* "sales.csv" to "sales": a variable's name, or NULL. */
static const char *stem(const char *file, char out[72])
{
    size_t len = strcspn(file, ".");
    if (strlen(file) > HC_STORE_NAME || len > 64 || strchr(file, '/') ||
        (file[len] && strchr(file + len + 1, '.')))
        return NULL;
    (void)snprintf(out, 72, "%.*s", (int)len, file);
    return hc_is_identifier(out) && hc_store_bad_name(file) == NULL ? out : NULL;
}

static void add_input(const struct hc_mcp *m, int run, const char *variable, const char *name, cJSON *inputs)
{
    char path[PATH_MAX];
    if (hc_store_given_path(&m->store, run, name, path, sizeof path) == 0)
        hc_mcp_put(inputs, variable, cJSON_CreateString(path));
}

static int give_files(struct hc_mcp *m, int run, const cJSON *files, cJSON *inputs, struct hc_error *err)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, files)
    {
        char variable[72];
        hc_autobuf bytes = {0};
        const char *bad = hc_mcp_content(file, &bytes);
        if (!stem(file->string, variable))
            return hc_fail_as(
                err, HC_EXIT_DATA, 0,
                "files: '%.80s': expected NAME or NAME.EXT, NAME being a Python name, such as \"sales.csv\"",
                file->string);
        if (bad)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "files: %s: %s", file->string, bad);
        if (cJSON_GetObjectItemCaseSensitive(inputs, variable))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "files: two of them would be the variable '%s'",
                              variable);
        if (hc_store_give(&m->store, run, file->string, bytes.data ? bytes.data : "", bytes.len, err) < 0)
            return -1;
        add_input(m, run, variable, file->string, inputs);
    }
    return 0;
}

/* Under the variable's name, with the extension that says how to load it. */
static int give_stored(struct hc_mcp *m, int run, const cJSON *stored, cJSON *inputs, struct hc_error *err)
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
        if (cJSON_GetObjectItemCaseSensitive(inputs, item->string))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "inputs: '%s' is the name of one of the files, too",
                              item->string);
        const char *base = strrchr(path, '/'), *dot = strrchr(base ? base : path, '.');
        (void)snprintf(name, sizeof name, "%s%.10s", item->string, dot ? dot : "");
        if (hc_store_give_stored(&m->store, run, file, name, err) < 0)
            return -1;
        add_input(m, run, item->string, name, inputs);
    }
    return 0;
}

/* A member as it was written: numbers keep their digits. */
static void copy_member(const struct hc_call *call, const char *name, struct hc_buf *out)
{
    size_t len;
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(call->arguments, name);
    const char *text = node ? hc_json_source(&call->message->json, node, &len) : NULL;
    if (!text)
        return;
    (void)hc_buf_fmt(out, ",\"%s\":", name);
    (void)hc_buf_add(out, text, len);
}

static int make_spec(struct hc_mcp *m, const struct hc_call *call, int run, struct hc_buf *spec,
                     struct hc_error *err)
{
    cJSON *inputs = cJSON_CreateObject();
    int rc = give_files(m, run, cJSON_GetObjectItemCaseSensitive(call->arguments, "files"), inputs, err);
    if (rc == 0)
        rc = give_stored(m, run, cJSON_GetObjectItemCaseSensitive(call->arguments, "inputs"), inputs, err);
    char *text = rc == 0 ? cJSON_PrintUnformatted(inputs) : NULL;
    if (rc == 0) {
        (void)hc_buf_fmt(spec, "{\"inputs\":%s", text ? text : "");
        copy_member(call, "code", spec);
        copy_member(call, "vars", spec);
        (void)hc_buf_str(spec, "}");
        if (!text || spec->failed)
            rc = hc_fail(err, ENOMEM, "make the job");
    }
    cJSON_free(text);
    cJSON_Delete(inputs);
    return rc;
}

/* ---- the child ---- */

static _Noreturn void become_launcher(const char *const *argv, const int fds[3], pid_t parent)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    /* It ends in order, its cell with it, also when we are killed. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
        _exit(HC_EXIT_INTERNAL);
    for (int fd = 0; fd < 3; fd++)
        if (dup2(fds[fd], fd) < 0)
            _exit(HC_EXIT_INTERNAL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
    _exit(HC_EXIT_INTERNAL);
}

static int start_child(struct hc_program *p, const char *const *argv, int spec_fd, struct hc_error *err)
{
    p->out_fd = memfd_create("manifest", MFD_CLOEXEC);
    p->err_fd = memfd_create("messages", MFD_CLOEXEC);
    if (p->out_fd < 0 || p->err_fd < 0)
        return hc_fail(err, errno, "memfd_create");
    const int fds[3] = {spec_fd, p->out_fd, p->err_fd};
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return hc_fail(err, errno, "fork");
    if (pid == 0)
        become_launcher(argv, fds, parent);
    p->pid = pid;
    p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* ours, and not reaped: nobody else has its number */
    if (p->pidfd >= 0)
        return 0;
    (void)hc_fail(err, errno, "pidfd_open");
    (void)kill(pid, SIGTERM);
    (void)TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
    return -1;
}

static int launch(struct hc_mcp *m, struct hc_program *p, int run, const struct hc_buf *spec,
                  struct hc_error *err)
{
    char directory[PATH_MAX], timeout[40];
    const char **argv = calloc(m->config->option_count + 16, sizeof *argv);
    size_t n = 0;
    hc_autofd spec_fd = hc_sealed_memfd("spec", spec->data, spec->len, err);
    if (!argv || spec_fd < 0 || hc_store_run_path(&m->store, run, directory, sizeof directory) < 0) {
        free(argv);
        return argv && spec_fd < 0 ? -1 : hc_fail(err, argv ? ENAMETOOLONG : ENOMEM, "start a program");
    }
    (void)snprintf(timeout, sizeof timeout, "--timeout=%lldms", (long long)p->timeout_ms);
    argv[n++] = "hotcell";
    argv[n++] = "run";
    for (size_t i = 0; i < m->config->option_count; i++)
        argv[n++] = m->config->options[i];
    argv[n++] = timeout;
    argv[n++] = "--json";
    argv[n++] = "-o";
    argv[n++] = directory;
    argv[n++] = "--spec";
    argv[n] = "-";
    int rc = start_child(p, argv, spec_fd, err);
    free(argv);
    return rc;
}

static void forget(struct hc_program *p)
{
    hc_close_fd(&p->pidfd);
    hc_close_fd(&p->out_fd);
    hc_close_fd(&p->err_fd);
    *p = (struct hc_program){0};
}

static void start(struct hc_mcp *m, struct hc_program *p, const struct hc_call *call, int64_t timeout_ms)
{
    const char *id = call->message->id;
    struct hc_error err = {0};
    hc_autobuf spec = {0};
    *p = (struct hc_program){.pidfd = -1, .out_fd = -1, .err_fd = -1};
    int run = hc_store_begin(&m->store, &err);
    p->timeout_ms = timeout_ms;
    if (run < 0 || make_spec(m, call, run, &spec, &err) < 0 || launch(m, p, run, &spec, &err) < 0) {
        forget(p);
        if (run > 0)
            hc_store_abandon(&m->store, run);
        hc_mcp_refuse(m, id, "run_python: %s", err.text);
        return;
    }
    p->run = run;
    p->started_ms = hc_mcp_now_ms();
    p->tell_ms = p->started_ms + FIRST_MS;
    (void)snprintf(p->id, sizeof p->id, "%s", id);
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(call->message->params, "_meta");
    if (!hc_rpc_id(&call->message->json, cJSON_GetObjectItemCaseSensitive(meta, "progressToken"), p->token))
        p->token[0] = '\0';
}

void hc_tool_run_python(struct hc_mcp *m, const struct hc_call *call)
{
    const char *id = call->message->id;
    const cJSON *timeout = cJSON_GetObjectItemCaseSensitive(call->arguments, "timeout");
    int64_t ms = m->config->timeout_ms;
    double most = (double)ms / 1000;
    if (timeout && !(timeout->valuedouble > 0 && timeout->valuedouble <= most)) {
        hc_mcp_refuse(m, id, "timeout: expected more than 0 and at most %g seconds, which the policy allows",
                      most);
        return;
    }
    if (timeout)
        ms = timeout->valuedouble < 0.001 ? 1 : (int64_t)(timeout->valuedouble * 1000);
    struct hc_program *place = free_place(m);
    if (place)
        start(m, place, call, ms);
    else
        hc_mcp_refuse(m, id, "%d programs run already, as many as may at once: call again when one has ended",
                      m->config->jobs);
}

/* ---- the end of one ---- */

static void read_memory(int fd, struct hc_buf *out)
{
    struct hc_error ignored;
    if (lseek(fd, 0, SEEK_SET) < 0 || hc_read_all(fd, out, MAX_MANIFEST, &ignored) < 0)
        hc_buf_clear(out);
}

/* What the launcher said instead of a manifest. */
static void refuse_with_message(struct hc_mcp *m, const struct hc_program *p)
{
    hc_autobuf said = {0}, clean = {0};
    read_memory(p->err_fd, &said);
    size_t len = said.len < MAX_LAST_LINE ? said.len : MAX_LAST_LINE;
    while (len && said.data[len - 1] == '\n')
        len--;
    (void)hc_utf8_scrub(&clean, said.data ? said.data : "", len);
    hc_mcp_refuse(m, p->id, "the program did not run: %s",
                  clean.len ? clean.data : "its launcher ended without a word");
}

static void conclude(struct hc_mcp *m, struct hc_program *p)
{
    hc_autobuf manifest = {0};
    read_memory(p->out_fd, &manifest);
    struct hc_stored_run *run = hc_store_end(&m->store, p->run);
    cJSON *result = manifest.len ? hc_run_result(m, run, manifest.data, manifest.len) : NULL;
    bool left = run->count > 0;
    if (!p->cancelled && result)
        hc_mcp_reply(m, p->id, result);
    else if (!p->cancelled)
        refuse_with_message(m, p);
    else
        cJSON_Delete(result);
    hc_store_trim(&m->store, run);
    forget(p);
    if (left)
        hc_mcp_changed(m);
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

static void ask_to_end(struct hc_program *p)
{
    if (p->kill_ms)
        return;
    p->kill_ms = hc_mcp_now_ms() + PATIENCE_MS;
    (void)syscall(SYS_pidfd_send_signal, p->pidfd, SIGTERM, NULL, 0);
}

static bool has_ended(const struct hc_program *p)
{
    return waitpid(p->pid, NULL, WNOHANG) == p->pid;
}

void hc_programs_tend(struct hc_mcp *m)
{
    int64_t now = hc_mcp_now_ms();
    for (size_t i = 0; i < HC_MCP_JOBS; i++) {
        struct hc_program *p = &m->programs[i];
        if (!p->run)
            continue;
        if (has_ended(p)) {
            conclude(m, p);
            continue;
        }
        tell_progress(m, p, now);
        if (p->kill_ms && now > p->kill_ms) /* its cell goes with it: the kernel sees to that */
            (void)syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
    }
}

void hc_programs_cancel(struct hc_mcp *m, const char *id)
{
    struct hc_program *p = find(m, id);
    if (!p)
        return;
    p->cancelled = true;
    ask_to_end(p);
}

void hc_programs_end(struct hc_mcp *m)
{
    for (size_t i = 0; i < HC_MCP_JOBS; i++)
        if (m->programs[i].run)
            ask_to_end(&m->programs[i]);
    for (size_t i = 0; i < HC_MCP_JOBS; i++) {
        struct hc_program *p = &m->programs[i];
        if (!p->run)
            continue;
        int64_t left = p->kill_ms - hc_mcp_now_ms();
        struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};
        if (poll(&fd, 1, left > 0 ? (int)left : 0) <= 0)
            (void)syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
        (void)TEMP_FAILURE_RETRY(waitpid(p->pid, NULL, 0));
        (void)hc_store_end(&m->store, p->run);
        forget(p);
    }
}
