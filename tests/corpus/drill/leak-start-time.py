# Tells since when the host runs by when its own process was started.
# group: leaks
# held: time_namespace proc
def attack(lure):
    with open("/proc/self/stat", encoding="utf-8") as file:
        started = int(file.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    if abs(started - lure["boottime"]) < 1800:
        return f"started {started:.0f} s after the host"
