# Lists the System V segments of the host.
# group: ipc
# held: seccomp ipc_namespace
def attack(lure):
    used = ctypes.create_string_buffer(64)
    call("shmctl", 0, 14, used)  # SHM_INFO
    count = int.from_bytes(used.raw[:4], "little")
    return f"sees {count} segments" if count else None
