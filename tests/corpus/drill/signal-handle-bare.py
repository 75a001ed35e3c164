# Sends a signal by a descriptor that is not open.
# group: signals
# held: seccomp
def attack(lure):
    return accepted("pidfd_send_signal", -1, 0, None, 0)
