# Sends nothing to a thread of the host.
# group: signals
# held: pid_namespace landlock
def attack(lure):
    call("tgkill", lure["pid"], lure["pid"], 0)
    return "may send signals to a thread of the host"
