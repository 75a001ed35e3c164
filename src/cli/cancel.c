#include "cli/cancel.h"

#include "base/fd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

int hc_cancel_open(struct hc_error *err)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    struct sigaction hup;
    /* nohup(1) ignores SIGHUP, which must stay ignored */
    if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
        (void)sigaddset(&set, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond the caller's own limit then fails, and is reported */
    /* A caller may have ignored SIGCHLD: the kernel would then drop our children's exit status. */
    (void)signal(SIGCHLD, SIG_DFL);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return hc_fail(err, errno, "block signals");
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : hc_fail(err, errno, "signalfd");
}

static int add_to_epoll(int epoll, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev);
}

int hc_cancel_watch(int signals, int caller_fd, struct hc_error *err)
{
    hc_autofd both = epoll_create1(EPOLL_CLOEXEC);
    if (both < 0 || add_to_epoll(both, signals) < 0)
        return hc_fail(err, errno, "wait for signals");
    if (caller_fd && add_to_epoll(both, caller_fd) < 0)
        return hc_fail_as(err, HC_EXIT_USAGE, errno, "--caller-fd: watch descriptor %d", caller_fd);
    return hc_take(&both);
}

void hc_cancel_end_by(int sig)
{
    if (sig == 0)
        return;
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, sig);
    (void)fflush(stdout);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void hc_cancel_end(int fd)
{
    struct signalfd_siginfo info;
    if (fd >= 0 && read(fd, &info, sizeof info) == (ssize_t)sizeof info)
        hc_cancel_end_by((int)info.ssi_signo);
}
