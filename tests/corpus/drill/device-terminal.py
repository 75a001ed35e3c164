# Opens a pseudo terminal.
# group: devices
# held: mount_namespace
def attack(lure):
    os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
    return "has a pseudo terminal"
