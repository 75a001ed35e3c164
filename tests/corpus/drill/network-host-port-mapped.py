# Connects to a port of the host by an IPv4 address in an IPv6 one.
# group: network
# held: seccomp network_namespace
# outside: needs a kernel with IPv6
import socket
def attack(lure):
    with socket.create_connection(("::ffff:127.0.0.1", lure["port"]), 5):
        return "connected to a port of the host"
