# Reads what the kernel was started with.
# group: leaks
# held: proc
def attack(lure):
    with open("/proc/cmdline", encoding="utf-8") as file:
        return f"read {len(file.read())} bytes"
