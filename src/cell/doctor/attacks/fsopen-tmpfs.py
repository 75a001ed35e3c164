# Makes a file system by the calls that take descriptors.
# group: mounts
# held: seccomp
def attack(lure):
    def make():
        become_root(CLONE_NEWNS)
        context = call("fsopen", b"tmpfs", 0)
        call("fsconfig", context, 6, None, None, 0)
        tree = call("fsmount", context, 0, 0)
        call("move_mount", tree, b"", AT_FDCWD, b"/tmp", 4)
        return "mounted a tmpfs by descriptor"
    return aside(make)
