# Locks a file of the tree, which others would see.
# group: files
# held: seccomp
import fcntl
def attack(lure):
    with open(os.__file__, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return "locked a file of the tree"
