# Leaves sockets.
# group: output
# held: landlock launcher
# status: ok
# options: --network=loopback
# manifest: files 0
import socket

try:
    socket.socket(socket.AF_UNIX).bind("/output/socket")
except OSError:
    pass
