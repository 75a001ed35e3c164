# Opens the kernel's log as a device.
# group: devices
# held: mount_namespace
# outside: needs root
def attack(lure):
    os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    return "opened the kernel's log"
