# Says to be somebody else in a message.
# group: ipc
# held: seccomp capabilities
# outside: needs root
import socket
import struct
def attack(lure):
    one, other = socket.socketpair()
    with one, other:
        forged = struct.pack("iii", 1, 0, 0)
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, forged)])
        return "sent a message as root"
