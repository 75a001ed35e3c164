# Loads a filter for packets, which the kernel compiles.
# group: ipc
# held: seccomp
import socket
import struct
def attack(lure):
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        rule = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 1), 8)
        one.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HxxxxxxQ", 1, ctypes.addressof(rule)))
        return "had the kernel compile a filter"
