# Asks for the limits of a process of the host.
# group: processes
# held: seccomp pid_namespace
def attack(lure):
    call("prlimit64", lure["pid"], 7, None, ctypes.create_string_buffer(16))
    return "knows the limits of a process of the host"
