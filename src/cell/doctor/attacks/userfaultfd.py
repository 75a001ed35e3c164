# Asks for the handling of its own page faults, which widens races in the kernel.
# group: kernel
# held: seccomp
def attack(lure):
    user_mode_only = 1
    os.close(call("userfaultfd", os.O_CLOEXEC | user_mode_only))
    return "handles page faults"
