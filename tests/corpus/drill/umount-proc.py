# Takes the cell's /proc away, to see what is under it.
# group: mounts
# held: seccomp user_namespace
# outside: needs root, as mounts of a namespace with more rights are locked
def attack(lure):
    def umount():
        become_root(CLONE_NEWNS)
        call("umount2", b"/proc", 2)
        return "looked under /proc"
    return aside(umount)
