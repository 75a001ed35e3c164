# Reads numbers that name the host.
# group: leaks
# held: mount_namespace proc
def attack(lure):
    for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id", "/sys/class/dmi/id/product_uuid"):
        try:
            with open(path, encoding="utf-8") as file:
                return f"{path}: {file.read().strip()}"
        except OSError:
            pass
