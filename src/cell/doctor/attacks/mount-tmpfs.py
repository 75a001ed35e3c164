# Mounts a file system of its own over /tmp, as root of a user namespace.
# group: mounts
# held: seccomp
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS)
        call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
        return "mounted a tmpfs"
    return aside(mount)
