# Has the kernel read the partitions of what it has open.
# group: devices
# held: seccomp landlock
def attack(lure):
    return accepted("ioctl", 0, 0x125f, 0, beyond=("ENOTTY", "EINVAL"))
