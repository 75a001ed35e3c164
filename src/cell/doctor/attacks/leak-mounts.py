# Reads the host's mounts.
# group: leaks
# held: mount_namespace proc
def attack(lure):
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        points = {line.split()[4] for line in file}
    known = ("/dev", "/proc", "/usr", "/etc", "/input", "/output", "/tmp", "/lib", "/lib64")
    others = [point for point in points if point != "/" and not any((point + "/").startswith(f"{top}/") for top in known)]
    return f"sees {' '.join(sorted(others))[:80]}" if others else None
