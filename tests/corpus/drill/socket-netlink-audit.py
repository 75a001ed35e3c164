# Opens the kernel's audit messages.
# group: network
# held: seccomp
import socket
def attack(lure):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9):
        return "talks to the kernel about audits"
