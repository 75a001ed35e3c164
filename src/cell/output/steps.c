#include "cell/steps.h"

#include "base/array.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "json/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* The file that marks a directory as a session's, and that a process locks to use the session. */
#define LOCK_NAME    ".hotcell-session"
#define MAX_MANIFEST ((size_t)256 << 20) /* most bytes of a manifest that is read */
#define MAX_DEPTH    32 /* most directories open at once; a deeper directory is first moved to the top */
/* For openat2(2): no way out of the directory by "..", a link or a mount. */
#define CONFINED (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

static int open_confined(int dir, const char *name, uint64_t resolve)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, .resolve = resolve};
    return hc_openat2(dir, name, &how);
}

static int open_dir(int dir, const char *name)
{
    return open_confined(dir, name, CONFINED);
}

/* ---- the lock on a session's directory ---- */

/* Lock the session in the directory `dir`. Returns the descriptor that holds the lock, or -1. */
static int lock_session(int dir, const char *name, int flags, bool wait, struct hc_error *err)
{
    hc_autofd fd = openat(dir, LOCK_NAME, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    struct stat st;
    if (fd < 0 && errno == ENOENT)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s is no session's directory (it has no %s)", name,
                          LOCK_NAME);
    if (fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "session %s: open %s", name, LOCK_NAME);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "session %s: %s is not a file of ours", name, LOCK_NAME);
    int rc;
    while ((rc = flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB))) < 0 && errno == EINTR)
        ;
    if (rc < 0 && errno == EWOULDBLOCK)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "session %s is in use: one step runs at a time (--wait waits for it)", name);
    return rc < 0 ? hc_fail_as(err, HC_EXIT_DATA, errno, "lock session %s", name) : hc_take(&fd);
}

int hc_session_open(const char *parent, const char *session, bool wait, struct hc_error *err)
{
    if (mkdir(parent, 0777) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "make the output directory %s", parent);
    hc_autofd top = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "output directory %s", parent);
    if (mkdirat(top, session, 0777) < 0 && errno != EEXIST)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "make the directory %s/%s", parent, session);
    hc_autofd dir = open_dir(top, session);
    if (dir < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "open the directory %s/%s", parent, session);
    return lock_session(dir, session, O_CREAT, wait, err);
}

/* ---- removing a directory ---- */

/* The removal of a directory with all of its contents. Another process may be removing files in it, too: a
 * killed process of the daemon still finishes its current system call. */
struct removal {
    int root;       /* the directory, borrowed */
    unsigned moved; /* number of directories moved to the top so far */
};

static int empty_directory(struct removal *r, int dir_taken, int depth, struct hc_error *err);

static int remove_empty(int dir, const char *name, struct hc_error *err)
{
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    return hc_fail(err, errno, "remove %s", name);
}

static int remove_entry(struct removal *r, int dir, const char *name, int depth, struct hc_error *err)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return hc_fail(err, errno, "remove %s", name);
    if (depth == MAX_DEPTH) {
        char up[32];
        (void)snprintf(up, sizeof up, ".hotcell-deep-%u", r->moved++);
        return renameat(dir, name, r->root, up) == 0 ? 0 : hc_fail(err, errno, "move %s up", name);
    }
    int inner = open_dir(dir, name);
    if (inner < 0)
        return errno == ENOENT ? 0 : hc_fail(err, errno, "open %s", name);
    if (empty_directory(r, inner, depth + 1, err) < 0)
        return -1;
    return remove_empty(dir, name, err);
}

static int empty_directory(struct removal *r, int dir_taken, int depth, struct hc_error *err)
{
    DIR *dir = fdopendir(dir_taken);
    if (!dir) {
        (void)close(dir_taken);
        return hc_fail(err, errno, "read a directory");
    }
    int rc = 0;
    const struct dirent *e;
    while (rc == 0 && (e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = remove_entry(r, dirfd(dir), e->d_name, depth, err);
    (void)closedir(dir);
    return rc;
}

int hc_remove_results(int dir, const char *name, struct hc_error *err)
{
    unsigned before;
    /* The path `name` may cross mounts that the administrator made, so RESOLVE_NO_XDEV holds only below. */
    hc_autofd root = open_confined(dir, name, CONFINED & ~(uint64_t)RESOLVE_NO_XDEV);
    struct removal r = {.root = root};
    if (root < 0)
        return errno == ENOENT ? 0 : hc_fail(err, errno, "open %s", name);
    do { /* repeat until no directory was moved to the top */
        before = r.moved;
        int again = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (again < 0)
            return hc_fail(err, errno, "open %s", name);
        if (empty_directory(&r, again, 0, err) < 0)
            return hc_ctx(err, "remove %s", name);
    } while (r.moved != before);
    return remove_empty(dir, name, err);
}

/* ---- listing steps ---- */

/* A directory of results in a session's directory. */
struct step {
    char name[NAME_MAX + 1];
    struct timespec changed; /* time of its last change (CLOCK_REALTIME) */
};

struct steps {
    struct step *list; /* owned */
    size_t count;      /* number of steps in `list` */
};

static bool is_empty(int dir)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *e = NULL;
    while (d && (e = readdir(d)) && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0))
        ;
    bool none = d && !e;
    if (d)
        (void)closedir(d);
    return none;
}

bool hc_has_manifest(int dir)
{
    hc_autobuf text = {0};
    struct hc_json j;
    struct hc_error ignored;
    struct stat st;
    if (fstatat(dir, "manifest.json", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return false;
    if (hc_read_file(dir, "manifest.json", &text, MAX_MANIFEST, &ignored) < 0 ||
        hc_json_parse(&j, "manifest.json", text.data ? text.data : "", text.len, &ignored) < 0)
        return false;
    bool ours = cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(j.root, "version")) &&
                cJSON_IsString(cJSON_GetObjectItemCaseSensitive(j.root, "job_id"));
    hc_json_finish(&j);
    return ours;
}

static int add_step_if_ours(struct steps *s, int session, const char *name, struct hc_error *err)
{
    hc_autofd dir = open_dir(session, name);
    struct stat st;
    if (dir < 0 || fstat(dir, &st) < 0 || !(is_empty(dir) || hc_has_manifest(dir)))
        return 0;
    struct step *grown = hc_array_grow(s->list, s->count, sizeof *grown);
    if (!grown)
        return hc_fail(err, ENOMEM, "list the steps");
    s->list = grown;
    struct step *step = &grown[s->count++];
    (void)snprintf(step->name, sizeof step->name, "%s", name);
    step->changed = st.st_mtim;
    return 0;
}

static int find_steps(struct steps *s, int session, struct hc_error *err)
{
    int copy = openat(session, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *e;
    int rc = 0;
    if (!d)
        return hc_fail(err, errno, "read the session's directory");
    while (rc == 0 && (e = readdir(d)))
        if (e->d_name[0] != '.') /* no step's name begins with a dot */
            rc = add_step_if_ours(s, session, e->d_name, err);
    (void)closedir(d);
    return rc;
}

static int newest_first(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->changed.tv_sec != y->changed.tv_sec)
        return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
    if (x->changed.tv_nsec != y->changed.tv_nsec)
        return x->changed.tv_nsec < y->changed.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

int hc_session_clean(const char *path, size_t keep, FILE *out, struct hc_error *err)
{
    hc_autofd dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path);
    hc_autofd held = lock_session(dir, path, 0, false, err);
    if (held < 0)
        return -1;
    struct steps steps = {0};
    int rc = find_steps(&steps, dir, err), gone = 0;
    if (rc == 0 && steps.count)
        qsort(steps.list, steps.count, sizeof *steps.list, newest_first);
    for (size_t i = keep; rc == 0 && i < steps.count; i++) {
        rc = hc_remove_results(dir, steps.list[i].name, err);
        gone += rc == 0;
        if (rc == 0)
            (void)fprintf(out, "removed %s/%s\n", path, steps.list[i].name);
    }
    free(steps.list);
    return rc < 0 ? -1 : gone;
}
