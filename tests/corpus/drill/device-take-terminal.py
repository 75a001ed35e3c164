# Makes what it has open the terminal of its session.
# group: devices
# held: seccomp
def attack(lure):
    return accepted("ioctl", 0, 0x540e, 0, beyond=("ENOTTY", "EFAULT", "EIO"))
