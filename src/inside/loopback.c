#include "inside/plan.h"

#include "inside/weak.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

struct links {
    int count;       /* interfaces that are up */
    int loopback_up; /* whether the loopback is one of them */
};

static int count_link(const struct nlmsghdr *nlh, void *data)
{
    struct links *links = data;
    const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
    /* Some tunnel drivers put a device into every new namespace; it is down, and no process in a cell can
     * bring it up. */
    if (!(ifi->ifi_flags & IFF_UP))
        return MNL_CB_OK;
    links->count++;
    links->loopback_up = links->loopback_up || (ifi->ifi_flags & IFF_LOOPBACK);
    return MNL_CB_OK;
}

/* Send one request, and read all of its answers. */
static int request_and_read(struct mnl_socket *nl, struct nlmsghdr *nlh, mnl_cb_t cb, void *data)
{
    static unsigned seq;
    nlh->nlmsg_seq = ++seq;
    if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
        return -1;
    char buf[8192];
    for (;;) {
        ssize_t n = mnl_socket_recvfrom(nl, buf, sizeof buf);
        if (n < 0)
            return -1;
        int rc = mnl_cb_run(buf, (size_t)n, seq, mnl_socket_get_portid(nl), cb, data);
        if (rc <= MNL_CB_STOP)
            return rc;
    }
}

static int raise_and_count(struct mnl_socket *nl, struct links *links, struct hc_error *err)
{
    char buf[256];
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
    nlh->nlmsg_type = RTM_NEWLINK;
    nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof *ifi);
    ifi->ifi_index = 1; /* the first interface of a new namespace is its loopback */
    ifi->ifi_flags = IFF_UP;
    ifi->ifi_change = IFF_UP;
    if (request_and_read(nl, nlh, NULL, NULL) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "raise the loopback interface");

    nlh = mnl_nlmsg_put_header(buf);
    nlh->nlmsg_type = RTM_GETLINK;
    nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    ifi = mnl_nlmsg_put_extra_header(nlh, sizeof *ifi);
    ifi->ifi_family = AF_UNSPEC;
    if (request_and_read(nl, nlh, count_link, links) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "list network interfaces");
    return 0;
}

int hc_loopback_up(int *interfaces, int *up, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_NETWORK_NAMESPACE))
        return 0;
    struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (!nl)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "open a netlink socket");
    struct links links = {0};
    int rc = mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0
                 ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "bind a netlink socket")
                 : raise_and_count(nl, &links, err);
    mnl_socket_close(nl);
    *interfaces = links.count;
    *up = links.loopback_up;
    return rc;
}
