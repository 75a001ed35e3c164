# Loads a kernel module from a descriptor that is not open.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("finit_module", -1, b"", 0)
