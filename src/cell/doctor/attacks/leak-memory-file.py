# Reads how much memory the host has left.
# group: leaks
# held: proc
def attack(lure):
    with open("/proc/meminfo", encoding="ascii") as file:
        return file.readline().strip()
