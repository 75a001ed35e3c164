# Sets up a ring, through which calls go that no filter sees.
# group: kernel
# held: seccomp
def attack(lure):
    os.close(call("io_uring_setup", 1, ctypes.create_string_buffer(120)))
    return "set up a ring"
