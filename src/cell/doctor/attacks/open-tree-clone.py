# Clones the mounts below the root directory into a descriptor.
# group: mounts
# held: seccomp
def attack(lure):
    def clone():
        become_root(CLONE_NEWNS)
        at_recursive = 0x8000
        os.close(call("open_tree", AT_FDCWD, b"/", 1 | at_recursive))
        return "has a copy of all mounts"
    return aside(clone)
