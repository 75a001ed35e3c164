#include "batch/resume.h"

#include "base/fd.h"
#include "batch/batch.h"
#include "batch/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RESULT ((size_t)1 << 30) /* most bytes of a line of journal or results */

int64_t hc_shard_index(int64_t line, int64_t shard, int64_t shards)
{
    return (line - shard) % shards || line < shard ? -1 : (line - shard) / shards;
}

#define COPY "." HC_BATCH_RESULTS ".new" /* name of the copy while it is written */

void hc_past_finish(struct hc_past *past, const struct hc_folder *folder)
{
    if (past->copy >= 0)
        (void)unlinkat(folder->dir, COPY, 0);
    hc_lineset_finish(&past->done);
    free(past->open);
    free(past->kept);
    hc_close_fd(&past->copy);
    *past = (struct hc_past){.copy = -1};
}

/* ---- lines that are open ---- */

static int compare_open(const void *a, const void *b)
{
    const struct hc_open_line *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

struct hc_open_line *hc_past_find(const struct hc_past *past, int64_t line)
{
    const struct hc_open_line key = {.line = line};
    if (past->open_count == 0)
        return NULL;
    return bsearch(&key, past->open, past->open_count, sizeof key, compare_open);
}

/* Find an open line. Lines whose results are removed may be many, and are sorted; those that the journal
 * adds are few: at most the jobs that ran at one time, per run. */
static struct hc_open_line *find_open(struct hc_past *past, int64_t line)
{
    const struct hc_open_line key = {.line = line};
    for (size_t i = past->open_count; i-- > past->sorted;)
        if (past->open[i].line == line)
            return &past->open[i];
    if (past->sorted == 0)
        return NULL;
    return bsearch(&key, past->open, past->sorted, sizeof key, compare_open);
}

static struct hc_open_line *add_open(struct hc_past *past, int64_t line)
{
    if (past->open_count == past->open_room) {
        size_t room = past->open_room ? past->open_room * 2 : 64;
        struct hc_open_line *more = realloc(past->open, room * sizeof *more);
        if (!more)
            return NULL;
        past->open = more;
        past->open_room = room;
    }
    struct hc_open_line *added = &past->open[past->open_count++];
    *added = (struct hc_open_line){.line = line};
    return added;
}

static struct hc_open_line *open_line(struct hc_past *past, int64_t line)
{
    struct hc_open_line *there = find_open(past, line);
    return there ? there : add_open(past, line);
}

static void sort_open(struct hc_past *past)
{
    if (past->open_count)
        qsort(past->open, past->open_count, sizeof *past->open, compare_open);
    past->sorted = past->open_count;
}

static int add_kept(struct hc_past *past, int64_t line, int64_t at, size_t len)
{
    if (past->kept_count == past->kept_room) {
        size_t room = past->kept_room ? past->kept_room * 2 : 64;
        struct hc_waiting_result *more = realloc(past->kept, room * sizeof *more);
        if (!more)
            return -1;
        past->kept = more;
        past->kept_room = room;
    }
    past->kept[past->kept_count++] = (struct hc_waiting_result){line, at, len};
    return 0;
}

/* ---- the journal ---- */

/* The state of hc_past_read, whose parameters these are; all are borrowed. */
struct loading {
    struct hc_past *past;
    struct hc_folder *folder;
    const bool *rerun;
    struct hc_job_ids *job_ids;
    struct hc_tally *tally;
    char *name; /* name of the current file, for messages; owned */
    /* most entries of line indexes, by the files' sizes: a damaged file cannot make us allocate more
     * memory */
    int64_t room;
};

static int64_t index_of(const struct loading *l, int64_t line)
{
    return hc_shard_index(line, l->past->last.shard, l->past->last.shards);
}

static int add_done(const struct loading *l, int64_t line, struct hc_error *err)
{
    int64_t i = index_of(l, line);
    if (i < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: line %lld is another shard's", l->name, (long long)line);
    if (i >= l->room)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: line %lld, which has not been begun", l->name,
                          (long long)line);
    return hc_lineset_add(&l->past->done, i) < 0 ? hc_fail(err, ENOMEM, "%s", l->name) : 0;
}

static bool is_done(const struct loading *l, int64_t line)
{
    int64_t i = index_of(l, line);
    return i >= 0 && hc_lineset_has(&l->past->done, i);
}

static int load_begin(struct loading *l, const struct hc_entry *e, struct hc_error *err)
{
    int64_t first;
    if (e->line > l->past->read.line)
        l->past->read = *e;
    if (hc_job_ids_put(l->job_ids, e->job_id, e->line, &first, err) < 0)
        return -1;
    if (is_done(l, e->line))
        return 0;
    struct hc_open_line *open = open_line(l->past, e->line);
    if (!open)
        return hc_fail(err, ENOMEM, "%s", l->name);
    open->attempt = e->attempt;
    open->started = false;
    memcpy(open->job_id, e->job_id, sizeof open->job_id);
    return 0;
}

static int load_end(struct loading *l, const struct hc_entry *e, int64_t at, struct hc_error *err)
{
    if (!e->result_len || is_done(l, e->line))
        return 0;
    if (add_kept(l->past, e->line, at + (int64_t)e->result, e->result_len) < 0)
        return hc_fail(err, ENOMEM, "%s", l->name);
    return 0;
}

/* If the host has rebooted since, lines that were begun may have run: HC_ENTRY_START entries are not
 * synced. */
static void mark_all_started(struct hc_past *past, const char *boot)
{
    if (strcmp(past->last.boot, boot) == 0)
        return;
    for (size_t i = 0; i < past->open_count; i++)
        past->open[i].started = true;
}

static int load_entry(struct loading *l, const struct hc_entry *e, int64_t at, struct hc_error *err)
{
    struct hc_open_line *open;
    switch (e->kind) {
    case HC_ENTRY_BATCH:
        mark_all_started(l->past, e->boot);
        l->past->last = *e;
        l->past->last.result += (size_t)at;
        l->past->any = true;
        return 0;
    case HC_ENTRY_BLANK:
        return add_done(l, e->line, err);
    case HC_ENTRY_BEGIN:
        return load_begin(l, e, err);
    case HC_ENTRY_START:
    case HC_ENTRY_BACK:
        open = find_open(l->past, e->line);
        if (open)
            open->started = e->kind == HC_ENTRY_START;
        return 0;
    default:
        return load_end(l, e, at, err);
    }
}

static int cut_off(int fd, const char *name, int64_t at, struct hc_error *err)
{
    return ftruncate(fd, at) < 0 ? hc_fail(err, errno, "%s", name) : 0;
}

/* Replace "NAME:1:..." in the error by the file's line. */
static int fix_error_line(const char *name, int64_t line, struct hc_error *err)
{
    char *text = strdupa(err->text);
    size_t n = strlen(name);
    const char *rest = strncmp(text, name, n) == 0 && strncmp(text + n, ":1:", 3) == 0 ? text + n + 3 : text;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "%.300s:%lld:%s", name, (long long)line, rest);
}

static int read_journal(struct loading *l, struct hc_error *err)
{
    struct hc_reader reader;
    struct hc_line line;
    int rc = lseek(l->folder->journal, 0, SEEK_SET) < 0 ? hc_fail(err, errno, "%s", l->name) : 0;
    hc_reader_init(&reader, l->folder->journal, MAX_RESULT);
    while (rc == 0) {
        struct hc_entry e;
        int64_t at = reader.bytes;
        int got = hc_reader_get(&reader, &line, err);
        if (got <= 0 || line.torn) {
            rc = got <= 0 ? got : cut_off(l->folder->journal, l->name, at, err);
            break;
        }
        if (hc_entry_parse(&e, l->name, line.text, line.len, err) < 0)
            rc = fix_error_line(l->name, reader.line, err);
        else
            rc = load_entry(l, &e, at, err);
    }
    hc_reader_finish(&reader);
    return rc;
}

/* Read the first entry: it has the shard, which is needed to read the results. */
static int read_first(struct loading *l, struct hc_error *err)
{
    struct hc_reader reader;
    struct hc_line line;
    struct hc_entry e;
    hc_reader_init(&reader, l->folder->journal, MAX_RESULT);
    int rc = lseek(l->folder->journal, 0, SEEK_SET) < 0 ? hc_fail(err, errno, "%s", l->name)
                                                        : hc_reader_get(&reader, &line, err);
    if (rc > 0 && line.torn)
        rc = cut_off(l->folder->journal, l->name, 0, err);
    else if (rc > 0 &&
             (hc_entry_parse(&e, l->name, line.text, line.len, err) < 0 || e.kind != HC_ENTRY_BATCH))
        rc = hc_fail_as(err, HC_EXIT_DATA, 0, "%s: not the journal of a batch", l->name);
    else if (rc > 0)
        rc = load_entry(l, &e, 0, err);
    hc_reader_finish(&reader);
    return rc;
}

char *hc_past_under(const struct hc_past *past, const struct hc_folder *folder, struct hc_error *err)
{
    size_t len = past->last.result_len;
    char *text = calloc(1, len + 1);
    if (text && pread(folder->journal, text, len, (off_t)past->last.result) == (ssize_t)len)
        return text;
    (void)hc_fail(err, text ? EIO : ENOMEM, "%s/" HC_BATCH_JOURNAL, folder->path);
    free(text);
    return NULL;
}

/* ---- the results ---- */

static int load_result(struct loading *l, const struct hc_result *r, struct hc_error *err)
{
    int64_t i = index_of(l, r->line);
    if (i >= 0 && hc_lineset_has(&l->past->done, i))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: line %lld has two results", l->name, (long long)r->line);
    hc_tally_add(l->tally, r);
    return add_done(l, r->line, err);
}

static int drop_result(struct loading *l, const struct hc_result *r, struct hc_error *err)
{
    struct hc_open_line *open = add_open(l->past, r->line);
    if (!open)
        return hc_fail(err, ENOMEM, "%s", l->name);
    *open = (struct hc_open_line){.line = r->line, .attempt = r->attempts, .started = true, .again = true};
    (void)snprintf(open->job_id, sizeof open->job_id, "%s", r->job_id);
    l->past->dropped++;
    return 0;
}

/* `copy` gets all results that are not removed; -1: none are removed. */
static int read_results(struct loading *l, int copy, struct hc_error *err)
{
    struct hc_reader reader;
    struct hc_line line;
    int rc = lseek(l->folder->results, 0, SEEK_SET) < 0 ? hc_fail(err, errno, "%s", l->name) : 0;
    hc_reader_init(&reader, l->folder->results, MAX_RESULT);
    while (rc == 0) {
        struct hc_result r;
        int64_t at = reader.bytes;
        int got = hc_reader_get(&reader, &line, err);
        if (got <= 0 || line.torn) {
            rc = got <= 0 ? got : cut_off(l->folder->results, l->name, at, err);
            break;
        }
        if (hc_result_parse(&r, l->name, line.text, line.len, err) < 0)
            rc = fix_error_line(l->name, reader.line, err);
        else if (l->rerun[r.status])
            rc = drop_result(l, &r, err);
        else if (copy >= 0 &&
                 (hc_write_all(copy, line.text, line.len, err) < 0 || hc_write_all(copy, "\n", 1, err) < 0))
            rc = -1;
        else
            rc = load_result(l, &r, err);
    }
    hc_reader_finish(&reader);
    return rc;
}

/* Remove results in a copy, which replaces the file later, in hc_past_settle. */
static int read_and_drop(struct loading *l, struct hc_error *err)
{
    (void)unlinkat(l->folder->dir, COPY, 0);
    l->past->copy =
        openat(l->folder->dir, COPY, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (l->past->copy < 0)
        return hc_fail(err, errno, "%s", l->name);
    return read_results(l, l->past->copy, err);
}

int hc_past_settle(struct hc_past *past, struct hc_folder *folder, struct hc_error *err)
{
    if (past->copy < 0)
        return 0;
    if (fsync(past->copy) < 0 || renameat(folder->dir, COPY, folder->dir, HC_BATCH_RESULTS) < 0)
        return hc_fail(err, errno, "%s/" HC_BATCH_RESULTS, folder->path);
    hc_close_fd(&folder->results);
    folder->results = hc_take(&past->copy);
    return 0;
}

static void remove_open(struct hc_past *past, int64_t line)
{
    struct hc_open_line *there = find_open(past, line);
    if (there)
        *there = past->open[--past->open_count];
}

/* Load results that wait in the journal, except those that are in results.jsonl already. */
static int load_kept(struct loading *l, struct hc_error *err)
{
    struct hc_past *past = l->past;
    size_t left = 0;
    for (size_t i = 0; i < past->kept_count; i++) {
        struct hc_waiting_result k = past->kept[i];
        struct hc_result r;
        char *text = malloc(k.len);
        if (!text || pread(l->folder->journal, text, k.len, k.at) != (ssize_t)k.len) {
            free(text);
            return hc_fail(err, errno, "%s", l->name);
        }
        int rc = hc_result_parse(&r, l->name, text, k.len, err);
        free(text);
        if (rc < 0)
            return -1;
        if (r.line != k.line)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: the result of line %lld stands for line %lld",
                              l->name, (long long)r.line, (long long)k.line);
        int64_t index = index_of(l, r.line);
        if (index < 0 || hc_lineset_has(&past->done, index))
            continue;
        if (load_result(l, &r, err) < 0)
            return -1;
        remove_open(past, r.line);
        past->kept[left++] = k;
    }
    past->kept_count = left;
    return 0;
}

static int compare_kept(const void *a, const void *b)
{
    const struct hc_waiting_result *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static bool wants_any(const bool rerun[HC_BATCH_STATUSES])
{
    for (int i = 0; i < HC_BATCH_STATUSES; i++)
        if (rerun[i])
            return true;
    return false;
}

static int load_past(struct loading *l, char *results, struct hc_error *err)
{
    char *journal = l->name;
    if (read_first(l, err) < 0)
        return -1;
    if (!l->past->any)
        return 0;
    l->name = results;
    if ((wants_any(l->rerun) ? read_and_drop(l, err) : read_results(l, -1, err)) < 0)
        return -1;
    l->name = journal;
    sort_open(l->past);
    if (read_journal(l, err) < 0 || load_kept(l, err) < 0)
        return -1;
    sort_open(l->past);
    if (l->past->kept_count)
        qsort(l->past->kept, l->past->kept_count, sizeof *l->past->kept, compare_kept);
    l->folder->journal_bytes = lseek(l->folder->journal, 0, SEEK_END);
    return 0;
}

int hc_past_read(struct hc_past *past, struct hc_folder *folder, const bool rerun[HC_BATCH_STATUSES],
                 struct hc_job_ids *job_ids, struct hc_tally *tally, struct hc_error *err)
{
    char *journal = NULL, *results = NULL;
    int rc = -1;
    *past = (struct hc_past){.copy = -1};
    if (asprintf(&journal, "%s/" HC_BATCH_JOURNAL, folder->path) < 0)
        return hc_fail(err, ENOMEM, "%s", folder->path);
    struct loading l = {past, folder, rerun, job_ids, tally, journal, 0};
    l.room = folder->journal_bytes +
             lseek(folder->results, 0, SEEK_END); /* each line takes at least a byte in one of the files */
    if (asprintf(&results, "%s/" HC_BATCH_RESULTS, folder->path) < 0)
        (void)hc_fail(err, ENOMEM, "%s", folder->path);
    else
        rc = load_past(&l, results, err);
    free(journal);
    free(results);
    return rc;
}

/* ---- the jobs ---- */

int hc_past_check_input(const struct hc_past *past, int fd, const char *name, struct hc_error *err)
{
    struct hc_reader reader;
    struct hc_line line;
    char hash[HC_SHA256_HEX] = "";
    int got = 1;
    off_t begin = lseek(fd, 0, SEEK_CUR);
    if (past->read.line == 0)
        return 0;
    if (begin < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: --resume reads the jobs twice: expected a file", name);
    hc_reader_init(&reader, fd, HC_BATCH_MAX_LINE);
    while (got > 0 && reader.line < past->read.line)
        got = hc_reader_get(&reader, &line, err);
    hc_reader_hash(&reader, hash);
    bool same = got > 0 && reader.bytes == past->read.bytes && strcmp(hash, past->read.sha256) == 0;
    hc_reader_finish(&reader);
    if (got < 0)
        return hc_ctx(err, "%s", name);
    if (!same)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: not the jobs that were begun: its first %lld lines are not what they were",
                          name, (long long)past->read.line);
    return lseek(fd, begin, SEEK_SET) < 0 ? hc_fail(err, errno, "%s", name) : 0;
}
