# Types into its terminal, by a number that only looks like another.
# group: devices
# held: seccomp
def attack(lure):
    return accepted("ioctl", 0, 0x5412 | 1 << 32, None, beyond=("ENOTTY", "EFAULT", "EIO"))
