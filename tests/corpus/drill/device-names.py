# Looks for devices that a cell has no use for.
# group: devices
# held: mount_namespace
def attack(lure):
    known = {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr"}
    others = sorted(set(os.listdir("/dev")) - known)
    return f"sees {' '.join(others)[:80]}" if others else None
