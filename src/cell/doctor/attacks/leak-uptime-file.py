# Reads since when the host runs.
# group: leaks
# held: proc
def attack(lure):
    with open("/proc/uptime", encoding="ascii") as file:
        return f"up for {file.read().split()[0]} s"
