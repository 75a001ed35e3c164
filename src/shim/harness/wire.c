#include "shim/harness/wire.h"

#include "base/fd.h"
#include "base/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int send_packet(int fd, struct hc_frame_head head, const void *data, struct hc_error *err)
{
    struct iovec parts[] = {
        {.iov_base = &head, .iov_len = sizeof head},
        {.iov_base = (void *)(uintptr_t)data, .iov_len = head.len},
    };
    while (writev(fd, parts, head.len ? 2 : 1) < 0) /* not sendmsg(2), which the guest's filter refuses */
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
    const struct hc_frame_head head = {.type = (uint8_t)type, .flags = HC_FRAME_LAST};
    while (hc_packet_send(fd, &head, sizeof head, &passed, passed >= 0, 0) < 0) {
        if (errno != ETOOMANYREFS || passed < 0)
            return hc_fail(err, errno, "send to launcher");
        passed = -1;
    }
    return 0;
}

/* Waits for a packet. The program shares the channel with copies, and may have made it non-blocking. */
static int await_packet(int fd, struct hc_error *err)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, -1) < 0 && errno != EINTR ? hc_fail(err, errno, "wait for launcher") : 0;
}

/* Receives one packet. 1: it is of `type`; 0: of another type, or none came; -1: error. `passed` gets the
 * descriptors that came with it, owned by the caller. */
static int receive(int fd, enum hc_frame_type type, int passed[HC_JOB_FDS], struct hc_error *err)
{
    char data[sizeof(struct hc_frame_head) + 64];
    struct hc_packet p = {.fds = passed, .room = HC_JOB_FDS};
    ssize_t n = hc_packet_receive(fd, data, sizeof data, &p, 0);
    if (n < 0 && errno == EAGAIN)
        return await_packet(fd, err);
    if (n < 0)
        return hc_fail(err, errno, "wait for launcher");
    if (n == 0)
        return hc_fail(err, 0, "launcher is gone");
    if (n > (ssize_t)sizeof data)
        n = sizeof data;
    struct hc_frame_head head;
    const void *payload;
    if (n >= (ssize_t)sizeof head && data[0] != (char)type)
        return 0;
    return hc_frame_parse(data, (size_t)n, &head, &payload, err) < 0 ? hc_ctx(err, "wait for launcher") : 1;
}

static void close_all(int fds[HC_JOB_FDS])
{
    for (size_t i = 0; i < HC_JOB_FDS; i++)
        hc_close_fd(&fds[i]);
}

/* Waits until the launcher sends a frame of `type`. `passed` gets the descriptors that came with it, owned by
 * the caller; -1: none. Other frames are dropped: in a session, orders to a process that has died since, and
 * answers that came too late. */
static int await(int fd, enum hc_frame_type type, int passed[HC_JOB_FDS], struct hc_error *err)
{
    for (;;) {
        for (size_t i = 0; i < HC_JOB_FDS; i++)
            passed[i] = -1;
        int got = receive(fd, type, passed, err);
        if (got > 0)
            return 0;
        close_all(passed);
        if (got < 0)
            return -1;
    }
}

int hc_wire_await_first_go(int fd, int *starter, struct hc_error *err)
{
    int passed[HC_JOB_FDS];
    *starter = -1;
    if (await(fd, HC_FRAME_GO, passed, err) < 0)
        return -1;
    *starter = hc_take(&passed[0]);
    close_all(passed);
    return 0;
}

int hc_wire_await_go(int fd, struct hc_error *err)
{
    int starter;
    int rc = hc_wire_await_first_go(fd, &starter, err);
    hc_close_fd(&starter);
    return rc;
}

void hc_wire_await_end(int fd)
{
    char dropped;
    while (TEMP_FAILURE_RETRY(recv(fd, &dropped, 1, 0)) > 0)
        ;
}

void hc_wire_drop(int fd)
{
    struct hc_frame_head head;
    while (recv(fd, &head, sizeof head, MSG_DONTWAIT) > 0)
        ;
}

static int await_handover(int fd, enum hc_frame_type type, int *input, struct hc_error *err)
{
    int passed[HC_JOB_FDS];
    *input = -1;
    if (await(fd, type, passed, err) < 0)
        return -1;
    *input = passed[1];
    return passed[0] < 0 ? hc_fail(err, 0, "wait for launcher: no handover came along") : passed[0];
}

int hc_wire_await_next(int fd, int *input, struct hc_error *err)
{
    return await_handover(fd, HC_FRAME_NEXT, input, err);
}

bool hc_wire_await_prepare(int fd)
{
    struct hc_frame_head head = {0};
    ssize_t n = TEMP_FAILURE_RETRY(recv(fd, &head, sizeof head, MSG_PEEK));
    if (n != (ssize_t)sizeof head || head.type != HC_FRAME_PREPARE)
        return false;
    return TEMP_FAILURE_RETRY(recv(fd, &head, sizeof head, 0)) == (ssize_t)sizeof head;
}

int hc_wire_await_job(int fd, int *input, struct hc_error *err)
{
    return await_handover(fd, HC_FRAME_JOB, input, err);
}
