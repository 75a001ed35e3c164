# Loads a kernel module that is none.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("init_module", b"", 0, b"", beyond=("ENOEXEC", "EINVAL", "EFAULT"))
