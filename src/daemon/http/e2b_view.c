/* What watches of a directory of E2B's sandboxes share: its list, which is made anew when it may have
 * changed. Watches may be many and directories large, and the front makes all lists: watches of one directory
 * share one, and a sandbox's lists come no faster than the front can make them beside its other work. */
#include "daemon/http/e2b.h"

#include "base/clock.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MOST_WATCHED 2000 /* most files in a directory that is watched */
#define DEEP         64   /* how deep a directory is watched with all that is in it */
#define EVERY_MS     1000 /* time between two lists while commands go on, which change files at any time */
#define MOST_MS      8000 /* the same at most: it doubles with each list in which nothing has changed */
#define FILES_A_MS   4    /* files of a sandbox that are listed in a millisecond, at most */

struct hc_e2b_view {
    struct hc_e2b_view *next; /* the next one of hc_http.views */
    int watches;              /* watches that share it */
    char sandbox[HC_JOB_ID];
    char *path;                    /* the directory, as a session takes it; owned */
    bool recursive;                /* the list has what subdirectories have, too */
    struct hc_e2b_files *files;    /* the last list; a reference; NULL: there was none */
    struct hc_exchange *maker;     /* makes a list now; borrowed; NULL: nobody does */
    struct hc_e2b_listing listing; /* list that is being made */
    int64_t changes;               /* hc_front_session.changes when the last list began; -1: none has */
    int64_t listed;                /* time at which the last list began (CLOCK_MONOTONIC, ms) */
    int64_t pause;                 /* time until the next one while commands go on (ms) */
    bool commands;                 /* commands went on then */
};

/* ---- a list ---- */

void hc_e2b_files_unref(struct hc_e2b_files *f)
{
    if (!f || --f->references)
        return;
    hc_e2b_let_go(&f->held);
    cJSON_Delete(f->list);
    free(f);
}

static bool is_same(const cJSON *one, const cJSON *other)
{
    static const char *const texts[] = {"name", "dir", "kind", "modified"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(hc_json_text(one, texts[i]), hc_json_text(other, texts[i])) != 0)
            return false;
    return hc_json_int(one, "bytes", 0) == hc_json_int(other, "bytes", 0);
}

/* Lists of the same files are in the same order. */
static bool are_same(const cJSON *one, const cJSON *other)
{
    const cJSON *a = one->child, *b = other->child;
    while (a && b && is_same(a, b)) {
        a = a->next;
        b = b->next;
    }
    return !a && !b;
}

/* Take the list that was made, unless it is that of before. -1: out of memory. */
static int take_list(struct hc_e2b_view *v)
{
    const bool same = v->files && are_same(v->files->list, v->listing.found);
    struct hc_e2b_files *files = same ? NULL : calloc(1, sizeof *files);
    v->pause = same ? MIN(2 * v->pause, MOST_MS) : EVERY_MS;
    if (files) {
        *files = (struct hc_e2b_files){1, v->listing.found, v->listing.held, v->listing.count};
        v->listing.found = NULL;
        v->listing.held.bytes = 0; /* they are those of `files` now */
        hc_e2b_files_unref(v->files);
        v->files = files;
    }
    hc_e2b_listing_end(&v->listing);
    return same || files ? 0 : -1;
}

/* ---- views ---- */

static void free_view(struct hc_e2b_view *v)
{
    hc_e2b_listing_end(&v->listing);
    hc_e2b_files_unref(v->files);
    free(v->path);
    free(v);
}

struct hc_e2b_view *hc_e2b_view_open(struct hc_exchange *x, const struct hc_e2b_call *call)
{
    struct hc_e2b_view *v = x->http->views;
    while (v && (strcmp(v->sandbox, x->sandbox) != 0 || strcmp(v->path, call->path.data) != 0 ||
                 v->recursive != call->recursive))
        v = v->next;
    if (!v)
        v = calloc(1, sizeof *v);
    if (!v || v->watches++)
        return v;
    v->path = strdup(call->path.data);
    v->recursive = call->recursive;
    v->changes = -1;
    v->listed = INT64_MIN / 2;
    memcpy(v->sandbox, x->sandbox, sizeof v->sandbox);
    if (!v->path) {
        free_view(v);
        return NULL;
    }
    v->next = x->http->views;
    x->http->views = v;
    return v;
}

/* Have those who watch the sandbox look whether there is something new, or whether one of them has to make
 * the list. */
static void wake_watches(const struct hc_exchange *x)
{
    for (struct hc_connection *c = x->http->connections; c; c = c->next)
        if (c->exchange && c->exchange != x && c->exchange->beats &&
            strcmp(c->exchange->sandbox, x->sandbox) == 0)
            c->exchange->waiter.wake(&c->exchange->waiter);
}

void hc_e2b_view_close(struct hc_http *h, const struct hc_exchange *x, struct hc_e2b_view *v)
{
    if (!v)
        return;
    if (x && v->maker == x) {
        v->maker = NULL;
        v->changes = -1;
        hc_e2b_listing_end(&v->listing);
        wake_watches(x);
    }
    if (--v->watches)
        return;
    struct hc_e2b_view **at = &h->views;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    free_view(v);
}

struct hc_e2b_files *hc_e2b_view_files(const struct hc_e2b_view *v)
{
    return v->files;
}

bool hc_e2b_view_is_being_made(const struct hc_e2b_view *v)
{
    return v->maker != NULL;
}

/* Time that has to be between two lists (ms). */
static int64_t gap_of(const struct hc_http *h, const struct hc_e2b_view *v)
{
    int64_t files = 0;
    for (const struct hc_e2b_view *other = h->views; other; other = other->next)
        files += other->files && strcmp(other->sandbox, v->sandbox) == 0 ? other->files->count : 0;
    return files / FILES_A_MS;
}

/* Whether a list has to be made now. One that has to be made later wakes its watches then. */
static bool is_due(struct hc_http *h, const struct hc_front_session *s, const struct hc_e2b_view *v)
{
    const int64_t since = hc_mono_ms() - v->listed;
    const bool commands = v->commands || hc_e2b_runs_commands(s);
    if (s->task || (s->changes == v->changes && !(commands && since >= v->pause)))
        return false;
    const int64_t due = v->listed + gap_of(h, v);
    if (hc_mono_ms() >= due)
        return true;
    h->list_due = h->list_due ? MIN(h->list_due, due) : due;
    return false;
}

int hc_e2b_view_step(struct hc_exchange *x, struct hc_front_session *s, struct hc_e2b_view *v,
                     struct hc_problem *why)
{
    if (v->maker ? v->maker != x : !is_due(x->http, s, v))
        return 1;
    if (!v->maker) {
        if (s->changes != v->changes)
            v->pause = EVERY_MS;
        v->changes = s->changes;
        v->commands = hc_e2b_runs_commands(s);
        v->listed = hc_mono_ms();
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        if (hc_e2b_listing_begin(&v->listing, v->path, v->recursive ? DEEP : 1, MOST_WATCHED) < 0)
            return -1;
        v->maker = x;
    }
    int rc = hc_e2b_listing_step(x, s, &v->listing, why);
    if (rc == 0)
        return 0;
    v->maker = NULL;
    if (rc > 0 && take_list(v) < 0) {
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        rc = -1;
    }
    if (rc < 0) {
        v->changes = -1;
        hc_e2b_listing_end(&v->listing);
    }
    wake_watches(x);
    return rc;
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

/* Where differences are told. */
struct telling {
    const char *base; /* the directory that is watched; borrowed */
    hc_e2b_tell *tell;
    void *to; /* passed to `tell` */
    bool failed;
};

static void put_event(struct telling *t, const cJSON *file, const char *type)
{
    const char *dir = hc_json_text(file, "dir");
    hc_autobuf name = {0}, json = {0};
    /* The name is the one below the directory that is watched. */
    if (strcmp(dir, t->base) != 0)
        (void)hc_buf_fmt(&name, "%s/", dir + (strcmp(t->base, ".") == 0 ? 0 : strlen(t->base) + 1));
    (void)hc_buf_str(&name, hc_json_text(file, "name"));
    (void)hc_buf_str(&json, "{\"name\": ");
    hc_json_quote(&json, name.data ? name.data : "", name.len);
    (void)hc_buf_fmt(&json, ", \"type\": \"EVENT_TYPE_%s\"}", type);
    t->failed |= name.failed || json.failed;
    if (!t->failed)
        t->tell(t->to, &json);
}

static bool is_changed(const cJSON *file, const cJSON *old)
{
    return strcmp(hc_json_text(file, "kind"), "directory") != 0 &&
           (strcmp(hc_json_text(file, "modified"), hc_json_text(old, "modified")) != 0 ||
            hc_json_int(file, "bytes", 0) != hc_json_int(old, "bytes", 0));
}

static void put_differences(struct telling *t, const cJSON *before, const cJSON *after,
                            const struct sorted *old, const struct sorted *new)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, after)
    {
        const cJSON *was = find_file(old, file);
        if (!was)
            put_event(t, file, "CREATE");
        if (!was ? hc_json_int(file, "bytes", 0) > 0 : is_changed(file, was))
            put_event(t, file, "WRITE");
    }
    cJSON_ArrayForEach(file, before)
    {
        if (!find_file(new, file))
            put_event(t, file, "REMOVE");
    }
}

int hc_e2b_view_compare(const struct hc_e2b_view *v, const struct hc_e2b_files *before,
                        const struct hc_e2b_files *after, hc_e2b_tell *tell, void *to)
{
    struct telling t = {.base = v->path, .tell = tell, .to = to};
    struct sorted old = {0}, new = {0};
    if (before == after)
        return 0;
    t.failed = sort_files(&old, before->list) < 0 || sort_files(&new, after->list) < 0;
    if (!t.failed)
        put_differences(&t, before->list, after->list, &old, &new);
    free(old.files);
    free(new.files);
    return t.failed ? -1 : 0;
}
