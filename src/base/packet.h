/* packet.h - one packet over a Unix socket, with descriptors beside its bytes. */
#ifndef HC_BASE_PACKET_H
#define HC_BASE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HC_PACKET_FDS 16 /* descriptors of a packet, at most */

/* Send these bytes, and `count` descriptors, which stay the caller's. `flags`: of sendmsg(2), beside
 * MSG_NOSIGNAL. 0, or -1 with errno. */
int hc_packet_send(int socket, const void *data, size_t size, const int *fds, size_t count, int flags);

/* What comes along with a packet. The caller sets the first two. */
struct hc_packet {
    int *fds;     /* its descriptors, which the caller owns from then on; -1: none */
    size_t room;  /* in `fds`; what is more is closed */
    size_t count; /* of those that came, as far as there was room */
    pid_t sender; /* as the kernel says where SO_PASSCRED is set; else 0 */
    bool cut;     /* there was no room for all that came along */
};

/* The bytes received, 0 at the end, size + 1 for a packet that is longer than `size`, -1 with errno. `flags`:
 * of recvmsg(2), beside MSG_CMSG_CLOEXEC. */
ssize_t hc_packet_receive(int socket, void *data, size_t size, struct hc_packet *p, int flags);

#endif
