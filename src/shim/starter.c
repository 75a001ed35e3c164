/* starter.c - the process of a session's cell that starts commands beside the runs.
 *
 * It is a copy of the interpreter from before the first program, with the interpreter's filters and rights,
 * and never runs Python: it waits for orders of the launcher. It is not dumpable, so that no program of the
 * cell can trace it or read its memory, and holds its socket alone. A program can kill or stop it: then no
 * more commands are started. A command is the child of a child that has ended, so that pid 1 is its parent
 * and tells the launcher how it ended. */
#include "shim/starter.h"

#include "base/fd.h"
#include "base/packet.h"
#include "shim/harness/command.h"
#include "shim/openmp.h"
#include "wire/handover.h"
#include "wire/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ORDER ((size_t)4 << 20) /* most bytes of an order */

struct order {
    struct hc_starter_packet packet;
    int fds[HC_STARTER_FDS]; /* as they came; owned */
};

static int say(int socket, enum hc_starter_word word, uint32_t number, int error)
{
    const struct hc_starter_packet packet = {.word = word, .number = number, .error = error};
    return TEMP_FAILURE_RETRY(write(socket, &packet, sizeof packet)) == (ssize_t)sizeof packet ? 0 : -1;
}

/* ---- the command's own process ---- */

static void set_environment(const cJSON *env)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, env)
    {
        if (cJSON_IsString(item))
            (void)setenv(item->string, item->valuestring, true);
    }
}

static _Noreturn void become_command(const struct order *o)
{
    struct hc_error err;
    struct hc_buf bytes = {0};
    struct hc_handover handover;
    (void)setsid();
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (dup2(o->fds[HC_STARTER_STDIN + i], i) < 0)
            _exit(HC_EXIT_INTERNAL);
    if (hc_read_all(o->fds[HC_STARTER_ORDER], &bytes, MAX_ORDER, &err) < 0 ||
        hc_handover_split(&handover, bytes.data, bytes.len, &err) < 0 ||
        hc_handover_parse(&handover, &err) < 0) {
        (void)dprintf(STDERR_FILENO, "hotcell: %s\n", err.text);
        _exit(HC_EXIT_INTERNAL);
    }
    set_environment(handover.job.env);
    hc_command_become(handover.job.code, handover.job.workdir);
}

/* Tells the launcher, lets the child between go, and waits for the gate. Until the launcher knows this
 * process, it is below the starter, or its packet is in the socket. */
static _Noreturn void await_gate(int socket, const struct order *o, int told)
{
    char go;
    if (say(socket, HC_STARTER_STARTED, o->packet.number, 0) < 0)
        _exit(HC_EXIT_INTERNAL);
    (void)close(told);
    if (TEMP_FAILURE_RETRY(read(o->fds[HC_STARTER_GATE], &go, 1)) != 1)
        _exit(HC_EXIT_INTERNAL);
    become_command(o);
}

/* ---- the starter ---- */

/* The first child: it makes the second, and ends when that has told the launcher of itself. */
static _Noreturn void make_command(int socket, const struct order *o)
{
    int told[2];
    char nothing;
    if (pipe2(told, O_CLOEXEC) < 0)
        _exit(errno);
    pid_t command = fork();
    if (command < 0)
        _exit(errno);
    if (command == 0) {
        (void)close(told[0]);
        await_gate(socket, o, told[1]);
    }
    (void)close(told[1]);
    (void)TEMP_FAILURE_RETRY(read(told[0], &nothing, 1));
    _exit(0);
}

static void start(int socket, const struct order *o)
{
    int status = 0;
    pid_t between = fork();
    if (between == 0)
        make_command(socket, o);
    if (between < 0)
        status = W_EXITCODE(errno, 0);
    else
        (void)TEMP_FAILURE_RETRY(waitpid(between, &status, 0));
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        (void)say(socket, HC_STARTER_FAILED, o->packet.number, WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

/* Receives one order. 0: there is one; 1: what came is none; -1: the launcher has gone. */
static int receive(int socket, struct order *o)
{
    struct hc_packet p = {.fds = o->fds, .room = HC_STARTER_FDS};
    for (size_t i = 0; i < HC_STARTER_FDS; i++)
        o->fds[i] = -1;
    ssize_t n = hc_packet_receive(socket, &o->packet, sizeof o->packet, &p, 0);
    if (n <= 0)
        return n < 0 && errno == EINTR ? 1 : -1;
    return n == (ssize_t)sizeof o->packet && o->packet.word == HC_STARTER_START && p.count == HC_STARTER_FDS
               ? 0
               : 1;
}

static _Noreturn void serve(int socket)
{
    struct order o;
    (void)prctl(PR_SET_NAME, "hotcell-start");
    while (getppid() != 1) /* the launcher recognises the starter by its parent, pid 1 */
        (void)sched_yield();
    if (say(socket, HC_STARTER_READY, 0, 0) < 0)
        _exit(HC_EXIT_INTERNAL);
    for (;;) {
        int rc = receive(socket, &o);
        if (rc == 0)
            start(socket, &o);
        for (size_t i = 0; i < HC_STARTER_FDS; i++)
            hc_close_fd(&o.fds[i]);
        if (rc < 0)
            _exit(0);
    }
}

/* Closes what is the interpreter's: of its descriptors the starter has its socket and the standard ones. */
static _Noreturn void become_starter(int socket)
{
    const int own = HC_FD_CONTROL;
    if (socket != own && dup2(socket, own) < 0)
        _exit(HC_EXIT_INTERNAL);
    (void)fcntl(own, F_SETFD, FD_CLOEXEC);
    (void)close_range((unsigned)own + 1, ~0U, 0);
    serve(own);
}

int hc_starter_begin(int socket_taken, struct hc_error *err)
{
    hc_autofd socket = socket_taken;
    sigset_t all, before;
    int status = 0;
    (void)fflush(NULL);
    hc_openmp_pause();
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t between = fork();
    if (between == 0) {
        pid_t starter = fork();
        if (starter == 0)
            become_starter(socket);
        _exit(starter < 0 ? errno : 0);
    }
    if (between > 0)
        (void)TEMP_FAILURE_RETRY(waitpid(between, &status, 0));
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (between < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
        return hc_fail(err, between < 0 ? EAGAIN : WEXITSTATUS(status), "make the starter of commands");
    return 0;
}
