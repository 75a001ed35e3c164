# Pastes into the machine's console.
# group: devices
# held: seccomp
def attack(lure):
    return accepted("ioctl", 0, 0x541c, ctypes.create_string_buffer(b"\x02", 16), beyond=("ENOTTY", "EFAULT", "EIO"))
