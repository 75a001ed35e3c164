# Opens a socket for pings.
# group: network
# held: seccomp
# outside: needs a group that net.ipv4.ping_group_range names
import socket
def attack(lure):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP):
        return "may ping"
