# Prepares another kernel, with too many segments to be one.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("kexec_load", 0, 17, None, 0)
