# Mounts /sys, in a network namespace of its own.
# group: mounts
# held: seccomp mount_namespace
def attack(lure):
    def mount():
        become_root(CLONE_NEWNS | CLONE_NEWNET)
        call("mount", b"sysfs", b"/tmp", b"sysfs", 0, None)
        return "mounted the kernel's objects"
    return aside(mount)
