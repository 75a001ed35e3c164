/* Uploads over HTTP: their parts go to the disk as they come, and never stand in memory as a whole. */
#include "daemon/http/handlers.h"

#include "daemon/http/request.h"

#include <stdlib.h>
#include <string.h>

static int reply_upload(struct hc_exchange *x, int status, const struct hc_upload *u)
{
    hc_autobuf out = {0};
    hc_upload_print(u, &out);
    (void)hc_buf_str(&out, "\n");
    return hc_reply_json(x, status, &out);
}

static int no_such_upload(struct hc_exchange *x)
{
    return hc_reply_fail(x, HC_PROBLEM_NOT_FOUND,
                         "there is no such upload: it was removed, or not used for uploads.time");
}

int hc_post_upload(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why;
    struct hc_upload *u = hc_upload_create(&x->dispatch->uploads, t, &why);
    return u ? reply_upload(x, 201, u) : hc_reply_problem(x, &why, NULL);
}

int hc_list_uploads(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    const char *comma = "";
    (void)hc_buf_str(&out, "{\"uploads\": [");
    for (const struct hc_upload *u = x->dispatch->uploads.newest; u; u = u->next) {
        if (u->tenant != t || u->leaving)
            continue;
        (void)hc_buf_str(&out, comma);
        hc_upload_print(u, &out);
        comma = ", ";
    }
    (void)hc_buf_str(&out, "]}\n");
    return hc_reply_json(x, 200, &out);
}

int hc_get_upload(struct hc_exchange *x, struct hc_tenant *t)
{
    const struct hc_upload *u = hc_upload_find(&x->dispatch->uploads, t, x->id);
    return u ? reply_upload(x, 200, u) : no_such_upload(x);
}

int hc_delete_upload(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_upload *u = hc_upload_find(&x->dispatch->uploads, t, x->id);
    hc_autobuf nothing = {0};
    struct hc_problem why;
    if (!u)
        return no_such_upload(x);
    return hc_upload_remove(&x->dispatch->uploads, u, &why) < 0 ? hc_reply_problem(x, &why, NULL)
                                                                : hc_reply_json(x, 204, &nothing);
}

int hc_finish_upload(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_upload *u = hc_upload_find(&x->dispatch->uploads, t, x->id);
    struct hc_json j;
    struct hc_error err;
    struct hc_problem why;
    if (!u)
        return no_such_upload(x);
    if (hc_json_parse(&j, "request", x->body.data ? x->body.data : "", x->body.len, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "%s", err.text);
    const cJSON *only = cJSON_IsObject(j.root) ? j.root->child : NULL;
    const bool named = only && !only->next && strcmp(only->string, "sha256") == 0 && cJSON_IsString(only);
    int rc = named ? hc_upload_finish(&x->dispatch->uploads, u, only->valuestring, &why) : 0;
    hc_json_finish(&j);
    if (!named)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST,
                             "expected {\"sha256\": the content's, in hexadecimal digits}");
    return rc < 0 ? hc_reply_problem(x, &why, NULL) : reply_upload(x, 200, u);
}

/* The offset of a part. -1: the query has none. */
static int64_t offset_of(const struct hc_exchange *x)
{
    const char *text = hc_exchange_query(x, "offset");
    return text && *text && strlen(text) <= 18 && strspn(text, "0123456789") == strlen(text)
               ? strtoll(text, NULL, 10)
               : -1;
}

int hc_part_begin(struct hc_exchange *x, struct hc_tenant *t, struct hc_problem *why)
{
    struct hc_upload *u = hc_upload_find(&x->dispatch->uploads, t, x->id);
    const int64_t offset = offset_of(x);
    if (!u)
        hc_problem_set(why, HC_PROBLEM_NOT_FOUND,
                       "there is no such upload: it was removed, or not used for uploads.time");
    else if (offset < 0)
        hc_problem_set(
            why, HC_PROBLEM_REQUEST,
            "expected ?offset=, the number of bytes of the upload before this part, in decimal digits");
    else if (hc_upload_begin_part(&x->dispatch->uploads, u, offset, why) == 0)
        x->upload = u;
    return x->upload ? 0 : -1;
}

void hc_part_add(struct hc_exchange *x, const char *data, size_t len)
{
    const int64_t most = x->dispatch->config.http_body;
    struct hc_problem *why = &x->refused;
    if ((x->part_bytes += (int64_t)len) > most)
        hc_problem_set(why, HC_PROBLEM_TOO_LARGE,
                       "a part may have %lld bytes (http.body, hotcelld.conf(5)): send smaller parts",
                       (long long)most);
    else if (hc_upload_add(x->upload, data, len, why) == 0)
        return;
    hc_part_end(x);
}

void hc_part_end(struct hc_exchange *x)
{
    if (x->upload)
        hc_upload_end_part(x->upload);
    x->upload = NULL;
}

int hc_post_part(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why;
    if (!x->upload && hc_part_begin(x, t, &why) < 0) /* the part has no bytes */
        return hc_reply_problem(x, &why, NULL);
    const struct hc_upload *u = x->upload;
    hc_part_end(x);
    return reply_upload(x, 200, u);
}
