# Reads where the kernel waits for it.
# group: leaks
# held: proc
# outside: needs root
def attack(lure):
    with open("/proc/self/stack", encoding="ascii") as file:
        return file.readline().strip() or None
