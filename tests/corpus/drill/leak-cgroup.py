# Reads in which cgroup of the host it is.
# group: leaks
# held: cgroup_namespace proc
# outside: needs a process in a cgroup of its own
def attack(lure):
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        paths = {line.strip().split(":", 2)[2] for line in file} - {"/"}
    return f"is in {' '.join(sorted(paths))[:80]}" if paths else None
