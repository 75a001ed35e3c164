# Mounts the root directory somewhere else, as root of a user namespace.
# group: mounts
# held: seccomp
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS)
        call("mount", b"/", b"/tmp", None, 0x1000 | 0x4000, None)
        return "mounted the root directory over /tmp"
    return aside(mount)
