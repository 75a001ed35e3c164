# Fills socket pairs with the smallest messages, which cost the most.
# group: resources
# held: rlimits seccomp
# status: ok memory
# options: --memory=64M
import socket

kept, messages = [], 0
try:
    while True:
        kept.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        kept[-1][0].setblocking(False)
        try:
            while True:
                messages += kept[-1][0].send(b"x")
        except BlockingIOError:
            pass
except OSError:
    pass
assert len(kept) < 128 and messages < 200000
