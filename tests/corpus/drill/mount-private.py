# Changes how mounts spread, as root of a user namespace.
# group: mounts
# held: seccomp
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS)
        call("mount", None, b"/", None, 0x40000 | 0x4000, None)
        return "changed how mounts spread"
    return aside(mount)
