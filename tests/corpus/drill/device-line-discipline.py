# Changes how a terminal's bytes are handled, for which the kernel loads modules.
# group: devices
# held: seccomp
def attack(lure):
    return accepted("ioctl", 0, 0x5423, ctypes.byref(ctypes.c_int(999)), beyond=("ENOTTY", "EFAULT", "EIO"))
