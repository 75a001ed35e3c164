# Asks whether the host has a System V segment of a key.
# group: ipc
# held: seccomp ipc_namespace
def attack(lure):
    try:
        segment = call("shmget", lure["shm"], 1, 0o1000 | 0o2000 | 0o600)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise
        return "knows that the host has a segment of this key"
    call("shmctl", segment, 0, None)
