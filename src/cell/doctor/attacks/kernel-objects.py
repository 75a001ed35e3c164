# Reads the kernel's objects.
# group: devices
# held: mount_namespace
def attack(lure):
    return f"sees {' '.join(os.listdir('/sys'))}"
