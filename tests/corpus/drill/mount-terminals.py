# Mounts pseudo terminals of its own.
# group: mounts
# held: seccomp
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS)
        call("mount", b"none", b"/tmp", b"devpts", 0, b"newinstance")
        return "mounted pseudo terminals"
    return aside(mount)
