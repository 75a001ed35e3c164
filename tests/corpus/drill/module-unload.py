# Unloads a kernel module that is not there.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("delete_module", b"hotcell_drill", os.O_NONBLOCK)
