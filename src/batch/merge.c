/* Merge several batches, usually the shards of one: results in the order of lines, and the files that jobs
 * left.
 *
 * The place of each line's result is kept in an unnamed file, so that memory does not grow with the number
 * of lines. */
#include "batch/batch.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/clock.h"
#include "batch/folder.h"
#include "batch/reader.h"
#include "batch/resume.h"
#include "batch/under.h"
#include "json/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define MAX_RESULT ((size_t)1 << 30) /* most bytes of a line of results */
#define MAX_DEPTH  64                /* most nested directories that a job has left */
#define NAMED      8                 /* most missing lines that an error names */

/* A record of the index, at the line's number. */
struct row {
    int64_t at;         /* offset of the record in its part's results */
    uint32_t len, from; /* bytes of the record; number of the part, from 1, 0: the line has no record */
};
#define BLANK UINT32_MAX /* value of `from` for a line that is blank */

/* One of the batches that are merged. */
struct part {
    const char *path;      /* path of its directory; borrowed */
    int dir, results;      /* descriptors of the directory and of its results.jsonl; owned */
    struct hc_entry batch; /* the last HC_ENTRY_BATCH of its journal */
    char *under;           /* what its jobs were under in the last run (under.h); owned; NULL: unknown */
    bool complete;         /* its summary says that all of its jobs have ended */
    int64_t lines;         /* lines of its jobs file, as its summary says; 0: unknown */
};

struct merge {
    struct part *parts;        /* owned */
    size_t count;              /* number of `parts` */
    bool partial;              /* results may be missing */
    struct hc_folder out;      /* the directory that is made */
    struct hc_job_ids job_ids; /* IDs of all results so far */
    struct hc_tally tally;     /* counts of all results so far */
    int index;                 /* file of struct row, by line; owned */
    int64_t last;              /* number of the last line with a record */
};

/* ---- the index ---- */

static int read_row(const struct merge *m, int64_t line, struct row *row, struct hc_error *err)
{
    ssize_t n = pread(m->index, row, sizeof *row, (off_t)line * (off_t)sizeof *row);
    if (n == 0)
        *row = (struct row){0};
    return n == 0 || n == (ssize_t)sizeof *row ? 0 : hc_fail(err, n < 0 ? errno : EIO, "merge");
}

static int write_row(struct merge *m, int64_t line, const struct row *row, struct hc_error *err)
{
    ssize_t n = pwrite(m->index, row, sizeof *row, (off_t)line * (off_t)sizeof *row);
    m->last = MAX(m->last, line);
    if (n < 0 && errno == EFBIG)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no line %lld", (long long)line);
    return n == (ssize_t)sizeof *row ? 0 : hc_fail(err, n < 0 ? errno : EIO, "merge");
}

/* The first line from `line` on that may have a record. Holes of the file are skipped, so that a shard
 * with far lines costs no time. */
static int64_t next_row(const struct merge *m, int64_t line)
{
    const int64_t size = (int64_t)sizeof(struct row);
    off_t at = lseek(m->index, line * size, SEEK_DATA);
    if (at < 0)
        return errno == ENXIO ? m->last + 1 : line;
    return MIN(MAX(at / size, line), m->last + 1);
}

static int add_row(struct merge *m, int64_t line, const struct row *row, struct hc_error *err)
{
    struct row there;
    if (line > INT64_MAX / (int64_t)sizeof *row / 2)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no line %lld", (long long)line);
    if (read_row(m, line, &there, err) < 0)
        return -1;
    if (there.from == 0)
        return write_row(m, line, row, err);
    if (there.from == BLANK && row->from == BLANK)
        return 0;
    const char *a = there.from == BLANK ? "a blank" : m->parts[there.from - 1].path;
    const char *b = row->from == BLANK ? "a blank" : m->parts[row->from - 1].path;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "line %lld has a result in %s and in %s", (long long)line, a, b);
}

/* ---- one part ---- */

static int open_in(const struct part *p, const char *name, struct hc_error *err)
{
    struct stat st;
    hc_autofd fd = openat(p->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s/%s", p->path, name);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s/%s: not a regular file", p->path, name);
    return hc_take(&fd);
}

static int take_batch(struct part *p, const struct hc_entry *e, const char *text, struct hc_error *err)
{
    p->batch = *e;
    free(p->under);
    p->under = strndup(text + e->result, e->result_len);
    return p->under ? 0 : hc_fail(err, ENOMEM, "%s", p->path);
}

/* `text`: the entry's line. */
static int take_entry(struct merge *m, size_t i, const struct hc_entry *e, const char *text,
                      struct hc_error *err)
{
    const struct row blank = {.from = BLANK};
    if (e->kind == HC_ENTRY_BATCH)
        return take_batch(&m->parts[i], e, text, err);
    return e->kind == HC_ENTRY_BLANK ? add_row(m, e->line, &blank, err) : 0;
}

static int read_journal(struct merge *m, size_t i, struct hc_error *err)
{
    struct hc_reader reader;
    struct hc_line line;
    hc_autofd fd = open_in(&m->parts[i], HC_BATCH_JOURNAL, err);
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    if (fd < 0)
        return -1;
    if (fcntl(fd, F_SETLK, &whole) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: a hotcell batch is at work in it", m->parts[i].path);
    int rc = 1;
    hc_reader_init(&reader, fd, MAX_RESULT);
    while (rc > 0 && (rc = hc_reader_get(&reader, &line, err)) > 0 && !line.torn) {
        struct hc_entry e;
        if (hc_entry_parse(&e, HC_BATCH_JOURNAL, line.text, line.len, err) < 0 ||
            take_entry(m, i, &e, line.text, err) < 0)
            rc = hc_ctx(err, "%s, line %lld", m->parts[i].path, (long long)reader.line);
    }
    hc_reader_finish(&reader);
    if (rc >= 0 && m->parts[i].batch.shards == 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: not the directory of a batch", m->parts[i].path);
    return rc < 0 ? -1 : 0;
}

/* Results' directories are named by job_id, so two lines must not have the same. 1: leave this line out. */
static int check_id(struct merge *m, const struct hc_result *r, struct hc_error *err)
{
    int64_t first;
    if (!*r->job_id || r->status == HC_BATCH_INVALID)
        return 0;
    if (hc_job_ids_put(&m->job_ids, r->job_id, r->line, &first, err) < 0)
        return -1;
    if (first == r->line)
        return 0;
    if (!m->partial)
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "the job_id '%.64s' is that of lines %lld and %lld (--partial leaves line %lld out)", r->job_id,
            (long long)MIN(first, r->line), (long long)MAX(first, r->line), (long long)r->line);
    hc_warn("line %lld is left out: its job_id '%.64s' is that of line %lld", (long long)r->line, r->job_id,
            (long long)first);
    return 1;
}

static int take_result(struct merge *m, size_t i, const struct hc_line *line, int64_t at,
                       struct hc_error *err)
{
    struct hc_result r;
    const struct row row = {.at = at, .len = (uint32_t)line->len, .from = (uint32_t)i + 1};
    if (hc_result_parse(&r, HC_BATCH_RESULTS, line->text, line->len, err) < 0)
        return -1;
    int out = check_id(m, &r, err);
    if (out != 0)
        return out < 0 ? -1 : 0;
    if (add_row(m, r.line, &row, err) < 0)
        return -1;
    hc_tally_add(&m->tally, &r);
    return 0;
}

static int read_results(struct merge *m, size_t i, struct hc_error *err)
{
    struct hc_reader reader;
    struct hc_line line;
    int rc = 1;
    hc_reader_init(&reader, m->parts[i].results, MAX_RESULT);
    while (rc > 0) {
        int64_t at = reader.bytes;
        rc = hc_reader_get(&reader, &line, err);
        if (rc <= 0 || line.torn)
            break;
        if (take_result(m, i, &line, at, err) < 0)
            rc = hc_ctx(err, "%s", m->parts[i].path);
    }
    hc_reader_finish(&reader);
    return rc < 0 ? -1 : 0;
}

/* A part without a summary is not complete. */
static int read_summary(struct part *p, struct hc_error *err)
{
    hc_autobuf text = {0};
    struct hc_json j;
    struct hc_error ignored;
    if (hc_read_file(p->dir, HC_BATCH_SUMMARY, &text, 1 << 20, &ignored) < 0)
        return 0;
    if (hc_json_parse(&j, HC_BATCH_SUMMARY, text.data ? text.data : "", text.len, err) < 0)
        return hc_ctx(err, "%s", p->path);
    const cJSON *lines = hc_json_member(j.root, "lines");
    p->complete = hc_json_is_true(j.root, "complete");
    p->lines = cJSON_IsNumber(lines) && lines->valuedouble < 9e15 ? (int64_t)lines->valuedouble : 0;
    hc_json_finish(&j);
    return 0;
}

static int read_part(struct merge *m, size_t i, const char *path, struct hc_error *err)
{
    struct part *p = &m->parts[i];
    p->path = path;
    p->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->dir < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path);
    if (read_journal(m, i, err) < 0 || read_summary(p, err) < 0)
        return -1;
    p->results = open_in(p, HC_BATCH_RESULTS, err);
    return p->results < 0 ? -1 : read_results(m, i, err);
}

/* ---- completeness ---- */

static const struct part *find_shard(const struct merge *m, int64_t shard)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->parts[i].batch.shard == shard)
            return &m->parts[i];
    return NULL;
}

static int check_parts(const struct merge *m, struct hc_error *err)
{
    const int64_t shards = m->parts[0].batch.shards;
    for (size_t i = 0; i < m->count; i++)
        if (m->parts[i].batch.shards != shards)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "%s is one of %lld shards, %s one of %lld",
                              m->parts[0].path, (long long)shards, m->parts[i].path,
                              (long long)m->parts[i].batch.shards);
    for (size_t i = 0; i < m->count && !m->partial; i++)
        if (!m->parts[i].complete)
            return hc_fail_as(err, HC_EXIT_DATA, 0,
                              "%s is not complete: --resume goes on with it, --partial takes what there is",
                              m->parts[i].path);
    for (int64_t k = 1; k <= shards && !m->partial; k++)
        if (!find_shard(m, k))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "shard %lld of %lld is missing", (long long)k,
                              (long long)shards);
    return 0;
}

static int check_lines(struct merge *m, struct hc_error *err)
{
    char named[NAMED * 24] = "";
    int64_t missing = 0, next;
    for (size_t i = 0; i < m->count; i++)
        m->last = MAX(m->last, m->parts[i].lines);
    for (int64_t line = 1; line <= m->last && !m->partial; line = next) {
        struct row row;
        if (read_row(m, line, &row, err) < 0)
            return -1;
        next = row.from ? line + 1 : next_row(m, line + 1);
        for (int64_t i = line; !row.from && i < next && missing + (i - line) < NAMED; i++)
            (void)snprintf(named + strlen(named), sizeof named - strlen(named), "%s%lld", *named ? ", " : "",
                           (long long)i);
        missing += row.from ? 0 : next - line;
    }
    if (missing)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%lld lines have no result: %s%s (--partial leaves them out)",
                          (long long)missing, named, missing > NAMED ? ", ..." : "");
    return 0;
}

/* ---- writing the merged batch ---- */

static int copy_file(int from, const char *name, int to, struct hc_error *err)
{
    struct stat st;
    hc_autofd in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0 || fstat(in, &st) < 0)
        return hc_fail(err, errno, "open %s", name);
    hc_autofd out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, st.st_mode & 0700);
    if (out < 0)
        return hc_fail(err, errno, "make %s", name);
    ssize_t n;
    while ((n = sendfile(out, in, NULL, 1 << 30)) > 0)
        ;
    return n < 0 ? hc_fail(err, errno, "copy %s", name) : 0;
}

static int copy_dir(int from, int to, const char *name, int depth, struct hc_error *err);

/* Hard-link files where possible, else copy them. */
static int copy_entry(int from, int to, const char *name, int depth, struct hc_error *err)
{
    struct stat st;
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return hc_fail(err, errno, "%s", name);
    if (S_ISDIR(st.st_mode))
        return copy_dir(from, to, name, depth + 1, err);
    if (!S_ISREG(st.st_mode))
        return 0; /* collecting makes no such files */
    return linkat(from, name, to, name, 0) < 0 ? copy_file(from, name, to, err) : 0;
}

static int copy_all(DIR *from, int to, int depth, struct hc_error *err)
{
    for (struct dirent *d; (d = readdir(from));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
            copy_entry(dirfd(from), to, d->d_name, depth, err) < 0)
            return -1;
    return 0;
}

static int copy_dir(int from, int to, const char *name, int depth, struct hc_error *err)
{
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0 || depth > MAX_DEPTH || (mkdirat(to, name, 0700) < 0 && errno != EEXIST)) {
        int error = in < 0 || depth <= MAX_DEPTH ? errno : ELOOP;
        hc_close_fd(&in);
        return hc_fail(err, error, "copy %s", name);
    }
    hc_autofd out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = out < 0 ? NULL : fdopendir(in);
    if (!list) {
        hc_close_fd(&in);
        return hc_fail(err, errno, "copy %s", name);
    }
    int rc = copy_all(list, out, depth, err);
    (void)closedir(list);
    return rc < 0 ? hc_ctx(err, "%s", name) : 0;
}

static int copy_results(struct merge *m, const struct part *p, const struct hc_result *r,
                        struct hc_error *err)
{
    const size_t front = strlen(HC_BATCH_JOBS "/");
    if (strncmp(r->output_dir, HC_BATCH_JOBS "/", front) != 0 ||
        strcmp(r->output_dir + front, r->job_id) != 0)
        return 0; /* the job has no directory, or one that its specification names */
    hc_autofd from = openat(p->dir, HC_BATCH_JOBS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0 || (mkdirat(m->out.dir, HC_BATCH_JOBS, 0700) < 0 && errno != EEXIST))
        return hc_fail(err, errno, "%s/" HC_BATCH_JOBS, p->path);
    hc_autofd to = openat(m->out.dir, HC_BATCH_JOBS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (to < 0)
        return hc_fail(err, errno, "%s/" HC_BATCH_JOBS, m->out.path);
    return copy_dir(from, to, r->job_id, 0, err) < 0 ? hc_ctx(err, "%s", p->path) : 0;
}

static int write_line(struct merge *m, const struct row *row, struct hc_error *err)
{
    const struct part *p = &m->parts[row->from - 1];
    struct hc_result r;
    char *text = malloc((size_t)row->len + 1);
    if (!text)
        return hc_fail(err, ENOMEM, "merge");
    int rc = pread(p->results, text, row->len, row->at) == (ssize_t)row->len
                 ? 0
                 : hc_fail(err, EIO, "%s", p->path);
    text[row->len] = '\n';
    if (rc == 0 &&
        (hc_result_parse(&r, HC_BATCH_RESULTS, text, row->len, err) < 0 || copy_results(m, p, &r, err) < 0 ||
         hc_folder_result(&m->out, text, (size_t)row->len + 1, err) < 0))
        rc = -1;
    free(text);
    return rc;
}

/* Says which shards ran under something else than the first. */
static void tell_unlike(const struct merge *m)
{
    for (size_t i = 1; i < m->count; i++) {
        hc_autobuf how = {0};
        if (hc_under_differs(m->parts[0].under, m->parts[i].under, &how))
            hc_warn("%s ran under another policy, tree or limit than %s: %s", m->parts[i].path,
                    m->parts[0].path, how.data);
    }
}

static int write_blank(struct merge *m, int64_t line, struct hc_error *err)
{
    const struct hc_entry e = {.kind = HC_ENTRY_BLANK, .line = line};
    return hc_folder_note(&m->out, &e, NULL, 0, NULL, err);
}

static int write_all(struct merge *m, struct hc_error *err)
{
    struct hc_entry e = {.kind = HC_ENTRY_BATCH, .shard = 1, .shards = 1, .ordered = true, .merged = true};
    hc_clock_text(hc_clock_ahead(), e.started);
    if (hc_folder_note(&m->out, &e, NULL, 0, NULL, err) < 0)
        return -1;
    for (int64_t line = 1, next; line <= m->last; line = next) {
        struct row row;
        if (read_row(m, line, &row, err) < 0)
            return -1;
        next = row.from ? line + 1 : next_row(m, line + 1);
        if (row.from == BLANK && write_blank(m, line, err) < 0)
            return -1;
        if (row.from && row.from != BLANK && write_line(m, &row, err) < 0)
            return -1;
    }
    return 0;
}

static int sum_up(struct merge *m, struct hc_error *err)
{
    struct hc_tally_end end = {.lines = m->last, .shard = 1, .shards = 1};
    hc_autobuf text = {0};
    for (size_t i = 0; i < m->count; i++)
        if (!m->parts[i].complete || m->partial)
            end.why = "merged with --partial";
    hc_tally_print_json(&m->tally, &end, &text);
    if (text.failed)
        return hc_fail(err, ENOMEM, "summary");
    if (hc_folder_settle(&m->out, &text, err) < 0)
        return -1;
    hc_tally_print(&m->tally, &end, stderr);
    return m->tally.worst;
}

static int prepare_out(struct merge *m, struct hc_error *err)
{
    if (hc_folder_start_syncer(&m->out, err) < 0)
        return -1;
    if (m->out.journal_bytes > 0 || lseek(m->out.results, 0, SEEK_END) > 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s has a batch already: give another -o DIR", m->out.path);
    if (hc_job_ids_open(&m->job_ids, m->out.dir, err) < 0)
        return -1;
    m->index = hc_job_ids_file(m->out.dir, err);
    return m->index < 0 ? -1 : 0;
}

/* Merges into the directory that is open. */
static int merge(struct merge *m, char *const *paths, struct hc_error *err)
{
    if (prepare_out(m, err) < 0)
        return -1;
    for (size_t i = 0; i < m->count; i++)
        if (read_part(m, i, paths[i], err) < 0)
            return -1;
    tell_unlike(m);
    if (check_parts(m, err) < 0 || check_lines(m, err) < 0 || write_all(m, err) < 0)
        return -1;
    return sum_up(m, err);
}

int hc_batch_merge(const char *output_dir, char *const *shards, size_t count, bool partial,
                   struct hc_error *err)
{
    struct merge m = {.count = count, .partial = partial, .job_ids.fd = -1, .index = -1};
    m.out = (struct hc_folder){.dir = -1, .journal = -1, .results = -1, .sync_fd = -1};
    m.parts = calloc(count, sizeof *m.parts);
    if (!m.parts)
        return hc_fail(err, ENOMEM, "merge");
    for (size_t i = 0; i < count; i++)
        m.parts[i].dir = m.parts[i].results = -1;
    int status = hc_folder_open(&m.out, output_dir, err);
    if (status == 0 && (status = merge(&m, shards, err)) < 0)
        hc_folder_discard(&m.out);
    for (size_t i = 0; i < count; i++) {
        free(m.parts[i].under);
        hc_close_fd(&m.parts[i].dir);
        hc_close_fd(&m.parts[i].results);
    }
    free(m.parts);
    hc_job_ids_finish(&m.job_ids);
    hc_close_fd(&m.index);
    hc_folder_close(&m.out);
    return status;
}
