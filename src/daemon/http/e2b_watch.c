/* Watching a directory of E2B's sandboxes. Unless commands go on, nothing changes between a session's
 * requests, as all its processes stand still then: after each request that may have changed a file, and now
 * and then while commands go on, the directory is listed anew (e2b_view.c), and what differs becomes events.
 */
#include "daemon/http/e2b.h"

#include "base/clock.h"
#include "json/json.h"
#include "wire/e2b_envd.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

struct watch {
    struct hc_e2b_call call;
    struct hc_e2b_view *view;   /* the directory, as others see it, too; one of its watches */
    struct hc_e2b_files *known; /* files that the client knows of; a reference; NULL: none */
    struct hc_buf out;          /* messages that were not sent yet; owned */
    size_t sent;                /* bytes of `out` that were sent */
    int64_t since;              /* time of the last message (CLOCK_MONOTONIC, ms) */
    bool over;                  /* the last message is in `out` */
};

static void end_watch(struct hc_exchange *x)
{
    struct watch *w = x->own;
    hc_e2b_call_finish(&w->call);
    hc_e2b_view_close(x, w->view);
    hc_e2b_files_unref(w->known);
    hc_buf_finish(&w->out);
    free(w);
}

/* ---- what differs ---- */

/* One file of a list. */
struct listed {
    const cJSON *file; /* borrowed */
};

/* The files of a list, in an order in which one of them is found fast. */
struct sorted {
    struct listed *files; /* owned */
    size_t count;         /* number of `files` */
};

static int by_place(const void *a, const void *b)
{
    const cJSON *one = ((const struct listed *)a)->file, *other = ((const struct listed *)b)->file;
    const int differ = strcmp(hc_json_text(one, "name"), hc_json_text(other, "name"));
    return differ ? differ : strcmp(hc_json_text(one, "dir"), hc_json_text(other, "dir"));
}

/* -1: out of memory. */
static int sort_files(struct sorted *out, const cJSON *list)
{
    const cJSON *file;
    *out = (struct sorted){.files = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *out->files)};
    if (!out->files)
        return -1;
    cJSON_ArrayForEach(file, list) out->files[out->count++].file = file;
    qsort(out->files, out->count, sizeof *out->files, by_place);
    return 0;
}

static const cJSON *find_file(const struct sorted *in, const cJSON *like)
{
    const struct listed key = {like};
    const struct listed *found = bsearch(&key, in->files, in->count, sizeof *in->files, by_place);
    return found ? found->file : NULL;
}

static void put_event(struct watch *w, const cJSON *file, const char *type)
{
    const char *dir = hc_json_text(file, "dir"), *base = w->call.path.data;
    hc_autobuf name = {0}, json = {0};
    /* The name is the one below the directory that is watched. */
    const bool deeper = strcmp(dir, base) != 0;
    if (deeper)
        (void)hc_buf_fmt(&name, "%s/", dir + (strcmp(base, ".") == 0 ? 0 : strlen(base) + 1));
    (void)hc_buf_str(&name, hc_json_text(file, "name"));
    (void)hc_buf_str(&json, "{\"filesystem\": {\"name\": ");
    hc_json_quote(&json, name.data ? name.data : "", name.len);
    (void)hc_buf_fmt(&json, ", \"type\": \"EVENT_TYPE_%s\"}}", type);
    hc_e2b_envelope(0, json.data ? json.data : "", json.len, &w->out);
}

static bool is_changed(const cJSON *file, const cJSON *old)
{
    return strcmp(hc_json_text(file, "kind"), "directory") != 0 &&
           (strcmp(hc_json_text(file, "modified"), hc_json_text(old, "modified")) != 0 ||
            hc_json_int(file, "bytes", 0) != hc_json_int(old, "bytes", 0));
}

static void put_differences(struct watch *w, const cJSON *now, const struct sorted *before,
                            const struct sorted *after)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, now)
    {
        const cJSON *old = find_file(before, file);
        if (!old)
            put_event(w, file, "CREATE");
        if (!old ? hc_json_int(file, "bytes", 0) > 0 : is_changed(file, old))
            put_event(w, file, "WRITE");
    }
    cJSON_ArrayForEach(file, w->known->list)
    {
        if (!find_file(after, file))
            put_event(w, file, "REMOVE");
    }
}

static void compare(struct watch *w, const cJSON *now)
{
    struct sorted before = {0}, after = {0};
    if (sort_files(&before, w->known->list) < 0 || sort_files(&after, now) < 0)
        w->out.failed = true;
    else
        put_differences(w, now, &before, &after);
    free(before.files);
    free(after.files);
}

/* Tell what the view shows: at first only that the directory is there. */
static void tell(struct watch *w)
{
    static const char start[] = "{\"start\": {}}";
    struct hc_e2b_files *files = hc_e2b_view_files(w->view);
    if (w->known)
        compare(w, files->list);
    else
        hc_e2b_envelope(0, start, sizeof start - 1, &w->out);
    hc_e2b_files_unref(w->known);
    w->known = files;
    files->references++;
}

/* ---- the stream ---- */

/* End the stream, as the sandbox takes no more requests or the directory cannot be listed. */
static void finish(struct watch *w, const char *code, const char *message)
{
    hc_autobuf json = {0};
    (void)hc_buf_fmt(&json, "{\"error\": {\"code\": \"%s\", \"message\": ", code);
    hc_json_quote(&json, message, strlen(message));
    (void)hc_buf_str(&json, "}}");
    hc_e2b_envelope(HC_E2B_LAST, json.data ? json.data : "", json.len, &w->out);
    w->over = true;
}

static bool is_open(const struct hc_front_session *s)
{
    return s && s->state != HC_FRONT_SESSION_ENDED && !s->closing && !s->paused;
}

/* Go on until there is a message, or something to wait for (false). */
static bool advance(struct hc_exchange *x, struct watch *w)
{
    static const char alive[] = "{\"keepalive\": {}}";
    struct hc_problem why;
    struct hc_front_session *s = hc_front_session_find_any(x->http->sessions, x->sandbox);
    if (!is_open(s)) {
        finish(w, "unavailable", "The sandbox was not found");
        return true;
    }
    const bool up_to_date = hc_e2b_view_files(w->view) == w->known;
    const int rc = up_to_date || !w->known ? hc_e2b_view_step(x, s, w->view, &why) : 1;
    if (rc < 0) {
        finish(w, why.sys ? "not_found" : why.quota ? "resource_exhausted" : "internal", why.detail);
        return true;
    }
    if (rc == 0)
        return false;
    const bool begins = !w->known && hc_e2b_view_is_being_made(w->view); /* with the list that comes */
    if (!begins && hc_e2b_view_files(w->view) != w->known) {
        tell(w);
        return true;
    }
    if (hc_mono_ms() - w->since >= HC_E2B_KEEPALIVE_MS)
        hc_e2b_envelope(0, alive, sizeof alive - 1, &w->out);
    else if (!hc_e2b_waits(x, s))
        hc_exchange_pause(x);
    return w->out.len > w->sent;
}

static ssize_t read_messages(void *cls, uint64_t at, char *out, size_t max)
{
    struct hc_exchange *x = cls;
    struct watch *w = x->own;
    (void)at;
    while (w->sent == w->out.len) {
        if (w->over)
            return MHD_CONTENT_READER_END_OF_STREAM;
        hc_buf_clear(&w->out);
        w->sent = 0;
        if (!advance(x, w))
            return 0;
    }
    if (w->out.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    const size_t n = MIN(max, w->out.len - w->sent);
    memcpy(out, w->out.data + w->sent, n);
    w->sent += n;
    w->since = hc_mono_ms();
    return (ssize_t)n;
}

int hc_e2b_watch_dir(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_error err;
    size_t len = 0;
    int rc;
    if (!hc_e2b_sandbox(x, t, &rc))
        return rc;
    const char *json = hc_e2b_unwrap(hc_e2b_body(x), x->body.len, &len);
    if (!json)
        return hc_reply_fail(x, HC_PROBLEM_REQUEST, "expected one message of Connect");
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return MHD_NO;
    x->own = w;
    x->end_own = end_watch;
    w->since = hc_mono_ms();
    if (hc_e2b_take_call(&w->call, json, len, &err) < 0)
        return hc_e2b_reply_untranslated(x, &err);
    w->view = w->call.path.failed ? NULL : hc_e2b_view_open(x, &w->call);
    if (!w->view)
        return MHD_NO;
    x->beats = true;
    return hc_e2b_reply_stream(x, "application/connect+json", read_messages);
}
