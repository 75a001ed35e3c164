# Keeps a descriptor in a message that it sends to itself, where no limit counts it.
# group: ipc
# held: seccomp
# outside: counts as reached only where thousands can be kept
import array
import socket
def attack(lure):
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.setblocking(False)
        kept = 0
        while kept < 5000:
            one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 100))])
            kept += 100
        return f"keeps {kept} descriptors in messages"
