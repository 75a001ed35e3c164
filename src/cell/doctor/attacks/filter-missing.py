# Looks whether its system calls are filtered.
# group: rights
# held: seccomp
def attack(lure):
    return "its calls are not filtered" if call("prctl", 21, 0, 0, 0, 0) == 0 else None  # PR_GET_SECCOMP
