# Reads who built the kernel, and with what.
# group: leaks
# held: proc
def attack(lure):
    with open("/proc/version", encoding="utf-8") as file:
        return file.read().strip()[:80]
