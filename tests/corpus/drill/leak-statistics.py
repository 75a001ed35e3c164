# Reads when the host was started, and how many processes it has had.
# group: leaks
# held: proc
def attack(lure):
    with open("/proc/stat", encoding="ascii") as file:
        return next((line.strip() for line in file if line.startswith("btime")), None)
