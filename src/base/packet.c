#include "base/packet.h"

#include "base/fd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union control {
    struct cmsghdr head; /* aligns `space` */
    /* Room for all control messages of one packet. */
    char space[CMSG_SPACE(sizeof(int) * HC_PACKET_FDS) + CMSG_SPACE(sizeof(struct ucred))];
};

int hc_packet_send(int socket, const void *data, size_t size, const int *fds, size_t count, int flags)
{
    union control control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > HC_PACKET_FDS) {
        errno = EINVAL;
        return -1;
    }
    if (count) {
        control.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof *fds * count), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), fds, sizeof *fds * count);
        packet.msg_control = &control;
        packet.msg_controllen = CMSG_SPACE(sizeof *fds * count);
    }
    ssize_t n = TEMP_FAILURE_RETRY(sendmsg(socket, &packet, MSG_NOSIGNAL | flags));
    if (n >= 0 && n != (ssize_t)size)
        errno = EMSGSIZE;
    return n == (ssize_t)size ? 0 : -1;
}

/* Takes every descriptor of the control message, as none may stay open without an owner. */
static void take_descriptors(const struct cmsghdr *c, struct hc_packet *p)
{
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        hc_autofd fd = -1;
        memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
        if (p->count < p->room)
            p->fds[p->count++] = hc_take(&fd);
        else
            p->cut = true;
    }
}

ssize_t hc_packet_receive(int socket, void *data, size_t size, struct hc_packet *p, int flags)
{
    union control control;
    struct iovec part = {.iov_base = data, .iov_len = size};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen =
                                CMSG_SPACE(sizeof(int) * p->room) + CMSG_SPACE(sizeof(struct ucred))};
    *p = (struct hc_packet){.fds = p->fds, .room = p->room};
    if (p->room > HC_PACKET_FDS) {
        errno = EINVAL;
        return -1;
    }
    for (size_t i = 0; i < p->room; i++)
        p->fds[i] = -1;
    ssize_t n = TEMP_FAILURE_RETRY(recvmsg(socket, &packet, MSG_CMSG_CLOEXEC | flags));
    if (n < 0)
        return -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&packet); c; c = CMSG_NXTHDR(&packet, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_RIGHTS)
            take_descriptors(c, p);
        if (c->cmsg_type == SCM_CREDENTIALS)
            p->sender = ((const struct ucred *)(const void *)CMSG_DATA(c))->pid;
    }
    p->cut |= (packet.msg_flags & MSG_CTRUNC) != 0;
    return packet.msg_flags & MSG_TRUNC ? (ssize_t)size + 1 : n;
}
