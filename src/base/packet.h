/* packet.h - one packet over a Unix socket, with descriptors beside its bytes. */
#ifndef HC_BASE_PACKET_H
#define HC_BASE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HC_PACKET_FDS 16 /* descriptors of a packet, at most */

/* Send one packet of `size` bytes with `count` descriptors, which the caller still owns afterwards. `flags`
 * are those of sendmsg(2), beside MSG_NOSIGNAL. 0, or -1 with errno. */
int hc_packet_send(int socket, const void *data, size_t size, const int *fds, size_t count, int flags);

/* The descriptors and the sender of a received packet. The caller sets `fds` and `room`. */
struct hc_packet {
    int *fds;     /* the received descriptors, owned by the caller from then on; -1: none at this index */
    size_t room;  /* descriptors that `fds` has room for, at most HC_PACKET_FDS; further ones are closed */
    size_t count; /* descriptors that were put into `fds` */
    pid_t sender; /* the sending process as the kernel names it, if the socket has SO_PASSCRED; else 0 */
    bool cut;     /* more descriptors came than there was room for */
};

/* Receive one packet. Returns its number of bytes; 0 at the end of file; size + 1 for a packet of more than
 * `size` bytes; -1 with errno. `flags` are those of recvmsg(2), beside MSG_CMSG_CLOEXEC. */
ssize_t hc_packet_receive(int socket, void *data, size_t size, struct hc_packet *p, int flags);

#endif
