# Runs a program that it wrote into memory.
# group: files
# held: seccomp
def attack(lure):
    def start():
        fd = call("memfd_create", b"drill", 0)
        os.write(fd, program())
        call("execveat", fd, b"", (ctypes.c_char_p * 2)(b"drill", None), (ctypes.c_char_p * 1)(None), AT_EMPTY_PATH)
    return "ran a program in memory" if executes(start) else None
