# Asks for a file system to be written out, by a descriptor that is not open.
# group: kernel
# held: seccomp
def attack(lure):
    return accepted("syncfs", -1)
