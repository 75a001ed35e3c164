# Makes a disk, with a number that no disk has.
# group: devices
# held: seccomp capabilities
# outside: needs root
import stat
def attack(lure):
    name = f"/tmp/hotcell-drill-{os.getpid()}"
    os.mknod(name, stat.S_IFBLK | 0o600, os.makedev(4000, 1))
    os.unlink(name)
    return "made a disk"
