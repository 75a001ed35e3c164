#include "mcp/store.h"

#include "base/array.h"
#include "json/names.h"
#include "mcp/mime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

void hc_stored_finish(struct hc_stored_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        free(run->files[i].path);
    free(run->files);
    *run = (struct hc_stored_run){0};
}

/* Add a file. Takes the path, also on failure. */
static int list_file(struct hc_stored_run *run, char *path_taken, int64_t bytes)
{
    struct hc_stored *grown = path_taken ? hc_array_grow(run->files, run->count, sizeof *run->files) : NULL;
    if (!grown) {
        free(path_taken);
        return -1;
    }
    run->files = grown;
    run->files[run->count++] =
        (struct hc_stored){.path = path_taken, .mime = hc_mime_of(path_taken), .bytes = bytes};
    run->bytes += bytes;
    return 0;
}

void hc_stored_init(struct hc_stored_run *run, const char *name)
{
    *run = (struct hc_stored_run){.open = false};
    (void)snprintf(run->name, sizeof run->name, "%s", name);
}

int hc_stored_list(struct hc_stored_run *run, const char *path, int64_t bytes)
{
    char *whole = NULL;
    if (asprintf(&whole, "%s/%s", run->name, path) < 0)
        return -1;
    return list_file(run, whole, bytes);
}

static const struct hc_stored *find_in(const struct hc_stored_run *run, const char *path)
{
    for (size_t i = 0; i < run->count; i++)
        if (strcmp(run->files[i].path, path) == 0)
            return &run->files[i];
    return NULL;
}

/* Find a file by its path without the name of its run: what the client wrote, or what the last run left. */
static const struct hc_stored *find_by_name(const struct hc_store *s, const char *name)
{
    for (size_t i = s->run_count + 1; i-- > 0;) {
        const struct hc_stored_run *run = i == s->run_count ? &s->written : &s->runs[i];
        for (size_t j = 0; j < run->count; j++) {
            const char *slash = strchr(run->files[j].path, '/');
            if (slash && strcmp(slash + 1, name) == 0)
                return &run->files[j];
        }
    }
    return NULL;
}

void hc_files_hint(const struct hc_store *s, const char *path, char hint[HC_STORE_HINT])
{
    const struct hc_stored *meant = find_by_name(s, path);
    if (meant)
        (void)snprintf(hint, HC_STORE_HINT, ": did you mean '%.200s'?", meant->path);
    else
        (void)snprintf(hint, HC_STORE_HINT, " (list_files names them)");
}

const struct hc_stored_run *hc_files_find_run(const struct hc_store *s, const char *name)
{
    if (strcmp(name, HC_STORE_FILES) == 0)
        return &s->written;
    for (size_t i = 0; i < s->run_count; i++)
        if (strcmp(s->runs[i].name, name) == 0)
            return &s->runs[i];
    return NULL;
}

const struct hc_stored *hc_files_find(const struct hc_store *s, const char *path)
{
    const struct hc_stored *found = find_in(&s->written, path);
    for (size_t i = 0; !found && i < s->run_count; i++)
        found = find_in(&s->runs[i], path);
    return found;
}

/* ---- files ---- */

int hc_files_read(const struct hc_store *s, const struct hc_stored *file, int64_t offset, size_t max,
                  struct hc_buf *out, struct hc_error *err)
{
    return s->place->read(s, file, offset, max, out, err);
}

const char *hc_files_bad_name(const char *name)
{
    return hc_is_id(name, HC_STORE_NAME) ? NULL
                                         : "expected a plain file name of at most 80 letters, digits, '.', "
                                           "'_' and '-', not beginning with '.'";
}

static int64_t bytes_of(const struct hc_store *s, const char *name, size_t *index)
{
    for (*index = 0; *index < s->written.count; (*index)++)
        if (strcmp(s->written.files[*index].path + strlen(HC_STORE_FILES "/"), name) == 0)
            return s->written.files[*index].bytes;
    return 0;
}

const char *hc_files_no_room(const struct hc_store *s, const char *name, size_t len)
{
    size_t index;
    int64_t others = s->written.bytes - bytes_of(s, name, &index);
    if (index == s->written.count && s->written.count >= HC_STORE_WRITTEN)
        return "there are 256 files already: remove some with remove_file";
    if (others + (int64_t)len > HC_STORE_WRITTEN_BYTES)
        return "all files together may have 256 MiB: remove some with remove_file";
    return NULL;
}

static void unlist(struct hc_store *s, size_t index)
{
    struct hc_stored *file = &s->written.files[index];
    s->written.bytes -= file->bytes;
    free(file->path);
    s->written.count--;
    memmove(file, file + 1, (s->written.count - index) * sizeof *file);
}

int hc_files_write(struct hc_store *s, const char *name, const void *data, size_t len, struct hc_error *err)
{
    char path[HC_STORE_NAME + 16];
    size_t index;
    (void)snprintf(path, sizeof path, HC_STORE_FILES "/%s", name);
    if (s->place->write(s, name, data, len, err) < 0)
        return -1;
    (void)bytes_of(s, name, &index);
    if (index < s->written.count)
        unlist(s, index);
    return list_file(&s->written, strdup(path), (int64_t)len) < 0 ? hc_fail(err, ENOMEM, "%s", path) : 0;
}

/* ---- runs ---- */

static void drop_run(struct hc_store *s, size_t index, bool asked)
{
    s->place->drop(s, s->runs[index].name, asked);
    hc_stored_finish(&s->runs[index]);
    s->run_count--;
    memmove(&s->runs[index], &s->runs[index + 1], (s->run_count - index) * sizeof *s->runs);
}

int hc_files_remove(struct hc_store *s, const char *path, struct hc_error *err)
{
    for (size_t i = 0; i < s->written.count; i++) {
        if (strcmp(s->written.files[i].path, path) != 0)
            continue;
        if (s->place->remove(s, path, err) < 0)
            return -1;
        unlist(s, i);
        return 0;
    }
    const struct hc_stored_run *run = hc_files_find_run(s, path);
    if (!run || run == &s->written)
        return 1;
    if (run->open)
        return 2;
    drop_run(s, (size_t)(run - s->runs), true);
    return 0;
}

int hc_files_begin(struct hc_store *s, bool session, char name[HC_STORE_RUN], struct hc_error *err)
{
    if (session)
        (void)snprintf(name, HC_STORE_RUN, "session-%d", ++s->sessions_begun);
    else
        (void)snprintf(name, HC_STORE_RUN, "run-%d", ++s->runs_begun);
    return s->place->begin(s, name, err);
}

/* Remove the oldest run that is not open, except `kept`. False: there is none. */
static bool drop_oldest(struct hc_store *s, const char *kept)
{
    for (size_t i = 0; i < s->run_count; i++)
        if (!s->runs[i].open && strcmp(s->runs[i].name, kept) != 0) {
            drop_run(s, i, false);
            return true;
        }
    return false;
}

static void trim(struct hc_store *s, const char *kept)
{
    int64_t sum;
    do {
        sum = 0;
        for (size_t i = 0; i < s->run_count; i++)
            sum += s->runs[i].bytes;
    } while (sum > s->max && drop_oldest(s, kept));
}

static void merge(struct hc_stored_run *run, struct hc_stored_run *taken)
{
    for (size_t i = 0; i < taken->count; i++) {
        struct hc_stored *there = NULL;
        for (size_t k = 0; k < run->count && !there; k++)
            if (strcmp(run->files[k].path, taken->files[i].path) == 0)
                there = &run->files[k];
        if (there) {
            run->bytes += taken->files[i].bytes - there->bytes;
            there->bytes = taken->files[i].bytes;
        } else {
            (void)list_file(run, taken->files[i].path, taken->files[i].bytes);
            taken->files[i].path = NULL;
        }
    }
    hc_stored_finish(taken);
}

void hc_files_keep(struct hc_store *s, struct hc_stored_run *taken, bool open)
{
    struct hc_stored_run *run = NULL;
    char name[HC_STORE_RUN];
    (void)snprintf(name, sizeof name, "%s", taken->name);
    for (size_t i = 0; i < s->run_count && !run; i++)
        if (strcmp(s->runs[i].name, name) == 0)
            run = &s->runs[i];
    if (run) {
        merge(run, taken);
        run->open = open;
    } else if (s->run_count < HC_STORE_RUNS || drop_oldest(s, name)) {
        s->runs[s->run_count] = *taken;
        s->runs[s->run_count++].open = open;
        *taken = (struct hc_stored_run){.open = false};
    } else {
        hc_stored_finish(taken); /* not reached: there are fewer sessions than places */
    }
    trim(s, name);
}

void hc_files_finish(struct hc_store *s)
{
    for (size_t i = 0; i < s->run_count; i++)
        hc_stored_finish(&s->runs[i]);
    hc_stored_finish(&s->written);
    s->run_count = 0;
}
