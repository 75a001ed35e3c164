/* Files of E2B's sandboxes: calls of Connect, which become the session's requests about files. */
#include "daemon/http/e2b.h"

#include "json/json.h"
#include "wire/e2b_envd.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LISTED 50000             /* most files in the answer to one call */
#define MOST_BYTES  ((size_t)8 << 20) /* most bytes of their names and directories */
#define FILE_BYTES  700               /* memory of one file in a list, beside them */

int hc_e2b_reply_refusal(struct hc_exchange *x, const struct hc_problem *p)
{
    const bool absent = p->sys == ENOENT, there = p->sys == EEXIST;
    if (x->route->dialect >= HC_DIALECT_UNARY && (absent || there))
        return hc_e2b_reply_code(x, absent ? 404 : 409, absent ? "not_found" : "already_exists", p->detail);
    if (absent)
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "%s", p->detail);
    return hc_reply_problem(x, p, NULL);
}

/* ---- one file ---- */

static void end_call(struct hc_exchange *x)
{
    hc_e2b_call_finish(x->own);
    free(x->own);
}

/* Take the call out of the body. -1: the answer is in `rc`. */
static int take_call(struct hc_exchange *x, int *rc)
{
    struct hc_error err;
    if (x->own)
        return 0;
    *rc = MHD_NO;
    x->own = calloc(1, sizeof(struct hc_e2b_call));
    if (!x->own)
        return -1;
    x->end_own = end_call;
    if (hc_e2b_take_call(x->own, hc_e2b_body(x), x->body.len, &err) == 0)
        return 0;
    *rc = hc_e2b_reply_untranslated(x, &err);
    return -1;
}

static bool is_root(const struct hc_e2b_call *c)
{
    return c->path.data && strcmp(c->path.data, ".") == 0;
}

/* The session knows no request that is about the working directory itself, but a list of it. */
static void put_ask(const struct hc_exchange *x, struct hc_buf *line)
{
    const struct hc_e2b_call *c = x->own;
    const bool moves = strcmp(x->route->ask, "move_file") == 0;
    if (strcmp(x->route->ask, "stat_file") == 0 && is_root(c))
        hc_e2b_put_ask("list_files", ".", NULL, NULL, line);
    else
        hc_e2b_put_ask(x->route->ask, c->path.data ? c->path.data : "", moves ? c->to.data : NULL,
                       strcmp(x->route->ask, "remove_file") == 0 ? ", \"all\": true" : NULL, line);
}

static int reply_entry(struct hc_exchange *x)
{
    hc_autobuf out = {0};
    const char *ask = x->route->ask;
    cJSON *answer = cJSON_ParseWithLength(x->task->manifest, x->task->manifest_len);
    const cJSON *file = hc_json_member(answer, "file");
    (void)hc_buf_str(&out, strcmp(ask, "remove_file") == 0 ? "{" : "{\"entry\": ");
    if (file)
        hc_e2b_put_entry(file, NULL, &out);
    else if (strcmp(ask, "stat_file") == 0)
        hc_e2b_put_root(&out);
    (void)hc_buf_str(&out, "}");
    cJSON_Delete(answer);
    return hc_reply_json(x, 200, &out);
}

int hc_e2b_file_call(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf line = {0}, nothing = {0};
    int rc;
    if (!x->task) {
        struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
        if (!s || take_call(x, &rc) < 0)
            return rc;
        if (strcmp(x->route->ask, "make_directory") == 0 && is_root(x->own))
            return hc_e2b_reply_code(x, 409, "already_exists", HC_E2B_ROOT ": is there already");
        if (strcmp(x->route->ask, "stat_file") != 0 && is_root(x->own))
            return hc_e2b_reply_code(x, 400, "invalid_argument",
                                     HC_E2B_ROOT ": the working directory itself cannot be removed or moved");
        put_ask(x, &line);
        if (!hc_e2b_ask(x, s, x->route->ask, &line, false, &rc))
            return rc;
    }
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    if (x->task->state != HC_TASK_FAILED)
        return reply_entry(x);
    if (x->task->problem.sys != ENOENT || strcmp(x->route->ask, "remove_file") != 0)
        return hc_e2b_reply_refusal(x, &x->task->problem);
    (void)hc_buf_str(&nothing, "{}"); /* what is not there needs no removal */
    return hc_reply_json(x, 200, &nothing);
}

/* ---- lists ---- */

int hc_e2b_listing_begin(struct hc_e2b_listing *l, const char *base, int depth, int most)
{
    *l = (struct hc_e2b_listing){.base = strdup(base),
                                 .depth = depth,
                                 .queue = cJSON_CreateArray(),
                                 .found = cJSON_CreateArray(),
                                 .most = most};
    cJSON *first = cJSON_CreateString(base);
    return l->base && l->found && first && cJSON_AddItemToArray(l->queue, first) ? 0 : -1;
}

void hc_e2b_let_go(struct hc_e2b_held *held)
{
    if (held->bytes)
        hc_request_memory_let_go(&held->dispatch->request_memory, held->tenant, held->bytes);
    held->bytes = 0;
}

/* Count the memory of what was collected since the last call. -1: the tenant has no room for it (`why`). */
static int hold(const struct hc_exchange *x, struct hc_e2b_listing *l, struct hc_problem *why)
{
    struct hc_dispatch *d = x->dispatch;
    struct hc_tenant *t = x->connection->tenant;
    const struct hc_bounds bounds = {.all = d->config.http_bodies, .one = d->config.http_body};
    const int64_t more = (int64_t)l->count * FILE_BYTES + (int64_t)l->bytes - l->held.bytes;
    if (!t)
        return 0;
    if (!hc_request_memory_fit(&d->request_memory, &bounds, t->request_bytes, more)) {
        hc_problem_set(why, HC_PROBLEM_QUOTA,
                       "too many files are being listed at the same time (http.bodies)");
        why->quota = "bodies";
        why->retry_after = 1;
        return -1;
    }
    l->held.dispatch = d;
    l->held.tenant = t;
    l->held.bytes += more;
    hc_request_memory_hold(&d->request_memory, t, more);
    return 0;
}

void hc_e2b_listing_end(struct hc_e2b_listing *l)
{
    hc_e2b_let_go(&l->held);
    free(l->base);
    free(l->after);
    cJSON_Delete(l->queue);
    cJSON_Delete(l->found);
    *l = (struct hc_e2b_listing){0};
}

/* How deep a directory is below the base, which is at 1. */
static int depth_of(const struct hc_e2b_listing *l, const char *path)
{
    int depth = 1;
    if (strcmp(path, l->base) == 0)
        return depth;
    const size_t skip = strcmp(l->base, ".") == 0 ? 0 : strlen(l->base) + 1;
    for (depth = 2, path += skip; *path; path++)
        depth += *path == '/';
    return depth;
}

/* Note one file, and a directory as one to be listed. */
static int take_file(struct hc_e2b_listing *l, const cJSON *file, const char *dir)
{
    hc_autobuf path = {0};
    cJSON *copy = cJSON_Duplicate(file, true);
    l->count++;
    l->bytes += strlen(dir) + strlen(hc_json_text(file, "name"));
    if (!copy || !cJSON_AddItemToArray(l->found, copy) || !cJSON_AddStringToObject(copy, "dir", dir))
        return -1;
    if (strcmp(hc_json_text(file, "kind"), "directory") != 0 || depth_of(l, dir) >= l->depth)
        return 0;
    const bool root = strcmp(dir, ".") == 0;
    (void)hc_buf_fmt(&path, "%s%s%s", root ? "" : dir, root ? "" : "/", hc_json_text(file, "name"));
    cJSON *next = path.failed ? NULL : cJSON_CreateString(path.data);
    return next && cJSON_AddItemToArray(l->queue, next) ? 0 : -1;
}

/* Take one page of the first directory of the queue. */
static int take_page(struct hc_e2b_listing *l, const cJSON *answer)
{
    const cJSON *file, *first = l->queue->child, *next = hc_json_member(answer, "next");
    cJSON_ArrayForEach(file, hc_json_member(answer, "files"))
    {
        if (take_file(l, file, first->valuestring) < 0)
            return -1;
    }
    free(l->after);
    l->after = cJSON_IsString(next) ? strdup(next->valuestring) : NULL;
    if (!l->after)
        cJSON_DeleteItemFromArray(l->queue, 0);
    return 0;
}

/* What the session has answered. -1: `why`. A directory that is gone meanwhile has no files. */
static int take_answer(struct hc_exchange *x, struct hc_e2b_listing *l, struct hc_problem *why)
{
    if (x->task->state == HC_TASK_FAILED) {
        *why = x->task->problem;
        if (why->sys != ENOENT || strcmp(l->queue->child->valuestring, l->base) == 0)
            return -1;
        cJSON_DeleteItemFromArray(l->queue, 0);
        return 0;
    }
    cJSON *answer = cJSON_ParseWithLength(x->task->manifest, x->task->manifest_len);
    int rc = answer ? take_page(l, answer) : -1;
    cJSON_Delete(answer);
    if (rc < 0)
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
    else if (l->count > l->most || l->bytes > MOST_BYTES) {
        hc_problem_set(why, HC_PROBLEM_TOO_LARGE,
                       "there are more than %d files, or their paths are too long: list directories below",
                       l->most);
        rc = -1;
    }
    return rc < 0 ? rc : hold(x, l, why);
}

static void put_list_ask(const struct hc_e2b_listing *l, struct hc_buf *line)
{
    hc_autobuf after = {0};
    if (l->after) {
        (void)hc_buf_str(&after, ", \"after\": ");
        hc_json_quote(&after, l->after, strlen(l->after));
    }
    hc_e2b_put_ask("list_files", l->queue->child->valuestring, NULL, after.data, line);
}

int hc_e2b_listing_step(struct hc_exchange *x, struct hc_front_session *s, struct hc_e2b_listing *l,
                        struct hc_problem *why)
{
    for (;;) {
        if (x->task && !hc_task_ended(x->task)) {
            (void)hc_exchange_suspend(x);
            return 0;
        }
        if (x->task && take_answer(x, l, why) < 0)
            return -1;
        hc_e2b_drop_task(x);
        if (!l->queue->child)
            return 1;
        hc_autobuf line = {0};
        put_list_ask(l, &line);
        const int tried = hc_e2b_try(x, s, "list_files", &line, false, why);
        if (tried <= 0)
            return tried;
    }
}

static void end_list(struct hc_exchange *x)
{
    hc_e2b_listing_end(x->own);
    free(x->own);
}

/* Begin the list. -1: the answer is in `rc`. */
static int begin_list(struct hc_exchange *x, int *rc)
{
    struct hc_e2b_call call;
    struct hc_error err;
    *rc = MHD_NO;
    if (hc_e2b_take_call(&call, hc_e2b_body(x), x->body.len, &err) < 0) {
        *rc = hc_e2b_reply_untranslated(x, &err);
        hc_e2b_call_finish(&call);
        return -1;
    }
    x->own = calloc(1, sizeof(struct hc_e2b_listing));
    x->end_own = x->own ? end_list : NULL;
    int began = x->own && !call.path.failed
                    ? hc_e2b_listing_begin(x->own, call.path.data, call.depth, MOST_LISTED)
                    : -1;
    hc_e2b_call_finish(&call);
    return began;
}

static int reply_list(struct hc_exchange *x, const struct hc_e2b_listing *l)
{
    struct hc_problem why;
    hc_autobuf out = {0};
    const cJSON *file;
    (void)hc_buf_str(&out, "{\"entries\": [");
    cJSON_ArrayForEach(file, l->found)
    {
        (void)hc_buf_str(&out, file == l->found->child ? "" : ", ");
        hc_e2b_put_entry(file, hc_json_text(file, "dir"), &out);
    }
    (void)hc_buf_str(&out, "]}");
    if (!hc_exchange_hold(x, out.len, &why))
        return hc_reply_problem(x, &why, NULL);
    return hc_reply_json(x, 200, &out);
}

int hc_e2b_list_dir(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why;
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s || (!x->own && begin_list(x, &rc) < 0))
        return rc;
    switch (hc_e2b_listing_step(x, s, x->own, &why)) {
    case 1:
        return reply_list(x, x->own);
    case 0:
        return MHD_YES;
    default:
        return hc_e2b_reply_refusal(x, &why);
    }
}
