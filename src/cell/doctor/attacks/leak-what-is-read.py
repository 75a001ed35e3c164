# Asks which pages of loaded modules' files are in memory, which tells what others read.
# group: leaks
# held: seccomp
def attack(lure):
    page = ctypes.create_string_buffer(4096)
    vector = struct.pack("PN", ctypes.addressof(page), 4096)
    call_number = {"x86_64": 327, "aarch64": 286}[platform.machine()]  # preadv2
    # Any one of them may have been put out of memory again, and of a module's source only the name is looked at.
    names = {getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - {"__main__"}}
    for name in sorted(filter(None, names)):
        with open(name, "rb", buffering=0) as file:
            ctypes.set_errno(0)
            if libc.syscall(ctypes.c_long(call_number), file.fileno(), vector, 1, 0, 0, 8) > 0:  # RWF_NOWAIT
                return f"sees that the first page of {name} is in memory"
            if ctypes.get_errno() != errno.EAGAIN:
                raise OSError(ctypes.get_errno(), f"preadv2: {os.strerror(ctypes.get_errno())}")
