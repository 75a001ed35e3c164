# Opens a socket that sees all packets, in namespaces of its own.
# group: network
# held: seccomp
import socket
def attack(lure):
    def listen():
        become_root(CLONE_NEWNET)
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0):
            return "sees packets of a network of its own"
    return aside(listen)
