# Takes flags off a mount by the newer call.
# group: mounts
# held: seccomp
import struct
def attack(lure):
    def change():
        become_root(CLONE_NEWNS)
        call("mount", b"none", b"/tmp", b"tmpfs", 1, None)
        call("mount_setattr", AT_FDCWD, b"/tmp", 0, struct.pack("4Q", 0, 1, 0, 0), 32)
        return "took the read-only flag off a mount"
    return aside(change)
