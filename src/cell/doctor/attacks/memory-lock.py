# Locks a page into the host's memory.
# group: memory
# held: seccomp rlimits
def attack(lure):
    page = ctypes.create_string_buffer(4096)
    call("mlock", page, 4096)
    return "locked a page"
