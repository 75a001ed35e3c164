# Leaves data unread in connections of 127.0.0.1, whose buffers grow by themselves.
# group: limits
# held: network seccomp cgroup launcher
# cell: small
import socket
import time
def attack(lure):
    server, kept, taken = socket.create_server(("127.0.0.1", 0)), [], 0
    for _ in range(200):
        kept.append(socket.create_connection(server.getsockname()))
        kept.append(server.accept()[0])
        kept[-2].setblocking(False)
    block, end = bytes(1 << 20), time.monotonic() + 3
    while time.monotonic() < end:
        for one in kept[::2]:
            try:
                taken += one.send(block)
            except BlockingIOError:
                pass
        if taken >= lure["memory"] + (64 << 20):
            return f"{taken} bytes wait in connections"
