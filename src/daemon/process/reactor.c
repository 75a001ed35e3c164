#include "daemon/process/reactor.h"

#include <errno.h>
#include <stddef.h>

int hc_reactor_open(int *epoll, struct hc_error *err)
{
    *epoll = epoll_create1(EPOLL_CLOEXEC);
    return *epoll < 0 ? hc_fail(err, errno, "epoll_create1") : 0;
}

int hc_reactor_add(int epoll, struct hc_watch *w, uint32_t events, struct hc_error *err)
{
    struct epoll_event event = {.events = events, .data.ptr = w};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, w->fd, &event) < 0 ? hc_fail(err, errno, "epoll_ctl") : 0;
}

void hc_reactor_remove(int epoll, struct hc_watch *w)
{
    if (w->fd >= 0)
        (void)epoll_ctl(epoll, EPOLL_CTL_DEL, w->fd, NULL);
}

int hc_reactor_turn(int epoll, int timeout_ms, struct hc_error *err)
{
    struct epoll_event event;
    int n = epoll_wait(epoll, &event, 1, timeout_ms);
    if (n < 0 && errno != EINTR)
        return hc_fail(err, errno, "epoll_wait");
    if (n != 1)
        return 0;
    struct hc_watch *w = event.data.ptr;
    w->ready(w, event.events);
    return 1;
}
