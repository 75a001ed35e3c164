# Opens a socket for packets of its own making.
# group: network
# held: seccomp capabilities
# outside: needs root
import socket
def attack(lure):
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return "may make packets"
