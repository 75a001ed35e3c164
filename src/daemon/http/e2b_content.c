/* The content of files of E2B's sandboxes: downloads and uploads, which go to the session in parts. */
#include "daemon/http/e2b.h"

#include "json/json.h"
#include "wire/e2b_envd.h"

#include <microhttpd.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <zlib.h>

#define BLOCK   65536             /* most bytes that libmicrohttpd asks for at once */
#define PART    ((size_t)4 << 20) /* most bytes of a file in one request to the session */
#define GZIP    (15 + 16)         /* of inflateInit2: the largest window, in a gzip file */
#define VARIANT sodium_base64_VARIANT_ORIGINAL

/* ---- download ---- */

struct download {
    struct hc_buf path;  /* the file, as a session takes it; owned */
    unsigned char *part; /* bytes of the file that were not sent yet; owned */
    size_t len, sent;    /* bytes of `part`; how many of them were sent */
    int64_t offset;      /* where the next part begins */
    bool end;            /* `part` is the last one */
};

static void end_download(struct hc_exchange *x)
{
    struct download *d = x->own;
    hc_buf_finish(&d->path);
    free(d->part);
    free(d);
}

/* Take the part that the session has answered with. -1: it is none. */
static int take_part(struct hc_exchange *x, struct download *d)
{
    cJSON *answer = cJSON_ParseWithLength(x->task->manifest, x->task->manifest_len);
    const char *data = hc_json_text(answer, "data");
    const size_t room = strlen(data) + 1;
    free(d->part);
    d->part = malloc(room);
    d->len = d->sent = 0;
    int rc = answer && d->part
                 ? sodium_base642bin(d->part, room, data, room - 1, NULL, &d->len, NULL, VARIANT)
                 : -1;
    d->end = hc_json_is_true(answer, "end") || d->len == 0;
    d->offset += (int64_t)d->len;
    cJSON_Delete(answer);
    hc_e2b_drop_task(x);
    return rc;
}

static void put_read(const struct download *d, struct hc_buf *line)
{
    char more[80];
    (void)snprintf(more, sizeof more, ", \"offset\": %lld, \"bytes\": %zu", (long long)d->offset, PART);
    hc_e2b_put_ask("read_file", d->path.data ? d->path.data : "", NULL, more, line);
}

/* Get the next part. 1: it is there; 0: the exchange waits; -1: there is none any more. */
static int next_part(struct hc_exchange *x, struct download *d)
{
    struct hc_problem ignored;
    struct hc_front_session *s = hc_front_session_find_any(x->http->sessions, x->sandbox);
    if (!x->task) {
        hc_autobuf line = {0};
        put_read(d, &line);
        const int tried = s && !s->paused ? hc_e2b_try(x, s, "read_file", &line, false, &ignored) : -1;
        if (tried <= 0)
            return tried;
    }
    if (!hc_task_ended(x->task)) {
        (void)hc_exchange_suspend(x);
        return 0;
    }
    return x->task->state == HC_TASK_FAILED || take_part(x, d) < 0 ? -1 : 1;
}

static ssize_t read_content(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    struct download *d = x->own;
    (void)at;
    while (d->sent == d->len) {
        if (d->end)
            return MHD_CONTENT_READER_END_OF_STREAM;
        const int rc = next_part(x, d);
        if (rc <= 0)
            return rc < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : 0;
    }
    const size_t n = MIN(max, d->len - d->sent);
    memcpy(out, d->part + d->sent, n);
    d->sent += n;
    return (ssize_t)n;
}

static int reply_content(struct hc_exchange *x, const struct download *d)
{
    struct MHD_Response *r =
        d->end ? MHD_create_response_from_buffer(d->len, d->part, MHD_RESPMEM_MUST_COPY)
               : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_content, x, NULL);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
    hc_exchange_hold_anyway(x, d->len);
    return hc_reply(x, 200, r);
}

/* Begin the download. -1: the answer is in `rc`. */
static int begin_download(struct hc_exchange *x, int *rc)
{
    const char *path = hc_exchange_query(x, "path");
    struct download *d = calloc(1, sizeof *d);
    *rc = MHD_NO;
    if (!d)
        return -1;
    x->own = d;
    x->end_own = end_download;
    if (path) {
        hc_e2b_path(path, &d->path);
        return 0;
    }
    *rc = hc_reply_fail(x, HC_PROBLEM_REQUEST, "path: expected the path of a file");
    return -1;
}

int hc_e2b_get_file(struct hc_exchange *x, struct hc_tenant *t)
{
    int rc;
    if (!x->task) {
        hc_autobuf line = {0};
        struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
        if (!s || (!x->own && begin_download(x, &rc) < 0))
            return rc;
        put_read(x->own, &line);
        if (!hc_e2b_ask(x, s, "read_file", &line, false, &rc))
            return rc;
    }
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    if (x->task->state == HC_TASK_FAILED)
        return hc_e2b_reply_refusal(x, &x->task->problem);
    if (take_part(x, x->own) < 0)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "the file cannot be read");
    return reply_content(x, x->own);
}

/* ---- upload ---- */

struct upload {
    char boundary[80];       /* of the body's parts; "": the body is the content of one file */
    size_t at;               /* offset of the next part in the body */
    struct hc_e2b_part part; /* the file that is being written */
    struct hc_buf path;      /* where, as a session takes it; owned */
    size_t offset;           /* bytes of the file that the session has */
    struct hc_buf entries;   /* the files that were written, as JSON; owned */
    bool open;               /* `part` is a file that is not written to its end */
    bool inflates;           /* the body is compressed */
    z_stream gzip;           /* inflates: how far it has been decompressed; owned */
    unsigned char *inflated; /* inflates: room for the piece, PART bytes; owned */
    struct {
        const unsigned char *data; /* borrowed */
        size_t len;                /* bytes of `data` */
        bool last, taken;          /* it ends the file; it is there, and the session does not have it */
    } piece;                       /* the bytes of the file that come next */
};

static void end_upload(struct hc_exchange *x)
{
    struct upload *u = x->own;
    if (u->inflated)
        (void)inflateEnd(&u->gzip);
    free(u->inflated);
    hc_buf_finish(&u->path);
    hc_buf_finish(&u->entries);
    free(u);
}

static int begin_upload(struct hc_exchange *x)
{
    struct upload *u = calloc(1, sizeof *u);
    if (!u)
        return -1;
    x->own = u;
    x->end_own = end_upload;
    x->body_needed = true;
    (void)hc_e2b_boundary(hc_exchange_header(x, MHD_HTTP_HEADER_CONTENT_TYPE), u->boundary);
    u->inflates = hc_exchange_header(x, MHD_HTTP_HEADER_CONTENT_ENCODING) != NULL;
    if (!u->inflates)
        return 0;
    u->gzip.next_in = (unsigned char *)x->body.data;
    u->gzip.avail_in = (unsigned)x->body.len;
    u->inflated = inflateInit2(&u->gzip, GZIP) == Z_OK ? malloc(PART) : NULL;
    return u->inflated ? 0 : -1;
}

/* Decompress the next piece: never more than this at once, however much the body may become. -1: the body is
 * no whole gzip file. */
static int inflate_piece(struct upload *u)
{
    u->gzip.next_out = u->inflated;
    u->gzip.avail_out = (unsigned)PART;
    const int rc = inflate(&u->gzip, Z_SYNC_FLUSH);
    u->piece.data = u->inflated;
    u->piece.len = PART - u->gzip.avail_out;
    u->piece.last = rc == Z_STREAM_END && u->gzip.avail_in == 0;
    return u->piece.last || (rc == Z_OK && u->gzip.avail_out == 0) ? 0 : -1;
}

/* Take the next bytes of the file. -1: it is malformed. */
static int take_piece(struct upload *u)
{
    if (u->inflates)
        return inflate_piece(u);
    const size_t left = u->part.len - u->offset;
    u->piece.data = (const unsigned char *)u->part.data + u->offset;
    u->piece.len = MIN(left, PART);
    u->piece.last = left <= PART;
    return 0;
}

/* Take the next file out of the body. 1: there is one; 0: there are no more; -1: the body is malformed. */
static int next_file(struct hc_exchange *x, struct upload *u)
{
    const char *body = hc_e2b_body(x), *path = hc_exchange_query(x, "path");
    int rc = 1;
    if (*u->boundary)
        rc = hc_e2b_next_part(body, x->body.len, u->boundary, &u->at, &u->part);
    else if (u->at++)
        rc = 0;
    else
        u->part = (struct hc_e2b_part){.data = body, .len = x->body.len};
    if (rc <= 0)
        return rc;
    path = path ? path : u->part.filename;
    hc_buf_clear(&u->path);
    hc_e2b_path(path, &u->path);
    u->offset = 0;
    u->open = true;
    return *path ? 1 : -1;
}

/* Append the request for the next part of the file. */
static void put_write(struct upload *u, struct hc_buf *line)
{
    const size_t room = sodium_base64_ENCODED_LEN(u->piece.len, VARIANT);
    char *text = malloc(room);
    hc_autobuf more = {0};
    line->failed |= !text;
    if (!text)
        return;
    (void)sodium_bin2base64(text, room, u->piece.data, u->piece.len, VARIANT);
    (void)hc_buf_str(&more, ", \"data\": \"");
    (void)hc_buf_str(&more, text);
    (void)hc_buf_str(&more, "\"");
    if (u->offset || !u->piece.last)
        (void)hc_buf_fmt(&more, ", \"offset\": %zu, \"more\": %s", u->offset,
                         u->piece.last ? "false" : "true");
    if (u->part.len > PART && !u->inflates)
        (void)hc_buf_fmt(&more, ", \"total\": %zu", u->part.len);
    free(text);
    line->failed |= more.failed;
    hc_e2b_put_ask("write_file", u->path.data ? u->path.data : "", NULL, more.data, line);
}

/* Take the session's answer to a part. */
static void take_written(struct hc_exchange *x, struct upload *u)
{
    u->offset += u->piece.len;
    u->open = !u->piece.last;
    u->piece.taken = false;
    if (!u->open) {
        cJSON *answer = cJSON_ParseWithLength(x->task->manifest, x->task->manifest_len);
        hc_autobuf entry = {0};
        hc_e2b_put_written(hc_json_member(answer, "file"), &entry);
        (void)hc_buf_str(&u->entries, u->entries.len ? ", " : "");
        (void)hc_buf_str(&u->entries, entry.data ? entry.data : "");
        cJSON_Delete(answer);
    }
    hc_e2b_drop_task(x);
}

static int reply_written(struct hc_exchange *x, const struct upload *u)
{
    hc_autobuf out = {0};
    (void)hc_buf_fmt(&out, "[%s]", u->entries.data ? u->entries.data : "");
    return hc_reply_json(x, 200, &out);
}

/* Take the next bytes to write. 1: there are some; 0: all files are written; -1: the answer is in `rc`. */
static int next_bytes(struct hc_exchange *x, struct upload *u, int *rc)
{
    const int more = u->open ? 1 : next_file(x, u);
    if (u->piece.taken)
        return 1;
    const int64_t most = x->dispatch->config.http_body;
    if (more == 0)
        return 0;
    if (more < 0)
        *rc = hc_reply_fail(x, HC_PROBLEM_REQUEST,
                            "expected files as multipart/form-data, each with a filename, or the content "
                            "of one as application/octet-stream and its path");
    else if (take_piece(u) < 0)
        *rc = hc_reply_fail(x, HC_PROBLEM_REQUEST, "expected one whole gzip file (Content-Encoding)");
    else if ((int64_t)(u->offset + u->piece.len) > most)
        *rc = hc_reply_fail(x, HC_PROBLEM_TOO_LARGE,
                            "the file has more than %lld bytes when it is decompressed (http.body, "
                            "hotcelld.conf(5))",
                            (long long)most);
    else
        u->piece.taken = true;
    return u->piece.taken ? 1 : -1;
}

/* Give up the file that is being written: what the session has of it would for a time hold one of its few
 * places for files in parts. */
static void abandon_file(struct hc_front_session *s, const struct upload *u)
{
    struct hc_problem ignored;
    hc_autobuf line = {0};
    if (!u->open || !u->offset)
        return;
    hc_e2b_put_ask("write_file", u->path.data, NULL, ", \"abandon\": true", &line);
    if (!line.failed)
        hc_task_unref(hc_front_session_ask(s, "write_file", &line, false, &ignored));
}

/* Is the body compressed in a way that is not taken? */
static bool is_encoded_otherwise(const struct hc_exchange *x)
{
    const char *encoding = hc_exchange_header(x, MHD_HTTP_HEADER_CONTENT_ENCODING);
    const char *type = hc_exchange_header(x, MHD_HTTP_HEADER_CONTENT_TYPE);
    char boundary[80];
    return encoding && (strcasecmp(encoding, "gzip") != 0 || hc_e2b_boundary(type, boundary));
}

int hc_e2b_post_files(struct hc_exchange *x, struct hc_tenant *t)
{
    int rc;
    struct hc_front_session *s = hc_e2b_sandbox(x, t, &rc);
    if (!s)
        return rc;
    if (is_encoded_otherwise(x))
        return hc_reply_fail(x, HC_PROBLEM_MEDIA_TYPE,
                             "expected content that is not compressed, or one file with gzip");
    if (!x->own && begin_upload(x) < 0)
        return MHD_NO;
    for (struct upload *u = x->own;;) {
        if (x->task && !hc_task_ended(x->task))
            return hc_exchange_suspend(x);
        if (x->task && x->task->state == HC_TASK_FAILED)
            return hc_e2b_reply_refusal(x, &x->task->problem);
        if (x->task)
            take_written(x, u);
        const int more = next_bytes(x, u, &rc);
        if (more < 0)
            abandon_file(s, u);
        if (more <= 0)
            return more < 0 ? rc : reply_written(x, u);
        hc_autobuf line = {0};
        put_write(u, &line);
        if (!hc_e2b_ask(x, s, "write_file", &line, false, &rc))
            return rc;
    }
}
