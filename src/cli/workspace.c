/* hotcell workspace diff|commit|discard RESULT-DIRECTORY - what a job changed in copies of directories: show
 * it, apply it to the directories themselves, or drop it. As the caller, with no rights of another. */
#include "cli/cli.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/plain.h"
#include "cell/seal.h"
#include "cell/workspace.h"
#include "cli/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#define MOST_JSON      ((size_t)256 << 20) /* most bytes of a manifest or a list of changes */
#define MOST_CONFLICTS 100                 /* most conflicts that are printed */

static const char help[] =
    "usage: hotcell workspace diff [--patch] RESULT-DIRECTORY\n"
    "       hotcell workspace commit [--dry-run] [--partial] RESULT-DIRECTORY\n"
    "       hotcell workspace discard RESULT-DIRECTORY\n"
    "Show what a job changed in its copies of directories (--dir HOST:PLACE:cow), apply that to the\n"
    "directories themselves, or remove it from the results. A commit applies nothing if a file is not\n"
    "any more as it was copied. Exit status: 0, or 1 after conflicts.\n\n"
    "      --patch     also show how contents differ, as diff -u\n"
    "      --dry-run   only look for conflicts\n"
    "      --partial   commit, though some of the changes could not be kept\n";

/* A directory of the job of which it had a copy. */
struct copied {
    const char *host;  /* path on this host; borrowed from the manifest */
    const char *place; /* path in the cell, escaped; borrowed from the manifest */
    const char
        *directory; /* of new contents, below the results; borrowed likewise; NULL: there was no change */
    const char *list_sha256, *seal; /* borrowed likewise; set with `changes` */
    struct hc_changes *changes;     /* owned; NULL: nothing was changed */
    int host_fd, kept_fd;           /* the directory; new contents among the results; owned. -1: not open */
    struct hc_applying applying;
};

struct workspace {
    const char *path;                /* of the results, as given; borrowed */
    int fd;                          /* of that directory; owned */
    struct hc_json manifest;         /* owned */
    struct copied dirs[HC_MAX_DIRS]; /* owned */
    size_t count;                    /* used entries of `dirs` */
    bool discards;                   /* no changes are to be read */
    bool patch;                      /* option of diff */
    bool dry, partial;               /* options of commit */
    int64_t conflicts;               /* printed or not */
};

static void finish(struct workspace *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct copied *d = &w->dirs[i];
        hc_changes_free(d->changes);
        hc_close_fd(&d->host_fd);
        hc_close_fd(&d->kept_fd);
        hc_applying_finish(&d->applying);
    }
    hc_json_finish(&w->manifest);
    hc_close_fd(&w->fd);
}

/* ---- reading ---- */

static int open_below(int dir, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    return hc_openat2(dir, path, &how);
}

/* Open a regular file. */
static int open_plain(int dir, const char *path)
{
    struct stat st;
    hc_autofd fd = open_below(dir, path, O_RDONLY);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? hc_take(&fd) : -1;
}

/* The path is the real one that the launcher had: no link was in it then, and none may be now. */
static int open_real(const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    return hc_openat2(AT_FDCWD, path, &how);
}

/* Whoever may write to the results, or to the directory in which they are, says which files a commit changes.
 */
static int refuse_others(const struct workspace *w, const char *path, int fd, mode_t kind,
                         struct hc_error *err)
{
    struct stat st;
    const char *slash = *path ? "/" : "";
    if (fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s%s%s", w->path, slash, path);
    if ((st.st_mode & S_IFMT) != kind)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s%s%s is no regular file", w->path, slash, path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s%s%s belongs to another user (uid %u), whose results are not applied with your "
                          "rights: run the command as that user",
                          w->path, slash, path, st.st_uid);
    if (st.st_mode & 022)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s%s%s: other users may write to it (mode %04o), so it may not be what hotcell "
                          "wrote: if they did not, chmod go-w it",
                          w->path, slash, path, st.st_mode & 07777);
    return 0;
}

static int read_json(const struct workspace *w, const char *path, struct hc_buf *text, struct hc_json *j,
                     struct hc_error *err)
{
    hc_autofd fd = open_below(w->fd, path, O_RDONLY);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s/%s", w->path, path);
    if (refuse_others(w, path, fd, S_IFREG, err) < 0)
        return -1;
    if (hc_read_all(fd, text, MOST_JSON, err) < 0 ||
        hc_json_parse(j, path, text->data ? text->data : "", text->len, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    return 0;
}

/* Read the list of all changes, which the manifest has the hash of. */
static int read_changes(const struct workspace *w, struct copied *d, const char *hash, struct hc_error *err)
{
    char path[PATH_MAX], now[HC_SHA256_HEX];
    hc_autobuf text = {0};
    struct hc_json list = {0};
    (void)snprintf(path, sizeof path, "%s.json", d->directory);
    int rc = read_json(w, path, &text, &list, err);
    if (rc < 0 && err->sys == ENOENT)
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s/%s: the changes are not among the results any more",
                         w->path, path);
    if (rc == 0) {
        hc_sha256_hex(text.data, text.len, now);
        rc = hc_digest_equal(now, hash) ? hc_changes_read(list.root, &d->changes, err)
                                        : hc_fail_as(err, HC_EXIT_DATA, 0, "it has changed");
        if (rc < 0)
            (void)hc_ctx(err, "%s/%s", w->path, path);
    }
    hc_json_finish(&list);
    if (rc == 0)
        d->kept_fd =
            open_below(w->fd, d->directory, O_RDONLY | O_DIRECTORY); /* -1: there are no new contents */
    return rc;
}

static int read_dir(struct workspace *w, const cJSON *entry, struct hc_error *err)
{
    const cJSON *host = hc_json_member(entry, "host"), *changes = hc_json_member(entry, "changes");
    if (!cJSON_IsString(host) || w->count == HC_MAX_DIRS)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s/manifest.json is no manifest of hotcell", w->path);
    if (!changes)
        return 0;
    struct copied *d = &w->dirs[w->count++];
    *d = (struct copied){.host = host->valuestring,
                         .place = hc_json_text_or(entry, "place", "?"),
                         .host_fd = -1,
                         .kept_fd = -1};
    if (hc_json_is_true(entry, "escaped"))
        hc_name_unescape(host->valuestring);
    const char *directory = hc_json_text(changes, "directory"), *hash = hc_json_text(changes, "list_sha256");
    if (!*directory) /* nothing was changed */
        return 0;
    d->directory = directory;
    d->list_sha256 = hash;
    d->seal = hc_json_text(changes, "seal");
    return w->discards ? 0 : read_changes(w, d, hash, err);
}

static int read_workspace(struct workspace *w, struct hc_error *err)
{
    hc_autobuf text = {0};
    const cJSON *entry;
    w->fd = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", w->path);
    if (refuse_others(w, "", w->fd, S_IFDIR, err) < 0 ||
        read_json(w, "manifest.json", &text, &w->manifest, err) < 0)
        return -1;
    cJSON_ArrayForEach(entry, hc_json_member(w->manifest.root, "dirs"))
    {
        if (read_dir(w, entry, err) < 0)
            return -1;
    }
    return w->count ? 0
                    : hc_fail_as(err, HC_EXIT_DATA, 0,
                                 "%s: the job had no copy of a directory (hotcell run --dir HOST:PLACE:cow)",
                                 w->path);
}

/* Did this user's launcher find these changes, in a copy of this very directory? */
static int check_seal(const struct workspace *w, const struct copied *d, struct hc_error *err)
{
    struct stat st;
    if (fstat(d->host_fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", d->host);
    const struct hc_sealed sealed = {.what = "changes", .path = d->host, .st = &st, .sha256 = d->list_sha256};
    if (hc_seal_holds(&sealed, d->seal))
        return 0;
    return hc_fail_as(
        err, HC_EXIT_DATA, 0,
        "%s/manifest.json has no seal of yours for the changes in %s: %s; commit as the user who ran the job "
        "(with the same HOTCELL_STATE)",
        w->path, d->host,
        *d->seal ? "another user ran the job, the manifest is forged, or the directory is another one now"
                 : "hotcell did not write it, or could not seal it");
}

/* ---- diff ---- */

/* A path on one line, with escapes for what could be mistaken or would change how the terminal shows it. */
static void print_path(const char *path)
{
    char text[4 * PATH_MAX + 1];
    bool escaped;
    cJSON *name = hc_name_print(path, &escaped);
    (void)snprintf(text, sizeof text, "%s", name ? name->valuestring : "?");
    cJSON_Delete(name);
    hc_plain_print(text);
}

static void print_change(const struct hc_change *c)
{
    static const char letters[HC_CHANGE_KINDS] = {
        [HC_ADDED] = 'A', [HC_CHANGED] = 'M', [HC_REMOVED] = 'D', [HC_MODE] = 'T'};
    const struct hc_entry_state *shown = c->change == HC_REMOVED ? &c->was : &c->now;
    (void)printf("%c ", letters[c->change]);
    print_path(c->path);
    if (shown->kind == HC_KIND_DIRECTORY)
        (void)putchar('/');
    if (c->change == HC_CHANGED)
        (void)printf(" (%lld -> %lld bytes)", (long long)c->was.bytes, (long long)c->now.bytes);
    if (c->change == HC_MODE || (c->change == HC_CHANGED && c->was.mode != c->now.mode))
        (void)printf(" (mode %04o -> %04o)", c->was.mode, c->now.mode);
    (void)putchar('\n');
}

/* Print how the file in the directory, as it is now, differs from what the program left. */
static void print_patch(const struct copied *d, const struct hc_change *c)
{
    bool is_file = (c->change == HC_REMOVED ? c->was.kind : c->now.kind) == HC_KIND_FILE;
    if (!is_file || c->change == HC_MODE)
        return;
    hc_autofd old_fd = d->host_fd < 0 || c->change == HC_ADDED ? -1 : open_plain(d->host_fd, c->path);
    hc_autofd new_fd = d->kept_fd < 0 || c->change == HC_REMOVED ? -1 : open_plain(d->kept_fd, c->path);
    if (old_fd >= 0 || new_fd >= 0)
        hc_workspace_print_patch(old_fd, new_fd, c->path);
}

static int64_t skipped(const struct hc_changes *c)
{
    return c ? (int64_t)c->skipped.count + c->skipped.more : 0;
}

/* Open the directory for print_patch, unless it cannot be opened or is not the one of the job. */
static void open_shown(const struct workspace *w, struct copied *d)
{
    struct hc_error err;
    d->host_fd = open_real(d->host);
    if (d->host_fd < 0 || check_seal(w, d, &err) == 0)
        return;
    hc_warn("%s", err.text);
    hc_close_fd(&d->host_fd);
}

static int diff(struct workspace *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct copied *d = &w->dirs[i];
        if (w->patch && d->changes)
            open_shown(w, d);
        print_path(d->host);
        (void)fputs(" (in the cell ", stdout);
        hc_plain_print(d->place);
        (void)puts(d->changes ? "):" : "): unchanged");
        for (size_t k = 0; d->changes && k < d->changes->count; k++) {
            print_change(&d->changes->list[k]);
            if (w->patch)
                print_patch(d, &d->changes->list[k]);
        }
        for (size_t k = 0; d->changes && k < d->changes->skipped.count; k++) {
            (void)fputs("? ", stdout);
            print_path(d->changes->skipped.list[k].path);
            (void)puts(" (not kept)");
        }
        if (skipped(d->changes) > HC_MOST_LEFT)
            (void)printf("? and %lld others (not kept)\n", (long long)(skipped(d->changes) - HC_MOST_LEFT));
    }
    return HC_EXIT_OK;
}

/* ---- commit ---- */

struct told {
    struct workspace *w;
    const struct copied *d;
};

static void say_conflict(void *ctx, const char *path, const char *why)
{
    const struct told *t = ctx;
    char host[PATH_MAX], plain[PATH_MAX];
    if (++t->w->conflicts > MOST_CONFLICTS)
        return;
    hc_plain_ascii(host, sizeof host, t->d->host);
    hc_plain_ascii(plain, sizeof plain, path);
    hc_warn("%s/%s: %s", host, plain, why);
}

static int open_host(const struct workspace *w, struct copied *d, struct hc_error *err)
{
    d->host_fd = open_real(d->host);
    if (d->host_fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s%s", d->host,
                          errno == ELOOP ? ": a symbolic link is in the path now" : "");
    if (hc_dir_refuse_hosts_own(d->host, d->host_fd, err) < 0 || check_seal(w, d, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    if (flock(d->host_fd, LOCK_EX | LOCK_NB) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: somebody else holds a lock on it, such as another commit", d->host);
    return 0;
}

static int refuse_unkept(const struct workspace *w, const struct copied *d, struct hc_error *err)
{
    if (d->changes->incomplete)
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "%s: not all of the copy was looked at (limits.collect_time), so nothing is applied", d->host);
    if (skipped(d->changes) && !w->partial)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: %lld of the changes could not be kept, such as '%s': nothing is applied; "
                          "--partial applies the others",
                          d->host, (long long)skipped(d->changes), d->changes->skipped.list[0].path);
    return 0;
}

static int check_dir(struct workspace *w, struct copied *d, struct hc_error *err)
{
    struct told told = {w, d};
    if (!d->changes)
        return 0;
    if (refuse_unkept(w, d, err) < 0 || open_host(w, d, err) < 0)
        return -1;
    d->applying = (struct hc_applying){.host_fd = d->host_fd,
                                       .kept_fd = d->kept_fd,
                                       .of = d->changes,
                                       .conflict = say_conflict,
                                       .ctx = &told};
    return hc_workspace_check(&d->applying, err);
}

static int apply_dir(struct workspace *w, struct copied *d, struct hc_error *err)
{
    struct told told = {w, d};
    if (!d->changes)
        return 0;
    d->applying.ctx = &told;
    if (hc_workspace_apply(&d->applying, err) < 0)
        return hc_ctx(err, "%s", d->host);
    print_path(d->host);
    (void)printf(": %lld changes applied", (long long)d->applying.applied);
    if (d->applying.already)
        (void)printf(", %lld were there already", (long long)d->applying.already);
    (void)putchar('\n');
    return 0;
}

static int say_conflicts(const struct workspace *w, const char *what)
{
    hc_warn("%lld conflict%s: %s", (long long)w->conflicts, w->conflicts == 1 ? "" : "s", what);
    return HC_EXIT_GUEST;
}

static int commit(struct workspace *w)
{
    struct hc_error err;
    for (size_t i = 0; i < w->count; i++)
        if (check_dir(w, &w->dirs[i], &err) < 0)
            return hc_report(&err);
    if (w->conflicts)
        return say_conflicts(w, "nothing was applied");
    for (size_t i = 0; i < w->count && !w->dry; i++) {
        if (apply_dir(w, &w->dirs[i], &err) < 0)
            return hc_report(&err);
        if (w->conflicts)
            return say_conflicts(w, "what stands before it in the list is applied; commit again to go on");
    }
    if (w->dry)
        (void)puts("no conflicts");
    return HC_EXIT_OK;
}

/* ---- discard ---- */

static int discard(struct workspace *w)
{
    struct hc_error err;
    for (size_t i = 0; i < w->count; i++) {
        char name[NAME_MAX + 1];
        const char *directory = w->dirs[i].directory;
        if (!directory || strncmp(directory, "changes-", strlen("changes-")) != 0)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(directory, "/"), directory);
        if (faccessat(w->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
            hc_workspace_remove(w->fd, name, &err) < 0)
            return hc_report(&err);
    }
    return HC_EXIT_OK;
}

/* ---- the command ---- */

static int serve(int argc, char **argv, int (*act)(struct workspace *w))
{
    static const struct option of_diff[] = {{"patch", no_argument, NULL, 'u'}, {NULL, 0, NULL, 0}},
                               of_commit[] = {{"dry-run", no_argument, NULL, 'n'},
                                              {"partial", no_argument, NULL, 'p'},
                                              {NULL, 0, NULL, 0}},
                               none[] = {{NULL, 0, NULL, 0}};
    const struct option *options = act == diff ? of_diff : act == commit ? of_commit : none;
    struct workspace w = {.fd = -1, .discards = act == discard};
    struct hc_error err;
    for (int opt; (opt = hc_getopt(argc, argv, ":", options)) != -1;) {
        if (opt == '?')
            return hc_unknown_option("workspace", options, argv[optind - 1]);
        *(opt == 'u' ? &w.patch : opt == 'n' ? &w.dry : &w.partial) = true;
    }
    if (argc - optind != 1)
        return hc_usage("workspace", "expected one RESULT-DIRECTORY");
    w.path = argv[optind];
    int status = read_workspace(&w, &err) < 0 ? hc_report(&err) : act(&w);
    finish(&w);
    return status;
}

int hc_cmd_workspace(int argc, char **argv)
{
    static const struct {
        const char *verb;
        int (*act)(struct workspace *w);
    } verbs[] = {{"diff", diff}, {"commit", commit}, {"discard", discard}};
    if (hc_wants_help(argc, argv)) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    if (argc < 2)
        return hc_usage("workspace", "expected diff, commit or discard");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(argv[1], verbs[i].verb) == 0)
            return serve(argc - 1, argv + 1, verbs[i].act);
    return hc_usage("workspace", "expected diff, commit or discard, got '%s'", argv[1]);
}
