#include "manifest/changes.h"

#include "manifest/manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const change_names[HC_CHANGE_KINDS] = {
    [HC_ADDED] = "added", [HC_CHANGED] = "changed", [HC_REMOVED] = "removed", [HC_MODE] = "mode"};
static const char *const kind_names[HC_KINDS] = {
    [HC_KIND_FILE] = "file", [HC_KIND_DIRECTORY] = "directory", [HC_KIND_LINK] = "link"};

const char *hc_change_name(enum hc_change_kind change)
{
    return change_names[change];
}

const char *hc_kind_name(enum hc_kind kind)
{
    return kind_names[kind];
}

/* ---- in memory ---- */

static void free_left(struct hc_left_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->list[i].path);
    free(l->list);
}

void hc_changes_free(struct hc_changes *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++)
        free(c->list[i].path);
    free(c->list);
    free_left(&c->skipped);
    free_left(&c->left_out);
    free(c->directory);
    free(c);
}

int hc_changes_add(struct hc_changes *c, const char *path, enum hc_change_kind change,
                   const struct hc_entry_state *was, const struct hc_entry_state *now, struct hc_error *err)
{
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 64;
        struct hc_change *grown = reallocarray(c->list, room, sizeof *grown);
        if (!grown)
            return hc_fail(err, ENOMEM, "list changes");
        c->list = grown;
        c->room = room;
    }
    char *copy = strdup(path);
    if (!copy)
        return hc_fail(err, ENOMEM, "list changes");
    struct hc_change *one = &c->list[c->count++];
    *one = (struct hc_change){.path = copy, .change = change};
    if (was)
        one->was = *was;
    if (now)
        one->now = *now;
    return 0;
}

int hc_left_add(struct hc_left_list *l, const char *path, const char *reason, struct hc_error *err)
{
    if (l->count >= HC_MOST_LEFT) {
        l->more++;
        return 0;
    }
    struct hc_left *grown = reallocarray(l->list, l->count + 1, sizeof *grown);
    char *copy = strdup(path);
    if (grown)
        l->list = grown;
    if (!grown || !copy) {
        free(copy);
        return hc_fail(err, ENOMEM, "list what is left out");
    }
    l->list[l->count++] = (struct hc_left){.path = copy, .reason = reason};
    return 0;
}

/* Removed files come first, in reverse, so that a directory is empty before it goes, and before something
 * else takes its name. */
static int in_order(const void *a, const void *b)
{
    const struct hc_change *x = a, *y = b;
    bool gone = x->change == HC_REMOVED;
    if (gone != (y->change == HC_REMOVED))
        return gone ? -1 : 1;
    int by_path = strcmp(x->path, y->path);
    return gone ? -by_path : by_path;
}

void hc_changes_sort(struct hc_changes *c)
{
    if (c->count)
        qsort(c->list, c->count, sizeof *c->list, in_order);
}

int64_t hc_changes_count(const struct hc_changes *c, enum hc_change_kind change)
{
    int64_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->list[i].change == change;
    return count;
}

/* ---- as JSON ---- */

static bool put(cJSON *to, const char *name, cJSON *item)
{
    if (to && item && (name ? cJSON_AddItemToObject(to, name, item) : cJSON_AddItemToArray(to, item)))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool put_number(cJSON *to, const char *name, int64_t value)
{
    return put(to, name, cJSON_CreateNumber((double)value));
}

static bool put_text(cJSON *to, const char *name, const char *text)
{
    return put(to, name, cJSON_CreateString(text));
}

static bool put_path(cJSON *to, const char *path)
{
    bool escaped;
    return put(to, "path", hc_name_print(path, &escaped)) &&
           (!escaped || put(to, "escaped", cJSON_CreateTrue()));
}

static bool put_state(cJSON *to, const char *name, const struct hc_entry_state *s)
{
    char mode[8];
    cJSON *object = cJSON_CreateObject();
    (void)snprintf(mode, sizeof mode, "%04o", s->mode & 0777);
    bool ok = put_text(object, "kind", kind_names[s->kind]) && put_text(object, "mode", mode);
    if (s->kind != HC_KIND_DIRECTORY)
        ok = ok && put_number(object, "bytes", s->bytes) && put_text(object, "sha256", s->sha256);
    if (ok)
        return put(to, name, object);
    cJSON_Delete(object);
    return false;
}

static bool put_change(cJSON *to, const struct hc_change *c)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = put_path(object, c->path) && put_text(object, "change", change_names[c->change]) &&
              (c->change == HC_ADDED || put_state(object, "was", &c->was)) &&
              (c->change == HC_REMOVED || put_state(object, "now", &c->now));
    if (ok)
        return put(to, NULL, object);
    cJSON_Delete(object);
    return false;
}

static bool put_left(cJSON *to, const char *name, const struct hc_left_list *l)
{
    cJSON *object = cJSON_AddObjectToObject(to, name);
    cJSON *entries = object ? cJSON_AddArrayToObject(object, "entries") : NULL;
    bool ok = entries;
    for (size_t i = 0; ok && i < l->count; i++) {
        cJSON *entry = cJSON_CreateObject();
        ok = put(entries, NULL, entry) && put_path(entry, l->list[i].path) &&
             put_text(entry, "reason", l->list[i].reason);
    }
    return ok && put_number(object, "more", l->more);
}

static bool put_all(cJSON *to, const struct hc_changes *c, size_t most)
{
    bool ok = true;
    for (int i = 0; ok && i < HC_CHANGE_KINDS; i++)
        ok = put_number(to, change_names[i], hc_changes_count(c, (enum hc_change_kind)i));
    cJSON *entries = cJSON_AddArrayToObject(to, "entries");
    size_t count = c->count < most ? c->count : most;
    for (size_t i = 0; ok && i < count; i++)
        ok = put_change(entries, &c->list[i]);
    ok = ok && put_number(to, "more", (int64_t)(c->count - count)) && put_left(to, "skipped", &c->skipped) &&
         put_left(to, "left_out", &c->left_out) && put(to, "complete", cJSON_CreateBool(!c->incomplete));
    if (!c->directory)
        return ok;
    return ok && put_text(to, "directory", c->directory) &&
           (!c->list_sha256[0] || put_text(to, "list_sha256", c->list_sha256)) &&
           (!c->seal[0] || put_text(to, "seal", c->seal));
}

cJSON *hc_changes_print(const struct hc_changes *c, size_t most)
{
    cJSON *to = cJSON_CreateObject();
    if (to && put_all(to, c, most))
        return to;
    cJSON_Delete(to);
    return NULL;
}

static int find_word(const char *const *words, int count, const char *word)
{
    for (int i = 0; word && i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static bool read_mode(const char *text, mode_t *mode)
{
    if (!text || strlen(text) != 4 || strspn(text, "01234567") != 4 || text[0] != '0')
        return false;
    *mode = (mode_t)strtoul(text, NULL, 8);
    return true;
}

static bool read_state(const cJSON *object, struct hc_entry_state *s)
{
    int kind = find_word(kind_names, HC_KINDS, hc_json_text(object, "kind"));
    if (kind < 0 || !read_mode(hc_json_text(object, "mode"), &s->mode))
        return false;
    s->kind = (enum hc_kind)kind;
    if (s->kind == HC_KIND_DIRECTORY)
        return true;
    const char *sha256 = hc_json_text(object, "sha256");
    s->bytes = hc_json_int(object, "bytes", -1);
    if (s->bytes < 0 || !sha256 || strlen(sha256) != sizeof s->sha256 - 1)
        return false;
    memcpy(s->sha256, sha256, sizeof s->sha256);
    return true;
}

/* Does the path stay below the directory that it is relative to? */
static bool stays_inside(const char *path)
{
    if (strlen(path) >= PATH_MAX)
        return false;
    for (const char *part = path;; part++) {
        size_t len = strcspn(part, "/");
        if (len == 0 || len > NAME_MAX || (len <= 2 && strncmp(part, "..", len) == 0))
            return false;
        part += len;
        if (!*part)
            return true;
    }
}

static int read_change(struct hc_changes *c, const cJSON *entry, struct hc_error *err)
{
    struct hc_entry_state was = {0}, now = {0};
    int change = find_word(change_names, HC_CHANGE_KINDS, hc_json_text(entry, "change"));
    const char *text = hc_json_text(entry, "path");
    char *path = text ? strdup(text) : NULL;
    if (path && hc_json_is_true(entry, "escaped"))
        hc_name_unescape(path);
    bool ok = path && change >= 0 && stays_inside(path) &&
              (change == HC_ADDED || read_state(hc_json_member(entry, "was"), &was)) &&
              (change == HC_REMOVED || read_state(hc_json_member(entry, "now"), &now));
    int rc = ok ? hc_changes_add(c, path, (enum hc_change_kind)change, &was, &now, err)
                : hc_fail_as(err, HC_EXIT_DATA, 0, "not a list of changes of hotcell's");
    free(path);
    return rc;
}

static int read_left(struct hc_left_list *l, const cJSON *entry, struct hc_error *err)
{
    char *path = strdup(hc_json_text_or(entry, "path", "?"));
    if (!path)
        return hc_fail(err, ENOMEM, "read changes");
    if (hc_json_is_true(entry, "escaped"))
        hc_name_unescape(path);
    int rc = hc_left_add(l, path, "could not be kept", err);
    free(path);
    return rc;
}

static int read_object(struct hc_changes *c, const cJSON *object, struct hc_error *err)
{
    const cJSON *entries = hc_json_member(object, "entries"), *entry;
    const cJSON *complete = hc_json_member(object, "complete"), *skipped = hc_json_member(object, "skipped");
    if (!cJSON_IsArray(entries) || !cJSON_IsBool(complete) || hc_json_int(object, "more", -1) != 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "not a whole list of changes of hotcell's");
    cJSON_ArrayForEach(entry, entries)
    {
        if (read_change(c, entry, err) < 0)
            return -1;
    }
    c->incomplete = !cJSON_IsTrue(complete);
    cJSON_ArrayForEach(entry, hc_json_member(skipped, "entries"))
    {
        if (read_left(&c->skipped, entry, err) < 0)
            return -1;
    }
    c->skipped.more += hc_json_int(skipped, "more", 0);
    hc_changes_sort(c);
    return 0;
}

int hc_changes_read(const cJSON *object, struct hc_changes **out, struct hc_error *err)
{
    struct hc_changes *c = calloc(1, sizeof *c);
    if (!c)
        return hc_fail(err, ENOMEM, "read changes");
    if (read_object(c, object, err) == 0) {
        *out = c;
        return 0;
    }
    hc_changes_free(c);
    return -1;
}
