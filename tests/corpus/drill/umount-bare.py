# Marks a mount as unused that is none, with the rights that it has.
# group: mounts
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("umount2", b"/etc/passwd", 4)
