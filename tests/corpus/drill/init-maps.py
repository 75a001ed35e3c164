# Reads where the first process has its memory.
# group: processes
# held: proc
# outside: needs root
def attack(lure):
    with open("/proc/1/maps", encoding="ascii") as file:
        return file.readline().strip() or None
