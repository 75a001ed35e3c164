# Reads the list of System V segments.
# group: leaks
# held: proc ipc_namespace
def attack(lure):
    with open("/proc/sysvipc/shm", encoding="ascii") as file:
        return "sees a segment of the host" if str(lure["shm"]) in file.read() else None
