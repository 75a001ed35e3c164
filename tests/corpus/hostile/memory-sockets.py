# Fills socket pairs, as many as it may have.
# group: resources
# held: rlimits seccomp
# status: ok memory
# options: --memory=64M
import socket

kept, written = [], 0
try:
    while True:
        kept.append(socket.socketpair())
        kept[-1][0].setblocking(False)
        try:
            while True:
                written += kept[-1][0].send(bytes(4096))
        except BlockingIOError:
            pass
except OSError:
    pass
assert len(kept) < 128 and written < 64 << 20
