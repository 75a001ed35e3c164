# Asks for the session of a process of the host.
# group: processes
# held: pid_namespace
def attack(lure):
    return f"is in session {os.getsid(lure['pid'])}"
