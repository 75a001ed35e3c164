# Connects to an abstract socket of the host.
# group: network
# held: seccomp network_namespace landlock
import socket
def attack(lure):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + lure["abstract"])
    return "connected to an abstract socket of the host"
