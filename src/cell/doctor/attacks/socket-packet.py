# Opens a socket that sees all packets.
# group: network
# held: seccomp capabilities
# outside: needs root
import socket
def attack(lure):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0):
        return "sees packets"
