# Makes a device of its own, the one that swallows all.
# group: devices
# held: seccomp capabilities
# outside: needs root
import stat
def attack(lure):
    name = f"hotcell-drill-{os.getpid()}"
    os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(name)
    return "made a device"
