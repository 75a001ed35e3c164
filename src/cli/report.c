/* hotcell report DIR|MANIFEST - a page for people who review what a program did.
 *
 * What is read may come from anybody: nothing outside of the manifest's own directory is opened for it, links
 * are not followed, and a file that a program left there is not taken for a page of ours. */
#include "cli/cli.h"

#include "base/fd.h"
#include "cell/collect.h"
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
    "usage: hotcell report [OPTION]... DIR|MANIFEST\n"
    "Make a page for people who review what a program did: its code with what was refused at its lines, its\n"
    "output, tables and figures, what it used, what held it, and its files. DIR is the output directory of "
    "a\n"
    "job. The page is one file, DIR/report.html, that loads nothing and runs no script of the program's.\n\n"
    "  -o, --output FILE  where the page goes; - is standard output\n"
    "      --code FILE    the program, if it was not kept with the job\n"
    "      --force        replace a file that is no report\n";

struct report {
    const char *subject, *output, *code_path;
    bool force;
    int dir;              /* of the manifest */
    char place[PATH_MAX]; /* the same, by name */
};

/* ---- reading ---- */

static int read_below(void *context, const char *path, size_t max, struct hc_buf *out, struct hc_error *err)
{
    const struct report *r = context;
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    hc_autofd fd = hc_openat2(r->dir, path, &how);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%.256s", path);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%.256s: expected a file", path);
    if (hc_read_all(fd, out, max, err) < 0) {
        (void)hc_exit_as(err, HC_EXIT_DATA);
        return hc_ctx(err, "%.256s", path);
    }
    return 0;
}

/* Open the directory, and name the file in it that is to be read. */
static int find_subject(struct report *r, const char **name, struct hc_error *err)
{
    static char base[PATH_MAX];
    struct stat st;
    if (strlen(r->subject) + sizeof "/report.html" > sizeof r->place)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "%.64s...", r->subject);
    if (stat(r->subject, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", r->subject);
    (void)snprintf(r->place, sizeof r->place, "%s", r->subject);
    *name = "manifest.json";
    if (!S_ISDIR(st.st_mode)) {
        (void)snprintf(base, sizeof base, "%s", r->subject);
        *name = basename(base);
        memmove(r->place, dirname(r->place), strlen(dirname(r->place)) + 1);
    }
    r->dir = open(r->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return r->dir < 0 ? hc_fail_as(err, HC_EXIT_DATA, errno, "%s", r->place) : 0;
}

/* ---- writing ---- */

static bool is_page(int fd)
{
    char head[sizeof HC_PAGE_MARK - 1];
    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, HC_PAGE_MARK, sizeof head) == 0;
}

static bool same_directory(const char *path, int dir)
{
    struct stat a, b;
    return stat(path, &a) == 0 && fstat(dir, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A program can write a file that begins as our pages do: what the manifest lists is its own all the same. */
static int may_replace(const struct report *r, const char *place, const char *name, const cJSON *manifest,
                       struct hc_error *err)
{
    char path[PATH_MAX];
    if (r->force || snprintf(path, sizeof path, "%s/%s", place, name) >= (int)sizeof path)
        return 0;
    if (same_directory(place, r->dir) && hc_report_lists(manifest, name))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: a file of the program (--force replaces it)", path);
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if ((fd < 0 && errno == ENOENT) || (fd >= 0 && is_page(fd)))
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: there already, and no report (--force replaces it)", path);
}

static int write_page(const struct report *r, const char *path, const cJSON *manifest,
                      const struct hc_buf *page, struct hc_error *err)
{
    char copy[PATH_MAX], name[PATH_MAX];
    struct hc_dest dest = {.fd = -1, .named = true};
    if (strcmp(path, "-") == 0)
        return hc_write_all(STDOUT_FILENO, page->data, page->len, err);
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "%.64s...", path);
    (void)snprintf(name, sizeof name, "%s", basename(copy));
    (void)snprintf(copy, sizeof copy, "%s", path);
    (void)snprintf(dest.path, sizeof dest.path, "%s", dirname(copy));
    if (may_replace(r, dest.path, name, manifest, err) < 0)
        return -1;
    int rc = hc_dest_write(&dest, name, page->data, page->len, err);
    hc_dest_finish(&dest);
    if (rc == 0)
        (void)printf("%s\n", path);
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

static int report_job(struct report *r, const char *name, struct hc_error *err)
{
    hc_autobuf text = {0}, code = {0}, page = {.max = MAX_PAGE};
    struct hc_json j = {0};
    char path[PATH_MAX];
    struct hc_report_job job = {.manifest = &j, .files = {.read = read_below, .context = r}};
    if (read_below(r, name, MAX_MANIFEST, &text, err) < 0)
        return hc_ctx(err, "%s", r->place);
    if (hc_json_parse(&j, name, text.data ? text.data : "", text.len, err) < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%.*s/report.html", (int)(sizeof path - sizeof "/report.html"),
                   r->place);
    int rc = read_code(r, &code, &job, err);
    if (rc == 0)
        rc = hc_report_job(&job, &page, err);
    if (rc == 0)
        rc = write_page(r, r->output ? r->output : path, j.root, &page, err);
    hc_json_finish(&j);
    return rc;
}

int hc_cmd_report(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"code", required_argument, NULL, 'c'},
                                            {"force", no_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct report r = {.dir = -1};
    struct hc_error err;
    const char *name;
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
        else if (opt == 'f')
            r.force = true;
        else
            return hc_usage("report", opt == ':' ? "%s needs a value" : "unknown option %s",
                            argv[optind - 1]);
    }
    if (argc - optind != 1)
        return hc_usage("report", "expected one DIR or MANIFEST");
    r.subject = argv[optind];
    int rc = find_subject(&r, &name, &err);
    if (rc == 0)
        rc = report_job(&r, name, &err);
    hc_close_fd(&r.dir);
    return rc < 0 ? hc_report(&err) : HC_EXIT_OK;
}
