# Asks which pages of the standard library are in memory, which tells what others read.
# group: leaks
# held: seccomp
def attack(lure):
    page = ctypes.create_string_buffer(4096)
    with open(os.__file__, "rb") as file:
        call_number = {"x86_64": 327, "aarch64": 286}[platform.machine()]  # preadv2
        vector = struct.pack("PN", ctypes.addressof(page), 4096)
        if libc.syscall(ctypes.c_long(call_number), file.fileno(), vector, 1, 0, 0, 8) > 0:  # RWF_NOWAIT
            return "sees that a page of the standard library is in memory"
