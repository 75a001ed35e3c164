# Submits to a ring that it does not have.
# group: kernel
# held: seccomp
def attack(lure):
    return accepted("io_uring_enter", -1, 0, 0, 0, None, 0)
