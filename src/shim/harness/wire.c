#include "shim/harness/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int send_packet(int fd, struct hc_frame_head head, const void *data, struct hc_error *err)
{
    struct iovec parts[] = {
        {.iov_base = &head, .iov_len = sizeof head},
        {.iov_base = (void *)(uintptr_t)data, .iov_len = head.len},
    };
    while (writev(fd, parts, head.len ? 2 : 1) < 0) /* sendmsg is not for guest code, nor then for this */
        if (errno != EINTR)
            return hc_fail(err, errno, "send to launcher");
    return 0;
}

int hc_wire_send(int fd, enum hc_frame_type type, const void *data, size_t len, struct hc_error *err)
{
    const char *at = data;
    do {
        size_t part = len < HC_FRAME_CHUNK ? len : HC_FRAME_CHUNK;
        struct hc_frame_head head = {
            .type = (uint8_t)type,
            .flags = part == len ? HC_FRAME_LAST : 0,
            .len = (uint32_t)part,
        };
        if (send_packet(fd, head, at, err) < 0)
            return -1;
        at = at ? at + part : NULL;
        len -= part;
    } while (len);
    return 0;
}

int hc_wire_pass(int fd, enum hc_frame_type type, int passed, struct hc_error *err)
{
    struct hc_frame_head head = {.type = (uint8_t)type, .flags = HC_FRAME_LAST};
    struct iovec part = {.iov_base = &head, .iov_len = sizeof head};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {
        .head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        memcpy(CMSG_DATA(&control.head), &passed, sizeof passed);
        packet.msg_control = &control;
        packet.msg_controllen = sizeof control.space;
    }
    while (sendmsg(fd, &packet, MSG_NOSIGNAL) < 0)
        if (errno == ETOOMANYREFS && packet.msg_control)
            packet.msg_control = NULL, packet.msg_controllen = 0;
        else if (errno != EINTR)
            return hc_fail(err, errno, "send to launcher");
    return 0;
}

int hc_wire_await_go(int fd, struct hc_error *err)
{
    char packet[sizeof(struct hc_frame_head) + 64];
    ssize_t n;
    do
        n = recv(fd, packet, sizeof packet, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return hc_fail(err, errno, "wait for launcher");
    if (n == 0)
        return hc_fail(err, 0, "launcher is gone");
    struct hc_frame_head head;
    const void *payload;
    if (hc_frame_parse(packet, (size_t)n, &head, &payload, err) < 0)
        return hc_ctx(err, "wait for launcher");
    if (head.type != HC_FRAME_GO)
        return hc_fail(err, 0, "wait for launcher: frame %d instead of GO", head.type);
    return 0;
}
