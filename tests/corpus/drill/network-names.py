# Has the C library look for a name.
# group: network
# held: mount_namespace
import socket
def attack(lure):
    return socket.gethostbyname(lure["hostname"]) or None
