# Talks to the packet filter, in namespaces of its own.
# group: network
# held: seccomp
# outside: needs a kernel with netfilter
import socket
def attack(lure):
    def talk():
        become_root(CLONE_NEWNET)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12):
            return "talks to the packet filter"
    return aside(talk)
