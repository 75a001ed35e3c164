# Connects to a port of the host with its first bytes, by a call that is not connect.
# group: network
# held: seccomp network_namespace
import socket
def attack(lure):
    with socket.socket() as client:
        client.sendto(b"", socket.MSG_FASTOPEN, ("127.0.0.1", lure["port"]))
        client.getpeername()
        return "connected to a port of the host"
