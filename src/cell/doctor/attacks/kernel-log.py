# Reads the kernel's log.
# group: kernel
# held: seccomp capabilities
# outside: needs root where kernel.dmesg_restrict is set
def attack(lure):
    buffer = ctypes.create_string_buffer(4096)
    if call("syslog", 3, buffer, 4096) >= 0:
        return "read the kernel's log"
