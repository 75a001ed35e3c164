# Reads how the kernel was configured.
# group: leaks
# held: proc
# outside: needs a kernel that says so
def attack(lure):
    with open("/proc/config.gz", "rb") as file:
        return f"read {len(file.read())} bytes"
