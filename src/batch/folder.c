#include "batch/folder.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Follow no link, and open only a regular file. */
static int open_file(const struct hc_folder *p, const char *name, struct hc_error *err)
{
    struct stat st;
    hc_autofd fd =
        openat(p->dir, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s/%s", p->path, name);
    if (!S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s/%s: not a regular file", p->path, name);
    return hc_take(&fd);
}

int hc_folder_open(struct hc_folder *p, const char *path, struct hc_error *err)
{
    struct stat st;
    *p = (struct hc_folder){.path = path, .dir = -1, .journal = -1, .results = -1, .sync_fd = -1};
    p->is_new = stat(path, &st) < 0 && errno == ENOENT;
    if (hc_make_dirs(path, 0700, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    p->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->dir < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path);
    p->journal = open_file(p, HC_BATCH_JOURNAL, err);
    if (p->journal < 0)
        return -1;
    /* A lock that belongs to this process alone, not to its children, which may outlive it for a moment. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool locked = fcntl(p->journal, F_SETLK, &whole) == 0;
    /* Without a name: a batch that had locked it has just discarded it. */
    if (!locked || fstat(p->journal, &st) < 0 || st.st_nlink == 0) {
        bool taken = locked || errno == EACCES || errno == EAGAIN;
        return hc_fail_as(err, HC_EXIT_DATA, taken ? 0 : errno, "%s: %s", path,
                          taken ? "another hotcell batch is at work in it" : "lock the journal");
    }
    p->results = open_file(p, HC_BATCH_RESULTS, err);
    p->journal_bytes = lseek(p->journal, 0, SEEK_END);
    return p->results < 0 ? -1 : 0;
}

void hc_folder_discard(const struct hc_folder *p)
{
    struct stat st;
    if (fstat(p->results, &st) == 0 && st.st_size == 0)
        (void)unlinkat(p->dir, HC_BATCH_RESULTS, 0);
    if (fstat(p->journal, &st) == 0 && st.st_size == 0)
        (void)unlinkat(p->dir, HC_BATCH_JOURNAL, 0);
    if (p->is_new)
        (void)rmdir(p->path);
}

void hc_folder_close(struct hc_folder *p)
{
    hc_close_fd(&p->sync_fd);
    if (p->syncer > 0)
        (void)waitpid(p->syncer, NULL, 0);
    p->syncer = 0;
    hc_close_fd(&p->results);
    hc_close_fd(&p->journal);
    hc_close_fd(&p->dir);
}

/* ---- appending ---- */

int hc_folder_note(struct hc_folder *p, const struct hc_entry *e, const char *result, size_t len, int64_t *at,
                   struct hc_error *err)
{
    hc_autobuf text = {0};
    hc_entry_print(&text, e, result, len);
    if (text.failed)
        return hc_fail(err, ENOMEM, "journal");
    if (at)
        *at = p->journal_bytes + (int64_t)(text.len - len) - 2; /* the result ends before "}\n" */
    if (hc_write_all(p->journal, text.data, text.len, err) < 0)
        return hc_ctx(err, "%s/" HC_BATCH_JOURNAL, p->path);
    p->journal_bytes += (int64_t)text.len;
    return 0;
}

int hc_folder_result(struct hc_folder *p, const char *text, size_t len, struct hc_error *err)
{
    if (hc_write_all(p->results, text, len, err) < 0)
        return hc_ctx(err, "%s/" HC_BATCH_RESULTS, p->path);
    return 0;
}

/* ---- syncing ---- */

/* Results first: if the journal says that a job has ended, its result is on disk. */
static int sync_files(const struct hc_folder *p)
{
    return fdatasync(p->results) < 0 || fdatasync(p->journal) < 0 ? errno : 0;
}

/* Answer of the process that syncs. */
struct answer {
    uint64_t number; /* number of the sync that was requested */
    int64_t error;   /* errno; 0: the sync is done */
};

static _Noreturn void serve_syncs(const struct hc_folder *p, int fd, pid_t parent)
{
    struct answer a = {0};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    while (recv(fd, &a.number, sizeof a.number, 0) == (ssize_t)sizeof a.number) {
        a.error = sync_files(p);
        if (send(fd, &a, sizeof a, MSG_NOSIGNAL) != (ssize_t)sizeof a)
            break;
    }
    _exit(EXIT_SUCCESS);
}

int hc_folder_start_syncer(struct hc_folder *p, struct hc_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return hc_fail(err, errno, "socketpair");
    p->syncer = fork();
    if (p->syncer == 0) {
        (void)close(ends[0]);
        serve_syncs(p, ends[1], parent);
    }
    (void)close(ends[1]);
    p->sync_fd = ends[0];
    return p->syncer < 0 ? hc_fail(err, errno, "fork") : 0;
}

uint64_t hc_folder_want_sync(struct hc_folder *p)
{
    p->waiting = true;
    return p->asked + 1;
}

int hc_folder_start_sync(struct hc_folder *p, struct hc_error *err)
{
    if (!p->waiting || p->asked != p->synced)
        return 0;
    uint64_t number = p->asked + 1;
    if (send(p->sync_fd, &number, sizeof number, MSG_NOSIGNAL) != (ssize_t)sizeof number)
        return hc_fail(err, errno, "put the journal on disk");
    p->asked = number;
    p->waiting = false;
    return 0;
}

int hc_folder_read_sync(struct hc_folder *p, struct hc_error *err)
{
    struct answer a;
    if (recv(p->sync_fd, &a, sizeof a, 0) != (ssize_t)sizeof a)
        return hc_fail(err, 0, "the process that puts the journal on disk has died");
    if (a.error)
        return hc_fail(err, (int)a.error, "put the journal in %s on disk", p->path);
    p->synced = a.number;
    return 0;
}

static const char summary_temp[] = "." HC_BATCH_SUMMARY ".new";

/* Write the summary under another name than its own, and to disk. */
static int write_summary(const struct hc_folder *p, const struct hc_buf *summary, struct hc_error *err)
{
    (void)unlinkat(p->dir, summary_temp, 0);
    hc_autofd fd = openat(p->dir, summary_temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return hc_fail(err, errno, "%s/%s", p->path, summary_temp);
    if (hc_write_all(fd, summary->data, summary->len, err) < 0)
        return hc_ctx(err, "%s/" HC_BATCH_SUMMARY, p->path);
    return fsync(fd) < 0 ? hc_fail(err, errno, "%s/" HC_BATCH_SUMMARY, p->path) : 0;
}

/* Wait until all that is wanted is on disk. */
static int await_syncs(struct hc_folder *p, uint64_t wanted, struct hc_error *err)
{
    while (p->synced < wanted)
        if (hc_folder_read_sync(p, err) < 0 || hc_folder_start_sync(p, err) < 0)
            return -1;
    return 0;
}

int hc_folder_settle(struct hc_folder *p, const struct hc_buf *summary, struct hc_error *err)
{
    const uint64_t wanted = hc_folder_want_sync(p);
    if (hc_folder_start_sync(p, err) < 0 || write_summary(p, summary, err) < 0 ||
        await_syncs(p, wanted, err) < 0)
        return -1;
    hc_close_fd(&p->sync_fd); /* the process ends meanwhile */
    if (renameat(p->dir, summary_temp, p->dir, HC_BATCH_SUMMARY) < 0)
        return hc_fail(err, errno, "%s/" HC_BATCH_SUMMARY, p->path);
    return fsync(p->dir) < 0 ? hc_fail(err, errno, "%s", p->path) : 0;
}
