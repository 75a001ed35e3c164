# Gives the kernel advice on the memory of a process of the host.
# group: processes
# held: seccomp
def attack(lure):
    return accepted("process_madvise", -1, None, 0, 4, 0)
