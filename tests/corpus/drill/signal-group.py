# Sends nothing to the group of a process of the host.
# group: signals
# held: pid_namespace landlock
def attack(lure):
    os.killpg(os.getpgid(lure["pid"]), 0)
    return "may send signals to a group of the host"
