#include "daemon/process/channel.h"

#include "base/fd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

int hc_cancel_pair(int *ours, int *theirs, struct hc_error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return hc_fail(err, errno, "socketpair");
    *ours = ends[0];
    *theirs = ends[1];
    return 0;
}

void hc_cancel_close(int *ours, const char *why)
{
    if (*ours >= 0 && why)
        (void)send(*ours, why, strlen(why), MSG_NOSIGNAL | MSG_DONTWAIT); /* it ends without it as well */
    hc_close_fd(ours);
}

int hc_channel_pair(int ends[2], struct hc_error *err)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return hc_fail(err, errno, "socketpair");
    return 0;
}

int hc_channel_send(int fd, const struct hc_message *m, const int *fds, size_t count, struct hc_error *err)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * HC_RUN_FDS)];
    } control = {0};
    struct iovec body = {.iov_base = (void *)(uintptr_t)m, .iov_len = sizeof *m};
    struct msghdr msg = {.msg_iov = &body, .msg_iovlen = 1};
    if (count) {
        msg.msg_control = control.room;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(&control.head), fds, sizeof(int) * count);
    }
    ssize_t n = TEMP_FAILURE_RETRY(sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT));
    return n == (ssize_t)sizeof *m ? 0 : hc_fail(err, n < 0 ? errno : EMSGSIZE, "send to another process");
}

/* All of them, even of a message that is refused: none may stay open unowned. */
static size_t take_descriptors(struct msghdr *msg, int fds[HC_RUN_FDS])
{
    size_t count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n && count < HC_RUN_FDS; i++)
            memcpy(&fds[count++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    return count;
}

int hc_channel_receive(int fd, struct hc_message *m, int fds[HC_RUN_FDS], size_t *count, struct hc_error *err)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * HC_RUN_FDS)]; /* the kernel closes what does not fit */
    } control;
    struct iovec body = {.iov_base = m, .iov_len = sizeof *m};
    struct msghdr msg = {.msg_iov = &body,
                         .msg_iovlen = 1,
                         .msg_control = control.room,
                         .msg_controllen = sizeof control.room};
    *count = 0;
    ssize_t n = TEMP_FAILURE_RETRY(recvmsg(fd, &msg, MSG_CMSG_CLOEXEC));
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return 0;
    if (n < 0)
        return hc_fail(err, errno, "receive from another process");
    *count = take_descriptors(&msg, fds);
    if (n != (ssize_t)sizeof *m || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        while (*count)
            hc_close_fd(&fds[--*count]);
        return hc_fail(err, EPROTO, "a message of %zd bytes from another process", n);
    }
    m->job_id[sizeof m->job_id - 1] = m->tenant[sizeof m->tenant - 1] = '\0';
    m->figure.path[sizeof m->figure.path - 1] = m->figure.mime[sizeof m->figure.mime - 1] = '\0';
    m->error.text[sizeof m->error.text - 1] = '\0';
    return 1;
}
