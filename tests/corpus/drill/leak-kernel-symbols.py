# Reads the kernel's symbols.
# group: leaks
# held: proc
# outside: needs a kernel that has them
def attack(lure):
    with open("/proc/kallsyms", encoding="ascii") as file:
        return file.readline().strip() or None
