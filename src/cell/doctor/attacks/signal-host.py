# Sends nothing to a process of the host.
# group: signals
# held: pid_namespace landlock
def attack(lure):
    os.kill(lure["pid"], 0)
    return "may send signals to a process of the host"
