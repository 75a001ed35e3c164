# Makes the buffers of a socket larger, which no watch sees.
# group: ipc
# held: seccomp
import socket
def attack(lure):
    one, other = socket.socketpair()
    with one, other:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        return f"has a buffer of {one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)} bytes"
