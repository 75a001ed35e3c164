# Reads a setting of the kernel.
# group: devices
# held: proc
def attack(lure):
    with open("/proc/sys/kernel/osrelease", encoding="ascii") as file:
        return f"read {file.read().strip()}"
