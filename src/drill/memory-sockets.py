# Leaves data unread in many sockets.
# group: limits
# held: cgroup launcher
# cell: small
import socket
def attack(lure):
    kept, taken = [], 0
    while taken < lure["memory"] + (64 << 20):
        kept.extend(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        for end in kept[-2:]:
            end.setblocking(False)
            try:
                while True:
                    taken += end.send(bytes(150000))
            except BlockingIOError:
                pass
    return f"{taken} bytes wait in sockets"
