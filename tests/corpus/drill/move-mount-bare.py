# Moves a mount by descriptors that are not open.
# group: mounts
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("move_mount", -1, b"", -1, b"", 4)
