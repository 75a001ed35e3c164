# Mounts the file system of POSIX queues.
# group: mounts
# held: seccomp ipc_namespace
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS | CLONE_NEWIPC)
        call("mount", b"none", b"/tmp", b"mqueue", 0, None)
        return "mounted the POSIX queues"
    return aside(mount)
