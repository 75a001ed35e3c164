/* hotcell report DIR|MANIFEST|JOURNAL - pages for people who review what programs did.
 *
 * What is read may come from anybody: nothing outside of the directory that is named is opened for it, links
 * are not followed, and a file that a program left there is not taken for a page of ours. */
#include "cli/report.h"

#include "base/fd.h"
#include "cell/collect.h"
#include "cli/cli.h"
#include "inside/kernel.h"
#include "report/page.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_MANIFEST ((size_t)256 << 20)
#define MAX_CODE     ((size_t)16 << 20)
#define MAX_PAGE     ((size_t)512 << 20)

static const char help[] =
    "usage: hotcell report [OPTION]... DIR|MANIFEST|JOURNAL\n"
    "Make a page for people who review what a program did: its code with what was refused at its lines, its\n"
    "output, tables and figures, what it used, what held it, and its files. DIR is the output directory of "
    "a\n"
    "job, or of a batch: then the page says how all of its jobs ended. The page is one file, "
    "DIR/report.html,\n"
    "that loads nothing and runs no script of any program's.\n\n"
    "  -o, --output FILE  where the page goes; - is standard output\n"
    "      --code FILE    the program, if it was not kept with the job\n"
    "      --each         of a batch: a page for each of its jobs, too\n"
    "      --force        replace a file that is no report\n";

/* ---- reading ---- */

int report_open(const struct report *r, const char *path, struct hc_error *err)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    hc_autofd fd = hc_openat2(r->dir, path, &how);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%.256s", path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%.256s: expected a file", path);
    return hc_take(&fd);
}

static int read_below(void *context, const char *path, size_t max, struct hc_buf *out, struct hc_error *err)
{
    hc_autofd fd = report_open(context, path, err);
    if (fd < 0)
        return -1;
    if (hc_read_all(fd, out, max, err) == 0)
        return 0;
    (void)hc_exit_as(err, HC_EXIT_DATA);
    return hc_ctx(err, "%.256s", path);
}

/* Open the directory; `name` becomes that of the file in it that was meant, NULL if it was the directory. */
static int find_subject(struct report *r, const char *subject, const char **name, struct hc_error *err)
{
    static char base[PATH_MAX];
    struct stat st;
    if (strlen(subject) + sizeof "/jobs//" HC_REPORT_NAME + 64 > sizeof r->place)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "%.64s...", subject);
    if (stat(subject, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", subject);
    (void)snprintf(r->place, sizeof r->place, "%s", subject);
    *name = NULL;
    if (!S_ISDIR(st.st_mode)) {
        (void)snprintf(base, sizeof base, "%s", subject);
        *name = basename(base);
        const char *parent = dirname(r->place);
        memmove(r->place, parent, strlen(parent) + 1);
    }
    r->dir = open(r->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return r->dir < 0 ? hc_fail_as(err, HC_EXIT_DATA, errno, "%s", r->place) : 0;
}

/* ---- writing ---- */

bool report_is_page(int fd)
{
    char head[sizeof HC_PAGE_MARK - 1];
    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, HC_PAGE_MARK, sizeof head) == 0;
}

static bool same_directory(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A program can write a file that begins as our pages do: what the manifest lists is its own all the same. */
static int may_replace(const struct report *r, const struct hc_dest *dest, const char *name,
                       const cJSON *manifest, struct hc_error *err)
{
    if (r->force)
        return 0;
    if (manifest && same_directory(dest->fd, r->dir) && hc_report_lists(manifest, name))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s/%s: a file of the program (--force replaces it)",
                          dest->path, name);
    hc_autofd fd = openat(dest->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if ((fd < 0 && errno == ENOENT) || (fd >= 0 && report_is_page(fd)))
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "%s/%s: there already, and no report (--force replaces it)",
                      dest->path, name);
}

/* Where the page goes; `name` is of PATH_MAX bytes. */
static int find_place(const struct report *r, struct hc_dest *dest, char *name, struct hc_error *err)
{
    char copy[PATH_MAX];
    *dest = (struct hc_dest){.fd = -1, .named = true};
    if (!r->output) {
        (void)snprintf(dest->path, sizeof dest->path, "%s", r->place);
        (void)snprintf(name, PATH_MAX, HC_REPORT_NAME);
        dest->fd = fcntl(r->dir, F_DUPFD_CLOEXEC, 0);
        return dest->fd < 0 ? hc_fail(err, errno, "%s", r->place) : 0;
    }
    if (snprintf(copy, sizeof copy, "%s", r->output) >= (int)sizeof copy)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "%.64s...", r->output);
    (void)snprintf(name, PATH_MAX, "%s", basename(copy));
    (void)snprintf(copy, sizeof copy, "%s", r->output);
    (void)snprintf(dest->path, sizeof dest->path, "%s", dirname(copy));
    return hc_dest_open(dest, err);
}

int report_write(const struct report *r, const cJSON *manifest, const struct hc_buf *page,
                 struct hc_error *err)
{
    char name[PATH_MAX];
    struct hc_dest dest;
    if (r->output && strcmp(r->output, "-") == 0)
        return hc_write_all(STDOUT_FILENO, page->data, page->len, err);
    int rc = find_place(r, &dest, name, err);
    if (rc == 0)
        rc = may_replace(r, &dest, name, manifest, err);
    if (rc == 0)
        rc = hc_dest_write(&dest, name, page->data, page->len, err);
    hc_dest_finish(&dest);
    if (rc == 0 && !r->quiet && r->output)
        (void)printf("%s\n", r->output);
    else if (rc == 0 && !r->quiet)
        (void)printf("%s/" HC_REPORT_NAME "\n", r->place);
    return rc;
}

/* ---- one job ---- */

static int read_code(const struct report *r, struct hc_buf *code, struct hc_report_job *job,
                     struct hc_error *err)
{
    if (!r->code_path)
        return 0;
    if (hc_read_file(AT_FDCWD, r->code_path, code, MAX_CODE, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    job->code = code->data ? code->data : "";
    job->code_len = code->len;
    job->code_name = r->code_path;
    return 0;
}

int report_job(struct report *r, const char *name, struct hc_error *err)
{
    hc_autobuf text = {0}, code = {0}, page = {.max = MAX_PAGE};
    struct hc_json j = {0};
    struct hc_report_job job = {.manifest = &j, .files = {.read = read_below, .context = r}};
    if (read_below(r, name, MAX_MANIFEST, &text, err) < 0)
        return hc_ctx(err, "%s", r->place);
    if (hc_json_parse(&j, name, text.data ? text.data : "", text.len, err) < 0)
        return -1;
    int rc = read_code(r, &code, &job, err);
    if (rc == 0)
        rc = hc_report_job(&job, &page, err);
    if (rc == 0)
        rc = report_write(r, j.root, &page, err);
    hc_json_finish(&j);
    return rc;
}

/* ---- the command ---- */

static bool has_suffix(const char *name, const char *suffix)
{
    size_t len = strlen(name), suffix_len = strlen(suffix);
    return len > suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

static int report(struct report *r, const char *subject, struct hc_error *err)
{
    const char *name;
    if (find_subject(r, subject, &name, err) < 0)
        return -1;
    bool batch = name ? has_suffix(name, ".jsonl") : report_is_batch(r);
    if (batch && r->code_path)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--code does not go with a batch");
    if (!batch && r->each)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--each goes with a batch only");
    return batch ? report_batch(r, name, err) : report_job(r, name ? name : "manifest.json", err);
}

int hc_cmd_report(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"code", required_argument, NULL, 'c'},
        {"each", no_argument, NULL, 'e'},         {"force", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    struct report r = {.dir = -1};
    struct hc_error err;
    int opt;
    while ((opt = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
        if (opt == 'h') {
            (void)fputs(help, stdout);
            return HC_EXIT_OK;
        }
        if (opt == 'o')
            r.output = optarg;
        else if (opt == 'c')
            r.code_path = optarg;
        else if (opt == 'e')
            r.each = true;
        else if (opt == 'f')
            r.force = true;
        else
            return hc_usage("report", opt == ':' ? "%s needs a value" : "unknown option %s",
                            argv[optind - 1]);
    }
    if (r.output && !*r.output)
        return hc_usage("report", "--output: expected a value, got an empty string");
    if (argc - optind != 1)
        return hc_usage("report", "expected one DIR, MANIFEST or JOURNAL");
    int rc = report(&r, argv[optind], &err);
    hc_close_fd(&r.dir);
    return rc < 0 ? hc_report(&err) : HC_EXIT_OK;
}
