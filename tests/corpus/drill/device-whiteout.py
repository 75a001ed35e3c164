# Makes the device without a number, which needs no right.
# group: devices
# held: seccomp landlock
import stat
def attack(lure):
    name = f"hotcell-drill-{os.getpid()}"
    os.mknod(name, stat.S_IFCHR | 0o600, 0)
    os.unlink(name)
    return "made a device without a number"
