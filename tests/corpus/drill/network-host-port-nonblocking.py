# Connects to a port of the host without waiting, and looks later.
# group: network
# held: seccomp network_namespace
import select
import socket
def attack(lure):
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", lure["port"]))
        select.select([], [client], [], 1)
        client.getpeername()
        return "connected to a port of the host"
