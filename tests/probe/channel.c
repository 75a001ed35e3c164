/* channel.c - what a broken or hostile peer of the launcher may send. */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PASS_MAX 253 /* descriptors of one packet: SCM_MAX_FD */

/* The first failure is said, so that a flood into a closed channel is no flood of lines. */
static void check(const char *what, ssize_t result)
{
    static int said;
    if (result < 0 && !said++)
        say(what, -errno);
}

static void send_frame(struct hc_frame_head head, const void *data, size_t len, void *control,
                       size_t control_len)
{
    struct iovec parts[] = {{.iov_base = &head, .iov_len = sizeof head},
                            {.iov_base = (void *)(uintptr_t)data, .iov_len = len}};
    if (!control) { /* what the job's filter always allows */
        check("send", writev(HC_FD_CONTROL, parts, len ? 2 : 1));
        return;
    }
    struct msghdr packet = {
        .msg_iov = parts, .msg_iovlen = len ? 2 : 1, .msg_control = control, .msg_controllen = control_len};
    check("send", sendmsg(HC_FD_CONTROL, &packet, MSG_NOSIGNAL));
}

static void send_content(uint8_t type, uint8_t flags, const void *data, size_t len)
{
    send_frame((struct hc_frame_head){.type = type, .flags = flags, .len = (uint32_t)len}, data, len, NULL,
               0);
}

/* The next word, "" if there is none. */
static const char *word(char **rest)
{
    char *found = strtok_r(NULL, " ", rest);
    return found ? found : "";
}

void do_frame(char *args)
{
    char *rest = args;
    uint8_t type = (uint8_t)number(word(&rest));
    const char *flags = word(&rest);
    send_content(type, *flags ? (uint8_t)number(flags) : HC_FRAME_LAST, NULL, 0);
}

void do_hex(char *args)
{
    static unsigned char data[HC_FRAME_CHUNK * 2];
    char *rest = args;
    uint8_t type = (uint8_t)number(word(&rest)), flags = (uint8_t)number(word(&rest));
    send_content(type, flags, data, unhex(word(&rest), data, sizeof data));
}

void do_text(char *args)
{
    char *rest = args;
    uint8_t type = (uint8_t)number(word(&rest));
    size_t len = strlen(rest), at = 0;
    do {
        size_t part = len - at < HC_FRAME_CHUNK ? len - at : HC_FRAME_CHUNK;
        send_content(type, at + part == len ? HC_FRAME_LAST : 0, rest + at, part);
        at += part;
    } while (at < len);
}

void do_head(char *args)
{
    static unsigned char data[65536];
    char *rest = args;
    struct hc_frame_head head = {0};
    head.type = (uint8_t)number(word(&rest));
    head.flags = (uint8_t)number(word(&rest));
    head.zero = (uint16_t)number(word(&rest));
    head.len = (uint32_t)number(word(&rest));
    send_frame(head, data, unhex(word(&rest), data, sizeof data), NULL, 0);
}

void do_raw(char *args)
{
    static unsigned char data[65536];
    check("send", send(HC_FD_CONTROL, data, unhex(args, data, sizeof data), MSG_NOSIGNAL));
}

void do_bytes(char *args)
{
    char *rest = args;
    uint8_t type = (uint8_t)number(word(&rest)), flags = (uint8_t)number(word(&rest));
    size_t count = (size_t)number(word(&rest));
    int byte = (int)number(word(&rest));
    char *data = malloc(count ? count : 1);
    if (!data)
        return;
    memset(data, byte, count);
    send_content(type, flags, data, count);
    free(data);
}

static void pass(uint8_t type, const int *fds, size_t count)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(PASS_MAX * sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(count * sizeof(int)),
                          .cmsg_level = SOL_SOCKET,
                          .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
    send_frame((struct hc_frame_head){.type = type, .flags = HC_FRAME_LAST}, NULL, 0, &control,
               CMSG_SPACE(count * sizeof(int)));
}

void do_pass(char *args)
{
    char *rest = args;
    uint8_t type = (uint8_t)number(word(&rest));
    int fds[PASS_MAX];
    size_t count = 0;
    for (const char *fd; count < PASS_MAX && *(fd = word(&rest));)
        fds[count++] = (int)number(fd);
    pass(type, fds, count);
}

void do_pass_many(char *args)
{
    char *rest = args;
    uint8_t type = (uint8_t)number(word(&rest));
    size_t count = (size_t)number(word(&rest));
    int fds[PASS_MAX], fd = (int)number(word(&rest));
    for (size_t i = 0; i < count && i < PASS_MAX; i++)
        fds[i] = fd;
    pass(type, fds, count < PASS_MAX ? count : PASS_MAX);
}

void do_forge(char *args)
{
    char *rest = args;
    uint8_t type = (uint8_t)number(word(&rest));
    struct ucred who = {0};
    who.pid = (pid_t)number(word(&rest));
    who.uid = who.gid = (uid_t)number(word(&rest));
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(struct ucred))];
    } control = {
        .head = {.cmsg_len = CMSG_LEN(sizeof who), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS}};
    memcpy(CMSG_DATA(&control.head), &who, sizeof who);
    send_frame((struct hc_frame_head){.type = type, .flags = HC_FRAME_LAST}, NULL, 0, &control,
               sizeof control.space);
}

void do_await(char *args)
{
    (void)args;
    struct hc_frame_head head = {0};
    ssize_t n = recv(HC_FD_CONTROL, &head, sizeof head, 0);
    say("await", n < 0 ? -errno : n == 0 ? 0 : head.type);
}

void do_status(char *args)
{
    char *rest = args;
    struct hc_exit_report report = {0};
    report.code = (int32_t)number(word(&rest));
    report.status = (int32_t)number(word(&rest));
    check("status", send(HC_FD_STATUS, &report, sizeof report, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void do_status_hex(char *args)
{
    static unsigned char data[4096];
    check("status", send(HC_FD_STATUS, data, unhex(args, data, sizeof data), MSG_NOSIGNAL | MSG_DONTWAIT));
}
