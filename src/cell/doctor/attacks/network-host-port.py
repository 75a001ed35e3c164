# Connects to a port of the host's loopback.
# group: network
# held: seccomp network_namespace
import socket
def attack(lure):
    with socket.create_connection(("127.0.0.1", lure["port"]), 5):
        return "connected to a port of the host"
