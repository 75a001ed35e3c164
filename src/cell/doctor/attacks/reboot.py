# Restarts the machine, with numbers that do not mean it.
# group: kernel
# held: seccomp capabilities
# outside: needs root
def attack(lure):
    return accepted("reboot", 0, 0, 0, None)
