# Locks a byte of a file of the tree, which others would see, by the call itself.
# group: files
# held: seccomp
import fcntl
import struct
def attack(lure):
    with open(os.__file__, "rb") as file:
        call("fcntl", file.fileno(), fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0))
    return "locked a file of the tree"
