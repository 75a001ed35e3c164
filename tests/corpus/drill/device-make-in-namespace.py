# Makes a device of its own as root of a user namespace.
# group: devices
# held: seccomp capabilities
# outside: no user namespace may
import stat
def attack(lure):
    def make():
        become_root(CLONE_NEWNS)
        call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
        os.mknod("/tmp/memory", stat.S_IFCHR | 0o600, os.makedev(1, 1))
        return "made a device"
    return aside(make)
