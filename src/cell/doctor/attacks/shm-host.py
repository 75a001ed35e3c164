# Attaches a System V segment of the host by its key.
# group: ipc
# held: seccomp ipc_namespace
def attack(lure):
    segment = call("shmget", lure["shm"], 0, 0)
    address = call("shmat", segment, None, 0o10000)
    text = ctypes.string_at(address, len(lure["secret"])).decode()
    call("shmdt", address)
    return "read shared memory of the host" if text == lure["secret"] else None
