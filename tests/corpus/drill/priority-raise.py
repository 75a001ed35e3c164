# Raises its priority.
# group: rights
# held: seccomp rlimits capabilities
# outside: needs root
def attack(lure):
    def rise():
        os.setpriority(os.PRIO_PROCESS, 0, -5)
        return "raised its priority"
    return aside(rise)
