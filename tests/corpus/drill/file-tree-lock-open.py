# Locks a file of the tree by its open file, which others would see.
# group: files
# held: seccomp
import fcntl
import struct
def attack(lure):
    with open(os.__file__, "rb") as file:
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0))
    return "locked a file of the tree"
