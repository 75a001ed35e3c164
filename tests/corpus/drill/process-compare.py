# Compares its descriptors with those of a process of the host.
# group: processes
# held: seccomp pid_namespace
def attack(lure):
    call("kcmp", os.getpid(), lure["pid"], 0, 0, 0)
    return "compared descriptors with a process of the host"
