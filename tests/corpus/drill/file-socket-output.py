# Makes a socket in its output or working directory.
# group: files
# held: seccomp landlock
import socket
def attack(lure):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("hotcell-drill-socket")
        os.unlink("hotcell-drill-socket")
        return "made a socket where results are collected"
