/* The command as a child process. Its descriptors are files in memory, so that nothing has to be read or
 * written while it runs, and a descriptor of the process tells its end: no signal is needed. */
#include "lib/parts.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define FIRST_OWN    (HC_LIB_CALLER_FD + 1) /* first descriptor that no child keeps */
#define MAX_MESSAGES 4096                   /* bytes of messages that an error can be made of */

extern char **environ;

/* ---- waiting ---- */

int64_t hc_lib_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int hc_lib_left_ms(int64_t since, int timeout_ms)
{
    if (timeout_ms < 0)
        return -1;
    int64_t left = timeout_ms - (hc_lib_now_ms() - since);
    return left > 0 ? (int)left : 0;
}

bool hc_lib_await(int fd, int timeout_ms)
{
    const int64_t since = hc_lib_now_ms();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n;
    do
        n = poll(&p, 1, hc_lib_left_ms(since, timeout_ms));
    while (n < 0 && errno == EINTR);
    return n > 0;
}

/* ---- starting ---- */

/* The child's descriptors: copies beyond those that they become, so that none of them is overwritten before
 * its turn, whichever descriptors the caller has closed. */
struct channels {
    int fds[FIRST_OWN]; /* owned; -1: none */
};

static void close_channels(struct channels *c)
{
    for (int i = 0; i < FIRST_OWN; i++)
        hc_close_fd(&c->fds[i]);
}

static int copy_channels(struct channels *c, const int from[FIRST_OWN], struct hc_error *err)
{
    for (int i = 0; i < FIRST_OWN; i++)
        c->fds[i] = -1;
    for (int i = 0; i < FIRST_OWN; i++)
        if (from[i] >= 0 && (c->fds[i] = fcntl(from[i], F_DUPFD_CLOEXEC, FIRST_OWN)) < 0)
            return hc_fail(err, errno, "descriptors of hotcell");
    return 0;
}

/* Signals are as in a new process, whatever the caller ignores or blocks, and the caller's terminal sends the
 * child none. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    static const int usual[] = {SIGPIPE, SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t none, standard;
    (void)sigemptyset(&none);
    (void)sigemptyset(&standard);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        (void)sigaddset(&standard, usual[i]);
    return posix_spawnattr_setflags(attributes,
                                    POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP) ||
           posix_spawnattr_setsigdefault(attributes, &standard) ||
           posix_spawnattr_setsigmask(attributes, &none) || posix_spawnattr_setpgroup(attributes, 0);
}

static int add_actions(posix_spawn_file_actions_t *actions, const struct channels *c)
{
    for (int i = 0; i < FIRST_OWN; i++)
        if ((c->fds[i] < 0 ? posix_spawn_file_actions_addclose(actions, i)
                           : posix_spawn_file_actions_adddup2(actions, c->fds[i], i)) != 0)
            return -1;
    return posix_spawn_file_actions_addclosefrom_np(actions, FIRST_OWN);
}

/* Returns 0 or an errno. */
static int spawn(struct hc_lib_child *c, const char *const *argv, const struct channels *channels)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = add_actions(&actions, channels) || set_attributes(&attributes)
                 ? ENOMEM
                 : posix_spawn(&c->pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    if (rc)
        c->pid = 0;
    return rc;
}

static int pidfd_of(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Makes what the child and this process know each other's end by: returns the child's side, -1 without one.
 * Kernels of hotcell have pidfds, but valgrind and some containers do not. A socket serves as well, unless
 * this process makes copies of itself, which hold it open. */
static int tie(struct hc_lib_child *c, bool tied, struct hc_error *err)
{
    int pair[2];
    int self = pidfd_of(getpid());
    c->is_pidfd = self >= 0;
    if (self >= 0 && !tied)
        hc_close_fd(&self);
    if (c->is_pidfd)
        return self;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "watch hotcell");
    c->end = pair[0];
    return pair[1];
}

/* Starts it with these descriptors. */
static int start_with(struct hc_lib_child *c, const char *const *argv, const int from[FIRST_OWN],
                      struct hc_error *err)
{
    struct channels channels;
    int rc = copy_channels(&channels, from, err);
    int sys = rc == 0 ? spawn(c, argv, &channels) : 0;
    close_channels(&channels);
    if (sys)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, sys, "start %.300s", argv[0]);
    if (rc == 0 && c->is_pidfd && (c->end = pidfd_of(c->pid)) < 0)
        return hc_fail(err, errno, "watch hotcell");
    return rc;
}

int hc_lib_child_start(struct hc_lib_child *c, const char *const *argv, int in, int out, int third, bool tied,
                       struct hc_error *err)
{
    *c = HC_LIB_NO_CHILD;
    c->messages = memfd_create("hotcell-messages", MFD_CLOEXEC);
    if (c->messages < 0)
        return hc_fail(err, errno, "messages of hotcell");
    hc_autofd theirs = tie(c, tied, err);
    int rc = !c->is_pidfd && theirs < 0 ? -1 : 0;
    const int from[FIRST_OWN] = {in, out, c->messages, third, theirs};
    if (rc == 0)
        rc = start_with(c, argv, from, err);
    if (rc < 0)
        hc_lib_child_finish(c);
    return rc;
}

/* ---- its end ---- */

bool hc_lib_child_ended(struct hc_lib_child *c)
{
    siginfo_t info = {0};
    if (!c->pid)
        return true;
    if (!hc_lib_await(c->end, 0))
        return false;
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG) == 0) {
        if (!info.si_pid)
            return false;
        c->known = true;
        c->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    }
    c->pid = 0; /* ECHILD: somebody else has waited for it */
    return true;
}

void hc_lib_child_signal(struct hc_lib_child *c, int signal)
{
    if (!c->pid)
        return;
    if (c->is_pidfd && c->end >= 0)
        (void)syscall(SYS_pidfd_send_signal, c->end, signal, NULL, 0);
    else
        (void)kill(c->pid, signal);
}

void hc_lib_child_finish(struct hc_lib_child *c)
{
    if (c->pid && (c->end < 0 || !hc_lib_await(c->end, HC_LIB_PATIENCE_MS)))
        hc_lib_child_signal(c, SIGKILL);
    if (c->pid && !hc_lib_child_ended(c))
        (void)TEMP_FAILURE_RETRY(waitpid(c->pid, NULL, 0));
    c->pid = 0;
    hc_close_fd(&c->end);
    hc_close_fd(&c->messages);
}

/* The first line, without what only a command's user would understand: "hotcell: " in front, and where the
 * spec came from. */
static const char *first_line(char *text)
{
    static const char *const prefixes[] = {"hotcell: ", "standard input:", "/proc/self/fd/3:"};
    text += strspn(text, "\n");
    text[strcspn(text, "\n")] = '\0';
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            text += strlen(prefixes[i]);
    return text;
}

int hc_lib_child_fail(struct hc_lib_child *c, struct hc_error *err)
{
    char text[MAX_MESSAGES];
    ssize_t n = c->messages < 0 ? 0 : pread(c->messages, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *line = first_line(text);
    const bool usual = c->known && c->status >= HC_EXIT_GUEST && c->status <= HC_EXIT_CONFIG;
    const int exit = usual ? c->status : HC_EXIT_INTERNAL;
    if (*line)
        return hc_fail_as(err, exit, 0, "%s", line);
    if (!c->known)
        return hc_fail_as(err, exit, 0, "hotcell ended without a result");
    return hc_fail_as(err, exit, 0, "hotcell ended with status %d, and without a result", c->status);
}
