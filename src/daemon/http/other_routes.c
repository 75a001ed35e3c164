/* Files of jobs, and the daemon's health, metrics and interface description. */
#include "daemon/http/handlers.h"

#include "base/kernel.h"
#include "daemon/http/request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char openapi[] = {
#include "openapi.inc"
};

/* ---- files ---- */

/* The kernel makes sure that the file is below the job's directory. */
int hc_open_result(struct hc_dispatch *d, const char *id, const char *path, struct stat *st)
{
    struct open_how how = {.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                                      RESOLVE_NO_XDEV};
    int dir = openat(d->results_fd, id, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return -1;
    int fd = hc_openat2(dir, path, &how);
    (void)close(dir);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_nlink == 1)
        return fd;
    (void)close(fd);
    return -1;
}

/* Sends a file as an attachment without its type, so that no browser runs it; the manifest has the type. */
static int reply_attachment(struct hc_exchange *x, int status, struct MHD_Response *r)
{
    if (!r)
        return MHD_NO;
    (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
    (void)MHD_add_response_header(r, "Content-Disposition", "attachment");
    return hc_reply(x, status, r);
}

/* Sends bytes of an open file, and closes it. `size`: bytes of the whole file; `tag`: its ETag. */
static int reply_bytes(struct hc_exchange *x, int fd, enum hc_range range, uint64_t first, uint64_t len,
                       uint64_t size, const char *tag)
{
    char place[80];
    struct MHD_Response *r = MHD_create_response_from_fd_at_offset64(len, fd, first);
    if (!r) {
        (void)close(fd);
        return MHD_NO;
    }
    (void)MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, tag);
    (void)MHD_add_response_header(r, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
    (void)snprintf(place, sizeof place, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first, first + len - 1,
                   size);
    if (range == HC_RANGE_PART)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_RANGE, place);
    return reply_attachment(x, range == HC_RANGE_PART ? 206 : 200, r);
}

/* Answers that the client's copy of the file is current. */
static int reply_unchanged(struct hc_exchange *x, const char *tag)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, tag);
    return hc_reply(x, 304, r);
}

int hc_reply_file(struct hc_exchange *x)
{
    struct stat st = {0};
    char tag[64];
    int fd = hc_open_result(x->dispatch, x->id, x->rest, &st);
    if (fd < 0)
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such file");
    const uint64_t size = (uint64_t)st.st_size;
    uint64_t first = 0, len = size;
    (void)snprintf(tag, sizeof tag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"", size,
                   (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec);
    const char *has = hc_exchange_header(x, MHD_HTTP_HEADER_IF_NONE_MATCH);
    const char *only_if = hc_exchange_header(x, MHD_HTTP_HEADER_IF_RANGE);
    enum hc_range range =
        only_if && strcmp(only_if, tag) != 0
            ? HC_RANGE_ALL
            : hc_range_read(hc_exchange_header(x, MHD_HTTP_HEADER_RANGE), size, &first, &len);
    if (!hc_has_word(has, tag) && range != HC_RANGE_NONE)
        return reply_bytes(x, fd, range, first, len, size, tag);
    (void)close(fd);
    return hc_has_word(has, tag) ? reply_unchanged(x, tag)
                                 : hc_reply_fail(x, HC_PROBLEM_RANGE, "the file has %" PRIu64 " bytes", size);
}

/* Answers with a figure that a running job has announced. */
static int reply_figure(struct hc_exchange *x, const struct hc_task *task)
{
    struct hc_figure_data *data = hc_figures_find(&task->figures, x->rest);
    if (!data)
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "the job's files are there when it has ended");
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
        data->bytes.len, data->bytes.data, hc_figure_data_unref, data);
    if (!r)
        hc_figure_data_unref(data);
    return reply_attachment(x, 200, r);
}

int hc_get_file(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_task *live = hc_task_find(&x->dispatch->tasks, t, x->id);
    struct hc_task *ended = live ? NULL : hc_store_find(x->dispatch, t, x->id);
    if (live && !hc_task_ended(live))
        return reply_figure(x, live);
    if (!live && !ended)
        return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such job");
    hc_task_unref(ended);
    return hc_reply_file(x);
}

/* ---- the daemon ---- */

int hc_get_openapi(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    (void)t;
    (void)hc_buf_add(&out, openapi, sizeof openapi);
    return hc_reply_json(x, 200, &out);
}

/* Prints the names of changed trees, in which no job is run; they are plain words, which need no escapes. */
static void put_changed_trees(const struct hc_trees *trees, struct hc_buf *out)
{
    const char *before = ", \"changed_trees\": [";
    bool any = false;
    for (size_t i = 0; i < HC_TREES_MOST; i++) {
        const struct hc_tree_row *row = &trees->board->rows[i];
        if (!row->changed)
            continue;
        (void)hc_buf_fmt(out, "%s\"%s\"", any ? ", " : before, *row->name ? row->name : row->id);
        any = true;
    }
    if (any)
        (void)hc_buf_str(out, "]");
}

int hc_get_health(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    bool able = false;
    (void)t;
    for (size_t i = 0; i < x->dispatch->worker_count; i++)
        able |= x->dispatch->workers[i].channel.fd >= 0;
    const struct hc_dispatch *d = x->dispatch;
    const char *ill = d->draining || d->paused ? "draining"
                      : !able                  ? "no workers"
                      : d->ledger_fails        ? "no ledger"
                                               : NULL;
    (void)hc_buf_fmt(&out, "{\"status\": \"%s\", \"version\": \"" HC_VERSION "\"", ill ? ill : "ok");
    put_changed_trees(d->trees, &out);
    (void)hc_buf_str(&out, "}\n");
    return hc_reply_json(x, ill ? 503 : 200, &out);
}

/* The metrics of all tenants are for the daemon's administrator and its monitoring, which need not be
 * tenants; so the route is open, and the check is here. */
int hc_get_metrics(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    (void)t;
    if (!x->connection->from.local ||
        (x->connection->from.uid != 0 && x->connection->from.uid != x->http->owner))
        return hc_reply_fail(
            x, HC_PROBLEM_FORBIDDEN,
            "metrics are for root and for the user that the daemon was started as, over the Unix socket");
    hc_metrics_print(x->http, &out);
    return hc_reply_text(x, 200, "text/plain; version=0.0.4", &out);
}
