/* The standard input of a cell is a pipe, whatever the caller has. A terminal, a file or a socket in the cell
 * would be an open file of the host's: a program could push input into the terminal (TIOCSTI), change flags
 * and offset that the caller shares, map the file, or write to what the caller may write to. And a read of it
 * could keep the launcher waiting: so a process of its own reads, as slowly as the program does, and is
 * killed with the cell. */
#include "cell/launch/launch.h"

#include "base/fd.h"
#include "base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* ---- the process that fills the pipe ---- */

/* Close all descriptors except two: a copy of one of the launcher's would stay open here after the launcher
 * has closed its own. */
static void close_others(int a, int b)
{
    const int low = MIN(a, b), high = MAX(a, b);
    if (low > 0)
        (void)syscall(SYS_close_range, 0, low - 1, 0);
    if (high - low > 1)
        (void)syscall(SYS_close_range, low + 1, high - 1, 0);
    (void)syscall(SYS_close_range, high + 1, ~0u, 0);
}

static _Noreturn void send_text(int to, const char *text, size_t len)
{
    struct hc_error gone;
    (void)hc_write_all(to, text, len, &gone);
    _exit(0);
}

/* Copy the stream to the pipe. Exits with the errno of a failed read; a program that has closed its end is no
 * failure. */
static _Noreturn void send_stream(int to, int from)
{
    static char chunk[1 << 16];
    struct hc_error gone;
    struct pollfd first = {.fd = from, .events = POLLIN};
    (void)poll(&first, 1, -1); /* a FIFO that no process has opened to write would seem to be at its end */
    for (;;) {
        ssize_t n = TEMP_FAILURE_RETRY(read(from, chunk, sizeof chunk));
        if (n < 0 && errno == EAGAIN) { /* the caller set O_NONBLOCK, and shares it */
            struct pollfd ready = {.fd = from, .events = POLLIN};
            (void)poll(&ready, 1, -1);
            continue;
        }
        if (n <= 0)
            _exit(n < 0 ? errno : 0);
        if (hc_write_all(to, chunk, (size_t)n, &gone) < 0)
            _exit(0);
    }
}

/* The input to send: the stream `from`, or if that is -1, `len` bytes of `text`. Both are borrowed. */
struct source {
    int from;
    const char *text;
    size_t len;
};

static _Noreturn void fill(int to, const struct source *s, pid_t launcher)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != launcher)
        _exit(0);
    (void)prctl(PR_SET_NAME, "hotcell-stdin");
    close_others(to, s->from < 0 ? to : s->from);
    if (s->from < 0)
        send_text(to, s->text, s->len);
    send_stream(to, s->from);
}

static int start_process(struct hc_feed *f, int to, const struct source *s, struct hc_error *err)
{
    pid_t launcher = getpid();
    struct clone_args args = {
        .flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND, .pidfd = (uintptr_t)&f->pidfd, .exit_signal = SIGCHLD};
    pid_t pid = hc_clone3(&args);
    if (pid == 0)
        fill(to, s, launcher);
    return pid < 0 ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "start a process for standard input") : 0;
}

/* ---- the launcher ---- */

/* Write as much of the text as fits into the empty pipe. */
static int write_first(int to, struct source *s, struct hc_error *err)
{
    if (fcntl(to, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "standard input");
    for (ssize_t n; s->len && (n = TEMP_FAILURE_RETRY(write(to, s->text, s->len))) > 0;) {
        s->text += n;
        s->len -= (size_t)n;
    }
    return fcntl(to, F_SETFL, 0) < 0 ? hc_fail(err, errno, "standard input") : 0;
}

int hc_feed_start(struct hc_feed *f, const struct hc_job *job, int stdin_fd, struct hc_error *err)
{
    int ends[2];
    struct source s = {stdin_fd > 0 ? stdin_fd : -1, job->stdin_data, job->stdin_len};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    f->fd = ends[0];
    hc_autofd to = ends[1];
    if (s.from < 0 && write_first(to, &s, err) < 0)
        return -1;
    return s.from >= 0 || s.len ? start_process(f, to, &s, err) : 0;
}

int hc_feed_stop(struct hc_feed *f)
{
    siginfo_t info = {0};
    hc_close_fd(&f->fd);
    if (f->pidfd < 0)
        return 0;
    (void)syscall(SYS_pidfd_send_signal, f->pidfd, SIGKILL, NULL, 0);
    int rc = (int)TEMP_FAILURE_RETRY(waitid(P_PIDFD, (id_t)f->pidfd, &info, WEXITED));
    hc_close_fd(&f->pidfd);
    return rc == 0 && info.si_code == CLD_EXITED ? info.si_status : 0;
}
