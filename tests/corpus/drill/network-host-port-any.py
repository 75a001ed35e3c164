# Connects to a port of the host by the address that means any.
# group: network
# held: seccomp network_namespace
import socket
def attack(lure):
    with socket.create_connection(("0.0.0.0", lure["port"]), 5):
        return "connected to a port of the host"
