#include "wire/e2b_envd.h"

#include "json/json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HEAD       5  /* bytes before the JSON of a message */
#define MOST_DEPTH 64 /* deepest list that a call may ask for */

/* ---- streams ---- */

void hc_e2b_envelope(unsigned char flags, const char *json, size_t len, struct hc_buf *out)
{
    const unsigned char head[HEAD] = {flags, (unsigned char)(len >> 24), (unsigned char)(len >> 16),
                                      (unsigned char)(len >> 8), (unsigned char)len};
    (void)hc_buf_add(out, head, sizeof head);
    (void)hc_buf_add(out, json, len);
}

const char *hc_e2b_unwrap(const char *body, size_t len, size_t *json_len)
{
    const unsigned char *head = (const unsigned char *)body;
    if (len < HEAD || head[0] != 0)
        return NULL;
    *json_len = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
    return *json_len == len - HEAD ? body + HEAD : NULL;
}

/* ---- files ---- */

/* What follows the home of E2B's user in a path; the path itself if it does not begin with it. */
static const char *below_home(const char *path)
{
    static const char *const homes[] = {"/home/user", "~"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        const size_t len = strlen(homes[i]);
        if (strncmp(path, homes[i], len) == 0 && (!path[len] || path[len] == '/'))
            return path + len + strspn(path + len, "/");
    }
    return path;
}

void hc_e2b_path(const char *path, struct hc_buf *out)
{
    path = below_home(path);
    const bool absolute = *path == '/';
    bool any = false;
    for (size_t n; *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        if (n == 0 || (n == 1 && *path == '.'))
            continue;
        (void)hc_buf_str(out, any || absolute ? "/" : "");
        (void)hc_buf_add(out, path, n);
        any = true;
    }
    if (!any)
        (void)hc_buf_str(out, absolute ? "/" : ".");
    if (out->data && strcmp(out->data, HC_E2B_ROOT) == 0) {
        hc_buf_clear(out);
        (void)hc_buf_str(out, ".");
    }
}

void hc_e2b_place(const char *path, struct hc_buf *out)
{
    hc_autobuf own = {0};
    hc_e2b_path(path, &own);
    const bool absolute = own.data && own.data[0] == '/', root = own.data && strcmp(own.data, ".") == 0;
    (void)hc_buf_fmt(out, "%s%s%s", absolute ? "" : HC_E2B_ROOT, absolute || root ? "" : "/",
                     root || !own.data ? "" : own.data);
    out->failed |= own.failed;
}

static int take_path(const struct hc_json *j, const char *name, const char *other, struct hc_buf *out,
                     struct hc_error *err)
{
    const cJSON *node = hc_json_member(j->root, name);
    if (!node)
        node = hc_json_member(j->root, other);
    if (node && !cJSON_IsString(node))
        return hc_json_fail(j, node, false, err, "%s: expected a string, got %s", node->string,
                            hc_json_kind(node));
    hc_e2b_path(node ? node->valuestring : "", out);
    return 0;
}

int hc_e2b_take_call(struct hc_e2b_call *c, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *c = (struct hc_e2b_call){.depth = 1};
    if (hc_json_parse(&j, "request", len ? text : "{}", len ? len : 2, err) < 0)
        return -1;
    int rc = cJSON_IsObject(j.root)
                 ? 0
                 : hc_json_fail(&j, j.root, false, err, "expected an object, got %s", hc_json_kind(j.root));
    if (rc == 0)
        rc = take_path(&j, "path", "source", &c->path, err);
    if (rc == 0)
        rc = take_path(&j, "destination", "destination", &c->to, err);
    const int64_t depth = rc == 0 ? hc_json_int(j.root, "depth", 1) : 1;
    if (rc == 0 && (depth < 0 || depth > MOST_DEPTH))
        rc = hc_fail_as(err, HC_EXIT_DATA, 0, "depth: expected 0 to %d", MOST_DEPTH);
    c->depth = depth < 1 ? 1 : (int)depth; /* a depth that is not said is 0 in this protocol */
    c->recursive = rc == 0 && hc_json_is_true(j.root, "recursive");
    hc_json_finish(&j);
    return rc;
}

void hc_e2b_call_finish(struct hc_e2b_call *c)
{
    hc_buf_finish(&c->path);
    hc_buf_finish(&c->to);
}

void hc_e2b_put_ask(const char *name, const char *path, const char *to, const char *more, struct hc_buf *out)
{
    (void)hc_buf_fmt(out, "{\"%s\": {\"path\": ", name);
    hc_json_quote(out, path, strlen(path));
    if (to) {
        (void)hc_buf_str(out, ", \"to\": ");
        hc_json_quote(out, to, strlen(to));
    }
    (void)hc_buf_str(out, more ? more : "");
    (void)hc_buf_str(out, "}}");
}

static const char *type_of(const cJSON *file)
{
    const char *kind = hc_json_text(file, "kind");
    return strcmp(kind, "directory") == 0 ? "FILE_TYPE_DIRECTORY"
           : strcmp(kind, "link") == 0    ? "FILE_TYPE_SYMLINK"
                                          : "FILE_TYPE_FILE";
}

void hc_e2b_put_entry(const cJSON *file, const char *dir, struct hc_buf *out)
{
    const char *path = hc_json_text(file, dir ? "name" : "path"), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *time = hc_json_text(file, "modified");
    hc_autobuf whole = {0};
    (void)hc_buf_fmt(&whole, HC_E2B_ROOT "/%s%s%s", dir && strcmp(dir, ".") != 0 ? dir : "",
                     dir && strcmp(dir, ".") != 0 ? "/" : "", path);
    (void)hc_buf_str(out, "{\"name\": ");
    hc_json_quote(out, name, strlen(name));
    (void)hc_buf_fmt(out, ", \"type\": \"%s\", \"path\": ", type_of(file));
    hc_json_quote(out, whole.data ? whole.data : "", whole.len);
    (void)hc_buf_fmt(out, ", \"size\": \"%lld\"", (long long)hc_json_int(file, "bytes", 0));
    if (*time) {
        (void)hc_buf_str(out, ", \"modifiedTime\": ");
        hc_json_quote(out, time, strlen(time));
    }
    (void)hc_buf_str(out, "}");
}

void hc_e2b_put_written(const cJSON *file, struct hc_buf *out)
{
    const char *path = hc_json_text(file, "path"), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    hc_autobuf whole = {0};
    (void)hc_buf_fmt(&whole, HC_E2B_ROOT "/%s", path);
    (void)hc_buf_str(out, "{\"type\": \"file\", \"name\": ");
    hc_json_quote(out, name, strlen(name));
    (void)hc_buf_str(out, ", \"path\": ");
    hc_json_quote(out, whole.data ? whole.data : "", whole.len);
    (void)hc_buf_str(out, "}");
}

void hc_e2b_put_root(struct hc_buf *out)
{
    (void)hc_buf_str(out, "{\"name\": \"output\", \"type\": \"FILE_TYPE_DIRECTORY\", \"path\": \"" HC_E2B_ROOT
                          "\", \"size\": \"0\"}");
}

/* ---- uploads ---- */

bool hc_e2b_boundary(const char *type, char out[80])
{
    static const char name[] = "boundary=";
    const char *at =
        type && strncasecmp(type, "multipart/form-data", 19) == 0 ? strcasestr(type, name) : NULL;
    if (!at)
        return false;
    at += sizeof name - 1;
    at += *at == '"';
    const size_t len = strcspn(at, "\";, ");
    if (len == 0 || len > 70)
        return false;
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}

/* Take the filename out of a part's head, in which browsers and others write %22 for a quote. */
static void take_filename(const char *head, size_t len, char *out, size_t room)
{
    static const char name[] = "filename=\"";
    const char *at = memmem(head, len, name, sizeof name - 1), *end = head + len;
    size_t n = 0;
    out[0] = '\0';
    if (!at)
        return;
    for (at += sizeof name - 1; at < end && *at != '"' && n + 1 < room; at++) {
        const bool quote = end - at > 2 && memcmp(at, "%22", 3) == 0;
        out[n++] = quote ? '"' : *at;
        at += quote ? 2 : 0;
    }
    out[n] = '\0';
}

int hc_e2b_next_part(const char *body, size_t len, const char *boundary, size_t *at, struct hc_e2b_part *part)
{
    char mark[90];
    const size_t mark_len = (size_t)snprintf(mark, sizeof mark, "\r\n--%s", boundary);
    if (*at == 0) { /* the first mark begins the body */
        if (len < mark_len - 2 || memcmp(body, mark + 2, mark_len - 2) != 0)
            return -1;
        *at = mark_len - 2;
    }
    if (len - *at >= 2 && memcmp(body + *at, "--", 2) == 0)
        return 0;
    const char *head = body + *at;
    const char *blank = memmem(head, len - *at, "\r\n\r\n", 4);
    if (!blank)
        return -1;
    const char *data = blank + 4, *next = memmem(data, (size_t)(body + len - data), mark, mark_len);
    if (!next)
        return -1;
    take_filename(head, (size_t)(blank - head), part->filename, sizeof part->filename);
    part->data = data;
    part->len = (size_t)(next - data);
    *at = (size_t)(next - body) + mark_len;
    return 1;
}
