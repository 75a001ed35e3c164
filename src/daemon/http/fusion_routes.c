/* SandboxFusion's POST /run_code and /run_jupyter. A program is a job as POST /v1/jobs would take it, under
 * the policy that hotcelld.conf names, and its answer a translation of the manifest; a notebook is a session,
 * and its cells are the session's runs. They can have nothing that a job or a session cannot have. */
#include "daemon/http/handlers.h"

#include "base/clock.h"
#include "base/fd.h"
#include "wire/fusion.h"

#include <errno.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>

#define VARIANT sodium_base64_VARIANT_ORIGINAL

/* Answers that no cell can run the code, for this reason. */
static int refuse_for(struct hc_exchange *x, const char *why)
{
    hc_autobuf out = {0};
    (void)(x->route->handle == hc_post_run_jupyter ? hc_fusion_notebook_refusal(why, &out)
                                                   : hc_fusion_refusal(why, &out));
    return hc_reply_json(x, 200, &out);
}

/* Answers that no cell has run the code. Clients send again only after 504. */
static int refuse(struct hc_exchange *x, const struct hc_problem *why)
{
    struct hc_problem later = *why;
    if (why->kind == HC_PROBLEM_FORBIDDEN || why->kind == HC_PROBLEM_UNKNOWN_USER)
        return hc_reply_problem(x, why, NULL);
    if (why->kind == HC_PROBLEM_BUSY || why->kind == HC_PROBLEM_QUOTA || why->kind == HC_PROBLEM_LOST) {
        hc_problem_set(&later, HC_PROBLEM_LATER, "%s", why->detail);
        later.retry_after = why->retry_after;
        later.quota = why->quota;
        return hc_reply_problem(x, &later, NULL);
    }
    return refuse_for(x, why->detail);
}

/* Answers why a request was not translated. */
static int refuse_request(struct hc_exchange *x, const struct hc_error *err)
{
    if (err->exit == HC_EXIT_DATA)
        return hc_reply_fail(x, HC_PROBLEM_SPEC, "%s", err->text);
    return err->exit == HC_EXIT_UNAVAILABLE ? refuse_for(x, err->text)
                                            : hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err->text);
}

/* Puts a spec, which is taken, into the place of the request's body. */
static void replace_body(struct hc_exchange *x, struct hc_buf *spec)
{
    hc_buf_finish(&x->body);
    x->body = *spec;
    *spec = (struct hc_buf){0};
}

static struct hc_fusion_rules rules_of(const struct hc_exchange *x)
{
    const struct hc_config *config = &x->dispatch->config;
    return (struct hc_fusion_rules){config->fusion_policy, config->fusion_commands};
}

/* Puts the job spec into the place of the request's body. -1: the answer is in `rc`. */
static int translate(struct hc_exchange *x, int *rc)
{
    const struct hc_fusion_rules rules = rules_of(x);
    struct hc_error err;
    hc_autobuf spec = {0};
    if (hc_fusion_spec(&rules, x->body.data ? x->body.data : "", x->body.len, &spec, &x->fetch, &err) == 0) {
        replace_body(x, &spec);
        return 0;
    }
    *rc = refuse_request(x, &err);
    return -1;
}

/* Appends the content of a file as base64. -1: out of memory, or it cannot be read. */
static int put_base64(struct hc_buf *out, int fd, size_t size)
{
    struct hc_error ignored;
    hc_autobuf data = {0};
    if (hc_read_all(fd, &data, size + 1, &ignored) < 0)
        return -1;
    const size_t room = sodium_base64_ENCODED_LEN(data.len, VARIANT);
    char *text = malloc(room);
    if (!text)
        return -1;
    (void)sodium_bin2base64(text, room, (const unsigned char *)(data.data ? data.data : ""), data.len,
                            VARIANT);
    const int rc = hc_buf_str(out, text);
    free(text);
    return rc;
}

/* Adds one file that the job or session `id` has left, if there is one and room for it. -1: out of memory. */
static int fetch_file(struct hc_exchange *x, const char *id, const char *path, int64_t *room, cJSON *files)
{
    struct stat st;
    hc_autobuf text = {0};
    hc_autofd fd = hc_open_result(x->dispatch, id, path, &st);
    if (fd < 0 || st.st_size > *room || cJSON_GetObjectItemCaseSensitive(files, path))
        return 0;
    *room -= st.st_size;
    if (put_base64(&text, fd, (size_t)st.st_size) < 0)
        return text.failed ? -1 : 0;
    return cJSON_AddStringToObject(files, path, text.data ? text.data : "") ? 0 : -1;
}

/* The files that the request wants back, of http.body together at most. */
static cJSON *fetch_files(struct hc_exchange *x, const char *id, const cJSON *wanted)
{
    cJSON *files = cJSON_CreateObject();
    int64_t room = x->dispatch->config.http_body;
    const cJSON *path;
    cJSON_ArrayForEach(path, wanted)
    {
        if (files && fetch_file(x, id, path->valuestring, &room, files) < 0) {
            cJSON_Delete(files);
            return NULL;
        }
    }
    return files;
}

/* Bytes of these files in an answer, at most. */
static size_t size_of_files(const struct hc_exchange *x, const char *id, const cJSON *wanted)
{
    int64_t files = 0, most = x->dispatch->config.http_body;
    const cJSON *path;
    cJSON_ArrayForEach(path, wanted)
    {
        struct stat st;
        hc_autofd fd = hc_open_result(x->dispatch, id, path->valuestring, &st);
        if (fd >= 0 && st.st_size <= most - files)
            files += st.st_size;
    }
    return sodium_base64_ENCODED_LEN((size_t)files, VARIANT);
}

static int reply_verdict(struct hc_exchange *x)
{
    const struct hc_task *task = x->task;
    struct hc_error err;
    struct hc_problem why;
    hc_autobuf out = {0};
    if (task->state == HC_TASK_FAILED || !task->manifest)
        return refuse(x, &task->problem);
    const char *id = task->queued.id;
    if (!hc_exchange_hold(x, 2 * task->manifest_len + size_of_files(x, id, x->fetch), &why))
        return refuse(x, &why);
    if (hc_fusion_answer(task->manifest, task->manifest_len, fetch_files(x, id, x->fetch), &out, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err.text);
    return hc_reply_json(x, 200, &out);
}

static int refuse_dialect(struct hc_exchange *x)
{
    return hc_reply_fail(
        x, HC_PROBLEM_NOT_FOUND,
        "requests in this form are not taken: sandboxfusion.policy of hotcelld.conf(5) is not set");
}

int hc_post_run_code(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why = {0};
    int rc = 0;
    if (!*x->dispatch->config.fusion_policy)
        return refuse_dialect(x);
    if (!x->task && translate(x, &rc) < 0)
        return rc;
    if (!x->task)
        hc_take_job(x, t, &why);
    if (!x->task)
        return refuse(x, &why);
    return hc_task_ended(x->task) ? reply_verdict(x) : hc_exchange_suspend(x);
}

/* ---- notebooks ---- */

/* A notebook that is being run. */
struct hc_notebook {
    struct hc_fusion_notebook cells;
    char session[HC_JOB_ID]; /* ID of its session; "": not begun */
    int64_t begun;           /* when its first cell was run (CLOCK_MONOTONIC, ms); 0: not yet */
    int64_t held;            /* bytes of cells and of their answers that count as request memory */
    int64_t room;            /* bytes that figures may still take */
    bool ending;             /* the session was told to end */
};

static void hold(struct hc_exchange *x, size_t bytes)
{
    x->notebook->held += (int64_t)bytes;
    hc_request_memory_hold(&x->dispatch->request_memory, x->connection->tenant, (int64_t)bytes);
}

void hc_notebook_cancel(struct hc_exchange *x)
{
    const struct hc_notebook *n = x->notebook;
    struct hc_front_session *s =
        *n->session ? hc_front_session_find_any(x->http->sessions, n->session) : NULL;
    if (s && s->state != HC_FRONT_SESSION_ENDED && !n->ending)
        hc_front_session_cancel(s, "tenant", NULL);
}

void hc_notebook_end(struct hc_exchange *x)
{
    struct hc_notebook *n = x->notebook;
    if (!n)
        return;
    hc_notebook_cancel(x);
    if (n->held)
        hc_request_memory_let_go(&x->dispatch->request_memory, x->connection->tenant, n->held);
    hc_fusion_notebook_finish(&n->cells);
    free(n);
    x->notebook = NULL;
}

/* Begins the session: x->task is set. -1: the answer is in `rc`. */
static int begin_notebook(struct hc_exchange *x, struct hc_tenant *t, int *rc)
{
    const struct hc_fusion_rules rules = rules_of(x);
    struct hc_problem why = {0};
    struct hc_checked checked = {0};
    struct hc_error err;
    hc_autobuf spec = {0};
    const size_t len = x->body.len;
    x->notebook = calloc(1, sizeof *x->notebook);
    if (!x->notebook) {
        *rc = hc_reply_fail(x, HC_PROBLEM_INTERNAL, "out of memory");
        return -1;
    }
    x->notebook->room = x->dispatch->config.http_body;
    if (hc_fusion_notebook(&rules, x->body.data ? x->body.data : "", len, &spec, &x->notebook->cells, &err) <
        0) {
        *rc = refuse_request(x, &err);
        return -1;
    }
    hold(x, len);
    replace_body(x, &spec);
    if (hc_dispatch_takes_jobs(x->dispatch, &why) &&
        hc_check_request(x->dispatch, &x->body, t, true, &checked, &why) == 0)
        x->task = hc_front_session_start(x->http->sessions, t, &x->body, &checked, &why);
    if (!x->task) {
        *rc = refuse(x, &why);
        return -1;
    }
    memcpy(x->notebook->session, x->task->queued.id, sizeof x->notebook->session);
    return 0;
}

/* Appends a figure, if it is an image for which there is room. */
static bool put_image(void *data, const char *path, const char *mime, struct hc_buf *out)
{
    struct hc_exchange *x = data;
    struct stat st;
    if (strncmp(mime, "image/", 6) != 0)
        return false;
    hc_autofd fd = hc_open_result(x->dispatch, x->notebook->session, path, &st);
    if (fd < 0 || st.st_size > x->notebook->room)
        return false;
    x->notebook->room -= st.st_size;
    (void)hc_buf_str(out, "{");
    hc_json_quote(out, mime, strlen(mime));
    (void)hc_buf_str(out, ":\"");
    const bool put = put_base64(out, fd, (size_t)st.st_size) == 0;
    return hc_buf_str(out, "\"}") == 0 && put;
}

/* Takes the result of a cell. -1: the answer is in `rc`. */
static int take_cell(struct hc_exchange *x, int *rc)
{
    struct hc_fusion_notebook *cells = &x->notebook->cells;
    const struct hc_task *task = x->task;
    const size_t before = cells->done.len;
    struct hc_error err;
    if (task->state == HC_TASK_FAILED || !task->manifest) {
        *rc = refuse(x, &task->problem);
        return -1;
    }
    if (!x->notebook->begun) {
        x->notebook->begun = hc_mono_ms();
        return 0;
    }
    if (hc_fusion_add_cell(cells, task->manifest, task->manifest_len, put_image, x, &err) < 0) {
        *rc = hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err.text);
        return -1;
    }
    hold(x, cells->done.len - before);
    if (cells->done.len <= 2 * (size_t)x->dispatch->config.http_body)
        return 0;
    *rc = refuse_for(x, "the cells have shown more than an answer may have (http.body)");
    return -1;
}

/* Asks the session for the next run, or for its end. NULL: `why` says why it cannot be asked. */
static struct hc_task *ask_next(struct hc_exchange *x, struct hc_tenant *t, struct hc_problem *why)
{
    struct hc_notebook *n = x->notebook;
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, n->session);
    hc_autobuf line = {0};
    const int64_t left = n->cells.total_ms - (hc_mono_ms() - n->begun);
    hc_problem_set(why, HC_PROBLEM_GONE, "the session has ended");
    if (!s)
        return NULL;
    n->cells.late |= n->cells.total_ms && left <= 0 && n->cells.cells && n->cells.cells->child;
    (void)hc_buf_str(&line, "{\"run\":");
    const int more = n->cells.late ? 0 : hc_fusion_next_cell(&n->cells, left, &line);
    (void)hc_buf_str(&line, "}");
    if (more > 0 && !line.failed)
        return hc_front_session_ask(s, "run", &line, false, why);
    n->ending = more == 0;
    return n->ending ? hc_front_session_end(s) : NULL;
}

static int reply_notebook(struct hc_exchange *x)
{
    struct hc_notebook *n = x->notebook;
    struct hc_problem why;
    hc_autobuf out = {0};
    const cJSON *wanted = n->cells.late ? NULL : n->cells.fetch;
    if (!hc_exchange_hold(x, n->cells.done.len + size_of_files(x, n->session, wanted), &why))
        return refuse(x, &why);
    cJSON *files = fetch_files(x, n->session, wanted);
    const int rc = files ? hc_fusion_notebook_answer(&n->cells, files, &out) : -1;
    cJSON_Delete(files);
    return rc < 0 ? hc_reply_fail(x, HC_PROBLEM_INTERNAL, "out of memory") : hc_reply_json(x, 200, &out);
}

int hc_post_run_jupyter(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why;
    int rc = 0;
    if (!*x->dispatch->config.fusion_policy)
        return refuse_dialect(x);
    if (!x->notebook && begin_notebook(x, t, &rc) < 0)
        return rc;
    while (hc_task_ended(x->task)) {
        if (x->notebook->ending)
            return reply_notebook(x);
        if (take_cell(x, &rc) < 0)
            return rc;
        struct hc_task *next = ask_next(x, t, &why);
        if (!next)
            return refuse(x, &why);
        hc_task_unwait(&x->waiter);
        hc_task_unref(x->task);
        x->task = next;
    }
    return hc_exchange_suspend(x);
}
