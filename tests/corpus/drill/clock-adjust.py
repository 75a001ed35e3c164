# Reads how the host's clock is disciplined.
# group: kernel
# held: seccomp
def attack(lure):
    call("adjtimex", ctypes.create_string_buffer(512))
    return "read the state of the host's clock"
