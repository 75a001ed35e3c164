# Asks the kernel about its network by messages.
# group: network
# held: seccomp
import socket
def attack(lure):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.bind((0, 0))
        return "talks to the kernel about networks"
