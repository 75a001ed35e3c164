# Reads how busy the host is.
# group: leaks
# held: proc
def attack(lure):
    with open("/proc/loadavg", encoding="ascii") as file:
        return file.read().strip()
