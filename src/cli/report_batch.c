/* Pages of batches: the results and the journal are read line by line, whatever their length. */
#include "cli/report.h"

#include "base/fd.h"
#include "base/log.h"
#include "inside/kernel.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

#define MAX_LINE ((size_t)256 << 20)
#define MAX_PAGE ((size_t)512 << 20)
#define CHUNK    ((size_t)1 << 20)

static const char results[] = "results.jsonl", journal[] = "journal.jsonl";

static bool there(const struct report *r, const char *name)
{
    return faccessat(r->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool report_is_batch(const struct report *r)
{
    return !there(r, "manifest.json") && (there(r, results) || there(r, journal));
}

/* ---- lines ---- */

struct source {
    const char *name;
    int fd;
    int64_t number;
    struct hc_buf text; /* what is not yet taken */
};

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r", text[i]) || !text[i])
            return false;
    return true;
}

/* All whole lines that are there. */
static int take_lines(struct source *s, struct hc_report_batch *b, struct hc_error *err)
{
    size_t at = 0;
    for (char *end; s->text.len > at && (end = memchr(s->text.data + at, '\n', s->text.len - at));) {
        const char *line = s->text.data + at;
        size_t len = (size_t)(end - line);
        s->number++;
        *end = '\0';
        if (!is_blank(line, len) && hc_report_batch_line(b, s->name, s->number, line, len, err) < 0)
            return -1;
        at += len + 1;
    }
    if (at) {
        memmove(s->text.data, s->text.data + at, s->text.len - at + 1);
        s->text.len -= at;
    }
    return s->text.len <= MAX_LINE ? 0
                                   : hc_fail_as(err, HC_EXIT_DATA, 0, "%s:%ld: a line of more than 256 MiB",
                                                s->name, (long)s->number + 1);
}

static int read_source(struct source *s, struct hc_report_batch *b, struct hc_error *err)
{
    static char chunk[CHUNK];
    for (ssize_t n; (n = read(s->fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0)
            return hc_fail(err, errno, "read %s", s->name);
        if (hc_buf_add(&s->text, chunk, (size_t)n) < 0)
            return hc_fail(err, ENOMEM, "read %s", s->name);
        if (memchr(chunk, '\n', (size_t)n) || s->text.len > MAX_LINE) {
            if (take_lines(s, b, err) < 0)
                return -1;
        }
    }
    if (s->text.len)
        hc_report_batch_torn(b);
    return 0;
}

static int read_lines(const struct report *r, const char *name, struct hc_report_batch *b,
                      struct hc_error *err)
{
    struct source s = {.name = name, .fd = report_open(r, name, err)};
    if (s.fd < 0)
        return hc_ctx(err, "%s", r->place);
    int rc = read_source(&s, b, err);
    hc_close_fd(&s.fd);
    hc_buf_finish(&s.text);
    return rc;
}

/* A file by another name is read alone. */
static int read_batch(const struct report *r, const char *name, struct hc_report_batch *b,
                      struct hc_error *err)
{
    if (name && strcmp(name, results) != 0 && strcmp(name, journal) != 0)
        return read_lines(r, name, b, err);
    if (there(r, results) && read_lines(r, results, b, err) < 0)
        return -1;
    return there(r, journal) ? read_lines(r, journal, b, err) : 0;
}

/* ---- pages of its jobs ---- */

static bool make_page(const struct report *r, const char *folder)
{
    struct report of = {.quiet = true, .force = r->force, .dir = -1};
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    struct hc_error err;
    (void)snprintf(of.place, sizeof of.place, "%.*s/%s", (int)(sizeof of.place - 104), r->place, folder);
    of.dir = hc_openat2(r->dir, folder, &how);
    int rc = of.dir < 0 ? hc_fail(&err, errno, "%s", of.place) : report_job(&of, "manifest.json", &err);
    hc_close_fd(&of.dir);
    if (rc < 0)
        hc_warn("%s", err.text);
    return rc == 0;
}

static bool has_page(void *context, const char *job_id, bool owns)
{
    const struct report *r = context;
    struct hc_error ignored;
    char path[100];
    (void)snprintf(path, sizeof path, "jobs/%.64s", job_id);
    if (r->each)
        return make_page(r, path) && !r->output;
    if (owns || r->output) /* from elsewhere the link would lead nowhere */
        return false;
    (void)snprintf(path, sizeof path, "jobs/%.64s/" HC_REPORT_NAME, job_id);
    hc_autofd fd = report_open(r, path, &ignored);
    return fd >= 0 && report_is_page(fd);
}

int report_batch(struct report *r, const char *name, struct hc_error *err)
{
    char title[PATH_MAX];
    hc_autobuf page = {.max = MAX_PAGE};
    struct hc_report_batch *b = hc_report_batch_new();
    (void)snprintf(title, sizeof title, "%s", r->place);
    const char *called = basename(title);
    int rc = b ? read_batch(r, name, b, err) : hc_fail(err, ENOMEM, "read the batch");
    if (rc == 0)
        rc = hc_report_batch_page(b, strcmp(called, ".") == 0 ? "batch" : called, has_page, r, &page, err);
    if (rc == 0)
        rc = report_write(r, NULL, &page, err);
    hc_report_batch_free(b);
    return rc;
}
