# Asks for network interfaces by number.
# group: network
# held: seccomp network_namespace
# outside: needs a host with more than a loopback
import socket
def attack(lure):
    names = {name for _, name in socket.if_nameindex()} - {"lo"}
    return f"sees {' '.join(names)}" if names else None
