#include "daemon/process/channel.h"

#include "base/fd.h"
#include "base/packet.h"

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
    /* If this fails, the job ends without the reason. */
    if (*ours >= 0 && why)
        (void)send(*ours, why, strlen(why), MSG_NOSIGNAL | MSG_DONTWAIT);
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
    return hc_packet_send(fd, m, sizeof *m, fds, count, MSG_DONTWAIT) < 0
               ? hc_fail(err, errno, "send to another process")
               : 0;
}

int hc_channel_receive(int fd, struct hc_message *m, int fds[HC_RUN_FDS], size_t *count, struct hc_error *err)
{
    struct hc_packet p = {.fds = fds, .room = HC_RUN_FDS};
    ssize_t n = hc_packet_receive(fd, m, sizeof *m, &p, 0);
    *count = p.count;
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return 0;
    if (n < 0)
        return hc_fail(err, errno, "receive from another process");
    if (n != (ssize_t)sizeof *m || p.cut) {
        while (*count)
            hc_close_fd(&fds[--*count]);
        return hc_fail(err, EPROTO, "a message of %zd bytes from another process", n);
    }
    m->job_id[sizeof m->job_id - 1] = m->tenant[sizeof m->tenant - 1] = '\0';
    m->figure.path[sizeof m->figure.path - 1] = m->figure.mime[sizeof m->figure.mime - 1] = '\0';
    m->error.text[sizeof m->error.text - 1] = m->volume[sizeof m->volume - 1] = '\0';
    return 1;
}
