#include "mcp/child/child.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PATIENCE_MS 10000 /* ms from SIGTERM to SIGKILL */
#define MAX_WORDS   2000  /* most bytes of a child's error messages */

static _Noreturn void exec_command(const char *const *argv, const int fds[4], pid_t parent)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    /* If the server is killed, the child gets SIGTERM, and ends in order together with its cell. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
        _exit(HC_EXIT_INTERNAL);
    for (int fd = 0; fd < 4; fd++)
        if (fds[fd] >= 0 && (dup2(fds[fd], fd) < 0 || fcntl(fd, F_SETFD, 0) < 0))
            _exit(HC_EXIT_INTERNAL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
    _exit(HC_EXIT_INTERNAL);
}

static int fork_child(struct hc_child *c, const char *const *argv, const int given[4], struct hc_error *err)
{
    const int fds[4] = {given[0], given[1], c->err_fd, given[3]};
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return hc_fail(err, errno, "fork");
    if (pid == 0)
        exec_command(argv, fds, parent);
    c->pid = pid;
    c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* an unreaped child, so the pid is still its own */
    return c->pidfd < 0 ? hc_fail(err, errno, "pidfd_open") : 0;
}

int hc_child_start(struct hc_child *c, const struct hc_mcp_config *config, const char *command,
                   const char *const *more, const int fds[4], struct hc_error *err)
{
    size_t n = 0, extra = 0;
    *c = (struct hc_child){.pidfd = -1, .err_fd = memfd_create("messages", MFD_CLOEXEC)};
    while (more[extra])
        extra++;
    const char **argv = calloc(config->option_count + extra + 5, sizeof *argv);
    if (!argv || c->err_fd < 0) {
        free(argv);
        hc_child_finish(c);
        return hc_fail(err, ENOMEM, "start hotcell %s", command);
    }
    argv[n++] = "hotcell";
    argv[n++] = command;
    argv[n++] = "--interface=mcp";
    if (strcmp(command, "run") == 0 && getenv("HOTCELL_SOCKET"))
        argv[n++] = "--warm=try"; /* a daemon may refuse options of the server */
    for (size_t i = 0; i < config->option_count; i++)
        if (strcmp(command, "run") == 0 || strcmp(config->options[i], "--persist-code") != 0)
            argv[n++] = config->options[i]; /* sessions do not accept this option */
    memcpy(argv + n, more, extra * sizeof *more);
    int rc = fork_child(c, argv, fds, err);
    free(argv);
    if (rc < 0)
        hc_child_finish(c);
    return rc;
}

bool hc_child_ended(struct hc_child *c)
{
    if (c->pid && waitpid(c->pid, NULL, WNOHANG) == c->pid)
        c->pid = 0;
    return !c->pid;
}

void hc_child_expect(struct hc_child *c)
{
    if (c->pid && !c->kill_ms)
        c->kill_ms = hc_mono_ms() + PATIENCE_MS;
}

void hc_child_end(struct hc_child *c)
{
    if (!c->pid)
        return;
    hc_child_expect(c);
    (void)kill(c->pid, SIGTERM); /* not reaped, so the pid is still its own */
}

void hc_child_kill_if_late(struct hc_child *c, int64_t now)
{
    if (c->pid && c->kill_ms && now > c->kill_ms)
        (void)kill(c->pid, SIGKILL);
}

void hc_child_finish(struct hc_child *c)
{
    hc_child_end(c);
    if (c->pid) {
        int64_t left = c->kill_ms - hc_mono_ms();
        struct pollfd fd = {.fd = c->pidfd, .events = POLLIN};
        if (c->pidfd < 0 || poll(&fd, 1, left > 0 ? (int)left : 0) <= 0)
            (void)kill(c->pid, SIGKILL);
        (void)TEMP_FAILURE_RETRY(waitpid(c->pid, NULL, 0));
    }
    hc_close_fd(&c->pidfd);
    hc_close_fd(&c->err_fd);
    *c = (struct hc_child){.pidfd = -1, .err_fd = -1};
}

void hc_child_messages(const struct hc_child *c, struct hc_buf *out)
{
    char words[MAX_WORDS];
    ssize_t n = pread(c->err_fd, words, sizeof words, 0);
    while (n > 0 && words[n - 1] == '\n')
        n--;
    (void)hc_utf8_scrub(out, n > 0 ? words : "", n > 0 ? (size_t)n : 0);
    if (!out->len)
        (void)hc_buf_str(out, "it ended without a word");
}
