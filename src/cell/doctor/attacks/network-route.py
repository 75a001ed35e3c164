# Finds a way to the world, without sending anything.
# group: network
# held: seccomp network_namespace
# outside: needs a host with a route
import socket
def attack(lure):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("192.0.2.1", 53))
        return f"would go out as {client.getsockname()[0]}"
