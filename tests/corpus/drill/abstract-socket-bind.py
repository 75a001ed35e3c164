# Takes the name of an abstract socket, to be found by others.
# group: network
# held: seccomp network_namespace
import socket
def attack(lure):
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind("\0" + lure["abstract"])
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return "sees that the host has a socket of this name"
