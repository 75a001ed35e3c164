# Reads the counts of interrupts, from which one can tell what others type.
# group: leaks
# held: proc
def attack(lure):
    for name in ("interrupts", "softirqs", "vmstat", "zoneinfo", "buddyinfo", "schedstat", "timer_list"):
        try:
            with open(f"/proc/{name}", encoding="utf-8") as file:
                return f"{name}: {len(file.read())} bytes"
        except OSError:
            pass
