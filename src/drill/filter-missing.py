# Looks whether its system calls are filtered.
# group: rights
# held: seccomp
def attack(lure):
    with open("/proc/self/status", encoding="utf-8") as file:
        return "its calls are not filtered" if "\nSeccomp:\t0\n" in file.read() else None
