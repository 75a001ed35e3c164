/* init.c - pid 1 of a cell.
 *
 * Processes: this one, the interpreter (its child) and whatever the guest leaves behind, which the kernel
 * hands to pid 1. When pid 1 ends, the kernel kills all of them: nothing else has to be cleaned up.
 * Rights: those of the guest, so that a flaw here is worth nothing; but it is not dumpable, and guest
 * processes of the same uid can neither trace it nor stop it (a pid namespace shields its init from signals
 * that it has no handler for).
 * Channels: the status socket. pid 1 writes one report to it, in a session one for each process that ends; it
 * never reads from it; when the launcher hangs up, pid 1 ends.
 *
 * It must block nowhere but in ppoll: a guest that could delay it would delay the report of its own end. */
#include "shim/init.h"

#include "wire/handover.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits until the launcher has read earlier reports; false: it has gone. */
static bool await_room(int status_fd)
{
    struct pollfd room = {.fd = status_fd, .events = POLLOUT | POLLRDHUP};
    (void)ppoll(&room, 1, NULL, NULL);
    return !(room.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* Sends how a child ended. A job's few bytes always fit into the empty socket buffer; in a session processes
 * can end faster than the launcher reads of it. If the launcher is gone, they are not needed. false: the host
 * has no memory for them, which the launcher learns by this process's end. */
static bool report(int status_fd, const siginfo_t *end)
{
    struct rusage used = {0};
    (void)getrusage(RUSAGE_CHILDREN, &used);
    struct hc_exit_report r = {
        .pid = end->si_pid,
        .code = end->si_code,
        .status = end->si_status,
        .cpu_user_us = (int64_t)used.ru_utime.tv_sec * 1000000 + used.ru_utime.tv_usec,
        .cpu_system_us = (int64_t)used.ru_stime.tv_sec * 1000000 + used.ru_stime.tv_usec,
        .interpreter_peak = (int64_t)used.ru_maxrss * 1024,
    };
    for (;;) {
        if (TEMP_FAILURE_RETRY(send(status_fd, &r, sizeof r, MSG_NOSIGNAL | MSG_DONTWAIT)) >= 0)
            return true;
        if (errno != EAGAIN || !await_room(status_fd))
            return false;
    }
}

static void reap(pid_t guest, int status_fd, bool session)
{
    for (;;) {
        siginfo_t end = {0};
        if (waitid(P_ALL, 0, &end, WEXITED | WNOHANG) < 0) {
            if (errno == EINTR)
                continue;
            /* all children have ended: the launcher knows it, and will hang up */
            if (errno == ECHILD && session)
                return;
            _exit(HC_EXIT_INTERNAL); /* ECHILD before the guest's end: impossible */
        }
        if (end.si_pid == 0)
            return;
        if ((session || end.si_pid == guest) && !report(status_fd, &end))
            _exit(HC_EXIT_INTERNAL);
        if (!session && end.si_pid == guest)
            _exit(HC_EXIT_OK);
    }
}

_Noreturn void hc_init_run(pid_t guest, int status_fd, int sync_fd, bool session)
{
    for (int fd = 0; fd < status_fd; fd++)
        close(fd);
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    int children = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    if (children < 0)
        _exit(HC_EXIT_INTERNAL);
    if (sync_fd >= 0)
        close(sync_fd);
    for (;;) {
        reap(guest, status_fd, session);
        struct pollfd fds[] = {
            {.fd = children, .events = POLLIN},
            {.fd = status_fd, .events = POLLRDHUP},
        };
        if (ppoll(fds, 2, NULL, NULL) < 0 && errno != EINTR)
            _exit(HC_EXIT_INTERNAL);
        if (fds[1].revents)
            _exit(0);
        struct signalfd_siginfo drained;
        while (read(children, &drained, sizeof drained) > 0)
            ;
    }
}
