/* reactor.h - one epoll set, and a function for each descriptor in it. */
#ifndef HC_DAEMON_PROCESS_REACTOR_H
#define HC_DAEMON_PROCESS_REACTOR_H

#include "base/error.h"
#include "base/owner.h"

#include <stdint.h>
#include <sys/epoll.h>

/* A descriptor in the set. This struct is a member of the struct that owns the descriptor (hc_owner). */
struct hc_watch {
    int fd;                                             /* -1: not watched */
    void (*ready)(struct hc_watch *w, uint32_t events); /* is called with the EPOLL* that came */
};

/* Make a set, whose descriptor the caller owns; add `w` to it (`events`: EPOLL*); remove `w`. */
int hc_reactor_open(int *epoll, struct hc_error *err);
int hc_reactor_add(int epoll, struct hc_watch *w, uint32_t events, struct hc_error *err);
void hc_reactor_remove(int epoll, struct hc_watch *w); /* does not close w->fd */

/* Wait for one event, at most `timeout_ms` milliseconds (-1: for ever), and call `ready` of its watch. Events
 * are taken one at a time, as `ready` may free the watch of another event. Returns 1, or 0 if no event came.
 */
int hc_reactor_turn(int epoll, int timeout_ms, struct hc_error *err);

#endif
