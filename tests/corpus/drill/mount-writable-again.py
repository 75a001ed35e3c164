# Makes the read-only tree writable again.
# group: mounts
# held: seccomp user_namespace
# outside: needs root, as mounts of a namespace with more rights are locked
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS)
        call("mount", None, b"/usr", None, 0x20 | 0x1000, None)
        return "the tree is writable"
    return aside(mount)
