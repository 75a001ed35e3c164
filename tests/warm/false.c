/* A zygote that somebody has taken over, where the launcher looks for the shim: asked for a cell, it says
 * what FALSE in its environment names (a policy's "env"). For tests. */
#include "base/fd.h"
#include "inside/park.h"
#include "inside/plan.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OFTEN 2000

static int sync_fd;

static void say_with(int kind, const int *fds, size_t count)
{
    struct hc_sync message = {.kind = kind, .facts.pid = 1};
    struct iovec part = {.iov_base = &message, .iov_len = sizeof message};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(HC_SYNC_FDS * sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        control.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(count * sizeof *fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), fds, count * sizeof *fds);
        packet.msg_control = &control;
        packet.msg_controllen = CMSG_SPACE(count * sizeof *fds);
    }
    /* Nobody may be there to hear it, or more descriptors on their way than one may send. */
    (void)TEMP_FAILURE_RETRY(sendmsg(sync_fd, &packet, MSG_NOSIGNAL));
}

static void say(int kind)
{
    say_with(kind, NULL, 0);
}

static void say_kept(size_t count)
{
    int pair[2];
    int dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        _exit(1);
    say_with(HC_SYNC_KEPT, (const int[]){dir, dir, pair[0], dir}, count);
    (void)close(dir);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void lie(const char *how)
{
    if (strcmp(how, "silent") == 0)
        _exit(0);
    if (strcmp(how, "short") == 0)
        (void)send(sync_fd, "abc", 3, MSG_NOSIGNAL);
    if (strcmp(how, "unborn") == 0)
        say_kept(HC_SYNC_FDS);
    say(HC_SYNC_BORN);
    if (strcmp(how, "twice") == 0)
        say(HC_SYNC_BORN);
    if (strcmp(how, "few") == 0)
        say_kept(2);
    say_kept(HC_SYNC_FDS);
    for (int i = 0; i < OFTEN && strcmp(how, "again") == 0; i++)
        say_kept(HC_SYNC_FDS);
    for (int i = 0; i < OFTEN && strcmp(how, "strange") == 0; i++)
        say(77);
    say(HC_SYNC_FACTS);
}

/* The launcher still looks at this process while it thinks of what was said. */
static void await_hangup(void)
{
    struct hc_sync answer;
    while (TEMP_FAILURE_RETRY(recv(sync_fd, &answer, sizeof answer, 0)) > 0)
        ;
}

int main(void)
{
    const struct hc_frame_head ready = {.type = HC_FRAME_READY, .flags = HC_FRAME_LAST};
    const char *how = getenv("FALSE");
    struct hc_park asked;
    struct iovec part = {.iov_base = &asked, .iov_len = sizeof asked};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(HC_PARK_FDS * sizeof(int))];
    } control;
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (fork() > 0)
        return wait(NULL) < 0;
    if (!how || send(HC_FD_CONTROL, &ready, sizeof ready, MSG_NOSIGNAL) < 0 ||
        recvmsg(HC_FD_CONTROL, &packet, 0) != (ssize_t)sizeof asked)
        return 1;
    memcpy(&sync_fd, CMSG_DATA(&control.head), sizeof sync_fd);
    lie(how);
    await_hangup();
    return 0;
}
