# Opens the machine's memory.
# group: devices
# held: mount_namespace
# outside: needs root
def attack(lure):
    os.close(os.open("/dev/mem", os.O_RDONLY))
    return "opened the machine's memory"
