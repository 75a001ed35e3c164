# Sends nothing to a thread of the host by the older call.
# group: signals
# held: pid_namespace landlock
def attack(lure):
    call("tkill", lure["pid"], 0)
    return "may send signals to a thread of the host"
