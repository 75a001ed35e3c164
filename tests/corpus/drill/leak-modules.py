# Reads which modules the kernel has loaded, its disks and its file systems.
# group: leaks
# held: proc
def attack(lure):
    for name in ("modules", "partitions", "diskstats", "filesystems", "swaps", "cgroups"):
        try:
            with open(f"/proc/{name}", encoding="utf-8") as file:
                return f"{name}: {len(file.read())} bytes"
        except OSError:
            pass
