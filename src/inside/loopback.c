/* Ioctls on a pair of Unix sockets raise and count interfaces: a zygote's filter allows neither netlink nor
 * network sockets. */
#include "inside/plan.h"

#include "base/fd.h"
#include "inside/weak.h"

#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Counts the interfaces that are up. They are numbered from 1: loopback, then those that tunnel drivers put
 * into each new namespace. */
static void count_interfaces(int fd, int *interfaces, int *up)
{
    struct ifreq one = {.ifr_ifindex = 1};
    for (int i = 1; ioctl(fd, SIOCGIFNAME, &one) == 0; one.ifr_ifindex = ++i) {
        if (ioctl(fd, SIOCGIFFLAGS, &one) < 0 || !(one.ifr_flags & IFF_UP))
            continue;
        (*interfaces)++;
        *up = *up || (one.ifr_flags & IFF_LOOPBACK);
    }
}

int hc_loopback_up(bool raised, int *interfaces, int *up, struct hc_error *err)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int pair[2];
    *interfaces = *up = 0;
    if (hc_weak(HC_WEAK_NETWORK_NAMESPACE))
        return 0;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "make sockets");
    hc_autofd fd = pair[0];
    close(pair[1]);
    /* Also if it is up: only a process that owns the namespace can, so that a shared one is noticed, whatever
     * the numbers of its interfaces are. */
    if (!raised && ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "raise the loopback interface");
    count_interfaces(fd, interfaces, up);
    return 0;
}
