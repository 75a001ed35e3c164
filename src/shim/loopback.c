/* As src/inside/loopback.c, with what libc has: no tree has libmnl. */
#include "inside/plan.h"

#include "base/fd.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int raise_loopback(struct hc_error *err)
{
    hc_autofd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0
               ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "raise the loopback interface")
               : 0;
}

int hc_loopback_up(int *interfaces, int *up, struct hc_error *err)
{
    struct ifaddrs *all;
    if (raise_loopback(err) < 0)
        return -1;
    if (getifaddrs(&all) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "list network interfaces");
    *interfaces = *up = 0;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        /* One such row for each interface, whatever its addresses are. */
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_PACKET || !(i->ifa_flags & IFF_UP))
            continue;
        (*interfaces)++;
        *up = *up || (i->ifa_flags & IFF_LOOPBACK);
    }
    freeifaddrs(all);
    return 0;
}
