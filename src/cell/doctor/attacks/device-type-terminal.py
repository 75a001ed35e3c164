# Types into its terminal, as if the caller had.
# group: devices
# held: seccomp
def attack(lure):
    return accepted("ioctl", 0, 0x5412, None, beyond=("ENOTTY", "EFAULT", "EIO"))
