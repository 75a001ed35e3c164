#include "cell/tools/tool_command.h"

#include "base/fd.h"
#include "base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FIRST_FREE 16 /* above the descriptor numbers that the keeper assigns */
#define KEEPER_FD  3  /* the keeper's end of the socket to the launcher */
#define READS      16 /* most reads of one stream in one round of the loop */

/* ---- the keeper: forked from a launcher that may have threads, so it makes system calls only ---- */

static _Noreturn void execute(char *const *words)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL); /* else the command would inherit ignored signals */
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* end with the keeper, should that be killed */
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)fcntl(KEEPER_FD, F_SETFD, FD_CLOEXEC);
    (void)execv(words[0], words);
    struct hc_tool_command_end end = {.code = 0, .status = errno};
    (void)send(KEEPER_FD, &end, sizeof end, MSG_NOSIGNAL);
    _exit(127);
}

/* Give the command's standard streams and the socket their numbers, and close all other descriptors. */
static void arrange_descriptors(int in, int out, int err, int keeper)
{
    const int from[] = {in, out, err, keeper};
    int safe[4];
    for (int i = 0; i < 4; i++)
        safe[i] = fcntl(from[i], F_DUPFD, FIRST_FREE);
    for (int i = 0; i < 4; i++)
        if (safe[i] < 0 || dup2(safe[i], i) < 0)
            _exit(127);
    (void)syscall(SYS_close_range, KEEPER_FD + 1, ~0U, 0);
}

/* Kill the children that the kernel names, as /proc lists them: "12 345 ". Returns false if it names none. */
static bool kill_children(void)
{
    char text[4096];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    pid_t pid = 0;
    bool any = false;
    if (fd >= 0)
        (void)close(fd);
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            pid = pid * 10 + (text[i] - '0');
            continue;
        }
        if (pid > 0 && kill(pid, SIGKILL) == 0)
            any = true;
        pid = 0;
    }
    return any;
}

/* Kill all processes of the command. Children of a killed process become the keeper's, so repeat until
 * there are none. */
static void kill_all(pid_t group)
{
    do
        (void)kill(-group, SIGKILL);
    while (kill_children() && waitpid(-1, NULL, 0) > 0);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* Wait until the command ends (true) or the launcher closes its socket (false). */
static bool await_end(pid_t pid, struct hc_tool_command_end *end)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN}, {.fd = KEEPER_FD, .events = 0}};
    siginfo_t info = {0};
    if (pidfd < 0)
        return false;
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    if (fds[1].revents || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
        return false;
    *end = (struct hc_tool_command_end){.code = info.si_code, .status = info.si_status};
    return true;
}

static _Noreturn void run_keeper(char *const *words)
{
    struct hc_tool_command_end end;
    (void)setsid();
    (void)prctl(PR_SET_NAME, "hotcell-tool");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)signal(SIGCHLD, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0)
        execute(words);
    (void)close(0);
    (void)close(1);
    (void)close(2);
    if (pid < 0) {
        end = (struct hc_tool_command_end){.code = 0, .status = errno};
        (void)send(KEEPER_FD, &end, sizeof end, MSG_NOSIGNAL);
        _exit(127);
    }
    (void)setpgid(pid, pid); /* the child does the same, before or after this */
    bool ended = await_end(pid, &end);
    kill_all(pid);
    if (ended)
        (void)send(KEEPER_FD, &end, sizeof end, MSG_NOSIGNAL);
    _exit(0);
}

/* ---- the launcher ---- */

/* Both ends of the pipes and of the socket, owned; -1: closed. */
struct ends {
    int in[2], out[2], err[2], keeper[2];
};

static void close_ends(struct ends *e)
{
    int *const fds[] = {e->in, e->out, e->err, e->keeper};
    for (size_t i = 0; i < 4; i++) {
        hc_close_fd(&fds[i][0]);
        hc_close_fd(&fds[i][1]);
    }
}

static int make_ends(struct ends *e, struct hc_error *err)
{
    *e = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe2(e->in, O_CLOEXEC) < 0 || pipe2(e->out, O_CLOEXEC) < 0 || pipe2(e->err, O_CLOEXEC) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e->keeper) < 0)
        return hc_fail(err, errno, "make pipes");
    if (fcntl(e->in[1], F_SETFL, O_NONBLOCK) < 0 || fcntl(e->out[0], F_SETFL, O_NONBLOCK) < 0 ||
        fcntl(e->err[0], F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "make pipes");
    return 0;
}

int hc_tool_command_start(struct hc_tool_command *c, char *const *words, const char *text, size_t len,
                          size_t max, struct hc_error *err)
{
    struct ends e;
    *c = (struct hc_tool_command){
        .in = -1, .out = -1, .err = -1, .keeper = -1, .pidfd = -1, .output.max = max};
    if (hc_buf_add(&c->input, text, len) < 0)
        return hc_fail(err, ENOMEM, "run %s", words[0]);
    int rc = make_ends(&e, err);
    if (rc == 0 && (c->pid = fork()) < 0)
        rc = hc_fail(err, errno, "run %s", words[0]);
    if (rc == 0 && c->pid == 0) {
        arrange_descriptors(e.in[0], e.out[1], e.err[1], e.keeper[1]);
        run_keeper(words);
    }
    if (rc == 0 && (c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0)) < 0) {
        rc = hc_fail(err, errno, "run %s", words[0]);
        hc_close_fd(&e.keeper[0]);
        hc_close_fd(&e.keeper[1]);
        (void)waitpid(c->pid, NULL, 0);
    }
    if (rc < 0) {
        close_ends(&e);
        hc_buf_finish(&c->input);
        *c = (struct hc_tool_command){0};
        return -1;
    }
    c->in = hc_take(&e.in[1]);
    c->out = hc_take(&e.out[0]);
    c->err = hc_take(&e.err[0]);
    c->keeper = hc_take(&e.keeper[0]);
    close_ends(&e);
    return 0;
}

void hc_tool_command_write(struct hc_tool_command *c)
{
    while (c->in >= 0 && c->written < c->input.len) {
        ssize_t n = TEMP_FAILURE_RETRY(write(c->in, c->input.data + c->written, c->input.len - c->written));
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) /* the command has closed its standard input */
            break;
        c->written += (size_t)n;
    }
    hc_close_fd(&c->in);
}

/* Read the stream, keep at most `max` bytes in `out` and drop the rest. Returns false if bytes were
 * dropped. */
static bool read_stream(int *fd, struct hc_buf *out, size_t max, bool all)
{
    static char chunk[16384];
    bool fits = true;
    for (int i = 0; *fd >= 0 && (all || i < READS); i++) {
        ssize_t n = TEMP_FAILURE_RETRY(read(*fd, chunk, sizeof chunk));
        if (n < 0 && errno == EAGAIN)
            return fits;
        if (n <= 0) {
            hc_close_fd(fd);
            return fits;
        }
        size_t room = max - out->len;
        fits = fits && (size_t)n <= room;
        (void)hc_buf_add(out, chunk, (size_t)n < room ? (size_t)n : room);
    }
    return fits;
}

void hc_tool_command_read(struct hc_tool_command *c)
{
    if (!read_stream(&c->out, &c->output, c->output.max, c->ended))
        c->too_long = true;
    (void)read_stream(&c->err, &c->errors, HC_COMMAND_ERRORS, c->ended);
}

void hc_tool_command_hear_end(struct hc_tool_command *c)
{
    struct hc_tool_command_end end;
    ssize_t n = c->keeper < 0 ? 0 : TEMP_FAILURE_RETRY(recv(c->keeper, &end, sizeof end, MSG_DONTWAIT));
    /* A keeper that reports nothing was killed. */
    c->end =
        n == (ssize_t)sizeof end ? end : (struct hc_tool_command_end){.code = CLD_KILLED, .status = SIGKILL};
    c->ended = true;
    hc_tool_command_read(c); /* no process is left that could write: the pipes hold the rest */
}

void hc_tool_command_kill(struct hc_tool_command *c)
{
    hc_close_fd(&c->keeper);
}

void hc_tool_command_finish(struct hc_tool_command *c, int patience_ms)
{
    if (c->pid <= 0)
        return;
    struct pollfd ending = {.fd = c->pidfd, .events = POLLIN};
    hc_tool_command_kill(c);
    if (TEMP_FAILURE_RETRY(poll(&ending, 1, patience_ms)) == 1)
        (void)TEMP_FAILURE_RETRY(waitpid(c->pid, NULL, 0));
    hc_close_fd(&c->pidfd);
    hc_close_fd(&c->in);
    hc_close_fd(&c->out);
    hc_close_fd(&c->err);
    hc_buf_finish(&c->input);
    hc_buf_finish(&c->output);
    hc_buf_finish(&c->errors);
    *c = (struct hc_tool_command){0};
}
