# Mounts a file system of a type that nobody has, with the rights that it has.
# group: mounts
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("mount", b"none", b"/tmp", b"hotcell-drill", 0, None)
