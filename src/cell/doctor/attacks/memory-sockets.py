# Leaves data unread in many sockets.
# group: limits
# held: cgroup launcher
# cell: small
import socket
import time
def attack(lure):
    kept, taken, idle, end = [], 0, 0, time.monotonic() + lure["seconds"]
    while taken < lure["memory"] + (64 << 20):
        kept.extend(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        before = taken
        for one in kept[-2:]:
            one.setblocking(False)
            try:
                while True:
                    taken += one.send(bytes(150000))
            except BlockingIOError:
                pass
        idle = 0 if taken > before else idle + 1
        if idle == 16 or time.monotonic() > end:
            raise TimeoutError(f"no more than {taken} bytes")
    return f"{taken} bytes wait in sockets"
